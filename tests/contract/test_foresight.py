"""What was decided before its time holds only where nothing has changed by then; and who was second changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.clock import MILLISECOND, MINUTE, SECOND, Duration
from mainspring.control import read, schedules
from mainspring.control.catalog import declare
from mainspring.domain.catchup import ON_TIME
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobFilter
from mainspring.domain.plan import Plan
from mainspring.domain.states import Outcome as Ending
from mainspring.domain.task import Catalog
from mainspring.domain.timetable import Origin, Outcome, Schedule, Tick
from mainspring.engine import fire as firing
from mainspring.engine.fire import Fire
from tests.contract.stories import Story, task


def put(story: Story, name: str = "pulse", **values: Any) -> Schedule:
    plan = Plan({"every": "1m"}, **({"task": "send"} | values))
    return schedules.put(story.store, name, plan, origin=Origin.CLI, actor="ann")


def last(story: Story, name: str = "pulse") -> Tick:
    return schedules.listed_ticks(story.store, name, cursor=None, limit=1).items[0]


def jobs(story: Story) -> int:
    return len(read.listed(story.store, JobFilter(limit=100)).items)


def foreseen(story: Story) -> Fire:
    """A server that has looked a second before the tick."""
    fire = Fire(story.store, story.clock)
    soonest = min(one.next_tick or 0 for one in schedules.listed(story.store))
    story.clock.forward(soonest - story.clock.now() - SECOND)
    fire.turn()
    return fire


def come(story: Story, fire: Fire, late: int = 0) -> None:
    """The tick is due."""
    story.clock.forward(SECOND + late)
    fire.turn()


def test_when_a_tick_comes_that_was_foreseen_nothing_is_left_to_decide(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = put(story)
    fire = foreseen(story)
    assert jobs(story) == 0, "not before its time"
    monkeypatch.delattr(firing, "Deciding")
    come(story, fire, late=7)
    tick = last(story)
    assert (tick.nominal, tick.outcome, tick.decided_at) == (made.next_tick, Outcome.FIRED, story.clock.now())
    again = schedules.one(story.store, "pulse")
    assert (again.last, again.fired, again.next_tick) == (tick.nominal, 1, tick.nominal + MINUTE)


def test_a_pause_an_edit_or_a_job_made_by_hand_count_though_they_came_after_the_look(story: Story) -> None:
    for name in ("paused", "edited", "triggered"):
        put(story, name)
    fire = foreseen(story)
    schedules.pause(story.store, "paused", note="wait", actor="ann")
    put(story, "edited", priority=3)
    by_hand = schedules.trigger(story.store, "triggered", actor="ann")
    come(story, fire)
    assert (last(story, "paused").outcome, last(story, "paused").why) == (Outcome.SKIPPED, "paused: wait")
    assert story.job(last(story, "edited").job or 0).priority == 3
    assert last(story, "triggered").why == f"job {by_hand.job} is unfinished"
    assert jobs(story) == 2


def test_a_task_that_was_declared_anew_is_made_as_it_is_now(story: Story) -> None:
    put(story)
    fire = foreseen(story)
    story.clock.forward(MILLISECOND)
    declare(story.store, Catalog("shop", "two", (task("shop.send", queue="express"),)))
    come(story, fire)
    assert story.job(last(story).job or 0).queue == "express"


def fired(story: Story, name: str = "pulse") -> JobId:
    """Its next tick comes and makes a job."""
    come(story, foreseen(story))
    job = last(story, name).job
    assert job is not None
    return job


def test_what_the_job_of_the_last_tick_came_to_is_foreseen_as_well(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(story, task="once", pause_after=2)
    for outcome in (Ending.SUCCEEDED, Ending.FAILED):
        job = fired(story)
        story.claims |= story.claim(job)
        story.end(job, outcome)
    fire = foreseen(story)
    with monkeypatch.context() as patch:
        patch.delattr(firing, "Deciding")
        come(story, fire)
    kept = schedules.one(story.store, "pulse")
    assert (last(story).outcome, kept.last, kept.fired, kept.failures) == (Outcome.FIRED, last(story).nominal, 3, 1)


def test_a_job_that_ends_between_look_and_tick_is_known(story: Story) -> None:
    put(story)
    job = fired(story)
    story.claims |= story.claim(job)
    fire = foreseen(story)
    story.end(job)
    come(story, fire)
    assert last(story).outcome is Outcome.FIRED


def test_ticks_of_several_batches_fire_once_and_nothing_is_owed_to_the_disk_behind_the_last(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(firing, "BATCH", 2)
    names = [f"s{number}" for number in range(6)]
    for name in names:
        put(story, name)
    fire = foreseen(story)
    for _ in range(3):
        fire.turn()  # the rest is foreseen
    story.clock.forward(SECOND)
    fire.turn()
    assert jobs(story) == 2
    while fire.turn() <= MILLISECOND:
        pass
    assert not story.store.debt.open
    assert [schedules.one(story.store, name).fired for name in names] == [1] * 6
    assert jobs(story) == 6


def test_a_tick_that_was_foreseen_and_comes_too_late_is_missed_all_the_same(story: Story) -> None:
    put(story, catch_up="none")
    fire = foreseen(story)
    come(story, fire, late=ON_TIME + SECOND)
    assert last(story).outcome is Outcome.MISSED


def test_of_ticks_that_another_server_has_decided_in_part_the_rest_fires_once(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("theirs", "ours"):
        put(story, name)
    story.clock.forward(Duration(MINUTE))
    other, fire = Fire(story.store, story.clock), Fire(story.store, story.clock)
    seen = story.store.read(fire._look)
    monkeypatch.setattr(other, "_look", lambda _: seen._replace(found=seen.found[:1]))
    other.turn()
    assert jobs(story) == 1
    monkeypatch.setattr(fire, "_look", lambda _: seen)
    for _ in range(3):
        fire.turn()
    assert [last(story, name).outcome for name in ("theirs", "ours")] == [Outcome.FIRED, Outcome.FIRED]
    assert [schedules.one(story.store, name).fired for name in ("theirs", "ours")] == [1, 1]
    assert jobs(story) == 2
