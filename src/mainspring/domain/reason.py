"""Reasons: why a job waits, and why it ran and ended as it did. Facts in, sentences out; nothing is asked here.

Everything that stands in a job's way is named, what stops it first before what only delays it. control/explain.py
gathers the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from mainspring.clock import SECOND, Duration, Instant, length_text
from mainspring.domain.attempt import Failure
from mainspring.domain.event import Event
from mainspring.domain.ids import JobId
from mainspring.domain.job import Job
from mainspring.domain.queue import Queue
from mainspring.domain.states import FINAL, State, sentence
from mainspring.domain.worker import Worker, WorkerState, may_take, serves

MOST_COUNTED = 1_000
"""Of jobs ahead and of children, so many are counted; more are spoken of as more."""

_START = "mainspring up --app app.py"
_BESIDE = "mainspring worker --app app.py"
"""Where others run already: a second ``up`` on the same database is refused."""
_LATE = Duration(2 * SECOND)
"""Due jobs are brought forward within a second; what is later than this has nobody who does it."""

_PATIENCE = Duration(10 * SECOND)
"""A worker looks each second; who is next for so long waits for something that we don't see."""

_NAMED = 3
"""Workers that are named in one sentence."""


class Reason(msgspec.Struct, frozen=True, omit_defaults=True):
    """One of the reasons.

    ``code`` is stable; ``remedy``: what a person can do about it, where there is something; ``until``: when it will be
    over, where that is known.
    """

    code: str
    text: str
    remedy: str = ""
    until: Instant | None = None


class Explanation(msgspec.Struct, frozen=True):
    """Why a job is where it is, as it was at an instant; the first reason is the one that matters most."""

    job: JobId
    task: str
    state: State
    at: Instant
    reasons: list[Reason]


class Facts(msgspec.Struct, frozen=True):
    """All that the reasons depend on, of one look.

    ``requires`` and ``slots``: of a worker, for this job; ``queue``: its running jobs are counted only where it has a
    limit; ``workers``: of its app, as far as they were seen lately; ``taken``: slots in use, by worker; ``ahead``: jobs
    that go before it, up to MOST_COUNTED; ``children``: its unfinished jobs; ``queued_at``: since when it may be
    claimed; ``due_at``: when it may be, while that is to come; ``leased_until``: by its worker; ``last``: the newest
    event.
    """

    now: Instant
    job: Job
    app: str
    requires: Mapping[str, str]
    slots: int
    queue: Queue
    workers: tuple[Worker, ...]
    taken: Mapping[int, int]
    ahead: int = 0
    children: int = 0
    queued_at: Instant | None = None
    due_at: Instant | None = None
    worker: Worker | None = None
    leased_until: Instant | None = None
    cancel_by: str | None = None
    last: Event | None = None


def explained(facts: Facts) -> Explanation:
    """The reasons for where a job is."""
    state = facts.job.state
    if state in FINAL:
        found = [_ended(facts)]
    elif state is State.RUNNING:
        found = _running(facts)
    elif state is State.QUEUED:
        found = _queued(facts)
    else:
        # Who waits for a time wants to know as well what will be in the way then.
        found = [_time(facts), *_paused(facts.queue, facts.now), *_nobody(facts)]
    return Explanation(facts.job.id, facts.job.task, state, facts.now, found)


# --- waiting ----------------------------------------------------------------------------------------------------------


def _time(facts: Facts) -> Reason:
    due = facts.due_at if facts.due_at is not None else facts.job.run_at
    late = Duration(facts.now - due)
    if late > _LATE:
        return Reason(
            "not_promoted",
            f"it has been due for {_length(late)}, and nobody has brought it forward",
            "A server or a worker does that: mainspring up",
        )
    when = f"in {_length(Duration(max(0, -late)))}"
    if facts.job.state is State.SCHEDULED:
        return Reason("not_due", f"it is due {when}", until=due)
    failed = f"attempt {facts.job.attempt} of {facts.job.max_attempts} failed{_of(facts.job.error)}"
    return Reason("backoff", f"{failed}; the next one may start {when}", until=due)


def _queued(facts: Facts) -> list[Reason]:
    found = [*_paused(facts.queue, facts.now), *_limit(facts.queue), *_nobody(facts)]
    if any(reason.remedy for reason in found):
        return found
    able = [one for one in facts.workers if _is_able(one, facts)]
    free = [one for one in able if facts.taken.get(one.id, 0) + facts.slots <= one.slots]
    if not free:
        told = "; ".join(f"{one.name}: {facts.taken.get(one.id, 0)} of {one.slots} taken" for one in able[:_NAMED])
        more = f" and {len(able) - _NAMED} more" if len(able) > _NAMED else ""
        needs = "" if facts.slots == 1 else f", and it takes {facts.slots}"
        found.append(Reason("busy", f"every worker that may run it has too few free slots ({told}{more}){needs}"))
    if facts.ahead:
        found.append(Reason("behind", f"{_counted(facts.ahead, 'job')} of {facts.app} go before it"))
    if not found:
        found.append(_next(facts, free))
    return found


def _next(facts: Facts, free: list[Worker]) -> Reason:
    """Nothing that we know of is in its way."""
    waited = Duration(0 if facts.queued_at is None else facts.now - facts.queued_at)
    if waited < _PATIENCE:
        return Reason("next", f"nothing is in its way: {_names(free)} takes it within a second or so")
    text = f"nothing that the database knows of is in its way; it has waited for {_length(waited)}"
    may = f"{_names(free)} may run as many processes as its setting `processes` allows, or be stuck"
    return Reason("overdue", text, f"If it goes on waiting, {may}: see its log.")


