"""Submit: check requests against the catalog, then store them in one transaction.

The schema decides, never user code: a submit by name is checked exactly like one from the function.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from mainspring.domain.ids import JobId, LaneId
from mainspring.domain.job import ATOMIC, JobRequest, Receipt
from mainspring.domain.span import TAG
from mainspring.domain.uniqueness import checked_idempotency_key
from mainspring.errors import (
    IdempotencyKeyReused,
    InvalidInput,
    InvalidJson,
    KeyHeld,
    StoreError,
    TooManyJobs,
    UnknownTask,
)
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, at_once, catalog, keys
from mainspring.store.at_once import Order
from mainspring.store.catalog import Ground
from mainspring.transitions.born import born
from mainspring.transitions.prepared import Prepared, birth, declared_of, find, prepare

MOST_PER_SUBMIT = 1_000_000

_FEW = 20
"""Jobs that are stored in less time than a worker needs to wake up."""


class _Once(NamedTuple):
    """An idempotency key, and the digest of what came with it."""

    key: str
    digest: str


def submit(
    store: Store,
    requests: Sequence[JobRequest],
    *,
    actor: str,
    parent: JobId | None = None,
    idempotency_key: str | None = None,
) -> list[Receipt]:
    """Store the jobs and answer which they are once the commits are durable.

    All are checked before the first is stored; up to ATOMIC jobs are stored all or none. An error that is about one of
    them has its ``index``. ``idempotency_key``: the same
    requests with the same key are stored once in 24 hours, and get the same answer; up to ATOMIC jobs. Raises
    UnknownTask, InvalidParameters, InvalidOption, InvalidText, InvalidJson, PayloadTooLarge; KeyHeld;
    IdempotencyKeyReused for other requests with this key; StoreError, which says how many were stored before where that
    is not none.
    """
    most = MOST_PER_SUBMIT if idempotency_key is None else ATOMIC
    if len(requests) > most:
        raise TooManyJobs(len(requests), most)
    once = None if idempotency_key is None else _once(idempotency_key, requests)
    told: list[Receipt] | None = None
    while told is None:
        try:
            ready = prepared(store, requests)
        except InvalidInput:
            told = None if once is None else store.read(lambda tx: _told(tx, once))
            if told is None:
                raise
            return told  # what it was answered while it was still right
        told = _stored(store, ready, actor, parent, once)
        if told is None:
            store.declarations.clear()  # a task was declared anew since we looked: check against that
    return told


def _once(key: str, requests: Sequence[JobRequest]) -> _Once:
    """The digest is of what was meant: neither the order of fields nor white space makes a difference."""
    key = checked_idempotency_key(key)
    try:
        meant = msgspec.json.encode([_meant(one) for one in requests], order="deterministic")
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidJson(f"The submit can't be written as JSON: {error}.") from error
    return _Once(key, hashlib.sha256(meant).hexdigest())


def _meant(request: JobRequest) -> JobRequest:
    """Without its trace: whoever sends a submit again is often in another one by then."""
    if not request.tags or TAG not in request.tags:
        return request
    return msgspec.structs.replace(request, tags={key: text for key, text in request.tags.items() if key != TAG})


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
    """Check the requests in their order; nothing is written. An error has the ``index`` of the first that is wrong.

    Declarations that this process has seen are taken from memory, which saves a look; the transaction checks them.
    """
    names = dict.fromkeys(request.task for request in requests)
    texts: dict[str, str | UnknownTask] = {
        name: store.declarations[name] for name in names if name in store.declarations
    }
    if len(texts) < len(names):
        texts = store.read(lambda tx: {name: _found(tx, name) for name in names})
    declared = {name: declared_of(text) for name, text in texts.items() if isinstance(text, str)}
    store.declarations.update((one.task.name, one.text) for one in declared.values())
    checked = []
    for index, request in enumerate(requests):
        try:
            unknown = texts[request.task]
            if isinstance(unknown, UnknownTask):
                raise unknown
            checked.append(prepare(request, declared[request.task]))
        except InvalidInput as error:
            error.index = index
            raise
    return checked


def _found(tx: Transaction, name: str) -> str | UnknownTask:
    try:
        return find(tx, name)
    except UnknownTask as unknown:
        return unknown


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
                early=once is None and _is_simple(some),
                news=True,
            )
            if born_now is None:
                return None
            receipts += born_now
    except (StoreError, InvalidInput, KeyHeld) as error:
        if error.index is not None:
            error.index += len(receipts)
        if receipts:
            first, last = receipts[0].job, receipts[-1].job
            error.message += (
                f" Before that, {len(receipts):,} of {len(prepared):,} jobs were stored ({first} to {last})."
            )
        raise
    return receipts


def _is_simple(some: Sequence[Prepared]) -> bool:
    """A few jobs for which nobody else answers. The holder of a unique key is named to others as if it were durable."""
    return len(some) <= _FEW and all(one.hold is None for one in some)


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
    if once is None and (stored := _stored_at_once(tx, prepared, actor, parent)):
        return stored
    tx.expect_ids(len(prepared))
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


def _stored_at_once(
    tx: Transaction, prepared: Sequence[Prepared], actor: str, parent: JobId | None
) -> list[Receipt] | None:
    """The same by one statement, for which we wait while all begins: jobs that are alike and may run now."""
    ground, declaration = prepared[0].ground, prepared[0].declaration
    if not tx.at_once or tx.one_writer or not all(one.ground == ground and one.runs_now for one in prepared):
        return None
    wanted = [(one.priority, one.tags, one.meta, one.params) for one in prepared]
    return [Receipt(job) for job in at_once.submit(tx, Order(ground, declaration, parent, wanted), actor)]
