"""Declarations: an app's tasks become known to the platform."""

from __future__ import annotations

from mainspring.domain.task import Catalog
from mainspring.store import Store, catalog


def declare(store: Store, declared: Catalog) -> None:
    """Record an app's tasks; nothing is written when they are recorded already."""
    if not store.read(lambda tx: catalog.known(tx, declared)):
        store.write(lambda tx: catalog.declare(tx, declared))
