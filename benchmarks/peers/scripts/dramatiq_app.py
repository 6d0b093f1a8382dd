"""Dramatiq on Redis: one worker is its default, a process for each of two cores and threads in each."""

from __future__ import annotations

import os

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from benchmarks.peers.scripts.ledger import Ledger

dramatiq.set_broker(RedisBroker(url=os.environ["BENCH_URL"]))
ledger = Ledger()


@dramatiq.actor(max_retries=0)
def noop() -> None:
    ledger.note()


def fill(count: int) -> None:
    for _ in range(count):
        noop.send()


def prepare() -> None:
    """Nothing: a queue is made by its first job."""


submit = noop.send
WORKER = ("-m", "dramatiq", __name__, "--processes", "2", "--threads", "8")
