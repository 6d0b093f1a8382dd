"""The mark: a write that changes one number, so that it is known whether a submit would be stored."""

from __future__ import annotations

from mainspring.store.transaction import Transaction


def mark(tx: Transaction) -> None:
    """Write the time into a row of its own. Fails where any other write would."""
    tx.rows("counter/mark")
