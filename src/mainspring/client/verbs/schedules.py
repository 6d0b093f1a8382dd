"""Schedules, their ticks and backfills over REST."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mainspring.client import unwire
from mainspring.client.http import Steps, get, pages, part, send
from mainspring.clock import instant_text
from mainspring.domain import plan as plans
from mainspring.domain.backfill import BackfillRequest
from mainspring.domain.plan import Plan
from mainspring.domain.timetable import Backfill, Filling, Origin, Schedule, Tick, TickPage


def schedules() -> Steps[list[Schedule]]:
    """All schedules that were not removed, by name."""
    return [unwire.schedule_of(one) for one in (yield from pages("/schedules"))]


def schedule(name: str) -> Steps[Schedule]:
    """One schedule, also a removed one."""
    return unwire.schedule_of((yield get(_path(name))))


def put_schedule(name: str, plan: Plan, origin: Origin) -> Steps[Schedule]:  # noqa: ARG001 - it comes by REST
    """Declare a schedule, or say all anew of the one with this name."""
    return unwire.schedule_of((yield send("POST", "/schedules", {"name": name} | _flat(plans.document(plan)))))


def change_schedule(name: str, fields: Mapping[str, Any]) -> Steps[Schedule]:
    """Say something else in these fields of its plan."""
    return unwire.schedule_of((yield send("PATCH", _path(name), _flat(fields))))


def reset_schedule(name: str) -> Steps[Schedule]:
    """Take back what operators have changed."""
    return unwire.schedule_of((yield send("POST", _path(name, "reset"))))


def pause_schedule(name: str, note: str | None) -> Steps[Schedule]:
    """Let no tick make a job until it is resumed."""
    return unwire.schedule_of((yield send("POST", _path(name, "pause"), {"note": note})))


def resume_schedule(name: str, note: str | None) -> Steps[Schedule]:
    """Let its ticks make jobs again."""
    return unwire.schedule_of((yield send("POST", _path(name, "resume"), {"note": note})))


def remove_schedule(name: str) -> Steps[Schedule]:
    """Take it away."""
    return unwire.schedule_of((yield send("DELETE", _path(name))))


def trigger_schedule(name: str) -> Steps[Tick]:
    """Make a job now."""
    return unwire.tick_of((yield send("POST", _path(name, "trigger"))))


def backfill(name: str, wanted: BackfillRequest) -> Steps[Filling]:
    """Make ticks of the past, or only say which they are."""
    body = {
        "from": instant_text(wanted.first),
        "to": instant_text(wanted.last),
        "dry_run": wanted.dry,
        "limit": wanted.limit,
        "order": "newest" if wanted.newest_first else "oldest",
        "at_once": wanted.at_once,
        "again": wanted.again,
    }
    return unwire.filling_of((yield send("POST", _path(name, "backfill"), body)))


def backfills(name: str) -> Steps[list[Backfill]]:
    """The backfills of a schedule, newest first."""
    return [unwire.backfill_of(one) for one in (yield from pages(_path(name, "backfills")))]


def ticks(name: str, *, cursor: str | None = None, limit: int = 50) -> Steps[TickPage]:
    """Ticks of a schedule, newest first."""
    page = yield get(_path(name, "ticks"), cursor=cursor, limit=limit)
    return TickPage([unwire.tick_of(one) for one in page["items"]], page["next"])


def _path(name: str, *more: str) -> str:
    return "/".join(["/schedules", part(name), *more])


def _flat(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a plan as people write them: those of the recurrence beside the others."""
    recurrence: Mapping[str, Any] = fields.get("recurrence", {})
    return {name: value for name, value in fields.items() if name != "recurrence"} | dict(recurrence)
