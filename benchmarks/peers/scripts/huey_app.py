"""Huey on SQLite: a thread that polls; the journal is synced at each commit, as is SQLite's default."""

from __future__ import annotations

import os

from huey import SqliteHuey

from benchmarks.peers.scripts.ledger import Ledger

queue = SqliteHuey("peer", filename=os.environ["BENCH_URL"].removeprefix("sqlite:///"), results=False, timeout=60)
ledger = Ledger()


@queue.task()
def noop() -> None:
    ledger.note()


def fill(count: int) -> None:
    for _ in range(count):
        noop()


def prepare() -> None:
    """Nothing: opening it makes its tables."""


submit = noop
WORKER = (
    *("-m", "huey.bin.huey_consumer", f"{__name__}.queue", "-k", "thread"),
    *("-w", "1", "-d", "0.01", "-m", "0.01", "-q"),
)
