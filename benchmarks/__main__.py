"""``python -m benchmarks [NAME ...] [--postgres] [--quick] [--record] [--strict]``: measure and print one table.

Names: enqueue, drain, pickup, chain, workflows, start, ticks, idle (default: all), prune (on PostgreSQL, only when
named). What stands behind ``--`` goes to the worker of drain: ``python -m benchmarks drain -- --runners 2``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable

from benchmarks import drain, enqueue, idle, latency, prune, report, start, ticks, workflows
from benchmarks.place import Place
from benchmarks.postgres import PostgresPlace
from mainspring.store.sqlite import filesystem


def main() -> int:
    """Exit 0 when everything was measured; with --strict 1 when a budget is short."""
    words = sys.argv[1:]
    words, behind = (words[: words.index("--")], words[words.index("--") + 1 :]) if "--" in words else (words, [])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure (default: all)")
    parser.add_argument(
        "--quick", action="store_true", help="a short form, under a minute: for a look, not for figures"
    )
    parser.add_argument("--record", action="store_true", help="append the run to benchmarks/history")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a budget is short")
    parser.add_argument("--jobs", type=int, default=0, help="jobs of a drain (default 50,000)")
    parser.add_argument("--pairs", type=int, default=0, help="pairs of runs of a drain (default 3)")
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL server of its own instead of SQLite")
    chosen = parser.parse_args(words)
    quick = chosen.quick
    where = PostgresPlace if chosen.postgres else Place
    every: dict[str, Callable[[], list[report.Line]]] = {
        "enqueue": lambda: enqueue.measure(where, quick=quick),
        "drain": lambda: drain.measure(
            where, quick=quick, arguments=tuple(behind), jobs=chosen.jobs, pairs=chosen.pairs
        ),
        "pickup": lambda: latency.pickup(where, quick=quick),
        "chain": lambda: latency.chain(where, quick=quick),
        "workflows": lambda: workflows.measure(where, quick=quick),
        "start": lambda: start.measure(quick=quick),
        "ticks": lambda: ticks.measure(where, quick=quick),
        "prune": lambda: prune.measure(quick=quick),
        "idle": lambda: idle.measure(quick=quick),
    }
    if unknown := set(chosen.names) - set(every):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(every)}")
    lines = []
    for name in chosen.names or (where.measured or [name for name in every if name != "prune"]):
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        lines += every[name]()
    folder = tempfile.gettempdir()
    report.show(lines, folder=f"{folder} ({filesystem_of(folder)})")
    if chosen.record:
        report.record(lines, quick=quick)
    return 1 if chosen.strict and any(line.verdict == "short" for line in lines) else 0


def filesystem_of(folder: str) -> str:
    """The kind of file system, for the title."""
    from pathlib import Path

    return filesystem(Path(folder)) or "unknown"


if __name__ == "__main__":
    sys.exit(main())
