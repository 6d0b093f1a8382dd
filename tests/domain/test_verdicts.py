"""What follows the end of an attempt: each rule as a case, and whole lives of jobs against the promises."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mainspring.clock import HOUR, SECOND, Duration, Instant, duration
from mainspring.domain.attempt import Ending, Failure, Tally
from mainspring.domain.ids import ClaimId, JobId
from mainspring.domain.retry import MOST_RELEASES, Retry
from mainspring.domain.states import Cause, Charge, Outcome, State, next_state
from mainspring.domain.verdicts import Verdict, after_ending, after_loss

NOW = Instant(1_800_000_000_000_000)
BROKEN = Failure("ValueError", "no", types=("ValueError", "Exception"))
STEADY = Retry(max_attempts=3, max_losses=2, delay="10s", factor=2, jitter=0)


def ending(outcome: Outcome, **facts: Any) -> Ending:
    failure = None if outcome is Outcome.SUCCEEDED else BROKEN
    plain = Ending(JobId(1), ClaimId(1), outcome, failure=failure)
    return msgspec.structs.replace(plain, **facts)


def judged(
    end: Ending, retry: Retry = STEADY, tally: Tally | None = None, *, cancelled: bool = False, alone: bool = False
) -> Verdict:
    return after_ending(end, retry, tally or Tally(), cancelled=cancelled, alone=alone, now=NOW, fraction=0.5)


def test_a_success_is_the_end() -> None:
    assert judged(ending(Outcome.SUCCEEDED)) == Verdict(Cause.SUCCEED, Charge.ATTEMPT)


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.TIMED_OUT, Outcome.CRASHED])
def test_a_failure_is_followed_by_the_next_attempt_after_its_backoff(outcome: Outcome) -> None:
    for attempts, wait in ((0, 10), (1, 20)):
        verdict = judged(ending(outcome), tally=Tally(attempts=attempts))
        assert verdict == Verdict(Cause.RETRY, Charge.ATTEMPT, due=Instant(NOW + wait * SECOND), failure=BROKEN)


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.TIMED_OUT, Outcome.CRASHED])
def test_the_last_allowed_failure_is_the_end(outcome: Outcome) -> None:
    verdict = judged(ending(outcome), tally=Tally(attempts=2))
    assert verdict == Verdict(Cause.EXHAUST, Charge.ATTEMPT, failure=BROKEN)


def test_a_final_failure_is_the_end_whatever_is_left() -> None:
    assert judged(ending(Outcome.FAILED, final=True)).cause is Cause.EXHAUST
    assert judged(ending(Outcome.FAILED, final=True, retry_after=SECOND)).cause is Cause.EXHAUST


def test_an_error_that_is_never_retried_is_the_end() -> None:
    picky = Retry(never_on=[ValueError])
    assert judged(ending(Outcome.FAILED), picky).cause is Cause.EXHAUST
    assert judged(ending(Outcome.FAILED), Retry(retry_on=[KeyError])).cause is Cause.EXHAUST


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.CRASHED])
def test_rules_about_error_types_are_for_errors_that_the_code_raised(outcome: Outcome) -> None:
    assert judged(ending(outcome), Retry(retry_on=[KeyError])).cause is Cause.RETRY


@pytest.mark.parametrize(("wish", "wait"), [(HOUR, HOUR), (Duration(0), 0), (Duration(-5), 0)])
def test_the_error_may_choose_the_delay_beyond_the_cap_but_not_the_past(wish: Duration, wait: int) -> None:
    verdict = judged(ending(Outcome.FAILED, retry_after=wish), Retry(max_delay="2s"))
    assert verdict.due == NOW + wait


def test_code_that_cancels_itself_has_failed() -> None:
    assert judged(ending(Outcome.CANCELLED)).cause is Cause.RETRY
    assert judged(ending(Outcome.CANCELLED)).charge is Charge.ATTEMPT


@pytest.mark.parametrize("outcome", Outcome)
def test_an_accepted_cancel_wins_over_every_other_end(outcome: Outcome) -> None:
    verdict = judged(ending(outcome), tally=Tally(attempts=99, losses=99, releases=99), cancelled=True)
    assert (verdict.cause, verdict.charge) == (Cause.CANCEL, Charge.NOTHING)


def test_a_job_that_went_down_with_others_runs_again_alone_and_is_charged_as_a_suspect() -> None:
    verdict = judged(ending(Outcome.CRASHED, shared=3))
    assert verdict == Verdict(Cause.REQUEUE, Charge.SUSPECT, alone=True, failure=BROKEN)


def test_losses_and_suspicions_share_one_allowance() -> None:
    assert judged(ending(Outcome.CRASHED, shared=1), tally=Tally(losses=1, suspects=0)).cause is Cause.REQUEUE
    assert judged(ending(Outcome.CRASHED, shared=1), tally=Tally(losses=1, suspects=1)).cause is Cause.EXHAUST
    assert judged(ending(Outcome.LOST), tally=Tally(losses=1, suspects=0)).cause is Cause.LOSE
    assert judged(ending(Outcome.LOST), tally=Tally(losses=1, suspects=1)).cause is Cause.EXHAUST


def test_the_culprit_pays_for_the_crashes_it_was_suspected_of() -> None:
    tally = Tally(attempts=0, suspects=2)
    assert judged(ending(Outcome.CRASHED), tally=tally, alone=True).cause is Cause.EXHAUST
    assert judged(ending(Outcome.FAILED), tally=tally, alone=True).cause is Cause.RETRY, "it failed, it did not crash"
    again = judged(ending(Outcome.CRASHED), Retry(max_attempts=9), tally=tally, alone=True)
    assert again.alone, "it stays apart from its neighbours"


def test_at_most_once_is_kept_and_said() -> None:
    verdict = after_loss(Retry(max_losses=0), Tally(), cancelled=False, alone=False)
    assert verdict.cause is Cause.EXHAUST
    assert verdict.failure is not None
    assert "lost worker" in verdict.failure.message
    assert "max_losses=0" in verdict.failure.message


def test_a_lost_job_runs_again_at_once_and_keeps_its_attempts() -> None:
    verdict = judged(ending(Outcome.LOST), Retry(max_attempts=1))
    assert (verdict.cause, verdict.charge, verdict.due) == (Cause.LOSE, Charge.LOSS, None)


def test_a_lost_job_whose_cancel_was_accepted_is_cancelled() -> None:
    verdict = after_loss(Retry(), Tally(), cancelled=True, alone=False)
    assert (verdict.cause, verdict.charge) == (Cause.CANCEL, Charge.NOTHING)


@pytest.mark.parametrize("alone", [True, False])
def test_a_job_that_must_run_alone_stays_so_when_it_is_lost_or_released(alone: bool) -> None:  # noqa: FBT001
    assert judged(ending(Outcome.LOST), alone=alone).alone is alone
    assert judged(ending(Outcome.RELEASED), alone=alone).alone is alone


def test_releases_are_not_charged_and_capped() -> None:
    assert judged(ending(Outcome.RELEASED), Retry(max_attempts=1, max_losses=0)).cause is Cause.RELEASE
    verdict = judged(ending(Outcome.RELEASED), tally=Tally(releases=MOST_RELEASES))
    assert (verdict.cause, verdict.charge) == (Cause.EXHAUST, Charge.RELEASE)


# --- whole lives ---------------------------------------------------------------------------------------------------

policies = st.builds(
    Retry,
    max_attempts=st.integers(1, 5),
    max_losses=st.integers(0, 4),
    delay=st.sampled_from(["0s", "1s", "1h"]),
    never_on=st.sampled_from([(), (ValueError,)]),
)


def drawn(dice: Random) -> Ending:
    """An ending at random."""
    return ending(
        dice.choice(list(Outcome)),
        shared=dice.choice([0, 0, 1, 3]),
        final=dice.random() < 0.1,
        retry_after=dice.choice([None, None, Duration(-5), Duration(0), HOUR]),
    )


COLUMN = {
    Charge.ATTEMPT: "attempts",
    Charge.LOSS: "losses",
    Charge.SUSPECT: "suspects",
    Charge.RELEASE: "releases",
}


def charged(tally: Tally, charge: Charge) -> Tally:
    column = COLUMN.get(charge)
    return tally if column is None else msgspec.structs.replace(tally, **{column: getattr(tally, column) + 1})


@given(policies, st.integers(0, 2**32))
def test_every_life_ends_within_its_allowances(retry: Retry, seed: int) -> None:
    dice = Random(seed)
    tally, alone = Tally(), False
    most = retry.max_attempts + retry.max_losses + MOST_RELEASES
    for lives in range(1, 60):
        end, fraction, cancelled = drawn(dice), dice.random(), dice.random() < 0.1
        if alone:
            end = msgspec.structs.replace(end, shared=0)  # nobody was with it
        verdict = after_ending(end, retry, tally, cancelled=cancelled, alone=alone, now=NOW, fraction=fraction)
        assert lives <= most
        target = next_state(State.RUNNING, verdict.cause)
        assert target is not None, "a verdict is a move that the table knows"
        assert (verdict.due is not None) == (target is State.RETRYING)
        assert verdict.due is None or verdict.due >= NOW
        tally, alone = charged(tally, verdict.charge), verdict.alone
        assert tally.attempts <= retry.max_attempts
        assert tally.losses + tally.suspects <= retry.max_losses + 1
        assert tally.releases <= MOST_RELEASES + 1
        if target in (State.SUCCEEDED, State.DEAD, State.CANCELLED):
            assert (target is State.SUCCEEDED) == (end.outcome is Outcome.SUCCEEDED and not cancelled)
            return
    pytest.fail("it never ended")


@given(policies, st.integers(0, 4), st.integers(0, 4), st.integers(0, MOST_RELEASES))
def test_without_retries_left_only_losses_and_releases_come_back(
    retry: Retry, losses: int, suspects: int, releases: int
) -> None:
    spent = Tally(attempts=retry.max_attempts - 1, losses=losses, suspects=suspects, releases=releases)
    for outcome in (Outcome.FAILED, Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.CANCELLED):
        assert judged(ending(outcome), retry, spent).cause is Cause.EXHAUST


def test_the_backoff_is_that_of_the_charged_attempts_not_of_the_lost_ones() -> None:
    verdict = judged(ending(Outcome.FAILED), tally=Tally(attempts=0, losses=2, releases=5))
    assert verdict.due == NOW + duration("10s")
