"""Verdicts: what follows when an attempt ends. One pure function per kind of end; nothing is written here.

The rules are DESIGN's: failed, timed-out and crashed attempts count to ``max_attempts``; an attempt that was lost or
that went down with a shared runner counts to ``max_losses``; released ones are numbered, not charged, and capped.
"""

from __future__ import annotations

import msgspec

from mainspring.clock import Duration, Instant
from mainspring.domain.attempt import Ending, Failure, Tally
from mainspring.domain.retry import MOST_RELEASES, Retry
from mainspring.domain.states import Cause, Charge, Outcome


class Verdict(msgspec.Struct, frozen=True):
    """What is to be done: the cause of the move, what the attempt is charged to, and what belongs to the next one.

    ``due``: when the next attempt may start (RETRY only); ``alone``: it must run with no other job in its runner;
    ``failure``: what the job shows as its error.
    """

    cause: Cause
    charge: Charge
    due: Instant | None = None
    alone: bool = False
    failure: Failure | None = None


SUCCESS = Verdict(Cause.SUCCEED, Charge.ATTEMPT)
"""Whatever came before, and whatever the policy says."""


def after_ending(  # noqa: PLR0913 - the whole of what the decision depends on, as values
    ending: Ending, retry: Retry, tally: Tally, *, cancelled: bool, alone: bool, now: Instant, fraction: float
) -> Verdict:
    """Judge a reported end. ``cancelled``: a cancel was accepted while it ran; ``alone``: it ran by itself."""
    if cancelled:
        return Verdict(Cause.CANCEL, Charge.NOTHING, failure=ending.failure)
    match ending.outcome:
        case Outcome.SUCCEEDED:
            return SUCCESS
        case Outcome.CRASHED if ending.shared:
            return after_shared_crash(retry, tally, ending.failure)
        case Outcome.FAILED | Outcome.TIMED_OUT | Outcome.CRASHED:
            return after_failure(ending, retry, tally, alone=alone, now=now, fraction=fraction)
        case Outcome.RELEASED:
            return after_release(tally, ending.failure, alone=alone)
        case Outcome.LOST:
            return after_loss(retry, tally, cancelled=False, alone=alone)
        case Outcome.CANCELLED:
            # The code stopped itself although nobody had asked: that is its failure.
            return after_failure(ending, retry, tally, alone=alone, now=now, fraction=fraction)


def after_failure(  # noqa: PLR0913
    ending: Ending, retry: Retry, tally: Tally, *, alone: bool, now: Instant, fraction: float
) -> Verdict:
    """Retry with backoff while attempts are left and the error's type allows it.

    A job that crashed its runner alone is the culprit of the earlier shared crashes, so they are charged to it now.
    """
    charged = tally.attempts + 1
    if ending.outcome is Outcome.CRASHED and alone:
        charged += tally.suspects
    types = ending.failure.types if ending.failure else ()
    allowed = ending.outcome is not Outcome.FAILED or retry.allows(types)
    if ending.final or not allowed or charged >= retry.max_attempts:
        return Verdict(Cause.EXHAUST, Charge.ATTEMPT, failure=ending.failure)
    delay = ending.retry_after if ending.retry_after is not None else retry.computed_delay(charged, fraction)
    keeps_alone = alone and ending.outcome is Outcome.CRASHED
    return Verdict(
        Cause.RETRY,
        Charge.ATTEMPT,
        due=Instant(now + max(Duration(0), delay)),
        alone=keeps_alone,
        failure=ending.failure,
    )


def after_shared_crash(retry: Retry, tally: Tally, failure: Failure | None) -> Verdict:
    """Its runner died with several jobs in it: run it again alone, so that the culprit is found."""
    if tally.losses + tally.suspects >= retry.max_losses:
        return Verdict(Cause.EXHAUST, Charge.SUSPECT, failure=failure)
    return Verdict(Cause.REQUEUE, Charge.SUSPECT, alone=True, failure=failure)


def after_release(tally: Tally, failure: Failure | None, *, alone: bool) -> Verdict:
    """A draining worker gave it back: queued at once, up to the cap on releases."""
    if tally.releases >= MOST_RELEASES:
        return Verdict(Cause.EXHAUST, Charge.RELEASE, failure=failure)
    return Verdict(Cause.RELEASE, Charge.RELEASE, alone=alone)


def after_loss(retry: Retry, tally: Tally, *, cancelled: bool, alone: bool) -> Verdict:
    """Its lease expired: queued at once, up to ``max_losses``; a cancel that was accepted is carried out."""
    failure = Failure("LostWorker", "the worker stopped renewing its lease; it was lost")
    if cancelled:
        return Verdict(Cause.CANCEL, Charge.NOTHING, failure=failure)
    if tally.losses + tally.suspects >= retry.max_losses:
        message = f"lost worker: {failure.message}, and max_losses={retry.max_losses} allows no further attempt"
        return Verdict(Cause.EXHAUST, Charge.LOSS, failure=Failure("LostWorker", message))
    return Verdict(Cause.LOSE, Charge.LOSS, alone=alone)
