"""What people ask of the log of servers and workers: to see it."""

from __future__ import annotations

from mainspring.domain.ids import LARGEST
from mainspring.domain.record import Record, RecordFilter, level_of
from mainspring.errors import InvalidInput
from mainspring.store import Store, records

MOST = 1_000
"""Records in one answer."""


def found(store: Store, wanted: RecordFilter) -> list[Record]:
    """Records that fit, oldest first. Raises InvalidInput."""
    level_of(wanted.level)
    if not 1 <= wanted.limit <= MOST:
        raise InvalidInput(f"limit is {wanted.limit}; it must be between 1 and {MOST}.", field="limit")
    if wanted.after is not None and not 0 <= wanted.after <= LARGEST:
        raise InvalidInput(f"{wanted.after} is not a cursor of this list.", field="cursor")
    return store.read(lambda tx: records.found(tx, wanted))
