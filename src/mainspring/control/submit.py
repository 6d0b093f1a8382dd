"""Submit: check requests against the catalog, then store them in one transaction.

The schema decides, never user code: a submit by name is checked exactly like one from the function.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jsonschema_rs
import msgspec

from mainspring.clock import Duration, Instant, duration, duration_text, instant
from mainspring.control.uniqueness import checked_key, checked_rule
from mainspring.domain.ids import JobId, LaneId
from mainspring.domain.job import PRIORITY_FIRST, PRIORITY_LAST, JobRequest, Receipt
from mainspring.domain.parameters import checked_json, duration_names, is_iso_duration, iso_durations
from mainspring.domain.retry import Retry
from mainspring.domain.task import Task, checked_name
from mainspring.errors import (
    IdempotencyKeyReused,
    InvalidDuration,
    InvalidJson,
    InvalidOption,
    InvalidParameters,
    KeyHeld,
    PayloadTooLarge,
    StoreError,
    UnknownTask,
    near,
)
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, catalog, keys, rows
from mainspring.store.catalog import Ground
from mainspring.store.keys import Hold
from mainspring.store.lanes import Kind
from mainspring.transitions.born import Birth, born

ATOMIC = 2_000
"""Jobs of one submit that are stored all or none; more go in transactions of this size, so that none holds the lock
for longer than about 50 ms."""

MOST_PER_SUBMIT = 1_000_000

_MOST_TAGS, _LONGEST_TAG = 50, 500


class Prepared(NamedTuple):
    """A checked request: what can be decided before the transaction. ``declaration``: what it was checked against."""

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


class _Once(NamedTuple):
    """An idempotency key, and the digest of what came with it."""

    key: str
    digest: str


class _Declared(NamedTuple):
    """A task of the catalog, ready to check requests.

    ``lengths``: its parameters that are lengths of time; ``requires``: its labels, as lanes have them.
    """

    text: str
    task: Task
    validator: Any
    policy: str
    lengths: tuple[str, ...]
    requires: str


def submit(
    store: Store,
    requests: Sequence[JobRequest],
    *,
    actor: str,
    parent: JobId | None = None,
    idempotency_key: str | None = None,
) -> list[Receipt]:
    """Store the jobs and answer which they are once the commits are durable.

    All are checked before the first is stored; up to ATOMIC jobs are stored all or none. ``idempotency_key``: the same
    requests with the same key are stored once in 24 hours, and get the same answer; up to ATOMIC jobs. Raises
    UnknownTask, InvalidParameters, InvalidOption, InvalidText, InvalidJson, PayloadTooLarge; KeyHeld;
    IdempotencyKeyReused for other requests with this key; StoreError, which says how many were stored before where that
    is not none.
    """
    most = MOST_PER_SUBMIT if idempotency_key is None else ATOMIC
    if len(requests) > most:
        raise PayloadTooLarge("The number of jobs in one submit", len(requests), most)
    once = None if idempotency_key is None else _once(idempotency_key, requests)
    told = None if once is None else store.read(lambda tx: _told(tx, once))
    while told is None:
        told = _stored(store, prepared(store, requests), actor, parent, once)
        if told is None:
            store.declarations.clear()  # a task was declared anew since we looked: check against that
    return told


def _once(key: str, requests: Sequence[JobRequest]) -> _Once:
    """The digest is of what was meant: neither the order of fields nor white space makes a difference."""
    key = checked_key(key, "Idempotency-Key")
    try:
        meant = msgspec.json.encode(requests, order="deterministic")
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidJson(f"The submit can't be written as JSON: {error}.") from error
    return _Once(key, hashlib.sha256(meant).hexdigest())


def _told(tx: Transaction, once: _Once) -> list[Receipt] | None:
    """What was answered before, if anything was. Raises IdempotencyKeyReused."""
    before = keys.answered(tx, once.key)
    if before is None:
        return None
    if before.digest != once.digest:
        raise IdempotencyKeyReused(
            f"The idempotency key {once.key!r} came with another submit before.",
            remedy="Use a new key for each submit, and the same one only to send the same again.",
            field="Idempotency-Key",
        )
    return before.receipts


def prepared(store: Store, requests: Sequence[JobRequest]) -> list[Prepared]:
    """Check the requests; nothing is written.

    Declarations that this process has seen are taken from memory, which saves a look; the transaction checks them.
    """
    names = {request.task for request in requests}
    texts = {name: store.declarations[name] for name in names if name in store.declarations}
    if len(texts) < len(names):
        texts = store.read(lambda tx: {name: _find(tx, name) for name in names})
    declared = {name: _declared(text) for name, text in texts.items()}
    store.declarations.update((one.task.name, one.text) for one in declared.values())
    return [_prepare(request, declared[request.task]) for request in requests]


def _stored(
    store: Store, prepared: Sequence[Prepared], actor: str, parent: JobId | None, once: _Once | None
) -> list[Receipt] | None:
    """What they led to; None with nothing stored when a task is declared otherwise than they were checked against."""
    receipts: list[Receipt] = []
    try:
        for start in range(0, len(prepared), ATOMIC):
            some = prepared[start : start + ATOMIC]
            born_now = store.write(
                partial(_born, prepared=some, actor=actor, parent=parent, once=once, first=not start),
                before=FaultPoint.SUBMIT_BEFORE_COMMIT,
                after=FaultPoint.SUBMIT_AFTER_COMMIT,
                rings=store.work_bell,
            )
            if born_now is None:
                return None
            store.news_bell.ring()
            receipts += born_now
    except (StoreError, KeyHeld) as error:
        if receipts:
            first, last = receipts[0].job, receipts[-1].job
            error.message += (
                f" Before that, {len(receipts):,} of {len(prepared):,} jobs were stored ({first} to {last})."
            )
        raise
    return receipts


def _find(tx: Transaction, name: str) -> str:
    """The declaration of a task by its full name, or by its short name where that is unique."""
    text = catalog.declaration(tx, name)
    if text is None:
        matches = catalog.by_short(tx, name)
        if len(matches) != 1:
            raise UnknownTask(name, catalog.names(tx), ambiguous=matches)
        text = catalog.declaration(tx, matches[0])
    return text or ""


_STRICT_DURATION = jsonschema_rs.validator_for({"format": "duration"}, validate_formats=True)


def _is_duration(text: str) -> bool:
    """What JSON Schema takes, and what a ``timedelta`` is written as: fractions of a second, and less than nothing."""
    return is_iso_duration(text) or _STRICT_DURATION.is_valid(text)


@lru_cache(maxsize=2000)
def _declared(text: str) -> _Declared:
    task = rows.task((text,))
    validator = jsonschema_rs.validator_for(task.schema, validate_formats=True, formats={"duration": _is_duration})
    policy = _policy_text(Retry.from_document(task.retry), task.timeout, task.grace)
    requires = rows.text(dict(sorted(task.requires.items())))
    return _Declared(text, task, validator, policy, duration_names(task.schema), requires)


def _prepare(request: JobRequest, declared: _Declared) -> Prepared:
    task = declared.task
    given = iso_durations(request.params, declared.lengths) if declared.lengths else request.params
    params = checked_json(given, "params")
    _check_params(task, declared.validator, given)
    if request.delay is not None and request.run_at is not None:
        raise InvalidOption("delay and run_at were both given.", remedy="Give one of them.", field="run_at")
    queue = task.queue if request.queue is None else checked_name(request.queue, "Queue")
    return Prepared(
        declaration=declared.text,
        ground=Ground(
            task.name, Kind(queue, task.app, task.lodging, declared.requires, task.slots), _policy(declared, request)
        ),
        priority=_priority(task.priority if request.priority is None else request.priority),
        delay=_length(request.delay, "delay") or Duration(0),
        run_at=instant(request.run_at) if request.run_at is not None else None,
        expires=_length(request.expires, "expires"),
        tags=_tags(request.tags),
        meta=None if request.meta is None else checked_json(request.meta, "meta").decode(),
        params=params.decode(),
        hold=None if request.unique is None else keys.hold_of(checked_rule(request.unique)),
    )


def _check_params(task: Task, validator: Any, params: dict[str, Any]) -> None:
    if not isinstance(params, dict):
        raise InvalidParameters(
            f"params of {task.name} is {type(params).__name__}; it must be an object.", field="params"
        )
    error = next(validator.iter_errors(params), None)
    if error is None:
        return
    path = ".".join(str(step) for step in error.instance_path)
    known = list(task.schema.get("properties", {}))
    message = str(error.message)
    remedy = f"{task.name} takes: {', '.join(known) or 'no parameters'}."
    if not path:
        unknown = [name for name in params if name not in known]
        missing = [name for name in task.schema.get("required", []) if name not in params]
        if missing:
            path, message = missing[0], f"parameter {missing[0]!r} is missing"
        elif unknown:
            path, message = unknown[0], f"there is no parameter {unknown[0]!r}"
            remedy = f"{near(unknown[0], known)} {remedy}".strip()
    else:
        message = f"parameter {path!r}: {message}"
    raise InvalidParameters(f"Parameters of {task.name} are wrong: {message}.", remedy=remedy, field=f"params.{path}")


def _priority(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not PRIORITY_FIRST <= value <= PRIORITY_LAST:
        raise InvalidOption(
            f"priority is {value!r}; it must be a whole number.",
            remedy=f"From {PRIORITY_FIRST} (goes first) to {PRIORITY_LAST} (goes last).",
            field="priority",
        )
    return value


def _policy(declared: _Declared, request: JobRequest) -> str:
    """The effective retry policy, timeout and grace, as they will be shown and applied."""
    if request.retry is None and request.timeout is None:
        return declared.policy
    task = declared.task
    retry = Retry.from_document(task.retry)
    if request.retry is not None:
        retry = Retry.from_document(request.retry, base=retry)
    timeout = task.timeout
    if request.timeout is not None:
        length = _length(request.timeout, "timeout")
        if not length:
            raise InvalidOption(
                "timeout is 0; it must be longer.", remedy="Leave it out for no timeout.", field="timeout"
            )
        timeout = duration_text(length)
    return _policy_text(retry, timeout, task.grace)


def _policy_text(retry: Retry, timeout: str | None, grace: str) -> str:
    return rows.text({"retry": retry.document(), "timeout": timeout, "grace": grace})


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
    if len(tags) > _MOST_TAGS:
        raise InvalidOption(f"There are {len(tags)} tags; at most {_MOST_TAGS} are allowed.", field="tags")
    for key, value in tags.items():
        if not key or "=" in key or '"' in key:
            raise InvalidOption(f"Tag {key!r}: {value!r} is not text to text.", remedy="Write team=mail.", field="tags")
        if len(key) + len(value) > _LONGEST_TAG:
            raise InvalidOption(f"Tag {key[:40]!r} is longer than {_LONGEST_TAG} characters.", field="tags")
    return checked_json(tags, "tags").decode()


def _born(  # noqa: PLR0913 - all that a birth depends on
    tx: Transaction,
    *,
    prepared: Sequence[Prepared],
    actor: str,
    parent: JobId | None,
    once: _Once | None,
    first: bool,
) -> list[Receipt] | None:
    """Insert them. What the first ones were checked against must still be declared."""
    told = None if once is None else _told(tx, once)
    if told is not None:
        return told  # another process was faster
    found: dict[Ground, tuple[LaneId, int]] = {}
    births = []
    for one in prepared:
        if one.ground not in found:
            declaration, lane, policy = catalog.ground(tx, one.ground)
            if first and declaration != one.declaration:
                return None
            found[one.ground] = lane, policy
        births.append(birth(tx, one, parent, *found[one.ground]))
    receipts = born(tx, births, actor)
    if once is not None:
        keys.remember(tx, once.key, once.digest, receipts)
    return receipts


def birth(tx: Transaction, one: Prepared, parent: JobId | None, lane: LaneId, policy: int) -> Birth:
    """What is written of a checked request."""
    return Birth(
        task=one.ground.task,
        lane=lane,
        priority=one.priority,
        policy=policy,
        due=one.run_at if one.run_at is not None else Instant(tx.now + one.delay),
        expires=None if one.expires is None else Instant(tx.now + one.expires),
        parent=parent,
        replay_of=None,
        tags=one.tags,
        meta=one.meta,
        params=one.params,
        hold=one.hold,
    )
