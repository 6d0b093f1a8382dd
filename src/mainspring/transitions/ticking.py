"""From the plan of a schedule to what a tick makes: a job of a task, or a run of a workflow."""

from __future__ import annotations

from mainspring.clock import Instant
from mainspring.domain.job import JobRequest
from mainspring.domain.plan import Plan, ready_text
from mainspring.domain.timetable import MadeBy
from mainspring.errors import MainspringError
from mainspring.store.schedules import Kept
from mainspring.store.transaction import Transaction
from mainspring.store.workflows import Named
from mainspring.transitions.begun import header_of, stated
from mainspring.transitions.prepared import Prepared, declared_of, find, prepare
from mainspring.transitions.run_births import PreparedRun, prepare_run

Known = str | Named
"""What is known of what a plan names: the declaration of a task, or what the name of a workflow stands for."""


def known_of(tx: Transaction, plan: Plan) -> Known:
    """What the plan names. Raises UnknownTask, WorkflowNotKnown."""
    return find(tx, plan.task or "") if plan.workflow is None else stated(tx, plan.workflow)


def known_or_why(tx: Transaction, plan: Plan) -> Known | MainspringError:
    """The same, or why there is none."""
    try:
        return known_of(tx, plan)
    except MainspringError as error:
        return error


def prepared_of(plan: Plan, known: Known) -> Prepared | PreparedRun:
    """What a tick makes, checked. Raises InvalidParameters, InvalidOption and their siblings."""
    if isinstance(known, Named):
        return prepare_run(known.version, header_of(known), plan.params, plan.tags)
    return prepare(request_of(plan), declared_of(known))


def request_of(plan: Plan) -> JobRequest:
    """What a tick submits, where it makes a job."""
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
    """What a job or run is told of its tick."""
    zone = ready_text(kept.declaration, kept.override, kept.created).rule.place.name
    return MadeBy(kept.name, origin, at, before(kept.last_fired, at), before(kept.last_succeeded, at), zone)


def before(tick: Instant | None, at: Instant) -> Instant | None:
    """Of a tick of the past nothing later is told."""
    return tick if tick is not None and tick < at else None
