"""Submit: check requests against the catalog, then store them in one transaction.

The schema decides, never user code: a submit by name is checked exactly like one from the function.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import jsonschema_rs

from mainspring.clock import Duration, Instant, duration, duration_text, instant
from mainspring.domain.ids import JobId
from mainspring.domain.job import PRIORITY_FIRST, PRIORITY_LAST, JobRequest
from mainspring.domain.parameters import checked_json
from mainspring.domain.retry import Retry
from mainspring.domain.task import Lodging, Task, checked_name
from mainspring.errors import (
    InvalidDuration,
    InvalidOption,
    InvalidParameters,
    NotYetSupported,
    PayloadTooLarge,
    StoreError,
    UnknownTask,
    near,
)
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, catalog, lanes, rows
from mainspring.transitions.born import Birth, born

ATOMIC = 2_000
"""Jobs of one submit that are stored all or none; more go in transactions of this size, so that none holds the lock
for longer than about 50 ms."""

MOST_PER_SUBMIT = 1_000_000

_MOST_TAGS, _LONGEST_TAG = 50, 500


class Prepared(NamedTuple):
    """A checked request: all that can be decided before the transaction."""

    task: str
    app: str
    queue: str
    lodging: Lodging
    priority: int
    policy: str
    delay: Duration
    run_at: Instant | None
    expires: Duration | None
    tags: str | None
    meta: str | None
    params: str


class _Declared(NamedTuple):
    """A task of the catalog, ready to check requests."""

    task: Task
    validator: Any
    policy: str


def submit(store: Store, requests: Sequence[JobRequest], *, actor: str, parent: JobId | None = None) -> list[int]:
    """Store the jobs and answer their ids once the commits are durable.

    All are checked before the first is stored; up to ATOMIC jobs are stored all or none. Raises UnknownTask,
    InvalidParameters, InvalidOption, InvalidText, InvalidJson, PayloadTooLarge, NotYetSupported; StoreError, which says
    how many were stored before where that is not none.
    """
    if len(requests) > MOST_PER_SUBMIT:
        raise PayloadTooLarge("The number of jobs in one submit", len(requests), MOST_PER_SUBMIT)
    prepared = prepare(store, requests)
    ids: list[JobId] = []
    try:
        for start in range(0, len(prepared), ATOMIC):
            ids += _store(store, prepared[start : start + ATOMIC], actor, parent)
    except StoreError as error:
        if ids:
            error.message += (
                f" Before that, {len(ids):,} of {len(prepared):,} jobs were stored ({ids[0]} to {ids[-1]})."
            )
        raise
    return [int(job) for job in ids]


def _store(store: Store, prepared: Sequence[Prepared], actor: str, parent: JobId | None) -> list[JobId]:
    ids = store.write(
        lambda tx: born(tx, _births(tx, prepared, parent), actor),
        before=FaultPoint.SUBMIT_BEFORE_COMMIT,
        after=FaultPoint.SUBMIT_AFTER_COMMIT,
        rings=store.work_bell,
    )
    store.news_bell.ring()
    return ids


def prepare(store: Store, requests: Sequence[JobRequest]) -> list[Prepared]:
    """Check the requests; nothing is written."""
    names = {request.task for request in requests}
    declared = store.read(lambda tx: {name: _find(tx, name) for name in names})
    return [_prepare(request, declared[request.task]) for request in requests]


def _find(tx: Transaction, name: str) -> _Declared:
    """The task by full name, or by short name where that is unique."""
    text = catalog.declaration(tx, name)
    if text is None:
        matches = catalog.by_short(tx, name)
        if len(matches) != 1:
            raise UnknownTask(name, catalog.names(tx), ambiguous=matches)
        text = catalog.declaration(tx, matches[0])
    return _declared(text or "")


@lru_cache(maxsize=2000)
def _declared(text: str) -> _Declared:
    task = rows.task((text,))
    validator = jsonschema_rs.validator_for(task.schema, validate_formats=True)
    return _Declared(task, validator, _policy_text(Retry.from_document(task.retry), task.timeout, task.grace))


def _prepare(request: JobRequest, declared: _Declared) -> Prepared:
    task = declared.task
    if request.unique is not None:
        raise NotYetSupported("unique")
    params = checked_json(request.params, "params")
    _check_params(task, declared.validator, request.params)
    if request.delay is not None and request.run_at is not None:
        raise InvalidOption("delay and run_at were both given.", remedy="Give one of them.", field="run_at")
    return Prepared(
        task=task.name,
        app=task.app,
        queue=checked_name(request.queue, "Queue") if request.queue is not None else task.queue,
        lodging=task.lodging,
        priority=_priority(task.priority if request.priority is None else request.priority),
        policy=_policy(declared, request),
        delay=_length(request.delay, "delay") or Duration(0),
        run_at=instant(request.run_at) if request.run_at is not None else None,
        expires=_length(request.expires, "expires"),
        tags=_tags(request.tags),
        meta=None if request.meta is None else checked_json(request.meta, "meta").decode(),
        params=params.decode(),
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


def _births(tx: Transaction, prepared: Sequence[Prepared], parent: JobId | None) -> list[Birth]:
    """What is written of each; lanes and policies are looked up once for all that share them."""
    lane_ids = {
        (one.queue, one.app, one.lodging): lanes.intern(tx, one.queue, one.app, one.lodging)
        for one in {(p.queue, p.app, p.lodging): p for p in prepared}.values()
    }
    policies = {text: lanes.intern_policy(tx, text) for text in {one.policy for one in prepared}}
    return [
        Birth(
            task=one.task,
            lane=lane_ids[one.queue, one.app, one.lodging],
            priority=one.priority,
            policy=policies[one.policy],
            due=one.run_at if one.run_at is not None else Instant(tx.now + one.delay),
            expires=None if one.expires is None else Instant(tx.now + one.expires),
            parent=parent,
            replay_of=None,
            tags=one.tags,
            meta=one.meta,
            params=one.params,
        )
        for one in prepared
    ]
