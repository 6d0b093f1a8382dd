"""Drain with a limit on the queue, and of jobs that hold unique keys, each against the same drain without."""

from __future__ import annotations

from benchmarks import drain
from benchmarks.app import app
from benchmarks.place import Place
from benchmarks.report import Line, paired
from mainspring.control import queues
from mainspring.domain.queue import QueueChange
from mainspring.store import Store

_LIMIT = 1_000
"""More than one worker runs at once: it is counted with each claim, and holds nothing up."""


def measure(where: type[Place], *, short: bool) -> list[Line]:
    """Two lines."""
    jobs, pairs = (5_000, 1) if short else (50_000, 3)
    limited, unique = [], []
    for _ in range(pairs):
        with where() as place:
            plain = drain.product_rate(place, jobs, ())
        with where() as place:
            _limit(place)
            limited.append((drain.product_rate(place, jobs, (), after=1), plain))
        with where() as place:
            unique.append((drain.product_rate(place, jobs, (), store=_fill_unique), plain))
    return [
        paired(
            what, "jobs/s", each, raw_is="without", more_is_better=True, note=f"{jobs:,} no-op async jobs, one worker"
        )
        for what, each in (("drain of a queue with a limit", limited), ("drain of jobs with unique keys", unique))
    ]


def _limit(place: Place) -> None:
    drain.fill(place, 1)
    store = Store.open(place.url)
    queues.change(store, "bench", QueueChange(limit=_LIMIT), actor="bench")
    store.close()


def _fill_unique(place: Place, jobs: int, task: str) -> None:
    with place.sdk():
        for number in range(jobs):
            app.tasks[task].options(unique=f"key {number}").submit()
