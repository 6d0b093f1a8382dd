"""Ends of attempts: made of what a runner said or how it fell, waiting for the next commit, and how long they may."""

from __future__ import annotations

from mainspring.clock import MILLISECOND, Clock, Duration, duration
from mainspring.domain.attempt import Ending, Failure
from mainspring.domain.frame import Ended
from mainspring.domain.states import Outcome
from mainspring.engine.downfall import Downfall
from mainspring.engine.held import Held, RunnerView
from mainspring.errors import InvalidDuration
from mainspring.transitions.ended import Report

LINGER = MILLISECOND
"""For so long an end may wait for company, while other jobs run here."""


class Endings(list[Report]):
    """The reports of one worker that are not written yet, in the order of their coming."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._since = Duration(0)

    def append(self, report: Report) -> None:
        """One more."""
        if not self:
            self._since = self._clock.monotonic()
        super().append(report)

    def linger(self, monotonic: Duration, *, company: bool) -> Duration:
        """How long they may wait for what the other jobs here are about to say. ``company``: whether there are any.

        A chain's next job is submitted by one that has just started: its claim takes the end of the one before along,
        which would otherwise hold it up for a commit of its own.
        """
        return Duration(max(0, self._since + LINGER - monotonic)) if self and company else Duration(0)


def reported(held: Held, frame: Ended) -> tuple[Ending, str]:
    """The end that a runner reports, and what is wrong with the report; an empty text for nothing."""
    retry_after, complaint = None, ""
    if frame.retry_after is not None:
        try:
            retry_after = duration(frame.retry_after)
        except InvalidDuration:
            complaint = f"retry_after {frame.retry_after!r} is no duration; the policy's delay is taken"
    ending = Ending(
        job=held.job,
        claim=held.claim,
        outcome=frame.outcome,
        result=bytes(frame.result) if frame.outcome is Outcome.SUCCEEDED else None,
        failure=frame.failure,
        retry_after=retry_after,
        final=frame.final,
        unfit=frame.unfit,
        sandbox=frame.sandbox,
        details=bytes(frame.details) or None,
    )
    return ending, complaint


def fallen(runner: RunnerView, held: Held, downfall: Downfall, *, lost: bool) -> Ending:
    """The end of an attempt because its runner ended: on purpose, by its guard (``lost``), or by a crash."""
    outcome, shared = Outcome.CRASHED, 0
    failure: Failure | None = downfall.failure
    if held.asked is not None:
        outcome = held.asked
        failure = _unheeded(outcome, downfall.failure) if downfall.failure.evidence.get("killed") else downfall.failure
    elif lost:
        outcome = Outcome.LOST
    elif runner.doomed:
        outcome = Outcome.RELEASED
    else:
        failure, shared = downfall.failure_of(held), downfall.shared
    return Ending(job=held.job, claim=held.claim, outcome=outcome, failure=failure, shared=shared)


def _unheeded(asked: Outcome, killed: Failure) -> Failure | None:
    """What is told of an attempt that did not end when it was asked to, so that its runner was ended with it."""
    if asked is not Outcome.TIMED_OUT:
        return None
    message = "it ran longer than its timeout allows, and its runner was ended with it"
    return Failure("TimedOut", message, types=("TimedOut",), evidence=killed.evidence)
