"""Events in the store: reading history in order."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.domain.event import EventPage, Happening
from mainspring.store import rows
from mainspring.store.transaction import Transaction

STRIDE = 50_000
"""Events that one look passes by, where few are of the kinds that are wanted."""


def of_job(tx: Transaction, job: int, cursor: int, *, kinds: Sequence[str], limit: int) -> EventPage:
    """Events of a job behind a cursor, oldest first. ``kinds``: target states or causes."""
    found = tx.rows("event/of_job", after=cursor, kinds=_wanted(kinds), limit=limit, job=job)
    return EventPage([rows.event(row) for row in found], found[-1][0] if len(found) == limit else None)


def after(tx: Transaction, cursor: int, *, kinds: Sequence[str], limit: int) -> EventPage:
    """Events of all jobs behind a cursor, oldest first. Asked in a ``latest`` look."""
    bound, more = last(tx), False
    if kinds:
        ((reach, passed),) = tx.rows("event/reach", after=cursor, bound=bound, limit=STRIDE)
        bound, more = (reach, passed == STRIDE) if passed else (bound, False)
    found = [
        rows.event(row) for row in tx.rows("event/after", after=cursor, bound=bound, kinds=_wanted(kinds), limit=limit)
    ]
    if len(found) == limit:
        return EventPage(found, found[-1].seq)
    return EventPage(found, bound if more else None)


def _wanted(kinds: Sequence[str]) -> str | None:
    return rows.text(list(kinds)) if kinds else None


def live(tx: Transaction, cursor: int, *, limit: int) -> list[Happening]:
    """All that happened behind a cursor, oldest first. Asked in a ``latest`` look."""
    return [rows.happening(row) for row in tx.rows("event/live", after=cursor, bound=last(tx), limit=limit)]


def last(tx: Transaction) -> int:
    """The newest cursor: up to there history is complete, whoever is still writing. Asked in a ``latest`` look."""
    return int(tx.rows("event/bound")[0][0])
