"""What is said of a schedule: a declaration, a change, a pause, an end; and with each what is to come of it.

A change never fires the past: ticks that were due before it are recorded, and the next one is behind both now and the
last that was decided. Used by control, and for what code declares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mainspring.chance import Chance
from mainspring.clock import Instant
from mainspring.domain import plan as plans
from mainspring.domain.plan import Plan, Ready, ready_text
from mainspring.domain.recurrence import jittered
from mainspring.domain.timetable import Origin
from mainspring.errors import InvalidSchedule, MainspringError
from mainspring.store import rows, schedules
from mainspring.store.schedules import Kept
from mainspring.store.transaction import Transaction
from mainspring.transitions.past import recorded_of, settle_past

OPERATORS = frozenset({Origin.CLI, Origin.API})


def said(  # noqa: PLR0913 - who says what
    tx: Transaction,
    name: str,
    plan: Plan,
    *,
    origin: Origin,
    actor: str,
    app: str | None = None,
    generation: int | None = None,
) -> Kept:
    """Declare a schedule: a new one, or all that is said of the one with this name from now on.

    What an operator says of a schedule that code or mainspring.toml declares overrides it; what they declare under a
    name that an operator has used is overridden by what he said. Raises InvalidSchedule for a name that the code of
    another app declares.
    """
    text = rows.text(plan)
    kept = held(tx, name)
    if kept is None:
        nominal, at = _first(tx, text, tx.now)
        schedules.insert(
            tx, name, origin=origin, app=app, generation=generation, declaration=text, at=at, nominal=nominal
        )
        made = schedules.one(tx, name)
        assert made is not None, "it was inserted in this transaction"  # noqa: S101 - for the type checker
        return made
    fresh = kept.removed_at is not None or (kept.withdrawn_at is not None and origin in OPERATORS)
    new = kept._replace(removed_at=None, withdrawn_at=None, origin=origin, app=app, generation=generation)
    if fresh:
        new = new._replace(declaration=text, override=None, paused_at=None, paused_by=None, note=None)
        new = new._replace(fired=0, failures=0)
    elif origin in OPERATORS:
        new = _overridden(kept, plan) if kept.origin not in OPERATORS else new._replace(declaration=text)
    else:
        if kept.origin is Origin.CODE and kept.app != app and kept.withdrawn_at is None:
            raise InvalidSchedule(
                f"The schedule {name!r} is declared by the code of {kept.app} already.",
                remedy="Give it another name.",
                field="name",
            )
        override = kept.override if kept.origin not in OPERATORS else _text(_differing(plan, _plan(kept)))
        new = new._replace(declaration=text, override=override)
    return turned(tx, kept, new, actor)


def held(tx: Transaction, name: str) -> Kept | None:
    """A schedule by its name, also a removed one; nobody else changes it until the transaction ends."""
    kept = schedules.one(tx, name)
    if kept is None:
        return None
    schedules.lock(tx, kept.id)
    return schedules.one(tx, name)


def changed(tx: Transaction, kept: Kept, fields: Mapping[str, Any], actor: str) -> Kept:
    """Say something else in these fields. Raises InvalidInput for what can't be."""
    wanted = plans.checked(plans.altered(_plan(kept), fields))
    if kept.origin in OPERATORS:
        return turned(tx, kept, kept._replace(declaration=rows.text(wanted)), actor)
    return turned(tx, kept, _overridden(kept, wanted), actor)


def reset(tx: Transaction, kept: Kept, actor: str) -> Kept:
    """What was declared holds again, whatever operators have changed."""
    return turned(tx, kept, kept._replace(override=None), actor)


def turned(tx: Transaction, old: Kept, new: Kept, actor: str) -> Kept:
    """Keep what is said now, and find what is to come."""
    if not _same_ticks(old, new):
        last = settle_past(tx, old, actor)
        nominal, at = coming(tx, new._replace(last=last))
        new = new._replace(last=last, nominal=nominal, at=at)
    schedules.put(tx, new)
    found = schedules.one(tx, new.name)
    assert found is not None, "its row never goes"  # noqa: S101 - for the type checker
    return found


def coming(tx: Transaction, kept: Kept) -> tuple[Instant | None, Instant | None]:
    """The next tick that is not recorded and when it is done, behind now; None where no more come."""
    if kept.removed_at is not None or kept.withdrawn_at is not None:
        return None, None
    try:
        found = ready_text(kept.declaration, kept.override, kept.created)
    except MainspringError:
        return None, None  # spoiled by hand; questions say so
    if found.plan.limit is not None and kept.fired >= found.plan.limit:
        return None, None
    nominal = recorded_of(tx, kept, tx.now).next_after(found.rule, tx.now)
    return nominal, done_at(found, nominal, tx.chance)


def done_at(found: Ready, nominal: Instant | None, chance: Chance) -> Instant | None:
    """When a tick is done: some time later, where the plan has jitter."""
    if nominal is None or not found.jitter:
        return nominal
    return jittered(found.rule, nominal, found.jitter, chance.fraction())


def _first(tx: Transaction, declaration: str, made: Instant) -> tuple[Instant | None, Instant | None]:
    found = ready_text(declaration, None, made)
    nominal = found.rule.next_after(made)
    return nominal, done_at(found, nominal, tx.chance)


def _same_ticks(old: Kept, new: Kept) -> bool:
    """Whether the same ticks come as before."""
    if (old.removed_at, old.withdrawn_at, old.paused_at is None) != (
        new.removed_at,
        new.withdrawn_at,
        new.paused_at is None,
    ):
        return False
    try:
        before = ready_text(old.declaration, old.override, old.created)
        after = ready_text(new.declaration, new.override, new.created)
    except MainspringError:
        return False
    same = (before.rule, before.jitter, before.plan.limit) == (after.rule, after.jitter, after.plan.limit)
    return same and old.fired == new.fired


def _plan(kept: Kept) -> Plan:
    return ready_text(kept.declaration, kept.override, kept.created).plan


def _overridden(kept: Kept, wanted: Plan) -> Kept:
    declared = ready_text(kept.declaration, None, kept.created).plan
    return kept._replace(override=_text(_differing(declared, wanted)))


def _differing(declared: Plan, wanted: Plan) -> dict[str, Any]:
    return plans.differences(declared, wanted)


def _text(fields: dict[str, Any]) -> str | None:
    return rows.text(fields) if fields else None
