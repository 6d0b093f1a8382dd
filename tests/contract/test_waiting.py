"""Jobs that wait: promotion, cancel, expiry, and retry by hand."""

from __future__ import annotations

import pytest

from mainspring.clock import DAY, HOUR, MINUTE, SECOND
from mainspring.domain.job import JobRequest
from mainspring.domain.states import FINAL, Outcome, State
from mainspring.domain.task import Lodging
from mainspring.errors import IllegalState, ReplayLive, UnknownJob
from mainspring.store import lanes
from mainspring.transitions.waiting import BATCH
from tests.contract.engines import asked
from tests.contract.stories import LEASE, Story

# --- promotion ------------------------------------------------------------------------------------------------------


def test_a_job_is_promoted_at_its_due_instant_and_not_before(story: Story) -> None:
    job = story.submit(delay="10s")
    story.clock.forward(10 * SECOND - 1)
    assert story.promote() == 0
    assert story.state(job) is State.SCHEDULED
    story.clock.forward(1)
    assert story.promote() == 1
    assert story.state(job) is State.QUEUED
    assert story.promote() == 0


def test_promoted_jobs_keep_the_order_of_their_due_instants(story: Story) -> None:
    late, early = story.submit(delay="9s"), story.submit(delay="3s")
    story.clock.forward(MINUTE)
    story.promote()
    due = {row[0]: row[3] for row in story.dump()["ready"]}
    assert due[late] - due[early] == 6 * SECOND


def test_promotion_goes_in_batches_of_bounded_size_earliest_first(story: Story) -> None:
    ids = story.submit_many([JobRequest("send", delay=1 + n % 7) for n in range(BATCH + 50)])
    story.clock.forward(MINUTE)
    assert story.promote() == BATCH
    left = [row[0] for row in asked(story.store, "select job from due")]
    assert {story.job(job).run_at for job in left} == {story.job(ids[6]).run_at}
    assert story.promote() == 50
    assert story.promote() == 0


# --- cancel ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [State.SCHEDULED, State.QUEUED, State.RETRYING])
def test_a_waiting_job_is_cancelled_at_once_and_never_starts(story: Story, state: State) -> None:
    job = story.bring(state)
    answer = story.cancel(job)
    assert answer.state is State.CANCELLED
    assert answer.finished_at == story.clock.now()
    story.clock.forward(DAY)
    story.promote()
    assert story.claim(job) == {}
    assert story.state(job) is State.CANCELLED


def test_a_running_job_is_asked_and_its_end_is_cancelled_whatever_it_reports(story: Story) -> None:
    for outcome in Outcome:
        job = story.running()
        answer = story.cancel(job)
        assert (answer.state, answer.cancel_requested) == (State.RUNNING, True)
        assert story.cancel(job).cancel_requested, "asked twice is asked"
        story.end(job, outcome)
        shown = story.job(job)
        assert (shown.state, shown.result) == (State.CANCELLED, None), outcome


def test_a_cancel_is_carried_out_also_when_the_worker_is_lost(story: Story) -> None:
    job = story.running()
    story.cancel(job)
    story.clock.forward(LEASE + 1)
    story.lose_expired()
    assert story.state(job) is State.CANCELLED


def test_a_cancel_reaches_all_descendants_also_below_ended_ones(story: Story) -> None:
    top = story.running()
    waiting = story.submit(parent=top, delay="1h")
    running = story.running(parent=top)
    ended = story.running(parent=top)
    below = story.submit(parent=ended)
    deep = story.submit(parent=below)
    stranger = story.submit()
    story.end(ended)
    story.cancel(top)
    assert [story.state(job) for job in (waiting, below, deep)] == [State.CANCELLED] * 3
    assert story.state(ended) is State.SUCCEEDED, "an end is final"
    assert story.state(stranger) is State.QUEUED
    assert story.job(running).cancel_requested
    story.end(running, Outcome.FAILED)
    assert story.state(running) is State.CANCELLED


@pytest.mark.parametrize("how", ["reported", "lost"])
def test_what_a_cancelled_job_submits_before_it_heeds_is_cancelled_with_it(story: Story, how: str) -> None:
    job = story.running()
    story.cancel(job)
    child = story.submit(parent=job)
    grandchild = story.running(parent=child)
    if how == "lost":
        story.clock.forward(LEASE + 1)
        story.lose(*[seen for seen in story.seen() if seen.job == job])
    else:
        story.end(job, Outcome.CANCELLED)
    assert story.state(child) is State.CANCELLED
    assert story.job(grandchild).cancel_requested


