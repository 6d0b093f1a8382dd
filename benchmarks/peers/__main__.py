"""``python -m benchmarks.peers [NAME ...] [--jobs N] [--rounds N] [--quick] [--markdown] [--record]``.

Other Python job queues beside mainspring, in alternating rounds on the same machine: drain of no-op jobs with one and
with two workers, pick-up on an idle worker, and what the design promises of these. Jobs are stored before a worker
starts. Names: pgqueuer, procrastinate, dramatiq, celery, huey (default: all); mainspring always takes part.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from benchmarks import report
from benchmarks.peers import environment, table
from benchmarks.peers.contestants import EVERY, POSTGRES, Contestant, Ours
from benchmarks.peers.redis_place import RedisPlace
from benchmarks.place import Place
from benchmarks.postgres import PostgresPlace

BARS = {"pgqueuer": 1.2, "Dramatiq": 3.0, "Procrastinate": 20.0}
"""How many times as fast mainspring on PostgreSQL is to be."""


def main() -> int:
    """Exit 0 when everything that can be installed was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    peers = [each.name.lower() for each in EVERY if not isinstance(each, Ours)]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(peers)} (default: all)")
    parser.add_argument("--jobs", type=int, default=0, help="jobs of a drain; slow ones get a share (default 50,000)")
    parser.add_argument("--rounds", type=int, default=0, help="how often each is measured (default 3)")
    parser.add_argument("--quick", action="store_true", help="one round of 10,000: for a look, not for figures")
    parser.add_argument("--markdown", action="store_true", help="print the table as a page shows it")
    parser.add_argument("--record", action="store_true", help="append the run to benchmarks/history")
    chosen = parser.parse_args()
    if unknown := {name.lower() for name in chosen.names} - set(peers):
        parser.error(f"there is no peer {', '.join(sorted(unknown))}; there are {', '.join(peers)}")
    jobs = chosen.jobs or (10_000 if chosen.quick else 50_000)
    rounds = chosen.rounds or (1 if chosen.quick else 3)
    named = {name.lower() for name in chosen.names} or set(peers)
    contestants = able([each for each in EVERY if isinstance(each, Ours) or each.name.lower() in named])
    before = os.getloadavg()
    rows, sleeping = measure(contestants, jobs=jobs, rounds=rounds, quick=chosen.quick)
    found, caption = bars(rows, sleeping), facts(contestants, jobs=jobs, rounds=rounds, load=before)
    if chosen.markdown:
        table.markdown(rows, caption)
    else:
        table.show(rows, caption, width=None if sys.stdout.isatty() else 170)
        report.show(found, folder="what it is to be", against="the other")
    if chosen.record:
        lines = [line for row in rows for line in row.lines()]
        report.record([*lines, *found], quick=chosen.quick, peers=caption)
    return 0


def able(contestants: Sequence[Contestant]) -> list[Contestant]:
    """Those that can be measured here; the others are named in one line each."""
    found = []
    for each in contestants:
        try:
            each.ready()
        except environment.LeftOut as why:
            say(f"{each.name} is left out: {why}")
        else:
            found.append(each)
    return found


def measure(
    contestants: Sequence[Contestant], *, jobs: int, rounds: int, quick: bool
) -> tuple[list[table.Row], list[tuple[float, float]]]:
    """Rounds, each in the other direction than the one before; and pairs (two workers, one) of sleeping jobs."""
    rows = {each.name: table.Row(each.name, each.version, stored(each), each.durable, each.how) for each in contestants}
    sleeping = []
    for number in range(rounds):
        for each in contestants[:: 1 if number % 2 == 0 else -1]:
            say(f"round {number + 1} of {rounds}: {each.name} ...")
            row, own = rows[each.name], max(200, round(jobs * each.share))
            row.one.append(each.drain(own, 1))
            row.two.append(each.drain(own, 2))
            p50, p99 = each.pickup(quick=quick)
            row.p50.append(p50)
            row.p99.append(p99)
        one = POSTGRES.sleeping(jobs // 4, 1)
        sleeping.append((POSTGRES.sleeping(jobs // 4, 2), one))
    return list(rows.values()), sleeping


def bars(rows: Sequence[table.Row], sleeping: Sequence[tuple[float, float]]) -> list[report.Line]:
    """What mainspring on PostgreSQL is to be, beside the peers and beside itself; the median over the rounds."""
    by_name = {row.name: row for row in rows}
    ours = by_name[POSTGRES.name]
    pairs: list[tuple[str, str, Sequence[tuple[float, float]], float]] = [
        ("no-op jobs, one worker", by_name[name].name, list(zip(ours.one, by_name[name].one, strict=True)), least)
        for name, least in BARS.items()
        if name in by_name
    ]
    pairs.append(("no-op jobs, two workers", "one worker", list(zip(ours.two, ours.one, strict=True)), 0.95))
    pairs.append(("jobs that sleep 5 ms, two workers of 10 slots", "one worker", sleeping, 1.8))
    return [
        report.paired(
            f"{POSTGRES.name}: {what}",
            "jobs/s",
            each,
            raw_is=other,
            budget=least,
            budget_text=f">= {least} x",
            more_is_better=True,
        )
        for what, other, each, least in pairs
    ]


def facts(contestants: Sequence[Contestant], *, jobs: int, rounds: int, load: Sequence[float]) -> list[str]:
    """Date, machine, versions, and how busy it was: figures of a busy machine are none."""
    machine = report.machine()
    servers = [f"Python {machine['python']}", f"SQLite {machine['sqlite']}"]
    with PostgresPlace() as place:
        servers.append(f"PostgreSQL {place.server.ask('show server_version')[0][0]}")
    if any(each.where is RedisPlace for each in contestants):
        servers.append(f"Redis {environment.redis_version()}")
    slower = ", ".join(f"{each.name} {round(jobs * each.share):,}" for each in contestants if each.share < 1)
    after = os.getloadavg()
    return [
        f"{datetime.now(UTC):%Y-%m-%d}, {machine['cpu']}, {machine['system']}, {', '.join(servers)}",
        f"median of {rounds} alternating rounds, {jobs:,} jobs a drain{f' ({slower})' if slower else ''}",
        f"load of the machine over a minute: {load[0]:.1f} before, {after[0]:.1f} at the end",
    ]


def stored(contestant: Contestant) -> str:
    """Where its jobs are."""
    return {Place: "SQLite", PostgresPlace: "PostgreSQL", RedisPlace: "Redis"}[contestant.where]


def say(text: str) -> None:
    """How far it is."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
