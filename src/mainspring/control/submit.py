"""Submit: check requests against the catalog, then store them in one transaction.

The schema decides, never user code: a submit by name is checked exactly like one from the function.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from mainspring.clock import Instant
from mainspring.control import read
from mainspring.domain.ids import JobId
from mainspring.domain.job import ATOMIC, Job, JobRequest, Receipt
from mainspring.domain.span import TAG
from mainspring.domain.uniqueness import checked_idempotency_key
from mainspring.errors import (
    IdempotencyKeyReused,
    InvalidInput,
    InvalidJson,
    KeyHeld,
    OutOfReach,
    StoreError,
    TooManyJobs,
    UnknownTask,
)
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, at_once, catalog, jobs, keys
from mainspring.store.at_once import Order
from mainspring.store.catalog import Known
from mainspring.store.keys import Answered
from mainspring.store.transaction import Wanted
from mainspring.transitions.born import Birth, as_born, born
from mainspring.transitions.prepared import Prepared, birth, declared_of, find, prepare

MOST_PER_SUBMIT = 1_000_000

_FEW = 20
"""Jobs that are stored in less time than a worker needs to wake up."""


class _Stored(NamedTuple):
    """What a submit led to. ``births``: of what it has stored just now, as of ``at``; none where it was told before."""

    receipts: list[Receipt]
    births: Sequence[Birth] = ()
    at: Instant = Instant(0)


class _Once(NamedTuple):
    """An idempotency key, and the digest of what came with it."""

    key: str
    digest: str


class _By(NamedTuple):
    """Who submits: their name, the job that they are, and the queues that they are kept to (None: to none)."""

    actor: str
    parent: JobId | None
    kept_to: Sequence[str] | None


def submit(  # noqa: PLR0913 - what a submit is
    store: Store,
    requests: Sequence[JobRequest],
    *,
    actor: str,
    parent: JobId | None = None,
    idempotency_key: str | None = None,
    kept_to: Sequence[str] | None = None,
) -> list[Receipt]:
    """Store the jobs and answer which they are once the commits are durable.

    All are checked before the first is stored; up to ATOMIC jobs are stored all or none. An error that is about one of
    them has its ``index``. ``idempotency_key``: the same
    requests with the same key are stored once in 24 hours, and get the same answer; up to ATOMIC jobs. ``kept_to``: the
    queues that whoever asks is kept to: no job of another one is named to them. Raises
    UnknownTask, InvalidParameters, InvalidOption, InvalidText, InvalidJson, PayloadTooLarge; KeyHeld; OutOfReach for an
    answer that names jobs of other queues; IdempotencyKeyReused for other requests with this key;
    StoreError, which says how many were stored before where that
    is not none.
    """
    return _submitted(store, requests, _By(actor, parent, kept_to), idempotency_key)[1].receipts


def submit_one(  # noqa: PLR0913 - what a submit is
    store: Store,
    request: JobRequest,
    *,
    actor: str,
    parent: JobId | None = None,
    idempotency_key: str | None = None,
    kept_to: Sequence[str] | None = None,
) -> tuple[Job, bool]:
    """The job that a request led to, and whether it is a new one: as ``submit``.

    What was stored just now is answered as it was stored, for one question less; any other job as it is by now.
    """
    ready, stored = _submitted(store, [request], _By(actor, parent, kept_to), idempotency_key)
    (receipt,) = stored.receipts
    if receipt.new and stored.births:
        return as_born(receipt.job, stored.births[0], ready[0].ground, stored.at), True
    return read.job(store, receipt.job), receipt.new


def _submitted(
    store: Store, requests: Sequence[JobRequest], by: _By, idempotency_key: str | None
) -> tuple[list[Prepared], _Stored]:
    """The checked requests, and what they led to."""
    most = MOST_PER_SUBMIT if idempotency_key is None else ATOMIC
    if len(requests) > most:
        raise TooManyJobs(len(requests), most)
    once = None if idempotency_key is None else _once(idempotency_key, requests)
    while True:
        try:
            ready = prepared(store, requests)
        except InvalidInput:
            told = None if once is None else store.read(lambda tx: _told_before(tx, once, by))
            if told is None:
                raise
            return [], _Stored(told)  # what it was answered while it was still right
        stored = _stored(store, ready, by, once)
        if stored is not None:
            return ready, stored
        store.declarations.clear()  # a task was declared anew since we looked: check against that


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


def _told_before(tx: Transaction, once: _Once, by: _By) -> list[Receipt] | None:
    """What was answered before, if anything was. Raises IdempotencyKeyReused, OutOfReach."""
    name, values = keys.asking(once.key)
    return _told(tx, once, by, keys.answered(tx.rows(name, **values)))


def _told(tx: Transaction, once: _Once, by: _By, before: Answered | None) -> list[Receipt] | None:
    """The same from what is kept under the key."""
    if before is None or before.until <= tx.now:
        return None
    if before.digest != once.digest:
        raise IdempotencyKeyReused(
            f"The idempotency key {once.key!r} came with another submit before.",
            remedy="Use a new key for each submit, and the same one only to send the same again.",
            field="Idempotency-Key",
        )
    if jobs.outside(tx, [one.job for one in before.receipts], by.kept_to):
        raise OutOfReach(
            f"The idempotency key {once.key!r} came with this submit before; that led to jobs outside your queues.",
            remedy="Use a new key.",
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
    for name, one in declared.items():
        store.declarations[one.task.name] = one.text
        if "." not in name:  # a short name, which no task can have as its full one
            store.declarations[name] = one.text
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


def _stored(store: Store, prepared: Sequence[Prepared], by: _By, once: _Once | None) -> _Stored | None:
    """What they led to; None with nothing stored when a task is declared otherwise than they were checked against."""
    receipts: list[Receipt] = []
    born_now: _Stored | None = None
    try:
        for start in range(0, len(prepared), ATOMIC):
            some = prepared[start : start + ATOMIC]
            born_now = store.write(
                partial(_born, prepared=some, by=by, once=once, first=not start),
                before=FaultPoint.SUBMIT_BEFORE_COMMIT,
                after=FaultPoint.SUBMIT_AFTER_COMMIT,
                rings=store.work_bell,
                early=once is None and _is_simple(some),
                news=True,
            )
            if born_now is None:
                return None
            receipts += born_now.receipts
    except (StoreError, InvalidInput, KeyHeld) as error:
        if error.index is not None:
            error.index += len(receipts)
        if receipts:
            first, last = receipts[0].job, receipts[-1].job
            error.message += (
                f" Before that, {len(receipts):,} of {len(prepared):,} jobs were stored ({first} to {last})."
            )
        raise
    return _Stored(receipts) if born_now is None else born_now._replace(receipts=receipts)


def _is_simple(some: Sequence[Prepared]) -> bool:
    """A few jobs for which nobody else answers. The holder of a unique key is named to others as if it were durable."""
    return len(some) <= _FEW and all(one.hold is None for one in some)


def _born(tx: Transaction, *, prepared: Sequence[Prepared], by: _By, once: _Once | None, first: bool) -> _Stored | None:
    """Insert them. What the first ones were checked against must still be declared. All is asked for in one wait."""
    if once is None and (stored := _stored_at_once(tx, prepared, by)):
        return _Stored(stored)
    tx.expect_ids(len(prepared))
    wanted = {one.ground: one for one in prepared}
    asked: list[Wanted] = [catalog.asking(ground) for ground in wanted]
    asked += [] if once is None else [keys.asking(once.key)]
    answers = tx.together(*asked)
    before = None if once is None else keys.answered(answers.pop())
    told = None if once is None else _told(tx, once, by, before)
    if told is not None:
        return _Stored(told)  # another process was faster
    known = {ground: Known(*rows[0]) for ground, rows in zip(wanted, answers, strict=True)}
    if first and not all(one.stands_on(known[one.ground]) for one in prepared):
        return None
    grounds = {ground: catalog.made(tx, ground, row)[1:] for ground, row in known.items()}
    births = [birth(tx, one, by.parent, *grounds[one.ground]) for one in prepared]
    receipts = born(tx, births, by.actor, by.kept_to)
    if once is not None:
        keys.remember(tx, once.key, once.digest, receipts, over=before)
    return _Stored(receipts, births, tx.now)


def _stored_at_once(tx: Transaction, prepared: Sequence[Prepared], by: _By) -> list[Receipt] | None:
    """The same by one statement, for which we wait while all begins: jobs that are alike and may run now.

    It looks at no other tasks, so names that may have become those of several are not for it.
    """
    ground, declaration = prepared[0].ground, prepared[0].declaration
    if not tx.at_once or tx.one_writer:
        return None
    if not all(one.ground == ground and one.runs_now and not one.by_short for one in prepared):
        return None
    wanted = [(one.priority, one.tags, one.meta, one.params) for one in prepared]
    return [Receipt(job) for job in at_once.submit(tx, Order(ground, declaration, by.parent, wanted), by.actor)]
