"""Celery's canvas on Redis, which also keeps the results: chains, groups and chords, one worker (solo pool).

A canvas has no node with some needs of a layer: of ``layers`` each layer waits for the whole one above it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from celery import Celery, chain, group

_WHERE = os.environ["BENCH_URL"].replace("unix://", "redis+socket://")
app = Celery("graphs", broker=_WHERE, backend=_WHERE)
app.conf.update(
    worker_prefetch_multiplier=100,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
    result_chord_join_timeout=300,
)


@app.task(name="noop")
def noop() -> None:
    """What a node does."""


@contextmanager
def ready() -> Iterator[Callable[[list[list[int]], str], None]]:
    words = (
        *("-m", "celery", "-A", __name__, "worker", "-l", "ERROR", "-P", "solo"),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    )
    worker = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        noop.delay().get(timeout=60)
        yield run
    finally:
        worker.kill()  # it may have much left of a graph that was given up
        worker.wait()


def run(needs: list[list[int]], shape: str) -> None:
    if shape == "chain":
        canvas = chain(*(noop.si() for _ in needs))
    elif shape == "fan":
        canvas = chain(noop.si(), group(noop.si() for _ in needs[1:-1]), noop.si())
    else:
        width = sum(not above for above in needs)
        steps = []
        for _ in range(len(needs) // width):
            steps += [group(noop.si() for _ in range(width)), noop.si()]
        canvas = chain(*steps)
    canvas.apply_async().get(timeout=300)
