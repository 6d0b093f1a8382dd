"""Plan: all that is said of a schedule, whoever says it; checked, and merged with what operators have changed.

When ticks come is told by recurrence.py, what becomes of them by schedule.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from mainspring.clock import SECOND, Duration, Instant, duration
from mainspring.errors import InvalidDuration, InvalidOption

if TYPE_CHECKING:
    from mainspring.domain.recurrence import Recurrence

MOST_CAUGHT_UP = 10_000
LONGEST_DESCRIPTION = 1_000


class Plan(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """All that is said of a schedule. Texts are as people write them.

    ``recurrence``: the document of one (recurrence.py); ``task`` or ``workflow``: full name, or short where that is
    unique; ``params``: of each job or run; ``queue`` to ``meta``: as of a submit, ``tags`` of runs too; ``overlap``:
    what a tick does that finds a job or run of this schedule unfinished; ``catch_up``: what is done about ticks that
    came while no server ran, for those of the last ``window`` (a duration; with ``all`` at most ``cap`` of them);
    ``jitter``: how much later than its tick one may be made; ``limit``: so many firings and no more; ``pause_after``:
    so many in a row that don't succeed pause it.
    """

    recurrence: dict[str, Any]
    task: str | None = None
    workflow: str | None = None
    params: dict[str, Any] = {}
    queue: str | None = None
    priority: int | None = None
    retry: dict[str, Any] | None = None
    timeout: str | float | None = None
    expires: str | float | None = None
    tags: dict[str, str] = {}
    meta: Any = None
    overlap: Literal["skip", "buffer_one", "buffer_all", "cancel_other", "allow"] = "skip"
    catch_up: Literal["latest", "all", "none"] = "latest"
    window: str | float = "1d"
    cap: int = 100
    jitter: str | float = 0
    limit: int | None = None
    pause_after: int | None = None
    description: str = ""

    @property
    def makes(self) -> str:
        """The word for what each of its ticks makes."""
        return "job" if self.workflow is None else "run"


class DeclaredSchedule(msgspec.Struct, frozen=True):
    """A schedule as an app's code declares it; its task or workflow has its full name."""

    name: str
    plan: Plan


FIELDS = Plan.__struct_fields__
RECURRENCE = ("cron", "every", "at", "rrule", "tz", "gap", "repeat", "days", "start", "end", "except")
"""Fields of a recurrence; they stand beside those of the plan where people write a schedule."""

OF_JOBS = ("queue", "priority", "retry", "timeout", "expires", "meta")
"""Fields that a schedule of runs can't have."""

_BARE = msgspec.structs.asdict(Plan({}))
"""What each field is when nothing is said of it."""


class Ready(NamedTuple):
    """A plan with its texts read: ``rule`` says when, ``window`` and ``jitter`` are lengths."""

    plan: Plan
    rule: Recurrence
    window: Duration
    jitter: Duration


def document(plan: Plan) -> dict[str, Any]:
    """JSON-ready values; what is as it is by default is left out."""
    found: dict[str, Any] = msgspec.to_builtins(plan)
    return found


def whole(plan: Plan) -> dict[str, Any]:
    """JSON-ready values of all fields."""
    return _BARE | document(plan)


def merged(declared: Mapping[str, Any], override: Mapping[str, Any]) -> Plan:
    """A declaration with what operators have changed. Raises InvalidOption for what is no plan."""
    return read({**declared, **override})


def altered(plan: Plan, given: Mapping[str, Any]) -> Plan:
    """A plan in which these fields say something else, as people write them; None takes one away.

    Of a recurrence what is not named stays, as far as the rule that holds from now on can have it. Raises InvalidInput
    of some kind.
    """
    from mainspring.domain.recurrence import altered as altered_recurrence  # not for programs that only submit

    stated = {name: given[name] for name in RECURRENCE if name in given}
    fields = known_fields({name: value for name, value in given.items() if name not in RECURRENCE})
    if stated and "recurrence" in fields:
        raise InvalidOption("recurrence stands beside fields of one.", remedy="Give it once.", field="recurrence")
    if stated:
        fields["recurrence"] = altered_recurrence(plan.recurrence, stated)
    return merged(document(plan), fields)


def with_name(plan: Plan, name: str) -> Plan:
    """The same with the full name of its task or workflow."""
    if plan.workflow is None:
        return msgspec.structs.replace(plan, task=name)
    return msgspec.structs.replace(plan, workflow=name)


def differences(declared: Plan, wanted: Plan) -> dict[str, Any]:
    """The fields in which a plan differs from what was declared, with their wanted values."""
    old, new = document(declared), document(wanted)
    return {
        name: new.get(name, _BARE[name]) for name in FIELDS if old.get(name, _BARE[name]) != new.get(name, _BARE[name])
    }


