"""One action on all jobs that a filter matches: bounded, in pages, told to the job."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.clock import SECOND
from mainspring.control.bulk import bulk
from mainspring.domain.bulk import Bulk, BulkDone
from mainspring.domain.job import JobFilter, JobRequest, Unique
from mainspring.domain.states import State
from mainspring.errors import InvalidCursor, InvalidInput, InvalidOption, UnknownTask
from tests.contract.stories import Story


def act(story: Story, action: Any, **how: Any) -> BulkDone:
    page = {name: how.pop(name) for name in ("dry_run", "limit", "cursor") if name in how}
    return bulk(story.store, Bulk(action, JobFilter(**how), **page), actor="ann")


def test_all_that_wait_or_run_are_cancelled_and_others_are_left(story: Story) -> None:
    jobs = {state: story.bring(state, tags={"city": "Bern"}) for state in set(State) - {State.NEW}}
    other = story.submit()
    live = {State.SCHEDULED, State.QUEUED, State.RETRYING, State.RUNNING}
    assert act(story, "cancel", tag="city=Bern", dry_run=True) == BulkDone(4, 0, {}, None)
    assert story.state(jobs[State.QUEUED]) is State.QUEUED, "a dry run changes nothing"
    assert act(story, "cancel", tag="city=Bern") == BulkDone(4, 4, {}, None)
    assert {story.state(jobs[state]) for state in live - {State.RUNNING}} == {State.CANCELLED}
    assert story.job(jobs[State.RUNNING]).cancel_requested
    assert [story.state(jobs[state]) for state in (State.SUCCEEDED, State.DEAD)] == [State.SUCCEEDED, State.DEAD]
    assert story.state(other) is State.QUEUED


def test_it_goes_on_where_it_ended_until_all_are_done(story: Story) -> None:
    story.submit_many([JobRequest("send", queue="mail")] * 130)
    story.submit_many([JobRequest("send", queue="mail", delay="1h")] * 20)
    story.submit("send", queue="shop")
    done, cursor, asked = 0, None, 0
    while asked == 0 or cursor is not None:
        told = act(story, "cancel", queue="mail", limit=60, cursor=cursor)
        assert told.matched <= 60
        done, cursor, asked = done + told.changed, told.next, asked + 1
    assert (done, asked) == (150, 3)
    assert act(story, "cancel", queue="mail", dry_run=True).matched == 0
    assert act(story, "cancel", queue="shop", dry_run=True).matched == 1


def test_a_slow_store_gets_no_more_than_ten_seconds_of_one_request(story: Story) -> None:
    story.submit_many([JobRequest("send", queue="mail")] * 130)
    slow = story.store.write

    def slowly(*asked: Any, **how: Any) -> Any:
        story.clock.forward(6 * SECOND)
        return slow(*asked, **how)

    story.store.write = slowly  # type: ignore[method-assign]
    told = act(story, "cancel", queue="mail")
    assert (told.matched, told.changed) == (100, 100)
    assert act(story, "cancel", queue="mail", cursor=told.next) == BulkDone(30, 30, {}, None)


def test_what_can_not_be_retried_is_skipped_and_told_by_its_code(story: Story) -> None:
    unique = Unique("key", on_conflict="reject")
    first = story.bring(State.CANCELLED, unique=unique)
    story.submit(unique=unique)
    dead = story.bring(State.DEAD)
    story.bring(State.SUCCEEDED)
    told = act(story, "retry", task="send")
    assert told == BulkDone(2, 1, {"key_held": 1}, None)
    assert story.job(dead).replayed_by is not None
    assert story.job(first).replayed_by is None
    assert act(story, "retry", state=State.DEAD) == BulkDone(1, 0, {"replay_live": 1}, None)


NOT_TAKEN: list[tuple[dict[str, Any], type[Exception]]] = [
    ({}, InvalidInput),
    ({"state": State.DEAD}, InvalidOption),
    ({"task": "nobody"}, UnknownTask),
    ({"queue": "mail", "limit": 0}, InvalidInput),
    ({"queue": "mail", "limit": 10_001}, InvalidInput),
    ({"queue": "mail", "cursor": "dead-5"}, InvalidCursor),
    ({"queue": "mail", "cursor": "queued-x"}, InvalidCursor),
    ({"queue": "mail", "cursor": "5"}, InvalidCursor),
]


def test_what_it_does_not_take(story: Story) -> None:
    job = story.submit(queue="mail")
    for how, error in NOT_TAKEN:
        with pytest.raises(error):
            act(story, "cancel", **how)
        assert story.state(job) is State.QUEUED
