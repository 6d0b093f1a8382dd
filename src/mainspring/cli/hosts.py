"""Whether a live worker runs a job's task, and what to say where none does: a job that nobody takes only waits."""

from __future__ import annotations

from mainspring.client import Client
from mainspring.domain.job import Job
from mainspring.domain.states import FINAL, State
from mainspring.domain.worker import Worker, WorkerState


def nobody_for(client: Client, job: Job) -> str:
    """A sentence for a job that waits though no live worker would take it; an empty text for all others."""
    if job.state in FINAL or job.state is State.RUNNING:
        return ""
    knowing = [one for one in client.workers() if one.state is WorkerState.ACTIVE and job.task in one.tasks]
    if any(_takes(one, job.queue) for one in knowing):
        return ""
    if knowing:
        names = ", ".join(one.name for one in knowing[:3])
        knows = f"{names} {'knows' if len(knowing) == 1 else 'know'} {job.task}"
        return f"no live worker takes jobs of queue {job.queue} ({knows}). Start one: {_START} --queue {job.queue}"
    return f"no live worker runs {job.task}. Start one: {_START}"


_START = "mainspring up --app app.py"


def _takes(worker: Worker, queue: str) -> bool:
    return not worker.queues or queue in worker.queues
