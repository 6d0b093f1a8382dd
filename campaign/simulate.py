"""``python -m campaign.simulate [--seeds 2000] [--first 0] [--jobs N] [--flows]``: simulated worlds, one for each seed.

Prints progress, the distribution of what the seeds were and hit, and the story of the first seeds that failed: the
fewest faults that still fail, and one line a step. Exit status 1 when anything did not hold. ``--explain SEED`` tells
one story.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from mainspring.clock import SystemClock
from mainspring.process import collect_less
from mainspring.testing.report import WORLDS, SeedResult, distribution, explain, try_seed
from mainspring.testing.world import World

STORIES = 3


def say(text: str) -> None:
    """A line for whoever watches."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def commit() -> str:
    """The commit of this checkout, for the story of a failure."""
    git = Path(__file__).resolve().parents[1] / ".git"
    try:
        head = (git / "HEAD").read_text().strip()
        return ((git / head.removeprefix("ref: ")).read_text() if head.startswith("ref: ") else head)[:12]
    except OSError:
        return "unknown"


def tried(seeds: range, jobs: int, kind: type[World]) -> Iterator[SeedResult]:
    """Every seed's result, over so many processes, in no order."""
    one = partial(try_seed, kind=kind)
    if jobs == 1:
        yield from map(one, seeds)
        return
    with multiprocessing.get_context("spawn").Pool(jobs, collect_less) as pool:
        yield from pool.imap_unordered(one, seeds, chunksize=10)


def main(argv: list[str] | None = None) -> int:
    """Run the seeds; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m campaign.simulate", description="Simulated worlds by seed.")
    parser.add_argument("--seeds", type=int, default=2000, help="how many (default 2000)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one per core)")
    parser.add_argument("--explain", type=int, metavar="SEED", help="tell the story of one seed instead")
    parser.add_argument("--flows", action="store_true", help="worlds whose clients start runs of workflows")
    options = parser.parse_args(argv)
    kind = WORLDS["flows" if options.flows else "jobs"]
    if options.explain is not None:
        say(explain(options.explain, try_seed(options.explain, kind).rule, commit=commit(), kind=kind))
        return 0
    clock = SystemClock()
    began = clock.monotonic()
    results: list[SeedResult] = []
    failed: list[SeedResult] = []
    for result in tried(range(options.first, options.first + options.seeds), options.jobs, kind):
        results.append(result)
        if result.rule:
            failed.append(result)
            say(f"seed {result.seed}: {result.text}")
        if len(results) % max(1, options.seeds // 10) == 0:
            say(f"{len(results):6} of {options.seeds} seeds, {len(failed)} failed")
    took = (clock.monotonic() - began) / 1_000_000
    say("\n".join(distribution(results)))
    say(f"{len(results)} seeds in {took:.1f} s ({60 * len(results) / took:.0f} a minute), {len(failed)} failed")
    for result in sorted(failed, key=lambda one: one.seed)[:STORIES]:
        say("\n" + explain(result.seed, result.rule, commit=commit(), kind=kind))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
