"""Procrastinate on PostgreSQL: async tasks that one process runs at once, on uvloop and a pool of connections."""

from __future__ import annotations

import os

import uvloop
from procrastinate import App, PsycopgConnector

from benchmarks.peers.scripts.ledger import Ledger

CONCURRENCY = 5
app = App(connector=PsycopgConnector(conninfo=os.environ["BENCH_URL"], min_size=1, max_size=CONCURRENCY))
ledger = Ledger()


@app.task(name="noop")
async def noop() -> None:
    ledger.note()


def prepare() -> None:
    with app.open():
        app.schema_manager.apply_schema()


def fill(count: int) -> None:
    with app.open():
        for start in range(0, count, 1000):
            noop.batch_defer(*({} for _ in range(min(1000, count - start))))


def submit() -> None:
    """Keeps its connection from one to the next."""
    if not opened:
        opened.append(app.open())
    noop.defer()


def run() -> None:
    """What its command line does, on uvloop."""
    uvloop.install()
    app.run_worker(concurrency=CONCURRENCY)


opened: list[App] = []
WORKER = ("-c", f"from {__name__} import run; run()")
