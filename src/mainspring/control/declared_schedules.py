"""Schedules that a file declares: kept as the file says, and withdrawn when it says so no more.

A task or workflow need not be known yet, as workers may start later: until it is, ticks are recorded as missed.
"""

from __future__ import annotations

from collections.abc import Mapping

from mainspring.domain.plan import Plan
from mainspring.domain.timetable import Origin
from mainspring.errors import InvalidInput, MainspringError
from mainspring.store import Store, Transaction, rows, schedules
from mainspring.store.schedules import Kept
from mainspring.transitions.said import held, said, turned
from mainspring.transitions.ticking import known_or_why

ACTOR = "mainspring.toml"


def declare(store: Store, stated: Mapping[str, Plan]) -> list[str]:
    """Record what a file declares, and withdraw what came from one and is not in it; what people should be told.

    What operators have changed stays. A name that the code of an app declares is left to it, and told.
    """
    return store.write(lambda tx: _declare(tx, stated)) if store.read(lambda tx: _differs(tx, stated)) else []


def _differs(tx: Transaction, stated: Mapping[str, Plan]) -> bool:
    known = {one.name: one for one in schedules.all_schedules(tx)}
    gone = [one for one in known.values() if one.name not in stated]
    if any(one.origin is Origin.TOML and one.withdrawn_at is None for one in gone):
        return True
    return not all(_is_kept(known.get(name), plan) for name, plan in stated.items())


def _declare(tx: Transaction, stated: Mapping[str, Plan]) -> list[str]:
    told = []
    for name, plan in stated.items():
        if _is_kept(schedules.one(tx, name), plan):
            continue
        try:
            said(tx, name, plan, origin=Origin.TOML, actor=ACTOR)
        except InvalidInput as error:
            told.append(f"schedule {name} is not taken: {error}")
            continue
        why = known_or_why(tx, plan)
        told.append(f"schedule {name} is declared{f'. {why}' if isinstance(why, MainspringError) else ''}")
    for one in schedules.all_schedules(tx):
        kept = held(tx, one.name) if one.origin is Origin.TOML and one.name not in stated else None
        if kept is not None and kept.withdrawn_at is None:
            turned(tx, kept, kept._replace(withdrawn_at=tx.now), ACTOR)
            told.append(f"schedule {one.name} is withdrawn, as it is declared no more")
    return told


def _is_kept(kept: Kept | None, plan: Plan) -> bool:
    return (
        kept is not None
        and kept.origin is Origin.TOML
        and kept.declaration == rows.text(plan)
        and kept.withdrawn_at is None
        and kept.removed_at is None
    )
