"""Why a queued job waits though there seems to be nothing in its way: what a person can do something about."""

from __future__ import annotations

from mainspring.cli import looks
from mainspring.client import Client
from mainspring.clock import SystemClock
from mainspring.domain.job import Job
from mainspring.domain.queue import Queue
from mainspring.domain.states import FINAL, State
from mainspring.domain.task import Task
from mainspring.domain.worker import Worker, WorkerState, may_take, serves
from mainspring.errors import UnknownQueue

_START = "mainspring up --app app.py"


def nobody_for(client: Client, job: Job) -> str:
    """A sentence for a job that waits for its queue or for a worker to take it; an empty text for all others."""
    if job.state in FINAL or job.state is State.RUNNING:
        return ""
    try:
        return _closed(client.queue(job.queue)) or _unhosted(client, job)
    except UnknownQueue:
        return _unhosted(client, job)


def _closed(queue: Queue) -> str:
    """What the operators of its queue have said."""
    if queue.paused_at is not None:
        since = looks.age(SystemClock().now(), queue.paused_at)
        note = f": {looks.one_line(queue.note)}" if queue.note else ""
        return (
            f"queue {queue.name} is paused ({since}, by {queue.paused_by}){note}. mainspring queue resume {queue.name}"
        )
    if queue.full:
        return f"{looks.counted(queue.running, 'job')} of queue {queue.name} now running; its limit is {queue.limit:,}"
    return ""


def _unhosted(client: Client, job: Job) -> str:
    """Why no live worker takes it."""
    knowing = [one for one in client.workers() if one.state is WorkerState.ACTIVE and job.task in one.tasks]
    if not knowing:
        return f"no live worker runs {job.task}. Start one: {_START}"
    names = ", ".join(one.name for one in knowing[:3])
    knows = f"{names} {'knows' if len(knowing) == 1 else 'know'} {job.task}"
    serving = [one for one in knowing if serves(one.queues, job.queue)]
    if not serving:
        return f"no live worker takes jobs of queue {job.queue} ({knows}). Start one: {_START} --queue {job.queue}"
    task = next((one for one in client.tasks() if one.name == job.task), None)
    return "" if task is None else _unfit(task, serving, knows)


def _unfit(task: Task, serving: list[Worker], knows: str) -> str:
    """What its task asks for that none of these workers has."""
    labelled = [one for one in serving if may_take(task.requires, 0, labels=one.labels, slots=one.slots)]
    if not labelled:
        labels = [f"{name}={value}" for name, value in task.requires.items()]
        given = " ".join(f"--label {label}" for label in labels)
        return f"no live worker has the label {' and '.join(labels)} ({knows}). Start one: {_START} {given}"
    if any(task.slots <= one.slots for one in labelled):
        return ""
    most = max(one.slots for one in labelled)
    has = f"it takes {task.slots} slots, and no live worker has more than {most} ({knows})"
    return f"{has}. Start one: {_START} --slots {task.slots}"
