"""Drain beside five million finished jobs, against the same drain in an empty database, in alternating pairs."""

from __future__ import annotations

from benchmarks import drain
from benchmarks.growth import population
from benchmarks.place import Place
from benchmarks.report import Line, paired


def measure(where: type[Place], *, short: bool) -> list[Line]:
    """One line."""
    count, jobs, pairs = (200_000, 5_000, 1) if short else (5_000_000, 50_000, 3)
    found = []
    with where() as grown:
        last = population.finished(grown, count)
        for _ in range(pairs):
            with where() as empty:
                rate = drain.product_rate(empty, jobs, ())
            found.append((drain.product_rate(grown, jobs, (), after=last), rate))
            last += jobs + 1
    return [
        paired(
            f"drain with {count:,} finished jobs",
            "jobs/s",
            found,
            raw_is="the same in an empty database",
            budget=0.9,
            budget_text=">= 0.90 of empty",
            more_is_better=True,
            note=f"{jobs:,} no-op async jobs, one worker",
        )
    ]
