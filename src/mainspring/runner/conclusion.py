"""How an attempt ended, as its ``ended`` frame. Pure; what was asked of it wins over what its code then did."""

from __future__ import annotations

import asyncio

from msgspec import Raw

from mainspring.domain.attempt import Failure
from mainspring.domain.frame import NO_DETAILS, Ended
from mainspring.domain.states import Outcome
from mainspring.errors import InvalidInput, MainspringError, PayloadTooLarge
from mainspring.runner.failures import failure_of, retry_after
from mainspring.runner.running import Running

_TIMED_OUT = "it ran longer than its timeout allows"


class JobInterrupted(BaseException):
    """Raised inside a job's thread or process when its attempt is to end: cancelled, timed out or released.

    Async code gets ``asyncio.CancelledError`` instead. Derives from BaseException so that ``except Exception`` lets it
    pass; code that catches it should clean up and raise it again.
    """


def returned(running: Running, value: object) -> Ended:
    """Its code returned. A result that can't be stored fails the attempt for good: the next would make it again."""
    if running.asked is not None:
        return stopped(running, running.asked)
    if value is None:
        return Ended(running.job, running.claim, Outcome.SUCCEEDED, details=details_of(running))
    try:
        result = running.task.encode_result(value)
    except PayloadTooLarge as error:
        return too_large(running, error)
    except InvalidInput as error:
        return failed(running, Failure(type(error).__name__, str(error), types=(type(error).__name__,)), final=True)
    except Exception as error:  # noqa: BLE001 - foreign types may raise anything while they are written
        return failed(running, failure_of(error), final=True)
    return Ended(running.job, running.claim, Outcome.SUCCEEDED, Raw(result), details=details_of(running))


def too_large(running: Running, error: PayloadTooLarge) -> Ended:
    """Its result is above the limit."""
    failure = Failure("ResultTooLarge", f"result_too_large: {error}", types=("ResultTooLarge", "PayloadTooLarge"))
    return failed(running, failure, final=True)


def raised(running: Running, error: BaseException) -> Ended:
    """Its code raised."""
    if running.asked is not None:
        return stopped(running, running.asked, error)
    return failed(running, failure_of(error), wish=retry_after(error))


def stopped(running: Running, asked: Outcome, error: BaseException | None = None) -> Ended:
    """It ended after it was asked to. A different error on the way out is told all the same."""
    failure = None
    if error is not None and not isinstance(error, asyncio.CancelledError | JobInterrupted):
        failure = failure_of(error)
    elif asked is Outcome.TIMED_OUT:
        place = failure_of(error).traceback if error is not None else ""
        failure = Failure("TimedOut", _TIMED_OUT, traceback=place, types=("TimedOut",))
    return Ended(running.job, running.claim, asked, failure=failure, details=details_of(running))


def failed(
    running: Running,
    failure: Failure,
    *,
    outcome: Outcome = Outcome.FAILED,
    wish: str | float | None = None,
    final: bool = False,
) -> Ended:
    """It failed or crashed."""
    details = details_of(running)
    return Ended(running.job, running.claim, outcome, failure=failure, retry_after=wish, final=final, details=details)


def details_of(running: Running) -> Raw:
    """Its newest report, for the next attempt."""
    return Raw(running.details) if running.details else NO_DETAILS


def refused(running: Running, error: MainspringError) -> Ended:
    """It could not begin, as its parameters don't fit this version of its code."""
    ended = failed(running, failure_of(error))
    return Ended(ended.job, ended.claim, ended.outcome, failure=ended.failure, unfit=True, details=ended.details)
