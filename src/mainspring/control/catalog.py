"""Declarations: an app's tasks, workflows and schedules become known to the platform."""

from __future__ import annotations

from mainspring.domain.task import Catalog
from mainspring.store import Store
from mainspring.transitions import declared as apps
from mainspring.transitions.brought import bring_large


def declare(store: Store, declared: Catalog) -> None:
    """Record an app's tasks, workflows and schedules; nothing is written when they are recorded already.

    Raises InvalidSchedule for a schedule whose name the code of another app has, InvalidWorkflow for one that can't be.
    """
    if store.read(lambda tx: apps.known(tx, declared)):
        return
    bring_large(store, declared.workflows)
    refused = store.write(lambda tx: apps.declare(tx, declared, whole=False))
    if refused:
        raise refused[0]
