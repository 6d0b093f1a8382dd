"""How long a claim takes when a million jobs wait, against the same claims when hardly any does.

A claim is a look for the ten best, their move to a lease, and its commit, by the product's own functions.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from benchmarks.growth import population
from benchmarks.place import Place
from benchmarks.report import Line, percentile
from mainspring.clock import SECOND, Instant
from mainspring.domain.ids import ClaimId, LaneId, WorkerId
from mainspring.store import Store, Transaction, jobs, lanes
from mainspring.store.jobs import Grant, Look

BATCH = 10


def measure(where: type[Place], *, short: bool) -> list[Line]:
    """One line: p99 of both and their ratio."""
    count, rounds = (100_000, 200) if short else (1_000_000, 500)
    with where() as place:
        population.waiting(place, rounds * BATCH)
        few = claims(place, rounds, ["default"])
        population.waiting(place, count)
        many = claims(place, rounds, ["default"])
    return [
        Line(
            f"claim of {BATCH} with {count:,} waiting, p99",
            percentile(many, 0.99),
            "ms",
            raw=percentile(few, 0.99),
            raw_is="the same with hardly any waiting",
            score=percentile(many, 0.99) / percentile(few, 0.99),
            budget=2,
            budget_text="<= 2 x empty",
            note=f"{rounds} claims with commit; p50 {percentile(many, 0.5):.1f} against {percentile(few, 0.5):.1f} ms",
        )
    ]


def claims(place: Place, rounds: int, queues: Collection[str]) -> list[float]:
    """Milliseconds of so many claims from the lanes of these queues, each with its commit."""
    store = Store.open(place.url)
    try:
        reach = [lane.id for lane in store.read(lanes.read_map).lanes if lane.queue in queues]
        taken = [_timed(store, reach) for _ in range(rounds + 1)]
    finally:
        store.close()
    return taken[1:]  # the first one plans and fills caches


def _timed(store: Store, reach: list[LaneId]) -> float:
    def claim(tx: Transaction) -> None:
        found = jobs.heads(tx, [Look(dict.fromkeys(reach, BATCH), BATCH)], {}, None)
        if not found:
            return
        left, _ = jobs.leave_ready(tx, [head.job for _, head in found], 0)
        grants = [Grant(one, ClaimId(tx.chance.claim_id())) for one in left.values()]
        jobs.enter_leased(tx, grants, WorkerId(0), Instant(tx.now + 60 * SECOND), "worker:0")

    began = time.perf_counter()
    store.write(claim)
    return (time.perf_counter() - began) * 1e3
