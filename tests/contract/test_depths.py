"""How many jobs are where, as it is kept: what the rows say at every moment, whoever counts and whatever goes."""

from __future__ import annotations

from collections import Counter

import pytest

from mainspring.chance import SeededChance
from mainspring.clock import DAY, HOUR, SECOND
from mainspring.control import metrics, queues, read
from mainspring.domain.ids import JobId
from mainspring.domain.job import JobFilter, JobRequest
from mainspring.domain.metric import DEPTHS
from mainspring.domain.queue import Queue
from mainspring.domain.states import Outcome, State
from mainspring.engine.rollup import RollUp
from mainspring.store import audit, depths, retention, series
from mainspring.store.check import Finding, Level, check
from mainspring.store.depths import Spot, Where
from tests.contract.engines import Bench
from tests.contract.stories import Story
from tests.contract.test_metrics import roll_up


def kept(story: Story) -> Counter[Where]:
    found = story.store.read(depths.now)
    assert found is not None
    return found


def wrong(story: Story) -> list[tuple[Spot, int, int]]:
    """Where the rows say something else."""
    return story.store.read(lambda tx: audit.misjudged(tx, depths.spots(tx, depths.MOST) or Counter()))


def counted_up_to(story: Story) -> int | None:
    return story.store.read(lambda tx: series.cursor(tx, DEPTHS))


def forget(story: Story, *jobs: JobId) -> int:
    return story.store.write(lambda tx: retention.forget(tx, jobs))


def test_what_is_kept_is_what_the_rows_say_after_each_step_of_a_random_life(story: Story) -> None:
    chance = SeededChance(77)
    servers = [RollUp(story.store, story.clock) for _ in range(2)]
    running: list[JobId] = []
    ended: list[JobId] = []
    for _ in range(60):
        match chance.whole(0, 7):
            case 0 if running:
                job = running.pop()
                story.end(job, chance.pick([Outcome.SUCCEEDED, Outcome.FAILED, Outcome.CRASHED]))
                ended.append(job)
            case 1:
                ended.append(JobId(story.cancel(story.submit(delay="1h")).id))
            case 2:
                story.clock.forward(10 * SECOND)
                story.promote()
            case 3 if ended and story.state(ended[0]) in {State.SUCCEEDED, State.DEAD, State.CANCELLED}:
                story.submit()  # the job of the newest event never goes
                forget(story, ended.pop(0))
            case 4:
                chance.pick(servers).turn()
            case 5:
                story.submit("mail", queue=chance.pick(["mail", "night"]))
            case _:
                running.append(story.running())
        assert wrong(story) == []
    roll_up(story)
    assert wrong(story) == []


