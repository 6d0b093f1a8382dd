"""Keys in the store: which job holds a unique key, and what a submit with an idempotency key was answered.

Whether a holder still holds its key is told by the place that it is in, so no move of a job ever writes here, and jobs
without a key cost nothing. That a key has one holder is told by its primary key alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from mainspring.clock import HOUR, Duration, Instant, duration
from mainspring.domain.ids import JobId
from mainspring.domain.job import Receipt, Unique
from mainspring.store.rows import Row, text
from mainspring.store.transaction import Transaction

REMEMBERED = Duration(24 * HOUR)
"""How long the answer to a submit with an idempotency key is kept."""

Key = tuple[str, str]
"""A task's full name, and the key among those of this task."""

_receipts = msgspec.json.Decoder(list[Receipt])
_rule = msgspec.json.Decoder(Unique)


class Hold(NamedTuple):
    """The rule by which a job holds a key. ``document``: as it is kept with the job, for replays."""

    key: str
    until_claim: bool
    period: Duration | None
    on_conflict: str
    document: str


class Wanted(NamedTuple):
    """A key that a new job is to hold."""

    job: JobId
    hold: Hold


class Holder(NamedTuple):
    """Who has a key now. ``released``: it has let it go; ``waits``: it could still be cancelled without asking."""

    task: str
    key: str
    job: JobId
    released: bool
    waits: bool


def hold_of(rule: Unique) -> Hold:
    """A rule as the store needs it. Raises InvalidDuration."""
    period = None if rule.period is None else duration(rule.period)
    return Hold(rule.key, rule.while_ == "waiting", period, rule.on_conflict, text(rule))


def rejecting(document: str) -> Hold:
    """The rule that a job was submitted with, for one that takes its place by hand."""
    return hold_of(_rule.decode(document))._replace(on_conflict="reject", document=document)


def take(tx: Transaction, wanted: dict[Key, Wanted]) -> list[Key]:
    """Give these keys to their jobs where nobody has them; those that were given."""
    values = [(task, key, one.job, int(one.hold.until_claim), _until(tx, one)) for (task, key), one in wanted.items()]
    return [(task, key) for task, key in tx.many("key/take", values)]


def look(tx: Transaction, wanted: dict[Key, Wanted]) -> list[Holder]:
    """Who has these keys. Those that are to be replaced stay with their holders until the transaction ends."""
    replaced = [key for key, one in wanted.items() if one.hold.on_conflict == "replace"]
    if replaced:
        tx.many("key/lock", replaced)
    found = tx.many("key/look", [(tx.now, task, key) for task, key in wanted])
    return [Holder(task, key, JobId(job), bool(released), bool(waits)) for task, key, job, released, waits in found]


def retake(tx: Transaction, wanted: dict[Key, tuple[Wanted, JobId]]) -> list[Key]:
    """Give these keys to their jobs where the holder is still the one named; those that were given."""
    values = [
        (one.job, int(one.hold.until_claim), _until(tx, one), task, key, holder)
        for (task, key), (one, holder) in wanted.items()
    ]
    return [(task, key) for task, key in tx.many("key/retake", values)]


def _until(tx: Transaction, one: Wanted) -> Instant | None:
    return None if one.hold.period is None else Instant(tx.now + one.hold.period)


# --- idempotency ------------------------------------------------------------------------------------------------------


class Answered(NamedTuple):
    """What a submit was answered. ``digest``: of what had been asked; ``until``: how long that is remembered."""

    digest: str
    receipts: list[Receipt]
    until: Instant


def asking(key: str) -> tuple[str, dict[str, Any]]:
    """What is to be asked to know what the submit with this key was answered."""
    return "answer/find", {"key": key}


def answered(found: Sequence[Row]) -> Answered | None:
    """The same from its rows; it may be over."""
    return Answered(found[0][0], _receipts.decode(found[0][1]), Instant(found[0][2])) if found else None


def remember(tx: Transaction, key: str, digest: str, receipts: Sequence[Receipt], *, over: Answered | None) -> None:
    """Keep the answer, in the transaction that makes it true. Where another was faster it fails, and is done again.

    ``over``: what was kept under the key before, and need no longer be remembered.
    """
    if over is not None:
        tx.many("answer/forget", [(key, over.until)])
    tx.rows("answer/keep", key=key, digest=digest, answer=text(receipts), until=Instant(tx.now + REMEMBERED))


# --- pruning ----------------------------------------------------------------------------------------------------------


class Stale(NamedTuple):
    """What need no longer be kept. ``last``: the job that the next look goes on behind, 0 for the start."""

    jobs: list[JobId]
    answers: list[tuple[str, Instant]]
    last: int


def stale(tx: Transaction, after: int, limit: int) -> Stale:
    """Keys of jobs that have ended, among the next ``limit`` behind ``after``, and as many answers that are too old."""
    found = tx.rows("key/after", after=after, limit=limit)
    spent = [JobId(job) for job, done in found if done]
    answers = [(key, Instant(until)) for key, until in tx.rows("answer/expired", limit=limit)]
    return Stale(spent, answers, found[-1][0] if len(found) == limit else 0)


def forget(tx: Transaction, old: Stale) -> None:
    """Remove them."""
    tx.many("key/forget", [(job,) for job in old.jobs])
    tx.many("answer/forget", old.answers)
