"""Ends of attempts: the fence, what is charged, what follows, and what is written."""

from __future__ import annotations

import pytest

from mainspring.clock import MINUTE, SECOND, Instant
from mainspring.control.catalog import declare
from mainspring.domain.attempt import Failure, Tally
from mainspring.domain.ids import ClaimId
from mainspring.domain.retry import MOST_RELEASES
from mainspring.domain.states import Charge, Outcome, State
from mainspring.domain.task import Lodging
from mainspring.store import jobs, lanes
from mainspring.store.workers import SeenLease
from tests.contract.stories import BOOM, LEASE, NOBODY, Story, app_of, task


def history(story: Story, job: int) -> list[tuple[int, Outcome | None, Charge | None]]:
    found = story.store.read(lambda tx: jobs.attempts(tx, job))
    return [(attempt.number, attempt.outcome, attempt.charge) for attempt in found]


# --- what is written ------------------------------------------------------------------------------------------------


def test_a_success_ends_the_job_with_its_result(story: Story) -> None:
    job = story.running()
    began = story.clock.now()
    story.clock.forward(3 * SECOND)
    settled = story.end(job, result=b'{"sum": 3}', sandbox="S1", details=b'"done"')
    assert list(settled.verdicts) == [job]
    assert settled.fenced == []
    shown = story.job(job)
    assert (shown.state, shown.result, shown.error, shown.attempt) == (State.SUCCEEDED, {"sum": 3}, None, 1)
    assert (shown.started_at, shown.finished_at, shown.worker) == (began, began + 3 * SECOND, "alpha")
    (attempt,) = story.store.read(lambda tx: jobs.attempts(tx, job))
    assert (attempt.outcome, attempt.charge, attempt.sandbox) == (Outcome.SUCCEEDED, Charge.ATTEMPT, "S1")
    assert (attempt.started_at, attempt.ended_at, attempt.details) == (began, began + 3 * SECOND, b'"done"')


def test_parameters_that_do_not_fit_are_tried_again_only_where_other_code_may_take_them(story: Story) -> None:
    job = story.running()
    story.end(job, Outcome.FAILED, unfit=True)
    assert (story.state(job), story.job(job).attempt) == (State.DEAD, 1)
    other = story.running()
    story.hello("beta", code_hash="two")
    story.end(other, Outcome.FAILED, unfit=True)
    assert story.state(other) is State.RETRYING, "a deploy is under way"


def test_parameters_that_do_not_fit_old_code_wait_for_the_new(story: Story) -> None:
    job = story.running()
    declare(story.store, app_of(task("shop.send", description="takes more"), code_hash="two"))
    story.end(job, Outcome.FAILED, unfit=True)
    assert story.state(job) is State.RETRYING


def test_a_failure_is_retried_after_its_delay_and_then_dead(story: Story) -> None:
    job = story.running()
    story.end(job, Outcome.FAILED)
    shown = story.job(job)
    assert (shown.state, shown.error, shown.attempt) == (State.RETRYING, BOOM, 1)
    story.clock.forward(10 * SECOND - 1)
    assert story.promote() == 0, "a backoff is kept to the microsecond"
    story.clock.forward(1)
    assert story.promote() == 1
    story.claim(job)
    last = Failure("KeyError", "'x'", "Traceback ...", ("KeyError",), {"exit_code": 3})
    story.end(job, Outcome.FAILED, failure=last)
    shown = story.job(job)
    assert (shown.state, shown.error, shown.attempt) == (State.DEAD, last, 2)
    assert history(story, job) == [(1, Outcome.FAILED, Charge.ATTEMPT), (2, Outcome.FAILED, Charge.ATTEMPT)]
    assert story.moves(job) == [
        ("submit", "new", "queued"),
        ("claim", "queued", "running"),
        ("retry", "running", "retrying"),
        ("promote", "retrying", "queued"),
        ("claim", "queued", "running"),
        ("exhaust", "running", "dead"),
    ]


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.CANCELLED])
def test_what_goes_wrong_by_the_codes_fault_counts_to_max_attempts(story: Story, outcome: Outcome) -> None:
    job = story.running("once")
    story.end(job, outcome)
    assert story.state(job) is State.DEAD
    assert history(story, job) == [(1, outcome, Charge.ATTEMPT)]