def _paused(queue: Queue, now: Instant) -> list[Reason]:
    if queue.paused_at is None:
        return []
    note = f": {queue.note}" if queue.note else ""
    since = _length(Duration(max(0, now - queue.paused_at)))
    text = f"queue {queue.name} is paused ({since} ago, by {queue.paused_by}){note}"
    return [Reason("queue_paused", text, f"mainspring queue resume {queue.name}")]


def _limit(queue: Queue) -> list[Reason]:
    if not queue.full:
        return []
    running = _counted(queue.running, "job")
    text = f"{running} of queue {queue.name} now running; its limit is {queue.limit:,}"
    return [Reason("queue_full", text, f"It goes on when one ends, or: mainspring queue set {queue.name} --limit N")]


def _nobody(facts: Facts) -> list[Reason]:
    """Why no live worker may ever take it; nothing where one may."""
    task, queue = facts.job.task, facts.job.queue
    knowing = [one for one in facts.workers if one.state is WorkerState.ACTIVE and task in one.tasks]
    if not knowing:
        return [_unknown(facts)]
    knows = f"{_names(knowing)} {'knows' if len(knowing) == 1 else 'know'} {task}"
    serving = [one for one in knowing if serves(one.queues, queue)]
    if not serving:
        text = f"no live worker takes jobs of queue {queue} ({knows})"
        return [Reason("queue_unserved", text, f"Start one: {_BESIDE} --queue {queue}")]
    labelled = [one for one in serving if may_take(facts.requires, 0, labels=one.labels, slots=one.slots)]
    if not labelled:
        labels = [f"{name}={value}" for name, value in facts.requires.items()]
        given = " ".join(f"--label {label}" for label in labels)
        text = f"no live worker has the label {' and '.join(labels)} ({knows})"
        return [Reason("label_missing", text, f"Start one: {_BESIDE} {given}")]
    most = max(one.slots for one in labelled)
    if facts.slots > most:
        text = f"it takes {facts.slots} slots, and no live worker has more than {most} ({knows})"
        return [Reason("too_large", text, f"Start one: {_BESIDE} --slots {facts.slots}")]
    return []


def _unknown(facts: Facts) -> Reason:
    """No active worker runs its task: who comes nearest to it."""
    task = facts.job.task
    mine = [one for one in facts.workers if one.app == facts.app]
    if impaired := [one for one in mine if one.state is WorkerState.IMPAIRED]:
        text = f"no runner of {_names(impaired)} can load the app"
        return Reason("app_broken", text, "Mend it; the worker's log has the traceback.")
    if active := [one for one in mine if one.state is WorkerState.ACTIVE]:
        have = "has" if len(active) == 1 else "have"
        text = f"no live worker runs {task} ({_names(active)} {have} other code of {facts.app}, without it)"
        return Reason("task_unknown", text, f"Start one: {_BESIDE}")
    leaving = [one for one in mine if one.state is WorkerState.DRAINING and task in one.tasks]
    but = f" ({_names(leaving)} {'is' if len(leaving) == 1 else 'are'} draining)" if leaving else ""
    return Reason("no_worker", f"no live worker runs {task}{but}", f"Start one: {_START}")


def _is_able(worker: Worker, facts: Facts) -> bool:
    return (
        worker.state is WorkerState.ACTIVE
        and facts.job.task in worker.tasks
        and serves(worker.queues, facts.job.queue)
        and may_take(facts.requires, facts.slots, labels=worker.labels, slots=worker.slots)
    )


# --- running, ended ---------------------------------------------------------------------------------------------------


def _running(facts: Facts) -> list[Reason]:
    job, found = facts.job, []
    if job.cancel_requested:
        by = f" by {facts.cancel_by}" if facts.cancel_by else ""
        found.append(Reason("cancelling", f"it was asked to stop{by}, and is killed when its grace is over"))
    worker = facts.worker
    if worker is not None and worker.state in {WorkerState.LOST, WorkerState.STOPPED}:
        silent = _length(Duration(max(0, facts.now - worker.beat_at)))
        text = f"{worker.name} was last seen {silent} ago; when its lease has run out, the job is another's"
        found.append(Reason("worker_silent", text, until=facts.leased_until))
    since = "" if job.started_at is None else f" for {_length(Duration(max(0, facts.now - job.started_at)))}"
    if facts.children:
        have = "has" if facts.children == 1 else "have"
        found.append(Reason("children", f"{_counted(facts.children, 'job')} that it submitted {have} not ended"))
    text = f"attempt {job.attempt} of {job.max_attempts} runs on {job.worker}{since}"
    return [*found, Reason("running", text)]


def _ended(facts: Facts) -> Reason:
    job, last = facts.job, facts.last
    how = sentence(last.source, last.cause) if last is not None and last.target is job.state else ""
    by = f", by {last.actor}" if last is not None and job.state is State.CANCELLED else ""
    ran = f" (attempt {job.attempt}, on {job.worker})" if job.attempt and job.worker else ""
    remedy = "" if job.state is State.SUCCEEDED else f"Run it again: mainspring retry {job.id}"
    return Reason(job.state.value, f"{how or f'it ended {job.state.value}'}{by}{ran}{_of(job.error)}", remedy)


# --- words ------------------------------------------------------------------------------------------------------------


def _length(span: Duration) -> str:
    """In whole seconds, where it is one or more."""
    return length_text(span if span < SECOND else Duration(span // SECOND * SECOND)).replace(".0s", "s")


def _of(failure: Failure | None) -> str:
    return "" if failure is None else f": {failure.type}: {failure.message[:200]}"


def _names(workers: Iterable[Worker]) -> str:
    names = [one.name for one in workers]
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _counted(number: int, what: str) -> str:
    more = "more than " if number > MOST_COUNTED else ""
    return f"{more}{min(number, MOST_COUNTED):,} {what}{'' if number == 1 else 's'}"
