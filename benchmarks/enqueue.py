"""Enqueue: jobs stored per second, one by one and in bulk, each acknowledged once it is durable.

Raw baseline: the same four rows of each job through the plain driver, one transaction a job, or batches of 2,000 as
submit_many makes them.
"""

from __future__ import annotations

import time

from benchmarks.app import app
from benchmarks.place import Place
from benchmarks.report import Line, paired


def measure(where: type[Place], *, quick: bool) -> list[Line]:
    """Two lines."""
    single, bulk, pairs = (200, 5_000, 1) if quick else (1_000, 50_000, 3)
    singles, bulks = [], []
    for _ in range(pairs):
        with where() as place, place.sdk():
            store = place.raw()
            app.tasks["noop"].submit()  # opens, migrates and declares
            limit = store.insert(single, batch=1)
            singles.append((_one_by_one(single), limit))
            limit = store.insert(bulk, batch=2_000)
            bulks.append((_in_bulk(bulk), limit))
            store.close()
    return [
        paired(
            "enqueue one by one",
            "jobs/s",
            singles,
            raw_is="one transaction a job",
            more_is_better=True,
            note=f"{single:,} submits, one after the other",
        ),
        paired(
            "enqueue in bulk",
            "jobs/s",
            bulks,
            raw_is="batches of 2,000",
            more_is_better=True,
            note=f"one submit_many of {bulk:,} jobs",
        ),
    ]


def _one_by_one(count: int) -> float:
    task, started = app.tasks["noop"], time.perf_counter()
    for _ in range(count):
        task.submit()
    return count / (time.perf_counter() - started)


def _in_bulk(count: int) -> float:
    task, started = app.tasks["noop"], time.perf_counter()
    task.submit_many({} for _ in range(count))
    return count / (time.perf_counter() - started)