def test_what_is_no_fault_of_the_code_does_not_use_up_attempts(story: Story) -> None:
    job = story.running()
    for number, (outcome, values) in enumerate([(Outcome.RELEASED, {}), (Outcome.CRASHED, {"shared": 1})], 1):
        story.end(job, outcome, **values)
        assert story.state(job) is State.QUEUED, "at once, without a backoff"
        story.claim(job)
        assert story.job(job).attempt == number + 1
    tally = story.store.read(lambda tx: jobs.tally(tx, job))
    assert tally == Tally(attempts=0, losses=0, suspects=1, releases=1)
    story.end(job, Outcome.FAILED)
    assert story.state(job) is State.RETRYING, "this is its first charged attempt of two"


def test_releases_are_capped(story: Story) -> None:
    job = story.running("once")
    for _ in range(MOST_RELEASES):
        story.end(job, Outcome.RELEASED)
        story.claim(job)
    story.end(job, Outcome.RELEASED)
    assert story.state(job) is State.DEAD


def test_losses_are_capped_and_the_end_says_so(story: Story) -> None:
    job = story.running()
    for _ in range(2):
        story.clock.forward(LEASE + 1)
        assert story.lose_expired() == [job]
        story.claim(job)
    shown = story.job(job)
    assert shown.state is State.DEAD
    assert shown.error is not None
    assert "max_losses=1" in shown.error.message
    assert history(story, job) == [(1, Outcome.LOST, Charge.LOSS), (2, Outcome.LOST, Charge.LOSS)]


def test_at_most_once_means_that_a_lost_job_does_not_run_again(story: Story) -> None:
    job = story.running("once")
    story.clock.forward(LEASE + 1)
    story.lose_expired()
    assert story.state(job) is State.DEAD


def test_a_job_that_went_down_with_others_runs_again_alone_and_then_in_company(story: Story) -> None:
    job = story.running()
    story.end(job, Outcome.CRASHED, shared=3)
    assert lodging(story, job) is Lodging.ALONE
    story.claim(job)
    story.end_all([story.ending(job, Outcome.FAILED)], alone=True)
    assert lodging(story, job) is Lodging.SHARED


def lodging(story: Story, job: int) -> Lodging:
    place = story.dump()["ready" if story.state(job) is State.QUEUED else "due"]
    (row,) = [row for row in place if row[0] == job]
    lane = row[1] if story.state(job) is State.QUEUED else row[3]
    return story.store.read(lambda tx: lanes.lodging_of(tx, lane))


@pytest.mark.parametrize("how", ["released", "crashed", "lost"])
def test_a_job_that_was_given_back_goes_before_those_that_came_after_it(story: Story, how: str) -> None:
    job = story.running()
    story.clock.forward(SECOND)
    later = story.submit()
    if how == "lost":
        story.clock.forward(LEASE + 1)
        story.lose_expired()
    else:
        story.end(job, Outcome(how), shared=2 if how == "crashed" else 0)
    due = {row[0]: row[3] for row in story.dump()["ready"]}
    assert due[job] < due[later]


def test_the_error_chooses_its_own_delay(story: Story) -> None:
    job = story.running()
    story.end(job, Outcome.FAILED, retry_after=7 * MINUTE)
    (event,) = [row for row in story.dump()["due"] if row[0] == job]
    assert event[1] == story.clock.now() + 7 * MINUTE


# --- the fence ------------------------------------------------------------------------------------------------------


def test_the_end_of_another_claim_changes_nothing(story: Story) -> None:
    job = story.running()
    before = story.dump()
    for outcome in Outcome:
        for claim in (NOBODY, ClaimId(story.claims[job] + 1), ClaimId(0)):
            settled = story.end(job, outcome, claim=claim)
            assert settled.verdicts == {}
            assert settled.fenced == [(job, claim)]
        assert story.dump() == before


