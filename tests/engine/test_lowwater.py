"""Low-water marks: looks begin behind what was taken, and what comes in before is found all the same."""

from __future__ import annotations

from mainspring.clock import MILLISECOND, SECOND, Duration, Instant
from mainspring.domain.ids import JobId, LaneId
from mainspring.engine.lowwater import SHARE, LowWater
from mainspring.store.jobs import FIRST, Head
from tests.contract.engines import HandClock

LANE, OTHER = LaneId(1), LaneId(2)


def head(job: int, priority: int = 5) -> Head:
    return Head(priority, Instant(job), JobId(job))


def look(low: LowWater, clock: HandClock, cost: int = MILLISECOND) -> Head:
    """A look that takes its time; where it began."""
    low.begin()
    began = low.marks.get(LANE, FIRST)
    clock.forward(cost)
    low.end()
    return began


def test_a_look_behind_a_slow_one_begins_where_that_one_took_the_last() -> None:
    clock = HandClock()
    low = LowWater(clock)
    assert look(low, clock) == FIRST
    low.settle([(LANE, head(1)), (LANE, head(2))], {JobId(1), JobId(2)})
    assert look(low, clock) == head(2)
    assert low.places([LANE, OTHER]) == [(LANE, *head(2)), (OTHER, *FIRST)]


def test_a_job_that_was_found_but_not_taken_is_never_passed() -> None:
    clock = HandClock()
    low = LowWater(clock)
    look(low, clock)
    found = [(LANE, head(1)), (OTHER, head(7)), (LANE, head(2)), (LANE, head(3))]
    low.settle(found, {JobId(1), JobId(3), JobId(7)})
    assert look(low, clock) == head(2)


def test_full_looks_take_at_most_a_share_of_the_time() -> None:
    clock = HandClock()
    low = LowWater(clock)
    full = 0
    for job in range(1, 1000):
        full += look(low, clock) == FIRST
        low.settle([(LANE, head(job))], {JobId(job)})
    assert 1000 / SHARE * 0.8 < full <= 1000 / SHARE + 1


def test_a_full_look_comes_back_within_seconds_however_slow_it_is() -> None:
    clock = HandClock()
    low = LowWater(clock)
    look(low, clock, cost=60 * SECOND)
    low.settle([(LANE, head(1))], {JobId(1)})
    clock.forward(Duration(10 * SECOND))
    assert look(low, clock) == FIRST


def test_where_nothing_is_in_the_way_every_look_is_a_full_one() -> None:
    clock = HandClock()
    low = LowWater(clock)
    for job in range(1, 5):
        assert look(low, clock, cost=0) == FIRST
        low.settle([(LANE, head(job))], {JobId(job)})
