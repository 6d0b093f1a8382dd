"""The wire forms: what REST answers and what ``--json`` prints, as plain values ready for JSON.

One function per value. Times are ISO 8601 in UTC, lengths of time are seconds. It decides nothing and asks nothing.
"""

from __future__ import annotations

from typing import Any

from mainspring.clock import Duration, Instant, instant_text, seconds
from mainspring.domain.access import Asker, Change, Token, User
from mainspring.domain.attempt import Attempt, Failure
from mainspring.domain.bulk import BulkDone
from mainspring.domain.event import Event, Happening
from mainspring.domain.job import Job
from mainspring.domain.logline import LogLine
from mainspring.domain.queue import Queue
from mainspring.domain.reason import Explanation
from mainspring.domain.task import Task
from mainspring.domain.timetable import MadeBy
from mainspring.domain.worker import Worker


def job_wire(job: Job) -> dict[str, Any]:
    """A job. ``run`` and ``node`` are of a workflow's job, ``tick`` is of one that a schedule made."""
    return {
        "id": job.id,
        "task": job.task,
        "state": job.state.value,
        "queue": job.queue,
        "priority": job.priority,
        "params": job.params,
        "params_open": job.params_open,
        "result": job.result,
        "error": failure_wire(job.error),
        "attempt": job.attempt,
        "max_attempts": job.max_attempts,
        "run_at": instant_text(job.run_at),
        "created_at": instant_text(job.created_at),
        "started_at": _time(job.started_at),
        "finished_at": _time(job.finished_at),
        "expires_at": _time(job.expires_at),
        "worker": job.worker,
        "progress": job.progress,
        "tags": job.tags,
        "meta": job.meta,
        "retry": job.retry,
        "timeout": job.timeout,
        "cancel_requested": job.cancel_requested,
        "parent": job.parent,
        "run": job.run,
        "node": job.node,
        "item": job.item,
        "tick": made_by_wire(job.tick),
        "replay_of": job.replay_of,
        "replayed_by": job.replayed_by,
    }


def made_by_wire(tick: MadeBy | None) -> dict[str, Any] | None:
    """The tick of a schedule that made something; null where nobody but a person did."""
    return None if tick is None else {"schedule": tick.schedule, "at": instant_text(tick.at), "origin": tick.origin}


def failure_wire(failure: Failure | None) -> dict[str, Any] | None:
    """What went wrong, or null. The class names that retry rules look at are ours, not the reader's."""
    if failure is None:
        return None
    return {
        "type": failure.type,
        "message": failure.message,
        "traceback": failure.traceback,
        "evidence": failure.evidence,
    }


def attempt_wire(attempt: Attempt) -> dict[str, Any]:
    """An attempt; ``outcome``, ``ended_at``, ``duration``, ``charge`` are null while it runs."""
    return {
        "job": attempt.job,
        "number": attempt.number,
        "outcome": attempt.outcome.value if attempt.outcome else None,
        "worker": attempt.worker,
        "started_at": instant_text(attempt.started_at),
        "ended_at": _time(attempt.ended_at),
        "duration": None if attempt.ended_at is None else seconds(Duration(attempt.ended_at - attempt.started_at)),
        "sandbox": attempt.sandbox,
        "charge": attempt.charge.value if attempt.charge else None,
        "error": failure_wire(attempt.failure),
    }


def event_wire(event: Event) -> dict[str, Any]:
    """An event; ``seq`` is the cursor."""
    return {
        "seq": event.seq,
        "job": event.job,
        "at": instant_text(event.at),
        "cause": event.cause.value,
        "from": event.source.value,
        "to": event.target.value,
        "attempt": event.attempt,
        "actor": event.actor,
        "detail": _detail(event.detail),
    }


def happening_wire(one: Happening) -> dict[str, Any]:
    """Something that happened, of whatever it was; what does not go for it is null."""
    return {
        "seq": one.seq,
        "at": instant_text(one.at),
        "job": one.job,
        "run": one.run,
        "node": one.node,
        "task": one.task,
        "queue": one.queue,
        "cause": one.cause,
        "from": one.source,
        "to": one.target,
        "attempt": one.attempt,
        "actor": one.actor,
        "detail": _detail(one.detail),
    }


def logline_wire(line: LogLine) -> dict[str, Any]:
    """A line of output; ``seq`` is the cursor."""
    return {
        "seq": line.seq,
        "job": line.job,
        "attempt": line.attempt,
        "at": instant_text(line.at),
        "stream": line.stream,
        "level": line.level,
        "text": line.text,
    }


