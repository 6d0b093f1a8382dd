"""Metrics: each event counts once, whoever counts; a bucket is where its bounds say; what is too old goes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from mainspring.chance import SeededChance
from mainspring.clock import DAY, HOUR, MILLISECOND, MINUTE, SECOND, Duration, Instant
from mainspring.control import metrics, queues, read, schedules
from mainspring.domain.event import Event
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobRequest
from mainspring.domain.metric import BUCKETS, KEPT, Key, Point, SeriesWanted, bucket_of
from mainspring.domain.plan import Plan
from mainspring.domain.states import Outcome, State
from mainspring.domain.timetable import Origin
from mainspring.domain.worker import WorkerState
from mainspring.engine.fire import Fire
from mainspring.engine.rollup import RollUp
from mainspring.errors import InvalidOption
from mainspring.server.measures import of_workers
from mainspring.store import events, series, workers
from tests.contract.engines import START
from tests.contract.stories import LEASE, Story


def roll_up(story: Story) -> None:
    """Until all is counted."""
    turn = RollUp(story.store, story.clock)
    for _ in range(10):
        turn.turn()


def points(story: Story, metric: str, **values: Any) -> list[Point]:
    wanted = SeriesWanted(metric, Instant(START - HOUR), Instant(story.clock.now() + MINUTE))
    return metrics.points(story.store, wanted._replace(**values))


def totals(story: Story) -> dict[Key, int]:
    return {key: amount.number for key, amount in metrics.figures(story.store).totals}


def history(story: Story) -> list[Event]:
    return story.store.read(lambda tx: events.after(tx, 0, kinds=(), limit=10_000).items, latest=True)


def test_numbers_are_those_of_the_history(story: Story) -> None:
    for state in State:
        if state is not State.NEW:
            story.bring(state)
    roll_up(story)
    moved: Counter[str] = Counter()
    for key, number in totals(story).items():
        if key.metric == "moved":
            moved[key.label] += number
    assert moved == Counter(event.target.value for event in history(story))
    found = metrics.figures(story.store)
    assert found.unread == 0
    (shop,) = [queue for queue in queues.listed(story.store) if queue.name == "shop"]
    depths = {depth.state: depth.jobs for depth in found.depths if depth.queue == "shop"}
    assert depths == {state: getattr(shop, state) for state in ("queued", "scheduled", "retrying", "running")}


def test_whoever_counts_counts_once(story: Story) -> None:
    one, two = RollUp(story.store, story.clock), RollUp(story.store, story.clock)
    for _ in range(3):
        one.turn()
        two.turn()
        story.submit_many([JobRequest("send")] * 5)
    stretch = story.store.read(lambda tx: series.unread(tx, series.cursor(tx, "roll-up") or 0, 100), latest=True)
    assert stretch.flows
    one.turn()
    assert not story.store.write(lambda tx: series.go_on(tx, "roll-up", stretch.before, stretch.until)), (
        "what another has read cannot be counted again"
    )
    two.turn()
    assert totals(story)[Key("submitted", "shop", "shop.send")] == 15
    assert [(p.at, p.amount.number) for p in points(story, "submitted")] == [(START - START % MINUTE, 15)]


def test_a_batch_that_is_too_large_is_read_in_several_turns(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mainspring.engine.rollup.BATCH", 7)
    story.submit_many([JobRequest("send")] * 30)
    turn = RollUp(story.store, story.clock)
    pauses = [turn.turn() for _ in range(8)]
    assert pauses[-1] == 2 * SECOND, "all is read"
    assert totals(story)[Key("submitted", "shop", "shop.send")] == 30


def test_lengths_fall_into_the_buckets_of_their_bounds(story: Story) -> None:
    lengths = [Duration(bound + more) for bound in BUCKETS for more in (0, 1)]
    wanted: Counter[int] = Counter(bucket_of(length) for length in lengths)
    for length in lengths:
        job = story.running()
        story.clock.forward(length)
        story.end(job)
    roll_up(story)
    found = points(story, "duration", by=("label",), step=DAY)
    assert sum((Counter(dict(point.counts)) for point in found), Counter()) == wanted
    assert {point.label for point in found} == {"succeeded"}
    assert sum(point.amount.total for point in found) == sum(lengths)
    assert max(point.amount.most for point in found) == max(lengths)


def test_a_wait_counts_from_when_a_job_could_go(story: Story) -> None:
    later = story.submit(delay="10s")
    at_once = story.submit("mail")
    story.clock.forward(10 * SECOND + 3 * MILLISECOND)
    story.promote()
    story.claim(later, at_once)
    roll_up(story)
    waits = {point.queue: point.amount.total for point in points(story, "wait", by=("queue",))}
    assert waits == {"shop": 3 * MILLISECOND, "mail": 10 * SECOND + 3 * MILLISECOND}


def test_a_job_of_a_schedule_tells_how_late_it_was(story: Story) -> None:
    schedules.put(story.store, "pulse", Plan({"every": "1m"}, task="send"), origin=Origin.CLI, actor="ann")
    story.clock.forward(MINUTE + 40 * MILLISECOND)
    Fire(story.store, story.clock).turn()
    roll_up(story)
    (point,) = points(story, "late")
    assert (point.amount.number, point.amount.total) == (1, 40 * MILLISECOND)


def test_levels_are_looked_at_once_a_minute_and_add_up_over_queues(story: Story) -> None:
    story.submit_many([JobRequest("send"), JobRequest("send"), JobRequest("mail")])
    story.clock.forward(20 * SECOND)
    servers = [RollUp(story.store, story.clock) for _ in range(2)]
    for _ in range(2):
        for one in servers:
            one.turn()
            one.turn()
        story.clock.forward(MINUTE)
    found = points(story, "jobs", label="queued")
    assert [(p.amount.number, p.amount.total) for p in found] == [(1, 3), (1, 3)]
    oldest = [p.amount.most for p in points(story, "oldest", queue="mail")]
    assert oldest == [20 * SECOND, 80 * SECOND]
    assert points(story, "slots", label="all")[0].amount.total == 10


def test_the_most_of_levels_that_add_up_is_that_of_their_sum(story: Story) -> None:
    story.submit_many([JobRequest("send")] * 3 + [JobRequest("mail"), JobRequest("mail", delay="1h")])
    RollUp(story.store, story.clock).turn()
    roll_up(story)
    for step in (MINUTE, HOUR):
        (point,) = points(story, "jobs", step=step)
        assert point.amount.total / point.amount.number == point.amount.most == 5
        assert [one.amount.most for one in points(story, "jobs", step=step, by=("label",))] == [4, 1]


def test_levels_follow_workers_that_die_and_counters_never_fall(story: Story) -> None:
    chance = SeededChance(237)
    survivor = story.hello("survivor")
    rolled = RollUp(story.store, story.clock)
    before: dict[Key, int] = {}
    running: list[JobId] = []

    def level(name: str, **labels: str) -> float:
        families = {one.name: one for one in of_workers(read.all_workers(story.store))}
        return next(one.value for one in families[name].samples if one.labels == labels)

    for _ in range(60):
        match chance.whole(0, 4):
            case 0 if running:
                story.end(running.pop(), chance.pick([Outcome.SUCCEEDED, Outcome.FAILED, Outcome.CRASHED]))
            case 1:
                story.cancel(story.submit(delay="1h"))
            case _:
                running.append(story.running())
        story.clock.forward(50 * MILLISECOND)
        rolled.turn()
        now = totals(story)
        assert all(now[key] >= number for key, number in before.items())
        before = now
    assert (level("mainspring_slots"), level("mainspring_slots_used")) == (20, len(running))
    story.clock.forward(LEASE + 1)
    story.store.write(lambda tx: workers.beat(tx, survivor, WorkerState.ACTIVE, LEASE))
    story.lose_expired()
    roll_up(story)
    assert (level("mainspring_slots"), level("mainspring_slots_used")) == (10, 0)
    assert level("mainspring_workers", state="lost") == level("mainspring_workers", state="active") == 1
    moved = {key.label: number for key, number in totals(story).items() if key.metric == "moved"}
    assert moved == Counter(event.target.value for event in history(story))
    lost = [number for key, number in totals(story).items() if (key.metric, key.label) == ("duration", "lost")]
    assert sum(lost) == len(running) > 0


def test_hours_and_days_are_sums_of_their_minutes_and_minutes_go_first(story: Story) -> None:
    for _ in range(3):
        story.submit()
        story.clock.forward(HOUR // 2)
    story.end(story.running(), Outcome.FAILED)
    roll_up(story)
    minutes, hours = points(story, "submitted"), points(story, "submitted", step=HOUR)
    assert [p.amount.number for p in minutes] == [1, 1, 1, 1]
    assert sum(p.amount.number for p in hours) == 4
    assert len(hours) < len(minutes)
    story.clock.forward(KEPT[MINUTE])
    RollUp(story.store, story.clock).turn()
    assert len(points(story, "submitted", step=HOUR)) == len(hours)
    span = SeriesWanted("submitted", START, Instant(START + HOUR))
    assert len(metrics.points(story.store, span)) < 3


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"metric": "submited"}, "metric"),
    ({"step": SECOND}, "step"),
    ({"by": ("task", "colour")}, "by"),
    ({"until": START}, "to"),
    ({"first": Instant(0)}, "step"),
]


def test_what_can_not_be_asked_names_the_field(story: Story) -> None:
    wanted = SeriesWanted("submitted", START, Instant(START + HOUR))
    for values, field in REFUSED:
        with pytest.raises(InvalidOption) as refused:
            metrics.points(story.store, wanted._replace(**values))
        assert refused.value.field == field
