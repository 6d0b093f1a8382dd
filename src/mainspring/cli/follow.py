"""Follows a job while it goes on: its events and log lines in the order of their times, as they come.

It asks the client again at each hint, and at least once a second; nothing here decides about a job.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from mainspring.cli import looks, show
from mainspring.client import Client
from mainspring.clock import SECOND, Clock, Duration, Instant, SystemClock, length_text
from mainspring.domain.event import Event
from mainspring.domain.job import Job
from mainspring.domain.logline import LogLine
from mainspring.domain.states import FINAL, Cause, State, sentence

if TYPE_CHECKING:
    from rich.text import Text

Heard = Callable[[Sequence[Event | LogLine]], None]
_AT_ONCE = 1_000
_SAID = {"", "succeeded", "failed", "cancelled", "lost", "released"}
"""Outcomes that the sentence of the event names already."""


def until_ended(client: Client, job: int, heard: Heard, *, look: Callable[[Job], None] = lambda _: None) -> Job:
    """Wait until the job has ended; ``heard`` gets what is new each time, ``look`` the job as it is."""
    client.await_news(Duration(0))  # hints count from here on
    events, lines = 0, 0
    while True:
        # The job is read first: once it has ended, what is read behind it is all there will be.
        now = client.job(job)
        fresh = _all_events(client, job, events)
        output = list(all_lines(client, job, after=lines))
        events = fresh[-1].seq if fresh else events
        lines = output[-1].seq if output else lines
        heard(sorted([*fresh, *output], key=lambda one: one.at))
        look(now)
        if now.state in FINAL:
            return now
        client.await_news(SECOND)


def all_lines(client: Client, job: int, *, attempt: int | None = None, after: int = 0) -> Iterator[LogLine]:
    """The log lines behind the cursor, fetched in pages."""
    while True:
        page = client.logs(job, attempt=attempt, after=after, limit=_AT_ONCE)
        yield from page
        if len(page) < _AT_ONCE:
            return
        after = page[-1].seq


def _all_events(client: Client, job: int, after: int) -> list[Event]:
    found: list[Event] = []
    while page := client.events(after=after, job=job, limit=_AT_ONCE):
        found += page
        after = page[-1].seq
        if len(page) < _AT_ONCE:
            break
    return found


def event_text(event: Event) -> str:
    """What happened, in a line: ``running  a worker claimed it (attempt 1, worker:7)``."""
    said = sentence(event.source, event.cause)
    attempt = f"attempt {event.attempt}, " if event.attempt else ""
    return f"{looks.state_look(event.target).text:<12} {said} ({attempt}{event.actor}){_detail(event)}"


def _detail(event: Event) -> str:
    """What more there is to say: when it goes on, and what went wrong."""
    told = dict(event.detail or {})
    due, error = _due(event), told.pop("error", "")
    parts = [] if due is None else [f", due {looks.moment(due)}"]
    outcome = told.pop("outcome", "")
    if outcome not in _SAID:
        parts.append(f", {outcome}")
    told.pop("due", None)
    parts += [f", {name} {looks.compact(value)}" for name, value in told.items() if value not in (None, "", {})]
    return "".join(parts) + (f": {looks.cut(looks.one_line(error), 160)}" if error else "")


def _due(event: Event) -> Instant | None:
    """When the job that now waits may go on."""
    due = event.detail.get("due") if event.detail else None
    return Instant(due) if isinstance(due, int) else None


def watched(client: Client, job: int, *, quiet: bool) -> Job:
    """Wait for the end with progress on standard error: live on a terminal, plain lines elsewhere, or nothing."""
    screen = show.console(error=True)
    if quiet:
        return until_ended(client, job, lambda _: None)
    if not screen.is_terminal:
        return until_ended(client, job, _tell_plainly)
    clock = SystemClock()
    dues: list[Instant] = []

    def draw(news: Sequence[Event | LogLine]) -> None:
        for one in news:
            screen.print(_drawn(one), soft_wrap=True)
            if isinstance(one, Event) and (due := _due(one)) is not None:
                dues.append(due)

    with screen.status("waiting") as status:
        return until_ended(client, job, draw, look=lambda now: status.update(_status(now, dues, clock)))


def _tell_plainly(news: Sequence[Event | LogLine]) -> None:
    for one in news:
        show.note(_plain(one))


def _plain(one: Event | LogLine) -> str:
    if isinstance(one, LogLine):
        return f"{looks.time_of_day(one.at)}   | {one.text}"
    return f"{looks.time_of_day(one.at)} {event_text(one)}"


def _drawn(one: Event | LogLine) -> Text:
    from rich.text import Text

    drawn = Text().append(f"{looks.time_of_day(one.at)} ", style="dim")
    if isinstance(one, LogLine):
        return drawn.append("  │ ").append_text(Text.from_ansi(looks.harmless(one.text)))
    quiet = one.cause in {Cause.SUBMIT, Cause.SCHEDULE, Cause.PROMOTE}
    return drawn.append(looks.one_line(event_text(one)), style="dim" if quiet else looks.state_look(one.target).style)


def _status(job: Job, dues: Sequence[Instant], clock: Clock) -> str:
    """The line under the progress. ``dues``: the due times that were told, the last one last."""
    since = job.started_at if job.state is State.RUNNING and job.started_at else job.created_at
    parts = [f"job {job.id} {job.state.value}"]
    if job.attempt:
        parts.append(f"attempt {looks.tried(job.attempt, job.max_attempts)}")
    if job.worker and job.state is State.RUNNING:
        parts.append(f"on {job.worker}")
    if job.state in {State.RETRYING, State.SCHEDULED} and dues:
        parts.append(f"due {looks.age(clock.now(), dues[-1])}")
    parts.append(length_text(Duration(clock.now() - since)))
    if job.progress:
        parts.append(looks.params_line(job.progress, 60))
    return " · ".join(parts)
