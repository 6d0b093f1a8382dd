"""Births: what a submit stores, all or nothing, and what it refuses."""

from __future__ import annotations

import pytest

from mainspring import faults
from mainspring.clock import DAY, HOUR, MINUTE, SECOND, Duration, Instant, instant_text
from mainspring.control.catalog import declare
from mainspring.control.submit import MOST_PER_SUBMIT
from mainspring.domain.job import ATOMIC, PAYLOAD_LIMIT, JobRequest
from mainspring.domain.states import State
from mainspring.errors import (
    InvalidOption,
    InvalidParameters,
    InvalidText,
    MainspringError,
    PayloadTooLarge,
    StoreBusy,
    TooManyJobs,
    UnknownTask,
)
from mainspring.faults import FaultPoint, InjectedFault
from tests.contract.engines import unsound
from tests.contract.stories import Story, app_of, task


def test_a_submitted_job_is_queued_and_shows_what_was_asked_for(story: Story) -> None:
    asked = JobRequest(
        "send",
        {"order": 7, "text": "naïve ☃ 𝄞", "nested": [{"a": None}, 1.5, True]},
        queue="express",
        priority=-3,
        retry={"max_attempts": 9},
        timeout="30s",
        expires="1h",
        tags={"team": "mail", "größe": "ß=1"},
        meta={"from": ["a", 1]},
    )
    now = story.clock.now()
    (number,) = story.submit_many([asked])
    job = story.job(number)
    assert (job.id, job.task, job.state, job.queue, job.priority) == (number, "shop.send", State.QUEUED, "express", -3)
    assert (job.params, job.tags, job.meta) == (asked.params, asked.tags, asked.meta)
    assert (job.max_attempts, job.retry["max_losses"], job.timeout) == (9, 1, "30s"), "the rest is the task's own"
    assert (job.created_at, job.run_at, job.expires_at) == (now, now, now + HOUR)
    assert (job.attempt, job.result, job.error, job.started_at, job.finished_at) == (0, None, None, None, None)
    assert (job.worker, job.parent, job.replay_of, job.replayed_by, job.cancel_requested) == (None,) * 4 + (False,)
    assert story.moves(number) == [("submit", "new", "queued")]


def test_a_job_for_later_waits_in_due_until_its_instant(story: Story) -> None:
    now = story.clock.now()
    delayed = story.submit(delay="10m")
    at_instant = story.submit(run_at=instant_text(Instant(now + DAY)))
    past = story.submit(run_at="2001-01-01T00:00:00+01:00")
    assert [story.job(one).state for one in (delayed, at_instant, past)] == [
        State.SCHEDULED,
        State.SCHEDULED,
        State.QUEUED,
    ]
    assert story.job(delayed).run_at == now + 10 * MINUTE
    assert story.job(at_instant).run_at == now + DAY
    assert story.moves(delayed) == [("schedule", "new", "scheduled")]


def test_ids_are_given_in_order_and_never_twice(story: Story) -> None:
    first = story.submit_many([JobRequest("send") for _ in range(50)])
    with pytest.raises(InvalidParameters):
        story.submit_many([JobRequest("send"), JobRequest("send", params=[])])  # type: ignore[arg-type]
    second = story.submit_many([JobRequest("send") for _ in range(50)])
    both = first + second
    assert both == sorted(set(both))


def test_nothing_is_stored_of_a_submit_of_which_one_job_is_wrong(story: Story) -> None:
    before = story.dump()
    wrong: list[tuple[JobRequest, type[MainspringError]]] = [
        (JobRequest("sned"), UnknownTask),
        (JobRequest("send", priority=1001), InvalidOption),
        (JobRequest("send", {"a": "nul \0 in it"}), InvalidText),
        (JobRequest("send", {"a": "x" * (2 * PAYLOAD_LIMIT)}), PayloadTooLarge),
        (JobRequest("send", unique=""), InvalidOption),
        (JobRequest("send", delay="1s", run_at="2030-01-01T00:00:00Z"), InvalidOption),
    ]
    for request, error in wrong:
        with pytest.raises(error) as refused:
            story.submit_many([JobRequest("send"), request, JobRequest("send"), JobRequest("nobody")])
        assert refused.value.index == 1
    assert story.dump() == before


