"""pgqueuer on PostgreSQL: async entrypoints in one process, on asyncpg and uvloop, in batches of 100."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
from collections.abc import AsyncIterator

import asyncpg
import pgqueuer
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries

from benchmarks.peers.scripts.ledger import Ledger

ledger = Ledger()


@contextlib.asynccontextmanager
async def factory() -> AsyncIterator[PgQueuer]:
    """What its worker runs."""
    queuer = PgQueuer(await _driver())

    @queuer.entrypoint("noop")
    async def noop(_: Job) -> None:
        ledger.note()

    yield queuer


async def _driver() -> AsyncpgDriver:
    return AsyncpgDriver(await asyncpg.connect(os.environ["BENCH_URL"]))


@functools.cache
def producer() -> tuple[asyncio.Runner, Queries]:
    """One loop and one connection for all submits of this process."""
    runner = asyncio.Runner()
    return runner, Queries(runner.run(_driver()))


def prepare() -> None:
    runner, queries = producer()
    runner.run(queries.install())


def fill(count: int) -> None:
    runner, queries = producer()
    for start in range(0, count, 1000):
        size = min(1000, count - start)
        runner.run(queries.enqueue(["noop"] * size, [None] * size, [0] * size))


def submit() -> None:
    runner, queries = producer()
    runner.run(queries.enqueue("noop", None))


def run() -> None:
    """What its command line does; that of 1.6.0 does not start with the newest typer."""
    uvloop.run(pgqueuer.run(factory, batch_size=100))


WORKER = ("-c", f"from {__name__} import run; run()")
