"""Requests that are wrong in themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from mainspring.errors.root import MainspringError, near

T = TypeVar("T")
R = TypeVar("R")


class InvalidInput(MainspringError):
    """The request is wrong in itself; nothing was changed."""

    code = "invalid_input"
    http_status = 422
    exit_status = 4


def of_field(field: str, read: Callable[[T], R], value: T) -> R:
    """What ``read`` makes of a value; where it can't be read, the error names this field."""
    try:
        return read(value)
    except InvalidInput as error:
        error.field = error.field or field
        raise


class UnknownTask(InvalidInput):
    """A submit named a task that no app has ever reported."""

    code = "unknown_task"

    def __init__(self, name: str, known: Iterable[str] = (), *, ambiguous: Iterable[str] = ()) -> None:
        known, several = sorted(known), sorted(ambiguous)
        if several:
            message, remedy = f"Task {name!r} is not unique.", f"Use its full name: {' or '.join(several)}."
        else:
            short = {task.rpartition(".")[2] for task in known}
            listed = f"Known tasks: {', '.join(known[:10])}." if known else "No app has reported its tasks yet."
            message = f"Unknown task {name!r}."
            remedy = near(name, {*known, *short}) or f"{listed} Workers report theirs: mainspring up --app app.py"
        super().__init__(message, remedy=remedy, field="task")
        self.name = name


class WorkflowNotKnown(InvalidInput):
    """A schedule or a subscription names a workflow that there is not."""

    code = "workflow_not_known"

    def __init__(self, name: str, remedy: str) -> None:
        super().__init__(f"There is no workflow {name[:200]!r}.", remedy=remedy, field="workflow")


class InvalidParameters(InvalidInput):
    """The parameters don't fit the task's schema. ``field`` names the first that is wrong."""

    code = "invalid_parameters"


class InvalidOption(InvalidInput):
    """An option of a submit or of a task has a value that it can't have."""

    code = "invalid_option"


class NotYetSupported(InvalidInput):
    """A documented option that this version does not have yet: refused, never ignored."""

    code = "not_yet_supported"

    def __init__(self, option: str) -> None:
        super().__init__(
            f"{option} is not supported by this version of mainspring.",
            remedy="Leave it out; it is refused so that it is never silently ignored.",
            field=option,
        )


class InvalidDuration(InvalidInput):
    """A text that is not a duration."""

    code = "invalid_duration"

    def __init__(self, value: object, *, field: str = "") -> None:
        super().__init__(
            f"{value!r} is not a duration.",
            remedy="Write 250ms, 30s, 10m, 2h or 1d (not negative, at most 100 years).",
            field=field,
        )


class InvalidInstant(InvalidInput):
    """A text that is not a point in time."""

    code = "invalid_instant"

    def __init__(self, value: object, *, field: str = "", ago: bool = False) -> None:
        """``ago``: where it may also be said how long ago."""
        super().__init__(
            f"{value!r} is not a time with a zone" + (", nor how long ago." if ago else "."),
            remedy="Write " + "1h, or " * ago + "ISO 8601 with an offset, for instance 2026-11-29T03:00:00Z.",
            field=field,
        )


class InvalidSchedule(InvalidInput):
    """A recurrence, a calendar or a policy of a schedule that can't be as written."""

    code = "invalid_schedule"


class InvalidCron(InvalidSchedule):
    """A cron expression that means nothing, or nothing that we would guess. Says which field and value."""

    code = "invalid_cron"


class NeverFires(InvalidSchedule):
    """A recurrence that is well written and has no tick at all, such as one on 30 February."""

    code = "never_fires"


class UnknownZone(InvalidSchedule):
    """A name that is no IANA time zone."""

    code = "unknown_zone"

    def __init__(self, name: object, known: Iterable[str]) -> None:
        super().__init__(
            f"{name!r} is not a time zone.",
            remedy=f"{near(str(name), known)} Write an IANA name such as Europe/Berlin or UTC.".strip(),
            field="tz",
        )