def test_a_failure_leaves_the_children_alone(story: Story) -> None:
    job = story.running("once")
    child = story.submit(parent=job)
    story.end(job, Outcome.FAILED)
    assert (story.state(job), story.state(child)) == (State.DEAD, State.QUEUED)


def test_an_ended_job_can_not_be_cancelled_and_the_refusal_names_its_state(story: Story) -> None:
    for state in sorted(FINAL):
        job = story.bring(state)
        before = story.dump()
        with pytest.raises(IllegalState) as refusal:
            story.cancel(job)
        assert refusal.value.state == state.value
        assert story.dump() == before


def test_a_job_that_was_never_given_is_unknown_however_large_its_number(story: Story) -> None:
    for number in (0, -1, 999, 2**63 - 1, 2**63, 2**200):
        for ask in (story.cancel, story.retry, story.job):
            with pytest.raises(UnknownJob, match=f"unknown job {number}"):
                ask(number)


# --- expiry ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [State.SCHEDULED, State.QUEUED, State.RETRYING])
def test_a_waiting_job_ends_dead_at_its_expiry_and_not_before(story: Story, state: State) -> None:
    job = story.bring(state, expires="1h")
    story.clock.forward(HOUR - 1)
    assert story.expire() == 0
    story.clock.forward(1)
    assert story.expire() == 1
    shown = story.job(job)
    assert shown.state is State.DEAD
    assert shown.error is not None
    assert shown.error.type == "Expired"
    assert story.expire() == 0


def test_a_job_that_runs_or_has_ended_keeps_what_it_has_when_its_expiry_comes(story: Story) -> None:
    running = story.running(expires="1h")
    ended = story.bring(State.SUCCEEDED, expires="1h")
    story.clock.forward(HOUR)
    assert story.expire() == 0
    assert (story.state(running), story.state(ended)) == (State.RUNNING, State.SUCCEEDED)
    assert story.dump()["expiry"] == [], "and it is not looked at again"


# --- retry by hand --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", sorted(FINAL))
def test_an_ended_job_is_retried_as_a_new_one_that_points_to_it(story: Story, state: State) -> None:
    old = story.bring(state, params={"n": 1}, priority=2, tags={"a": "b"}, meta=[1], timeout="9s", expires="1h")
    before = story.job(old)
    new = story.retry(old)
    assert (new.state, new.replay_of, new.attempt) == (State.QUEUED, old, 0)
    for field in ("task", "params", "priority", "queue", "tags", "meta", "timeout", "retry"):
        assert getattr(new, field) == getattr(before, field), field
    assert new.expires_at is None, "the old expiry is past or nearly so"
    assert story.job(old).replayed_by == new.id
    assert story.job(old).state is state
    assert story.moves(new.id) == [("submit", "new", "queued")]


def test_a_live_job_can_not_be_retried_by_hand(story: Story) -> None:
    for state in (State.SCHEDULED, State.QUEUED, State.RUNNING, State.RETRYING):
        job = story.bring(state)
        before = story.dump()
        with pytest.raises(IllegalState) as refusal:
            story.retry(job)
        assert (refusal.value.state, refusal.value.http_status) == (state.value, 409)
        assert story.dump() == before


def test_one_replay_at_a_time(story: Story) -> None:
    job = story.bring(State.DEAD)
    first = story.retry(job)
    with pytest.raises(ReplayLive, match=str(first.id)) as refusal:
        story.retry(job)
    assert refusal.value.http_status == 409
    story.claim(first.id)
    with pytest.raises(ReplayLive):
        story.retry(job)
    story.end(first.id, Outcome.FAILED, final=True)
    second = story.retry(job)
    assert story.job(job).replayed_by == second.id
    third = story.retry(first.id)
    assert third.replay_of == first.id, "a replay can be replayed too"


def test_a_replay_of_a_job_that_ended_alone_starts_in_company(story: Story) -> None:
    job = story.running()
    story.end(job, Outcome.CRASHED, shared=1)
    story.claim(job)
    story.end_all([story.ending(job, Outcome.CRASHED, final=True)], alone=True)
    assert story.state(job) is State.DEAD
    replay = story.retry(job)
    lane = {row[0]: row[1] for row in story.dump()["ready"]}[replay.id]
    assert story.store.read(lambda tx: lanes.lodging_of(tx, lane)) is Lodging.SHARED
