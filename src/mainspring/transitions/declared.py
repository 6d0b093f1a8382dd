"""What an app's code declares: its tasks, workflows and schedules. Old code never overwrites what newer code has said.

A schedule that the newest code of its app does not declare any more is withdrawn when a worker with that code starts:
only a worker is sure to have loaded the whole app. Declared again, it goes on.
"""

from __future__ import annotations

from mainspring.domain.task import Catalog
from mainspring.domain.timetable import Origin
from mainspring.errors import InvalidInput, InvalidSchedule
from mainspring.store import catalog, rows, schedules
from mainspring.store.schedules import Kept
from mainspring.store.transaction import Transaction
from mainspring.transitions.defined import define, defined
from mainspring.transitions.said import held, said, turned

ACTOR = "code"


def known(tx: Transaction, declared: Catalog) -> bool:
    """Whether a program that submits has nothing to record."""
    if not catalog.known(tx, declared) or not defined(tx, declared.workflows):
        return False
    if not declared.schedules or _outdated(tx, declared):
        return True
    kept = {one.name: one for one in schedules.of_app(tx, declared.app)}
    return all(_is_kept(kept.get(one.name), rows.text(one.plan)) for one in declared.schedules)


def declare(tx: Transaction, declared: Catalog, *, whole: bool) -> list[InvalidInput]:
    """Record an app; what could not be. ``whole``: a schedule that is not in it is declared no more."""
    catalog.declare(tx, declared)
    refused = define(tx, declared.workflows)
    before = {one.name: one for one in schedules.of_app(tx, declared.app)}
    if not (declared.schedules or before) or _outdated(tx, declared):
        return refused
    generation = catalog.generations(tx, declared.app)[declared.code_hash]
    for one in declared.schedules:
        if _is_kept(before.get(one.name), rows.text(one.plan)):
            continue
        try:
            said(tx, one.name, one.plan, origin=Origin.CODE, app=declared.app, generation=generation, actor=ACTOR)
        except InvalidInput as error:  # a name of another app, or what only a runner of our own would not send
            refused.append(InvalidSchedule(f"schedule {one.name} is not taken: {error}", field="name"))
    names = {one.name for one in declared.schedules}
    for name in sorted(before) if whole else ():
        kept = held(tx, name) if name not in names else None
        if kept is not None and kept.withdrawn_at is None and kept.removed_at is None:
            turned(tx, kept, kept._replace(withdrawn_at=tx.now), ACTOR)
    return refused


def _outdated(tx: Transaction, declared: Catalog) -> bool:
    """Whether newer code of this app was seen."""
    found = catalog.generations(tx, declared.app)
    return found.get(declared.code_hash, 0) < max(found.values(), default=0) and declared.code_hash in found


def _is_kept(kept: Kept | None, text: str) -> bool:
    return kept is not None and kept.declaration == text and kept.withdrawn_at is None and kept.removed_at is None