def test_a_woken_worker_can_not_end_what_was_taken_from_it(story: Story) -> None:
    job = story.running()
    old = story.claims[job]
    story.clock.forward(LEASE + 1)
    story.lose_expired()
    beta = story.hello("beta")
    story.claim(job, worker=beta)
    before = story.dump()
    assert story.end(job, claim=old).fenced == [(job, old)]
    assert not story.renew(job, old)
    assert story.store.write(lambda tx: jobs.note_details(tx, [('"stale"', job, old)])) is None
    assert story.lose(SeenLease(job, old, story.clock.now())) == []
    assert story.dump() == before
    story.end(job)
    assert story.job(job).worker == "beta"
    assert story.end(job, claim=old).fenced == [(job, old)]


def test_the_same_end_twice_counts_once(story: Story) -> None:
    job = story.running()
    ending = story.ending(job, Outcome.SUCCEEDED)
    settled = story.end_all([ending, ending])
    assert list(settled.verdicts) == [job]
    assert settled.fenced == [(job, ending.claim)]
    assert story.end_all([ending]).fenced == [(job, ending.claim)]
    assert history(story, job) == [(1, Outcome.SUCCEEDED, Charge.ATTEMPT)]


def test_one_fenced_end_in_a_batch_does_not_stop_the_others(story: Story) -> None:
    ids = [story.running() for _ in range(5)]
    endings = [story.ending(job, Outcome.SUCCEEDED) for job in ids]
    endings[2] = story.ending(ids[2], Outcome.SUCCEEDED, claim=NOBODY)
    settled = story.end_all(endings)
    assert settled.fenced == [(ids[2], NOBODY)]
    assert [story.state(job) for job in ids] == [State.RUNNING if job == ids[2] else State.SUCCEEDED for job in ids]


# --- leases ---------------------------------------------------------------------------------------------------------


def test_a_lease_is_renewed_only_by_its_holder(story: Story) -> None:
    job = story.running()
    until = Instant(story.clock.now() + LEASE)
    assert not story.renew(job, NOBODY, Instant(until + MINUTE))
    assert story.seen()[0].until == until
    assert story.renew(job, until=Instant(until + SECOND))
    assert story.seen()[0].until == until + SECOND


def test_after_the_clock_was_set_back_a_renewal_shortens_the_lease(story: Story) -> None:
    job = story.running()
    until = Instant(story.clock.now() + LEASE)
    assert story.renew(job, until=Instant(until - SECOND))
    assert story.seen()[0].until == until - SECOND, "else an orphan would wait for as long as the clock was ahead"


def test_an_owner_may_renew_an_expired_lease_that_nobody_took(story: Story) -> None:
    job = story.running()
    seen = story.seen()
    story.clock.forward(10 * LEASE)
    assert story.renew(job)
    assert story.lose(*seen) == [], "the sweeper saw another deadline"
    assert story.state(job) is State.RUNNING


def test_a_lease_is_not_lost_before_it_has_expired(story: Story) -> None:
    job = story.running()
    story.clock.forward(LEASE)
    before = story.dump()
    assert story.lose_expired() == []
    assert story.dump() == before
    story.clock.forward(1)
    (seen,) = story.seen()
    other_claim, other_deadline = seen._replace(claim=NOBODY), seen._replace(until=Instant(seen.until - 1))
    assert story.lose(other_claim, other_deadline) == []
    assert story.dump() == before
    assert story.lose_expired() == [job]


def test_two_sweepers_that_saw_the_same_lease_take_it_once(story: Story) -> None:
    ids = [story.running() for _ in range(20)]
    seen = story.seen()
    story.clock.forward(LEASE + 1)
    assert sorted(story.lose(*seen)) == ids
    assert story.lose(*seen) == []
    assert {number for job in ids for number, _, _ in history(story, job)} == {1}


def test_recorded_times_of_a_job_never_go_back_though_the_clock_does(story: Story) -> None:
    job = story.submit()
    story.clock.jump(-MINUTE)
    story.claim(job)
    story.clock.jump(-MINUTE)
    story.end(job, Outcome.FAILED, retry_after=0)
    story.clock.forward(5 * MINUTE)
    story.promote()
    story.clock.jump(-10 * MINUTE)
    story.claim(job)
    story.end(job)
    times = [row[2] for row in story.dump()["event"] if row[1] == job]
    assert times == sorted(times)
    shown = story.job(job)
    assert shown.started_at is not None
    assert shown.finished_at is not None
    assert shown.created_at <= shown.started_at <= shown.finished_at
