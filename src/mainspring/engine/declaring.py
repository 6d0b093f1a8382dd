"""What a worker's runner reports of its app when it says hello; large workflows are brought before that."""

from __future__ import annotations

from collections.abc import Callable

from mainspring.domain.task import Catalog
from mainspring.store.transaction import Transaction
from mainspring.transitions.brought import bring_large
from mainspring.transitions.declared import declare

__all__ = ["bring_large", "report"]


def report(tx: Transaction, declared: Catalog, say: Callable[[str], object]) -> None:
    """Record all tasks and schedules of an app. ``say`` is told what was not taken, for the worker's log."""
    for refused in declare(tx, declared, whole=True):
        say(str(refused))
