"""Celery on Redis, as fast as its own settings make it for jobs that do nothing."""

from __future__ import annotations

import os

from celery import Celery

from benchmarks.peers.scripts.ledger import Ledger

app = Celery("peer", broker=os.environ["BENCH_URL"].replace("unix://", "redis+socket://"))
app.conf.update(
    task_ignore_result=True,
    worker_prefetch_multiplier=100,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    worker_enable_remote_control=False,
)
ledger = Ledger()


@app.task(name="noop")
def noop() -> None:
    ledger.note()


def fill(count: int) -> None:
    with app.producer_pool.acquire(block=True) as producer:
        for _ in range(count):
            noop.apply_async(producer=producer)


def prepare() -> None:
    """Nothing: a queue is made by its first job."""


submit = noop.delay
WORKER = (
    *("-m", "celery", "-A", __name__, "worker", "-n", f"{os.getpid()}@here", "-l", "WARNING"),
    *("-P", "solo", "--without-gossip", "--without-mingle", "--without-heartbeat"),
)
