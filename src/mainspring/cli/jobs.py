"""``mainspring jobs``: the list of jobs, by filter, and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec.structs import replace

from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access, option
from mainspring.client.wire import job_wire
from mainspring.clock import Duration, Instant, SystemClock, duration, instant, length_text
from mainspring.domain.job import Job, JobFilter, JobPage
from mainspring.domain.states import State
from mainspring.errors import InvalidDuration, InvalidInput, InvalidInstant, near

if TYPE_CHECKING:
    from rich.text import Text

    from mainspring.client import Client


def jobs(  # noqa: PLR0913 - the filters of the list
    *,
    state: Annotated[str | None, option("Only those in this state: queued, running, dead, ...", "STATE")] = None,
    task: Annotated[str | None, option("Only those of this task.", "TASK")] = None,
    queue: Annotated[str | None, option("Only those in this queue.", "QUEUE")] = None,
    tag: Annotated[str | None, option("Only those with this tag: team=mail.", "KEY=VALUE")] = None,
    since: Annotated[str | None, option("Only those made since then: 1h (ago), or a time.", "WHEN")] = None,
    until: Annotated[str | None, option("Only those made before then: 10m (ago), or a time.", "WHEN")] = None,
    limit: Annotated[int, option("At most so many, from 1 to 1,000 (default: 50).", "N")] = 50,
    cursor: Annotated[str | None, option("Go on behind a page: what its last line said.", "CURSOR")] = None,
    count: Annotated[bool, option("Only say how many there are.")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """List jobs, newest first, or count them."""
    now = SystemClock().now()
    wanted = JobFilter(
        state=_state(state),
        task=task,
        queue=queue,
        tag=tag,
        since=_moment(since, now, "since"),
        until=_moment(until, now, "until"),
        limit=limit,
        cursor=cursor,
    )
    with access.client() as client:
        if count:
            number = client.count(wanted)
            show.as_json({"count": number}) if access.json else show.line(str(number))
            return 0
        page = _page(client, wanted)
    if access.json:
        show.as_json([job_wire(job) for job in page.items])
        return 0
    titles = ("ID", "STATE", "TASK", "QUEUE", "ATTEMPT", "CREATED", "TOOK", "PARAMS")
    show.table(titles, [_row(job, now) for job in page.items], empty="No jobs.", right=(0,), gives=(7,))
    if page.next:
        show.note(f"More: mainspring jobs --cursor {page.next}")
    return 0


def _page(client: Client, wanted: JobFilter) -> JobPage:
    """As many as were asked for, where so many are there: where few of very many match, one answer has not all."""
    page = client.jobs(wanted)
    while page.next is not None and len(page.items) < wanted.limit:
        more = client.jobs(replace(wanted, cursor=page.next, limit=wanted.limit - len(page.items)))
        page = JobPage([*page.items, *more.items], more.next)
    return page


def _row(job: Job, now: Instant) -> tuple[str | Text, ...]:
    attempts = looks.tried(job.attempt, job.max_attempts) if job.attempt else "-"
    return (
        str(job.id),
        show.state(job.state, cancelling=job.cancel_requested),
        job.task,
        job.queue,
        attempts,
        looks.age(now, job.created_at),
        took(job, now),
        looks.job_params(job, 120),
    )


def took(job: Job, now: Instant) -> str:
    """How long it has been running or took to its end; a dash while it waits."""
    end = now if job.state is State.RUNNING else job.finished_at
    if job.started_at is None or end is None:
        return "-"
    return length_text(Duration(end - job.started_at))


def _state(word: str | None) -> State | None:
    if word is None:
        return None
    states = [state.value for state in State if state is not State.NEW]
    if word not in states:
        remedy = f"{near(word, states)} States: {', '.join(states)}.".lstrip()
        raise InvalidInput(f"{word!r} is not a state of a job.", remedy=remedy, field="state")
    return State(word)


def _moment(text: str | None, now: Instant, option: str) -> Instant | None:
    """A time, or how long ago."""
    if text is None:
        return None
    try:
        return Instant(now - duration(text))
    except InvalidDuration:
        try:
            return instant(text)
        except InvalidInstant:
            raise InvalidInstant(text, field=option, ago=True) from None
