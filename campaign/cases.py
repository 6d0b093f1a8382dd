"""``python -m campaign.cases FOLDER [--only KIND] [--engine ENGINE]``: real inputs from outside, run and checked.

Each kind of case is a folder and a function that says what did not hold. Exit status 0 when all of them held, 1 when
not, 2 when there is nothing to run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from campaign import cases_cron, cases_pipelines, cases_rules, cases_workflows
from mainspring.clock import SystemClock, seconds

Check = Callable[[Path, Sequence[str], Callable[[str], None]], list[str]]

KINDS: dict[str, Check] = {
    "cron_vectors": cases_cron.check_vectors,
    "crontabs": cases_cron.check_crontabs,
    "rules": cases_rules.check,
    "pipelines": cases_pipelines.check,
    "workflows": cases_workflows.check,
}
"""Kinds by name: a function of the folder of all cases, the engines, and where to tell of progress."""


def say(text: str) -> None:
    """A line for whoever watches."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(argv: list[str] | None = None) -> int:
    """Run the kinds; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m campaign.cases", description="Cases from outside.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=KINDS, action="append", help="only this kind (may be given again)")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), action="append", help="default: both")
    options = parser.parse_args(argv)
    if not options.folder.is_dir():
        say(f"there is no folder {options.folder}")
        return 2
    clock = SystemClock()
    faults = []
    for name in options.only or KINDS:
        began = clock.monotonic()
        found = KINDS[name](options.folder, options.engine or ("sqlite", "postgres"), say)
        took = seconds(clock.monotonic() - began)
        say(f"{name}: {'held' if not found else f'{len(found)} did not hold'} in {took:.1f} s")
        faults += [f"{name}: {fault}" for fault in found]
    for fault in faults[:100]:
        say(f"  {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
