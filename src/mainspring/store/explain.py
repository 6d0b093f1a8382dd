"""What ``explain`` asks of the store about one job; every count is bounded."""

from __future__ import annotations

from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.event import Event
from mainspring.domain.ids import JobId
from mainspring.store import rows
from mainspring.store.transaction import Transaction


class Place(NamedTuple):
    """Where a job stands, and what a worker needs for it.

    ``priority`` and ``due`` are its order while it is queued, ``since`` some instant;
    ``due_at``: when it will be; the rest is of its lease.
    """

    app: str
    requires: dict[str, str]
    slots: int
    priority: int | None
    due: Instant | None
    since: Instant | None
    due_at: Instant | None
    worker: int | None
    leased_until: Instant | None
    cancel_by: str | None


def place(tx: Transaction, job: JobId) -> Place:
    """The place of a job that there is."""
    lane, priority, due, since, due_at, worker, until, cancel_by = tx.rows("explain/place", job=job)[0]
    _, app, _, requires, slots = tx.rows("lane/one", lane=lane)[0]
    return Place(app, rows.pairs(requires), slots, priority, due, since, due_at, worker, until, cancel_by)


def ahead(tx: Transaction, job: JobId, where: Place, most: int) -> int:
    """How many queued jobs of its app go before it, counted up to ``most``; 0 for one that is not queued."""
    if where.priority is None:
        return 0
    values = {"job": job, "app": where.app, "priority": where.priority, "due": where.due, "most": most}
    return min(most, int(tx.rows("explain/ahead", **values)[0][0]))


def taken(tx: Transaction) -> dict[int, int]:
    """Slots in use, by worker."""
    return {worker: int(slots) for worker, slots in tx.rows("explain/taken")}


def children(tx: Transaction, job: JobId, most: int) -> int:
    """How many unfinished jobs it has submitted, counted up to ``most``."""
    return int(tx.rows("explain/children", job=job, most=most)[0][0])


def last_event(tx: Transaction, job: JobId) -> Event | None:
    """What happened to it last."""
    found = tx.row("explain/last_event", job=job)
    return None if found is None else rows.event(found)
