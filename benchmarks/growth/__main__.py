"""``python -m benchmarks.growth [NAME ...] [--postgres] [--short] [--record] [--strict]``: speed as a platform grows.

Names: waiting, crowd, finished, lists, snapshot, stream, constraints, workers (default: all). Each figure stands
beside its baseline of the same run. ``--short`` takes less than a minute each, for a look; in full all of them take
more than an hour.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable

from benchmarks import report
from benchmarks.growth import constraints, crowd, finished, lists, snapshot, stream, waiting, workers
from benchmarks.place import Place
from benchmarks.postgres import PostgresPlace

EVERY: dict[str, Callable[..., list[report.Line]]] = {
    "waiting": waiting.measure,
    "crowd": crowd.measure,
    "finished": finished.measure,
    "lists": lists.measure,
    "snapshot": snapshot.measure,
    "stream": stream.measure,
    "constraints": constraints.measure,
    "workers": workers.measure,
}


def main() -> int:
    """Exit 0 when everything was measured; with --strict 1 when a budget is short."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(EVERY)} (default: all)")
    parser.add_argument("--postgres", action="store_true", help="on a PostgreSQL server of its own instead of SQLite")
    parser.add_argument("--short", action="store_true", help="a small form, for a look and not for figures")
    parser.add_argument("--record", action="store_true", help="append the run to benchmarks/history")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a budget is short")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(EVERY):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(EVERY)}")
    where = PostgresPlace if chosen.postgres else Place
    engine = "PostgreSQL" if chosen.postgres else "SQLite"
    lines = []
    for name in chosen.names or EVERY:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        lines += EVERY[name](where, short=chosen.short)
    report.show(lines, folder=f"{engine} in {tempfile.gettempdir()}", against="baseline")
    if chosen.record:
        report.record(lines, quick=chosen.short, engine=engine)
    return 1 if chosen.strict and any(line.verdict == "short" for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