class InvalidText(InvalidInput):
    """A text holds a character that can't be stored: NUL or half of a surrogate pair."""

    code = "invalid_text"


class InvalidJson(InvalidInput):
    """A body or value that is not JSON as we take it (NaN, infinite, too deep, doubled keys)."""

    code = "invalid_json"


class InvalidSetting(InvalidInput):
    """A setting has a value that it can't have; says from which layer it came."""

    code = "invalid_setting"


class InvalidTask(InvalidInput):
    """A task can't be declared as written."""

    code = "invalid_task"


class InvalidWorkflow(InvalidInput):
    """A workflow can't be as it is written. ``field`` is the place in its document: ``nodes[3].needs[0]``."""

    code = "invalid_workflow"

    def __init__(self, what: str, *, place: str = "", remedy: str = "") -> None:
        """``what``: a clause without capital and full stop, as the place goes before it."""
        self.what = what
        super().__init__(f"{place}: {what}." if place else f"{what[:1].upper()}{what[1:]}.", remedy=remedy, field=place)

    def at(self, place: str) -> InvalidWorkflow:
        """The same, where the place was not known before."""
        return InvalidWorkflow(self.what, place=place, remedy=self.remedy)


class InvalidCursor(InvalidInput):
    """A cursor that this list did not hand out."""

    code = "invalid_cursor"


class PayloadTooLarge(InvalidInput):
    """Parameters, a result or a body above the limit."""

    code = "payload_too_large"
    http_status = 413

    def __init__(self, what: str, size: int, limit: int) -> None:
        super().__init__(
            f"{what} is {size:,} bytes; the limit is {limit:,} bytes.",
            remedy="Put the data in a file or an object store and pass its address.",
            field=what,
        )


class DestinationRefused(InvalidInput):
    """A webhook can't go there: its address is not written plainly, or leads to what is not public."""

    code = "destination_refused"

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy, field="url")


class TooManyJobs(InvalidInput):
    """More jobs in one submit than it may have."""

    code = "too_many_jobs"
    http_status = 413

    def __init__(self, count: int, most: int) -> None:
        super().__init__(
            f"There are {count:,} jobs in one submit; it may have {most:,}.",
            remedy=f"Submit them {most:,} at a time.",
            field="jobs",
        )


class IdempotencyKeyReused(InvalidInput):
    """The key came with another submit before, so one of the two is a mistake."""

    code = "idempotency_key_reused"


class MalformedJson(InvalidJson):
    """A body that can't be read as JSON at all."""

    code = "malformed_json"
    http_status = 400


class MethodNotAllowed(InvalidInput):
    """The address exists and does not take this method. ``allowed`` are those that it takes."""

    code = "method_not_allowed"
    http_status = 405

    def __init__(self, method: str, path: str, allowed: Iterable[str]) -> None:
        self.allowed = sorted(allowed)
        super().__init__(f"{path} does not take {method}.", remedy=f"It takes {', '.join(self.allowed)}.")


class HeadTooLarge(InvalidInput):
    """The request line and headers are more than a server keeps; nothing was changed."""

    code = "head_too_large"
    http_status = 431

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"The request line and headers are more than {limit} bytes.", remedy="Send what is long in the body."
        )


class MalformedRequest(InvalidInput):
    """What came is no HTTP request that can be read: its method is not known, or its form is wrong."""

    code = "malformed_request"
    http_status = 400

    def __init__(self, why: str) -> None:
        super().__init__(
            f"This is no HTTP request that can be read: {why}.", remedy="Send HTTP/1.1 as RFC 9112 has it."
        )


class RequestTimeout(InvalidInput):
    """The head or the body did not arrive in time; nothing was changed."""

    code = "request_timeout"
    http_status = 408


class UnsupportedMediaType(InvalidInput):
    """The body is not declared as JSON."""

    code = "unsupported_media_type"
    http_status = 415


class WrongUse(MainspringError):
    """The command line itself is wrong: an unknown command or option, or one without its value. CLI only."""

    code = "wrong_use"
    http_status = 400
    exit_status = 2