def read(given: Mapping[str, Any]) -> Plan:
    """A plan of JSON values. Raises InvalidOption naming the field."""
    if "recurrence" not in given:
        raise InvalidOption("Nothing says when it fires.", remedy="Give cron, every, at or rrule.", field="recurrence")
    try:
        return msgspec.convert(dict(given), Plan)
    except msgspec.ValidationError as error:
        said, _, where = str(error).rpartition(" - at `$.")
        name = where.partition("[")[0].rstrip("`").rstrip(".")
        what = said or str(error)
        shown = f"{name} is {given.get(name)!r:.80}: " if name else ""
        raise InvalidOption(
            f"{shown}{what[:1].lower()}{what[1:].replace('`', '')}.",
            remedy=f"A schedule may have: {', '.join(FIELDS)}.",
            field=name,
        ) from error


def plan_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as people write them, those of the recurrence beside the others, as a plan has them.

    Raises InvalidOption for fields of a recurrence with none of its rules.
    """
    recurrence = {name: given[name] for name in RECURRENCE if given.get(name) is not None}
    rest = {name: value for name, value in given.items() if name not in RECURRENCE}
    if not recurrence:
        return rest
    if "recurrence" in rest:
        raise InvalidOption("recurrence stands beside fields of one.", remedy="Give it once.", field="recurrence")
    return rest | {"recurrence": recurrence}


def known_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """The same, if a schedule has all of these fields. Raises InvalidOption."""
    for name in fields:
        if name not in FIELDS:
            known = [field for field in (*FIELDS, *RECURRENCE) if field != "recurrence"]
            raise InvalidOption(
                f"A schedule has no field {name[:80]!r}.", remedy=f"It may have: {', '.join(known)}.", field=name[:80]
            )
    return fields


def checked(plan: Plan) -> Plan:
    """The plan, if all that can be told without the catalog is right with it. Raises InvalidInput of some kind."""
    _check_target(plan)
    for name, least, most in (("cap", 1, MOST_CAUGHT_UP), ("limit", 1, 2**53), ("pause_after", 1, 1_000_000)):
        value = getattr(plan, name)
        if value is not None and not least <= value <= most:
            raise InvalidOption(f"{name} is {value}; it must be from {least} to {most:,}.", field=name)
    if len(plan.description) > LONGEST_DESCRIPTION:
        raise InvalidOption(f"description is longer than {LONGEST_DESCRIPTION:,} characters.", field="description")
    ready(plan, Instant(0))
    return plan


def _check_target(plan: Plan) -> None:
    """Raise InvalidOption unless it names one task, or one workflow and nothing that only a job can have."""
    if not plan.workflow:
        if not plan.task:
            raise InvalidOption(
                "The schedule names no task and no workflow.", remedy='Give it one: task = "backup".', field="task"
            )
        return
    if plan.task:
        raise InvalidOption(
            f"The schedule names a task and a workflow: {plan.task} and {plan.workflow}.",
            remedy="Give one of them.",
            field="workflow",
        )
    for name in OF_JOBS:
        if getattr(plan, name) is not None:
            raise InvalidOption(
                f"{name} is of jobs, and this schedule starts runs.",
                remedy="Say it in the nodes of the workflow.",
                field=name,
            )


def ready(plan: Plan, made: Instant) -> Ready:
    """A plan with its texts read. ``made``: since when an interval without a start counts. Raises InvalidInput."""
    rule = _read(plan.recurrence).anchored(Instant(made - made % SECOND))
    return Ready(plan, rule, _length(plan.window, "window"), _length(plan.jitter, "jitter"))


def _read(document: dict[str, Any]) -> Recurrence:
    """The rule of a document, read once for all schedules that have the same."""
    try:
        text = msgspec.json.encode(document)
    except (TypeError, ValueError):  # what is no JSON
        from mainspring.domain.recurrence import read

        return read(document)
    return _read_text(text)


@lru_cache(maxsize=2_000)
def _read_text(document: bytes) -> Recurrence:
    from mainspring.domain.recurrence import read  # not for programs that only submit

    return read(msgspec.json.decode(document))


@lru_cache(maxsize=20_000)
def ready_text(declaration: str, override: str | None, made: Instant) -> Ready:
    """The same, of texts as they are kept."""
    declared = msgspec.json.decode(declaration, type=dict[str, Any])
    changed = {} if override is None else msgspec.json.decode(override, type=dict[str, Any])
    return ready(merged(declared, changed), made)


def _length(value: str | float, field: str) -> Duration:
    try:
        return duration(value)
    except InvalidDuration as error:
        raise InvalidDuration(value, field=field) from error