def test_queues_figures_and_counts_are_the_same_whether_kept_or_counted_by_rows(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    for state in State:
        if state is not State.NEW:
            story.bring(state)
    story.submit("mail", queue="night", priority=9)
    story.clock.forward(HOUR)
    story.submit("mail", queue="night", priority=1)
    filters = [JobFilter(), JobFilter(queue="night"), JobFilter(task="mail"), *map(JobFilter, State)]

    def all_told() -> object:
        figures = metrics.figures(story.store)
        return queues.listed(story.store), figures.depths, [read.counted(story.store, one) for one in filters]

    by_rows_at_first = all_told()
    roll_up(story)
    by_what_is_kept = all_told()
    for one in (depths.now, depths.live):
        monkeypatch.setattr(one, "__defaults__", (-1,))
    assert all_told() == by_what_is_kept == by_rows_at_first
    (night,) = [queue for queue in queues.listed(story.store) if queue.name == "night"]
    assert night == Queue("night", queued=2)
    (depth,) = [one for one in metrics.figures(story.store).depths if one.queue == "night"]
    assert depth.oldest == story.clock.now() - HOUR, "whatever its priority"


def test_moves_that_are_too_many_to_be_added_are_left_to_the_rows(story: Story) -> None:
    story.submit_many([JobRequest("send")] * 5)
    assert story.store.read(lambda tx: depths.now(tx, 4)) is None
    assert story.store.read(lambda tx: depths.now(tx, 5)) == {Where("shop", "shop.send", "queued"): 5}
    roll_up(story)
    assert story.store.read(lambda tx: depths.now(tx, 0)) == {Where("shop", "shop.send", "queued"): 5}


def test_a_job_that_goes_before_its_moves_are_counted_makes_the_count_begin_again(story: Story) -> None:
    roll_up(story)
    gone, stays = story.bring(State.SUCCEEDED), story.submit()
    stretch = story.store.read(lambda tx: series.unread(tx, counted_up_to(story) or 0, 100), latest=True)
    forget(story, gone)
    begins = counted_up_to(story)
    assert begins is not None
    assert begins < 0
    moved = story.store.write(lambda tx: series.go_on(tx, DEPTHS, stretch.before, stretch.until))
    assert not moved, "what was read with the moves of a job that is gone is not taken"
    assert wrong(story) == []
    other = story.bring(State.DEAD)
    story.submit()
    forget(story, other)
    assert (counted_up_to(story) or 0) < begins, "by a number that nobody has read from"
    roll_up(story)
    assert wrong(story) == []
    assert kept(story) == {Where("shop", "shop.send", "queued"): 2}
    assert story.state(stays) is State.QUEUED


def test_a_job_that_goes_later_is_taken_off(story: Story) -> None:
    jobs = [story.bring(State.SUCCEEDED) for _ in range(3)]
    story.submit()
    roll_up(story)
    up_to = counted_up_to(story)
    story.clock.forward(9 * DAY)
    assert forget(story, *jobs[:2]) == 2
    assert counted_up_to(story) == up_to
    assert kept(story)[Where("shop", "shop.send", "succeeded")] == 1
    assert wrong(story) == []


def counts(story: Story, *, repair: bool = False) -> Finding:
    (found,) = [one for one in check(story.store, repair=repair) if one.name == "counts"]
    return found


def test_a_count_that_is_wrong_is_named_and_put_right_when_that_is_asked_for(story: Story, bench: Bench) -> None:
    story.submit_many([JobRequest("send")] * 2)
    ended = story.bring(State.SUCCEEDED)
    roll_up(story)
    bench.alter(story.store, "update depth set jobs = 7 where state = 'queued'")
    bench.alter(story.store, "delete from depth where state = 'succeeded'")
    details = [
        "queue shop, task shop.send: 7 queued, and 2 are there",
        "queue shop, task shop.send: 0 succeeded, and 1 are there",
    ]
    found = counts(story)
    assert (found.level, found.details) == (Level.FAULT, details)
    story.submit()  # not counted yet
    found = counts(story, repair=True)
    assert (found.level, found.text) == (Level.OK, "2 kept counts were put right.")
    assert found.details == ["queue shop, task shop.send: 8 queued, and 3 are there", details[1]]
    assert wrong(story) == []
    assert counts(story, repair=True).text == "Kept counts are what the rows say."
    roll_up(story)
    forget(story, ended)
    assert wrong(story) == [], "what comes and goes is counted as before"


def test_counts_that_begin_again_while_they_are_put_right_are_left_to_themselves(story: Story, bench: Bench) -> None:
    story.submit_many([JobRequest("send")] * 2)
    roll_up(story)
    up_to = counted_up_to(story) or 0
    bench.alter(story.store, "update depth set jobs = 7 where state = 'queued'")
    missing = Counter({spot: there - told for spot, there, told in wrong(story)})
    ended = story.bring(State.SUCCEEDED)
    story.submit()
    forget(story, ended)  # not counted yet, so all begins again
    assert not story.store.write(lambda tx: depths.correct(tx, seen=up_to, missing=missing))
    assert wrong(story) == []