def worker_wire(worker: Worker) -> dict[str, Any]:
    """A worker; ``running`` counts the jobs that it holds now, ``pids`` are its processes."""
    return {
        "id": worker.id,
        "name": worker.name,
        "host": worker.host,
        "pid": worker.pid,
        "pids": worker.pids,
        "state": worker.state.value,
        "app": worker.app,
        "queues": list(worker.queues),
        "labels": worker.labels,
        "slots": worker.slots,
        "running": worker.running,
        "started_at": instant_text(worker.started_at),
        "beat_at": instant_text(worker.beat_at),
        "version": worker.version,
        "code_hash": worker.code_hash,
        "outdated": worker.outdated,
        "tasks": list(worker.tasks),
    }


def bulk_wire(done: BulkDone) -> dict[str, Any]:
    """What was done to many jobs."""
    return {"matched": done.matched, "changed": done.changed, "skipped": done.skipped, "next": done.next}


def explanation_wire(told: Explanation) -> dict[str, Any]:
    """Why a job is where it is. ``reasons``: the first one matters most."""
    return {
        "id": told.job,
        "task": told.task,
        "state": told.state.value,
        "at": instant_text(told.at),
        "reasons": [
            {
                "code": one.code,
                "text": one.text,
                "remedy": one.remedy or None,
                "until": None if one.until is None else instant_text(one.until),
            }
            for one in told.reasons
        ],
    }


def queue_wire(queue: Queue) -> dict[str, Any]:
    """A queue: what operators have said of it, and how many of its jobs are in each state that is not an end."""
    return {
        "name": queue.name,
        "paused": queue.paused_at is not None,
        "paused_at": _time(queue.paused_at),
        "paused_by": queue.paused_by,
        "note": queue.note,
        "limit": queue.limit,
        "running": queue.running,
        "queued": queue.queued,
        "scheduled": queue.scheduled,
        "retrying": queue.retrying,
    }


def task_wire(task: Task) -> dict[str, Any]:
    """A task of the catalog; ``short`` serves as its name where it is unique."""
    return {
        "name": task.name,
        "app": task.app,
        "short": task.short,
        "executor": task.executor.value,
        "queue": task.queue,
        "schema": task.schema,
        "retry": task.retry,
        "timeout": task.timeout,
        "grace": task.grace,
        "priority": task.priority,
        "description": task.description,
        "sandbox": task.sandbox,
        "requires": task.requires,
        "slots": task.slots,
        "code_hash": task.code_hash,
        "argv": list(task.argv),
    }


def token_wire(token: Token) -> dict[str, Any]:
    """A token; its secret is shown once, by whoever made it."""
    return {
        "id": token.id,
        "name": token.name,
        "role": token.role.value,
        "created_at": instant_text(token.created_at),
        "created_by": token.created_by,
        "expires_at": _time(token.expires_at),
        "used_at": _time(token.used_at),
        "revoked_at": _time(token.revoked_at),
        "revoked_by": token.revoked_by,
        "queues": _list(token.queues),
    }


def user_wire(user: User) -> dict[str, Any]:
    """A user; ``queues``: that they are kept to, null: to none."""
    return {
        "id": user.id,
        "name": user.name,
        "role": user.role.value,
        "queues": _list(user.queues),
        "created_at": instant_text(user.created_at),
        "created_by": user.created_by,
        "used_at": _time(user.used_at),
        "removed_at": _time(user.removed_at),
        "removed_by": user.removed_by,
    }


def asker_wire(asker: Asker) -> dict[str, Any]:
    """Who asks; ``until``: when their session ends, null where it is none."""
    return {
        "name": asker.name,
        "role": asker.role.value,
        "queues": _list(asker.queues),
        "until": _time(asker.until),
    }


def change_wire(change: Change) -> dict[str, Any]:
    """A line of the audit trail; ``seq`` is the cursor."""
    return {
        "seq": change.seq,
        "at": instant_text(change.at),
        "actor": change.actor,
        "action": change.action,
        "subject": change.subject,
        "before": change.before,
        "after": change.after,
        "request": change.request,
    }


def _detail(detail: dict[str, Any] | None) -> dict[str, Any] | None:
    """What more there is to say; the due instant is a time like all others."""
    if detail is None or not isinstance(detail.get("due"), int):
        return detail
    return detail | {"due": instant_text(Instant(detail["due"]))}


def _list(names: tuple[str, ...] | None) -> list[str] | None:
    return None if names is None else list(names)


def _time(moment: Instant | None) -> str | None:
    return None if moment is None else instant_text(moment)
