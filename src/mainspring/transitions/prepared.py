"""Requests for jobs, checked against what the catalog says of their tasks: what can be decided before a transaction.

The schema decides, never user code. For submits, schedules and runs alike; nothing is written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from mainspring.clock import Duration, Instant, duration, duration_text, instant
from mainspring.domain.ids import JobId, LaneId
from mainspring.domain.job import PRIORITY_FIRST, PRIORITY_LAST, JobRequest
from mainspring.domain.parameters import checked_json, duration_names, form_hint, iso_durations
from mainspring.domain.retry import Retry
from mainspring.domain.schemas import validator_of
from mainspring.domain.span import TAG
from mainspring.domain.task import Task, checked_name
from mainspring.domain.uniqueness import checked_rule
from mainspring.errors import (
    InvalidDuration,
    InvalidInstant,
    InvalidOption,
    InvalidParameters,
    InvalidTask,
    InvalidWorkflow,
    UnknownTask,
    near,
)
from mainspring.store import catalog, keys, rows
from mainspring.store.catalog import Ground, Known
from mainspring.store.jobs import Birth
from mainspring.store.keys import Hold
from mainspring.store.lanes import Kind
from mainspring.store.transaction import Transaction

_MOST_TAGS, _LONGEST_TAG = 50, 500


class Prepared(NamedTuple):
    """A checked request: what can be decided before the transaction. ``declaration``: what it was checked against.

    ``by_short``: whether it named its task by its short name, which must then be that of no other.
    """

    declaration: str
    ground: Ground
    priority: int
    delay: Duration
    run_at: Instant | None
    expires: Duration | None
    tags: str | None
    meta: str | None
    params: str
    hold: Hold | None
    by_short: bool = False

    def stands_on(self, found: Known) -> bool:
        """Whether what it was checked against is still so."""
        return found.declaration == self.declaration and (not self.by_short or found.namesakes == 1)

    @property
    def runs_now(self) -> bool:
        """Whether it may run as soon as it is stored, until whenever, and whatever else there is."""
        return not self.delay and self.run_at is None and self.expires is None and self.hold is None


class Declared(NamedTuple):
    """A task of the catalog, ready to check requests.

    ``lengths``: its parameters that are lengths of time; ``requires``: its labels, as lanes have them.
    """

    text: str
    task: Task
    validator: Any
    policy: str
    lengths: tuple[str, ...]
    requires: str


def find(tx: Transaction, name: str) -> str:
    """The declaration of a task by its full name, or by its short name where that is unique. Raises UnknownTask."""
    text = catalog.declaration(tx, name)
    if text is None:
        matches = catalog.by_short(tx, name)
        if len(matches) != 1:
            raise UnknownTask(name, catalog.names(tx), ambiguous=matches)
        text = catalog.declaration(tx, matches[0])
    return text or ""


@lru_cache(maxsize=2000)
def declared_of(text: str) -> Declared:
    """A declaration of the catalog, ready to check requests. Raises InvalidTask."""
    task = rows.task((text,))
    try:
        validator = validator_of(task.schema)
    except InvalidWorkflow as error:  # what no runner of ours reports
        raise InvalidTask(f"Task {task.name} can't be used: {error.message}", remedy=error.remedy) from error
    policy = _policy_text(Retry.from_document(task.retry), task.timeout, task.grace)
    requires = rows.text(dict(sorted(task.requires.items())))
    return Declared(text, task, validator, policy, duration_names(task.schema), requires)


def prepare(request: JobRequest, declared: Declared, *, whole: bool = True) -> Prepared:
    """Check and complete a request. Raises InvalidParameters, InvalidOption and their siblings.

    ``whole`` false: its parameters hold references, so that only the runner can tell whether they fit.
    """
    task = declared.task
    params = checked_params(request.params, declared, whole=whole)
    if request.delay is not None and request.run_at is not None:
        raise InvalidOption("delay and run_at were both given.", remedy="Give one of them.", field="run_at")
    queue = task.queue if request.queue is None else checked_name(request.queue, "Queue", field="queue")
    return Prepared(
        declaration=declared.text,
        ground=Ground(
            task.name, Kind(queue, task.app, task.lodging, declared.requires, task.slots), _policy(declared, request)
        ),
        priority=_priority(task.priority if request.priority is None else request.priority),
        delay=_length(request.delay, "delay") or Duration(0),
        run_at=_moment(request.run_at),
        expires=_length(request.expires, "expires"),
        tags=_tags(request.tags),
        meta=None if request.meta is None else checked_json(request.meta, "meta").decode(),
        params=params,
        hold=None if request.unique is None else keys.hold_of(checked_rule(request.unique)),
        by_short=request.task != task.name,
    )


def checked_params(given: dict[str, Any], declared: Declared, *, whole: bool = True) -> str:
    """Parameters as they are stored. Raises InvalidParameters and its siblings. ``whole``: see ``prepare``."""
    given = iso_durations(given, declared.lengths) if declared.lengths and whole else given
    text = checked_json(given, "params").decode()
    if whole:
        _check_params(declared.task, declared.validator, given)
    return text


def _check_params(task: Task, validator: Any, params: dict[str, Any]) -> None:
    if not isinstance(params, dict):
        raise InvalidParameters(
            f"params of {task.name} is {type(params).__name__}; it must be an object.", field="params"
        )
    check_fits(Taking(task.name, task.name, task.schema, validator), params)


class Taking(NamedTuple):
    """What takes parameters: in words, by its name, by its schema."""

    what: str
    name: str
    schema: Mapping[str, Any]
    validator: Any


def check_fits(taking: Taking, params: dict[str, Any]) -> None:
    """Raise InvalidParameters for the first parameter that does not fit."""
    error = next(taking.validator.iter_errors(params), None)
    if error is None:
        return
    path = ".".join(str(step) for step in error.instance_path)
    if not path:
        check_names(taking, params)
    message = f"parameter {path!r}: {_said(error)}" if path else _said(error)
    raise misfit(taking, path, message, form_hint(message))


def check_names(taking: Taking, given: Iterable[str]) -> None:
    """Raise InvalidParameters for a name that is missing, or that there is not."""
    names = {*given}
    missing = next((name for name in taking.schema.get("required", []) if name not in names), None)
    if missing is not None:
        raise misfit(taking, missing, f"parameter {missing!r} is missing")
    if taking.schema.get("additionalProperties", True) is not False or "patternProperties" in taking.schema:
        return
    known = taking.schema.get("properties", {})
    unknown = next((name for name in given if name not in known), None)
    if unknown is not None:
        raise misfit(taking, unknown, f"there is no parameter {unknown!r}", near(unknown, known))


def misfit(taking: Taking, path: str, message: str, hint: str = "") -> InvalidParameters:
    """That a parameter does not fit. ``path``: the way to it; empty for all of them."""
    known = ", ".join(taking.schema.get("properties", {})) or "no parameters"
    return InvalidParameters(
        f"Parameters of {taking.what} are wrong: {message}.",
        remedy=f"{hint} {taking.name} takes: {known}.".strip(),
        field=f"params.{path}".rstrip("."),
    )


def _moment(text: str | None) -> Instant | None:
    try:
        return None if text is None else instant(text)
    except InvalidInstant as error:
        raise InvalidInstant(text, field="run_at") from error


def _said(error: Any) -> str:
    """What a validator says; of several schemas that may fit, what each of them misses, but for that of null."""
    context = getattr(error.kind, "context", None) or ()
    told = [_said(branch[0]) for branch in context if branch]
    told = [text for text in told if not text.endswith('is not of type "null"')] or told
    return ", and ".join(dict.fromkeys(told)) or str(error.message)


def _priority(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not PRIORITY_FIRST <= value <= PRIORITY_LAST:
        raise InvalidOption(
            f"priority is {value!r}; it must be a whole number.",
            remedy=f"From {PRIORITY_FIRST} (goes first) to {PRIORITY_LAST} (goes last).",
            field="priority",
        )
    return value


def _policy(declared: Declared, request: JobRequest) -> str:
    """The effective retry policy, timeout and grace, as they will be shown and applied."""
    if request.retry is None and request.timeout is None:
        return declared.policy
    task = declared.task
    own: list[str] = []
    retry = Retry.from_document(task.retry)
    if request.retry is not None:
        own.append("retry")
        retry = Retry.from_document(request.retry, base=retry)
    timeout = task.timeout
    if request.timeout is not None:
        length = _length(request.timeout, "timeout")
        if not length:
            raise InvalidOption(
                "timeout is 0; it must be longer.", remedy="Leave it out for no timeout.", field="timeout"
            )
        own.append("timeout")
        timeout = duration_text(length)
    return _policy_text(retry, timeout, task.grace, own)


def _policy_text(retry: Retry, timeout: str | None, grace: str, own: Sequence[str] = ()) -> str:
    stated = {rows.OWN: own} if own else {}
    return rows.text({"retry": retry.document(), "timeout": timeout, "grace": grace} | stated)


def _length(value: str | float | None, field: str) -> Duration | None:
    if value is None:
        return None
    try:
        return duration(value)
    except InvalidDuration as error:
        raise InvalidDuration(value, field=field) from error


def _tags(tags: dict[str, str]) -> str | None:
    if not tags:
        return None
    if len(tags) - (TAG in tags) > _MOST_TAGS:
        raise InvalidOption(f"There are {len(tags)} tags; at most {_MOST_TAGS} are allowed.", field="tags")
    for key, value in tags.items():
        if not key or "=" in key or '"' in key:
            raise InvalidOption(f"Tag {key!r}: {value!r} is not text to text.", remedy="Write team=mail.", field="tags")
        if len(key) + len(value) > _LONGEST_TAG:
            raise InvalidOption(f"Tag {key[:40]!r} is longer than {_LONGEST_TAG} characters.", field="tags")
    return checked_json(tags, "tags").decode()


def birth(  # noqa: PLR0913 - a row
    tx: Transaction,
    one: Prepared,
    parent: JobId | None,
    lane: LaneId,
    policy: int,
    *,
    due: Instant | None = None,
    tick: str | None = None,
) -> Birth:
    """What is written of a checked request. ``due``: instead of what was asked for; ``tick``: that makes it."""
    if due is None:
        due = one.run_at if one.run_at is not None else Instant(tx.now + one.delay)
    return Birth(
        task=one.ground.task,
        lane=lane,
        priority=one.priority,
        policy=policy,
        due=due,
        expires=None if one.expires is None else Instant(tx.now + one.expires),
        parent=parent,
        replay_of=None,
        tags=one.tags,
        meta=one.meta,
        params=one.params,
        hold=one.hold,
        tick=tick,
    )
