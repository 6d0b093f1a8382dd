"""``mainspring job``, ``cancel`` and ``retry``: one job, looked at and acted on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import follow, looks, show
from mainspring.cli.access import Access
from mainspring.cli.jobs import took
from mainspring.client.wire import attempt_wire, event_wire, job_wire
from mainspring.clock import Duration, Instant, SystemClock, length_text
from mainspring.domain.attempt import Attempt, Failure
from mainspring.domain.event import Event
from mainspring.domain.ids import job_id
from mainspring.domain.job import Job
from mainspring.domain.reason import Explanation
from mainspring.domain.states import FINAL, Charge, State
from mainspring.errors import UnknownJob

if TYPE_CHECKING:
    from rich.text import Text

Id = Annotated[str, Parameter(name="ID", help="The job's number.")]


def number(text: str) -> int:
    """The id that a person typed. Raises UnknownJob for what can't be one."""
    found = job_id(text)
    if found is None:
        raise UnknownJob(text)
    return found


def job(id_: Id, /, *, access: Access = of.DEFAULT) -> int:
    """Show one job: its attempts, events, result and error."""
    with access.client() as client:
        found = client.job(number(id_))
        attempts = client.attempts(found.id)
        events = client.events(job=found.id)
        waits = obstacle(client.explain(found.id))
    if access.json:
        show.as_json(
            job_wire(found)
            | {"attempts": [attempt_wire(one) for one in attempts], "events": [event_wire(one) for one in events]}
        )
    else:
        _page(found, attempts, events, waits)
    return 0


def cancel(id_: Id, /, *, access: Access = of.DEFAULT) -> int:
    """Cancel a job: at once while it waits; one that runs is asked to stop, then killed."""
    with access.client() as client:
        found = client.cancel(number(id_))
    said = f"job {found.id} {found.state.value}" + ("" if found.state in FINAL else "; it was asked to stop")
    with show.done(said):
        show.as_json(job_wire(found)) if access.json else show.line(said)
    return 0


def retry(id_: Id, /, *, access: Access = of.DEFAULT) -> int:
    """Run an ended job again: a new job with the same task and parameters, which points to the old one."""
    with access.client() as client:
        found = client.retry(number(id_))
    said = f"job {found.id} {found.state.value}: it runs job {found.replay_of} again"
    with show.done(said):
        show.as_json(job_wire(found)) if access.json else show.line(said)
    return 0


def obstacle(told: Explanation) -> str:
    """What a waiting job needs that a person can give it; an empty text for all others."""
    if told.state in FINAL or told.state is State.RUNNING:
        return ""
    return next((f"{one.text}. {one.remedy}" for one in told.reasons if one.remedy), "")


def _page(job: Job, attempts: list[Attempt], events: list[Event], waits: str) -> None:
    """The whole story of a job."""
    now = SystemClock().now()
    show.draw(show.title(f"job {job.id}", job.task, show.state(job.state, cancelling=job.cancel_requested)))
    show.draw(show.facts([*_facts(job, attempts, now), *([("waits", waits)] if waits else [])]))
    if attempts:
        show.heading("Attempts")
        titles = ("#", "OUTCOME", "WORKER", "STARTED", "TOOK", "SANDBOX", "ERROR")
        show.table(titles, [_attempt_row(one, now) for one in attempts], empty="", right=(0,), gives=(6,), whole=True)
    if events:
        show.heading("Events")
        show.table(("AT", "WHAT"), [_event_row(one) for one in events], empty="", gives=(1,), whole=True)
    if job.result is not None:
        show.heading("Result")
        show.draw(show.document(job.result))
    if job.error is not None:
        show.heading("Error")
        for part in _error(job.error):
            show.draw(part)


def _facts(job: Job, attempts: list[Attempt], now: Instant) -> list[tuple[str, str]]:
    tags = " ".join(f"{key}={value}" for key, value in job.tags.items())
    facts = [
        ("params", looks.job_params(job, 2_000)),
        ("queue", f"{job.queue}, priority {job.priority}"),
        ("attempts", _tried(job, attempts)),
        ("created", f"{looks.moment(job.created_at)} ({looks.age(now, job.created_at)})"),
        ("due", "" if job.run_at <= job.created_at else f"{looks.moment(job.run_at)} ({looks.age(now, job.run_at)})"),
        ("started", _started(job, now)),
        ("finished", "" if job.finished_at is None else looks.moment(job.finished_at)),
        ("expires", "" if job.expires_at is None else looks.moment(job.expires_at)),
        ("worker", job.worker or ""),
        ("timeout", job.timeout or ""),
        ("progress", "" if not job.progress else looks.params_line(job.progress, 200)),
        ("tags", tags),
        ("meta", "" if job.meta is None else looks.params_line(job.meta, 200)),
        ("made by", "" if job.tick is None else looks.tick(job.tick)),
        ("parent", "" if job.parent is None else f"job {job.parent}"),
        ("runs again", "" if job.replay_of is None else f"job {job.replay_of}"),
        ("run again", "" if job.replayed_by is None else f"as job {job.replayed_by}"),
    ]
    return [(name, looks.one_line(value)) for name, value in facts if value]


def _tried(job: Job, attempts: list[Attempt]) -> str:
    """``2 of 4``, and how many count for nothing in that, and why."""
    others = [one.charge for one in attempts if one.charge not in (None, Charge.ATTEMPT)]
    counting = looks.tried(job.attempt - len(others), job.max_attempts)
    why = " or ".join(dict.fromkeys(_UNCOUNTED[charge] for charge in _UNCOUNTED if charge in others))
    verb = "does" if len(others) == 1 else "do"
    return f"{counting}, and {len(others)} that {verb} not count ({why})" if others else counting


_UNCOUNTED = {
    Charge.LOSS: "lost",
    Charge.SUSPECT: "lost with a shared runner",
    Charge.RELEASE: "given back",
    Charge.NOTHING: "cancelled",
}


def _started(job: Job, now: Instant) -> str:
    if job.started_at is None:
        return ""
    length = took(job, now)
    running = "running for" if job.state is State.RUNNING else "took"
    return looks.moment(job.started_at) + ("" if length == "-" else f", {running} {length}")


def _attempt_row(attempt: Attempt, now: Instant) -> tuple[str | Text, ...]:
    error = f"{attempt.failure.type}: {attempt.failure.message}" if attempt.failure else ""
    return (
        str(attempt.number),
        show.outcome(attempt.outcome),
        attempt.worker,
        looks.time_of_day(attempt.started_at),
        length_text(Duration((attempt.ended_at or now) - attempt.started_at)),
        attempt.sandbox,
        looks.cut(looks.one_line(error), 200),
    )


def _event_row(event: Event) -> tuple[str | Text, ...]:
    return looks.time_of_day(event.at), looks.one_line(follow.event_text(event))


def _error(failure: Failure) -> list[Text]:
    parts = [show.plain(f"{failure.type}: {looks.harmless(failure.message)}", style="red")]
    if failure.evidence:
        parts += [
            show.plain(f"{name}: {looks.cut(looks.one_line(looks.compact(value)), 2_000)}")
            for name, value in failure.evidence.items()
        ]
    if failure.traceback:
        parts.append(show.plain(looks.harmless(failure.traceback.rstrip()), style="dim"))
    return parts
