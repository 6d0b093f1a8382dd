"""The options of a task and of a submit: which exist, what they mean, and which only later versions have.

The dictionaries are the types that checkers see; the functions refuse what is not in them, with the near match.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypedDict

import msgspec

from mainspring.clock import duration, duration_text, instant, instant_text
from mainspring.domain.job import PRIORITY_DEFAULT, PRIORITY_FIRST, PRIORITY_LAST, JobRequest, Unique
from mainspring.domain.misfit import misfit
from mainspring.domain.parameters import checked_json
from mainspring.domain.retry import DEFAULT, Retry
from mainspring.domain.task import checked_name
from mainspring.errors import InvalidDuration, InvalidInstant, InvalidOption, NotYetSupported, near
from mainspring.sdk.codec import encode_other

Length = str | float | timedelta
"""A duration: ``"250ms"``, ``"30s"``, ``"10m"``, a number of seconds, or a timedelta."""


class CommandOptions(TypedDict, total=False):
    """What ``app.command(...)`` takes, and with a name ``@app.task(...)``.

    ``queue`` (default: the app's); ``retry``: a Retry
    (default: 4 attempts, see there); ``timeout`` of each attempt (default: none); ``grace``: between asking an attempt
    to stop and killing it (default ``"5s"``); ``priority``: -1000 to 1000, lower goes first (default 5); ``sandbox``:
    ``"S0"`` in the shared runner (default of functions) or ``"S1"`` in a process of its own (always so for commands);
    ``description`` (default: the function's docstring); ``requires``: labels that a worker must have to run it, such
    as ``{"disk": "fast"}`` (default: none); ``slots``: how many of a worker's slots each of its jobs takes (default 1).
    """

    queue: str
    retry: Retry | dict[str, Any]
    timeout: Length
    grace: Length
    priority: int
    sandbox: str
    description: str
    requires: dict[str, str]
    slots: int


class TaskOptions(CommandOptions, total=False):
    """What ``@app.task(...)`` takes. ``name``: of the task within its app (default: the function's name)."""

    name: str


class SubmitOptions(TypedDict, total=False):
    """What ``task.options(...)`` takes; each one overrides the task's own.

    ``delay`` or ``run_at`` (an aware datetime, or ISO 8601 with offset): when the job is due; ``expires``: dead if it
    has not started this long after the submit; ``tags``: text to text, to find jobs by; ``meta``: any JSON, kept with
    the job; ``unique``: a key that one job of the task holds at a time, or a Unique; ``connection``: one to the
    PostgreSQL database of the jobs (of psycopg 3, asyncpg, SQLAlchemy or Django), in whose transaction the job is
    stored; the rest as in TaskOptions.
    """

    priority: int
    delay: Length
    run_at: str | datetime
    queue: str
    retry: Retry | dict[str, Any]
    timeout: Length
    expires: Length
    tags: dict[str, str]
    meta: Any
    unique: str | Unique
    connection: Any


LATER_FOR_TASKS = frozenset({"memory", "cpu", "unique", "network"})
LATER_FOR_SUBMITS = frozenset({"requires", "slots", "memory"})
_MOST_LABELS, _LONGEST_LABEL = 20, 200
_MOST_SLOTS = 10_000
_TASK = TaskOptions.__optional_keys__
_SUBMIT = SubmitOptions.__optional_keys__


class Declared(msgspec.Struct, frozen=True):
    """Checked options of a task."""

    queue: str
    retry: Retry
    timeout: str | None
    grace: str
    priority: int
    sandbox: str
    requires: dict[str, str]
    slots: int


def declared(options: Mapping[str, Any], *, queue: str, sandbox: str, allowed: tuple[str, ...]) -> Declared:
    """Check the options of a task. ``sandbox`` is the default and ``allowed`` the levels this kind may have.

    Raises InvalidOption, InvalidDuration, InvalidTask (a queue's name) or NotYetSupported.
    """
    refuse_others(options, _TASK, "A task", LATER_FOR_TASKS)
    return Declared(
        queue=checked_name(options.get("queue", queue), "Queue"),
        retry=_retry(options.get("retry", DEFAULT)),
        timeout=None if options.get("timeout") is None else _length(options["timeout"], "timeout", least=1),
        grace=_length(options.get("grace", "5s"), "grace"),
        priority=_priority(options.get("priority", PRIORITY_DEFAULT)),
        sandbox=_sandbox(options.get("sandbox", sandbox), allowed),
        requires=_requires(options.get("requires", {})),
        slots=_slots(options.get("slots", 1)),
    )


def submit_fields(options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a JobRequest that these options stand for.

    What they may be is checked at submit, as for every client. Raises InvalidOption or NotYetSupported for an option
    that is not there, and for values that have no place in a request.
    """
    refuse_others(options, _SUBMIT, "A submit", LATER_FOR_SUBMITS)
    fields = {name: value for name, value in options.items() if value is not None and name != "connection"}
    for name in ("delay", "timeout", "expires"):
        if name in fields:
            fields[name] = _length(fields[name], name)
    if "retry" in fields:
        policy = fields["retry"]
        fields["retry"] = policy.document() if isinstance(policy, Retry) else policy
    if "run_at" in fields:
        fields["run_at"] = _moment(fields["run_at"])
    if "meta" in fields:
        fields["meta"] = _plain(fields["meta"])
    try:
        msgspec.convert({"task": "", **fields}, JobRequest)
    except msgspec.ValidationError as error:
        found = misfit(error)
        name = found.path.partition("[")[0].partition(".")[0]
        raise InvalidOption(f"{name} is {fields.get(name)!r:.200}: {found.what}.", field=found.path) from error
    return fields


def _plain(meta: object) -> object:
    try:
        plain: object = msgspec.to_builtins(meta, enc_hook=encode_other)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidOption(f"meta can't be written as JSON: {error}.", field="meta") from error
    return plain


def _moment(value: object) -> str:
    text = value.isoformat() if isinstance(value, datetime) else value
    if not isinstance(text, str):
        raise InvalidInstant(value, field="run_at")
    try:
        return instant_text(instant(text))
    except InvalidInstant as error:
        raise InvalidInstant(text, field="run_at") from error


def refuse_others(
    options: Mapping[str, Any], known: frozenset[str], what: str, later: frozenset[str] = frozenset()
) -> None:
    """Raise InvalidOption for an option that is not known, with the near match; NotYetSupported for a later one."""
    for name in options:
        if name in known:
            continue
        if name in later:
            raise NotYetSupported(name)
        hint = near(name, known) or f"It may have: {', '.join(sorted(known))}."
        raise InvalidOption(f"{what} has no option {name!r}.", remedy=hint, field=name)


def _retry(value: object) -> Retry:
    if isinstance(value, Retry):
        return value
    if isinstance(value, dict):
        return Retry.from_document(value)
    raise InvalidOption(f"retry is {value!r}.", remedy="Write retry=Retry(max_attempts=5).", field="retry")


def _length(value: object, field: str, *, least: int = 0) -> str:
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if not isinstance(value, str | int | float):
        raise InvalidDuration(value, field=field)
    try:
        length = duration(value)
    except InvalidDuration as error:
        raise InvalidDuration(value, field=field) from error
    if length < least:
        raise InvalidOption(f"{field} is {value!r}; it must be longer.", remedy="Leave it out for none.", field=field)
    return duration_text(length)


def _priority(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not PRIORITY_FIRST <= value <= PRIORITY_LAST:
        raise InvalidOption(
            f"priority is {value!r}; it must be a whole number from {PRIORITY_FIRST} to {PRIORITY_LAST}.",
            remedy="Lower goes first.",
            field="priority",
        )
    return value


def _requires(value: object) -> dict[str, str]:
    """Labels as settings have them: names to texts."""
    if not isinstance(value, dict) or len(value) > _MOST_LABELS:
        raise InvalidOption(
            f"requires is {value!r}.",
            remedy=f"Write requires={{'disk': 'fast'}}, at most {_MOST_LABELS}.",
            field="requires",
        )
    for name, wanted in value.items():
        if not (
            isinstance(name, str) and isinstance(wanted, str) and 0 < len(name) <= _LONGEST_LABEL >= len(wanted) > 0
        ):
            raise InvalidOption(
                f"requires has {name!r}: {wanted!r}; a label is two texts of 1 to {_LONGEST_LABEL} characters.",
                remedy="Write requires={'disk': 'fast'}, and start a worker with --label disk=fast.",
                field="requires",
            )
    checked_json(value, "requires")
    return dict(sorted(value.items()))


def _slots(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST_SLOTS:
        raise InvalidOption(
            f"slots is {value!r}; it must be a whole number from 1 to {_MOST_SLOTS:,}.",
            remedy="It is how many of a worker's slots one job takes.",
            field="slots",
        )
    return value


def _sandbox(value: object, allowed: tuple[str, ...]) -> str:
    if value in ("S2", "S3"):
        raise NotYetSupported(f"sandbox={value!r}")
    if not isinstance(value, str) or value not in allowed:
        raise InvalidOption(f"sandbox is {value!r}.", remedy=f"It may be {' or '.join(allowed)} here.", field="sandbox")
    return value
