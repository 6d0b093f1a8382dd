"""What people ask of the log of servers and workers: to see it."""

from __future__ import annotations

from mainspring.domain.listing import checked_cursor, checked_limit
from mainspring.domain.record import Record, RecordFilter, level_of
from mainspring.store import Store, records


def found(store: Store, wanted: RecordFilter) -> list[Record]:
    """Records that fit, oldest first. Raises InvalidInput."""
    level_of(wanted.level)
    checked_limit(wanted.limit)
    if wanted.after is not None:
        checked_cursor(str(wanted.after))
    return store.read(lambda tx: records.found(tx, wanted))
