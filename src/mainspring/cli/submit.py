"""``mainspring submit``: one job from the command line, and optionally the wait for its end."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import follow, looks, show, values
from mainspring.cli.access import Access, option
from mainspring.cli.job import obstacle
from mainspring.client import Client
from mainspring.client.wire import job_wire
from mainspring.domain.job import Job, JobRequest
from mainspring.domain.states import State


def submit(  # noqa: PLR0913 - the documented options of a submit
    task: Annotated[str, option("The task's name; the short one serves where it is unique.")],
    /,
    *words: Annotated[str, Parameter(name="name=value", help="Parameters, read by the task's schema: order_id=7")],
    params: Annotated[
        str | None, option("All parameters as a JSON object, or @FILE (@- reads standard input).", "JSON")
    ] = None,
    delay: Annotated[str | None, option("Not before this long from now: 10m.", "DURATION")] = None,
    at: Annotated[str | None, option("Not before this time: 2026-11-29T03:00:00Z.", "TIME")] = None,
    expires: Annotated[str | None, option("Dead if it has not started this long after the submit.", "DURATION")] = None,
    priority: Annotated[int | None, option("Lower goes first; the default is 5.", "N")] = None,
    queue: Annotated[str | None, option("Instead of the task's own queue.", "QUEUE")] = None,
    tag: Annotated[tuple[str, ...], option("A label such as team=mail; may be given several times.", "KEY=VALUE")] = (),
    timeout: Annotated[str | None, option("How long one attempt may take: 30s.", "DURATION")] = None,
    max_attempts: Annotated[int | None, option("How many attempts it gets; 1 is no retries.", "N")] = None,
    unique: Annotated[
        str | None, option("At most one unended job of the task has this key: else that one is told.", "KEY")
    ] = None,
    wait: Annotated[bool, option("Show its progress until it has ended; exit status 1 unless it succeeds.")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Submit a job. Its id is printed once it is stored durably."""
    with access.client(make=True) as client:
        known = values.task_named(task, client.tasks())
        request = JobRequest(
            task=known.name,
            params=values.params_of(known, words, params),
            queue=queue,
            priority=priority,
            delay=delay,
            run_at=at,
            expires=expires,
            timeout=timeout,
            retry=None if max_attempts is None else {"max_attempts": max_attempts},
            tags=values.pairs(tag, "--tag"),
            unique=unique,
        )
        receipt = client.submit([request])[0]
        number = receipt.job
        with show.done(f"job {number} is stored all the same."):
            if not receipt.new:
                show.note(f"job {number} has the unique key {unique!r}; nothing new was submitted.")
            if wait:
                return _wait(client, number, access)
            job = client.job(number)
            if access.json:
                show.as_json(job_wire(job))
            else:
                show.line(f"job {job.id} {job.state.value}: {job.task} {looks.params_line(job.params)}".rstrip())
        _tell_nobody(client, job)
        return 0


def _tell_nobody(client: Client, job: Job) -> None:
    if waits := obstacle(client.explain(job.id)):
        show.note(f"job {job.id} waits: {looks.one_line(waits)}")


def _wait(client: Client, number: int, access: Access) -> int:
    quiet = access.json and not show.console(error=True).is_terminal
    try:
        if not quiet:
            show.note(f"job {number} is submitted; Ctrl-C stops waiting, not the job.")
        _tell_nobody(client, client.job(number))
        job = follow.watched(client, number, quiet=quiet)
    except KeyboardInterrupt:
        show.note(
            f"\njob {number} goes on. Follow it: mainspring logs {number} -f   Stop it: mainspring cancel {number}"
        )
        raise
    if access.json:
        show.as_json(job_wire(job))
    else:
        show.line(_end(job))
    return 0 if job.state is State.SUCCEEDED else 1


def _end(job: Job) -> str:
    """How it ended: the result, or the error."""
    text = f"job {job.id} {job.state.value} after {looks.counted(job.attempt, 'attempt')}"
    if job.state is State.SUCCEEDED:
        return text if job.result is None else f"{text}: {looks.compact(job.result)}"
    return f"{text}: {job.error.type}: {job.error.message}" if job.error else text
