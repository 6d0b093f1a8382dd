"""From the plan of a schedule to the job of a tick."""

from __future__ import annotations

from mainspring.clock import Instant
from mainspring.domain.job import JobRequest
from mainspring.domain.plan import Plan, ready_text
from mainspring.domain.timetable import MadeBy
from mainspring.store.schedules import Kept


def request_of(plan: Plan) -> JobRequest:
    """What a tick submits."""
    return JobRequest(
        task=plan.task or "",
        params=plan.params,
        queue=plan.queue,
        priority=plan.priority,
        retry=plan.retry,
        timeout=plan.timeout,
        expires=plan.expires,
        tags=plan.tags,
        meta=plan.meta,
    )


def made_by(kept: Kept, origin: str, at: Instant) -> MadeBy:
    """What a job is told of its tick."""
    zone = ready_text(kept.declaration, kept.override, kept.created).rule.place.name
    return MadeBy(kept.name, origin, at, _before(kept.last_fired, at), _before(kept.last_succeeded, at), zone)


def _before(tick: Instant | None, at: Instant) -> Instant | None:
    """Of a tick of the past nothing later is told."""
    return tick if tick is not None and tick < at else None