def test_of_several_schemas_each_says_what_it_misses_but_for_the_one_that_is_null(story: Story) -> None:
    either = {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]}
    number = {"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]}
    schema = {"type": "object", "properties": {"who": either, "what": number}}
    declare(story.store, app_of(task("post.card", schema=schema)))
    with pytest.raises(InvalidParameters, match=r"'who': \"ann\" is not a \"uuid\"\. ") as wrong:
        story.submit("post.card", params={"who": "ann"})
    assert wrong.value.field == "params.who"
    with pytest.raises(InvalidParameters, match=r"not of type \"integer\", and \[\] is not of type \"string\""):
        story.submit("post.card", params={"what": []})
    assert story.submit("post.card", params={"who": None})


def test_a_submit_that_fails_before_its_commit_stores_nothing(story: Story) -> None:
    def stop(point: FaultPoint) -> None:
        if point is FaultPoint.SUBMIT_BEFORE_COMMIT:
            raise InjectedFault(point.value)

    before = story.dump()
    faults.arm(stop)
    try:
        with pytest.raises(InjectedFault):
            story.submit()
    finally:
        faults.arm(None)
    assert story.dump() == before
    assert story.state(story.submit()) is State.QUEUED


def test_a_submit_whose_answer_is_lost_is_stored(story: Story) -> None:
    def stop(point: FaultPoint) -> None:
        if point is FaultPoint.SUBMIT_AFTER_COMMIT:
            raise InjectedFault(point.value)

    faults.arm(stop)
    try:
        with pytest.raises(InjectedFault):
            story.submit()
    finally:
        faults.arm(None)
    assert len(story.dump()["job"]) == 1


def test_many_jobs_share_their_policy_and_lane_rows(story: Story) -> None:
    before = story.dump()
    story.submit_many([JobRequest("send", {"n": n}) for n in range(200)])
    after = story.dump()
    assert len(after["job"]) == len(after["ready"]) == len(after["event"]) == 200
    assert (len(after["policy"]), len(after["lane"])) == (len(before["policy"]) + 1, len(before["lane"]) + 1)


def test_an_empty_submit_is_fine_and_one_over_the_limit_is_refused_before_it_is_looked_at(story: Story) -> None:
    assert story.submit_many([]) == []
    with pytest.raises(TooManyJobs, match=f"{MOST_PER_SUBMIT + 1:,}"):
        story.submit_many([JobRequest("nobody")] * (MOST_PER_SUBMIT + 1))


def test_a_large_submit_goes_in_several_commits_and_says_how_far_it_came(story: Story) -> None:
    commits = 0

    def stop(point: FaultPoint) -> None:
        nonlocal commits
        if point is FaultPoint.SUBMIT_BEFORE_COMMIT:
            commits += 1
            if commits == 3:
                raise StoreBusy("The disk is full.")

    faults.arm(stop)
    try:
        with pytest.raises(StoreBusy, match=f"{2 * ATOMIC:,} of {3 * ATOMIC:,} jobs were stored"):
            story.submit_many([JobRequest("send")] * (3 * ATOMIC))
    finally:
        faults.arm(None)
    assert len(story.dump()["job"]) == len(story.dump()["ready"]) == 2 * ATOMIC
    assert len(set(story.submit_many([JobRequest("send")] * (ATOMIC + 1)))) == ATOMIC + 1


def test_a_child_knows_its_parent(story: Story) -> None:
    parent = story.running()
    child = story.submit(parent=parent)
    assert story.job(child).parent == parent


def test_what_was_born_is_in_exactly_one_place(story: Story) -> None:
    for delay in (None, "1s", "0s"):
        story.submit(delay=delay)
    assert unsound(story.store) == []


def test_delay_and_expiry_count_from_the_commit_by_the_stores_clock(story: Story) -> None:
    job = story.submit(delay="2s", expires=90)
    shown = story.job(job)
    assert shown.run_at - shown.created_at == 2 * SECOND
    assert shown.expires_at == shown.created_at + Duration(90 * SECOND)


def test_every_refusal_is_an_error_of_ours(story: Story) -> None:
    for request in (
        JobRequest("send", delay="soon"),
        JobRequest("send", timeout=0),
        JobRequest("send", retry={"max_attempts": 0}),
        JobRequest("send", retry={"nonsense": 1}),
        JobRequest("send", run_at="tomorrow"),
        JobRequest("send", queue="a b"),
        JobRequest("send", tags={"": "x"}),
        JobRequest("send", meta=float("nan")),
        JobRequest("send", expires="-1s"),
    ):
        with pytest.raises(MainspringError) as refusal:
            story.submit_many([request])
        assert refusal.value.http_status == 422, request
