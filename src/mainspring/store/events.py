"""Events in the store: reading history in order."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.domain.event import Event, Happening
from mainspring.store import rows
from mainspring.store.transaction import Transaction


def after(tx: Transaction, cursor: int, *, job: int | None, kinds: Sequence[str], limit: int) -> list[Event]:
    """Events behind a cursor, oldest first; of one job, or of all. ``kinds``: target states or causes."""
    wanted = rows.text(list(kinds)) if kinds else None
    if job is None:
        found = tx.rows("event/after", after=cursor, bound=last(tx), kinds=wanted, limit=limit)
    else:
        found = tx.rows("event/of_job", after=cursor, kinds=wanted, limit=limit, job=job)
    return [rows.event(row) for row in found]


def live(tx: Transaction, cursor: int, *, limit: int) -> list[Happening]:
    """All that happened behind a cursor, oldest first. Asked in a ``latest`` look."""
    return [rows.happening(row) for row in tx.rows("event/live", after=cursor, bound=last(tx), limit=limit)]


def last(tx: Transaction) -> int:
    """The newest cursor: up to there history is complete, whoever is still writing. Asked in a ``latest`` look."""
    return int(tx.rows("event/bound")[0][0])
