"""The wire forms of schedules: what REST answers and what ``--json`` prints, as plain values ready for JSON."""

from __future__ import annotations

from typing import Any

from mainspring.clock import Instant, instant_text
from mainspring.domain import plan as plans
from mainspring.domain.timetable import Backfill, Filling, Schedule, Tick


def schedule_wire(schedule: Schedule) -> dict[str, Any]:
    """A schedule; ``overridden`` names the fields that operators have changed, ``declared`` has what they were."""
    plan = plans.whole(schedule.plan)
    declared = plans.whole(schedule.declared)
    return {
        "name": schedule.name,
        "state": schedule.standing.value,
        "words": schedule.words,
        **plan,
        "next_at": _time(schedule.next_tick),
        "fires_at": _time(schedule.next_at),
        "last_tick": _time(schedule.last),
        "last_fired": _time(schedule.last_fired),
        "last_succeeded": _time(schedule.last_succeeded),
        "fired": schedule.fired,
        "failures": schedule.failures,
        "paused": schedule.paused_at is not None,
        "paused_at": _time(schedule.paused_at),
        "paused_by": schedule.paused_by,
        "note": schedule.note,
        "origin": schedule.origin.value,
        "app": schedule.app,
        "overridden": list(schedule.overridden),
        "declared": {name: declared[name] for name in schedule.overridden},
        "fault": schedule.fault,
        "ahead_until": _time(schedule.ahead),
        "created_at": instant_text(schedule.created_at),
        "changed_at": instant_text(schedule.changed_at),
    }


def tick_wire(tick: Tick) -> dict[str, Any]:
    """A tick; where it stands for several, ``ticks`` says how many and ``last`` which was the last of them."""
    return {
        "at": instant_text(tick.nominal),
        "origin": tick.origin,
        "outcome": tick.outcome.value,
        "why": tick.why,
        "job": tick.job,
        "run": tick.run,
        "state": tick.state,
        "ticks": tick.ticks,
        "last": instant_text(tick.last),
        "decided_at": instant_text(tick.decided_at),
        "decided_by": tick.decided_by,
    }


def backfill_wire(backfill: Backfill) -> dict[str, Any]:
    """A backfill; ``place`` is the tick that it has come to."""
    return {
        "id": backfill.id,
        "origin": f"backfill-{backfill.id}",
        "from": instant_text(backfill.first),
        "to": instant_text(backfill.last),
        "order": "newest" if backfill.newest_first else "oldest",
        "again": backfill.again,
        "limit": backfill.most,
        "at_once": backfill.at_once,
        "made": backfill.made,
        "place": _time(backfill.place),
        "created_at": instant_text(backfill.created_at),
        "created_by": backfill.created_by,
        "ended_at": _time(backfill.ended_at),
    }


def filling_wire(filling: Filling) -> dict[str, Any]:
    """What a backfill is to do; ``backfill`` is null for a dry run."""
    return {
        "ticks": [instant_text(tick) for tick in filling.ticks],
        "backfill": None if filling.backfill is None else backfill_wire(filling.backfill),
    }


def _time(moment: Instant | None) -> str | None:
    return None if moment is None else instant_text(moment)
