"""``mainspring events``: what happened to jobs, or in a run, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated, NamedTuple

from mainspring.cli import access as of
from mainspring.cli import follow, looks, show
from mainspring.cli.access import Access, option
from mainspring.cli.job import number
from mainspring.client import Client
from mainspring.client.run_wire import run_event_wire
from mainspring.client.wire import event_wire
from mainspring.clock import SECOND, Duration
from mainspring.domain.event import Event
from mainspring.domain.kinds import checked_kinds, is_one_of
from mainspring.domain.listing import MOST, MOST_LINES, checked_limit
from mainspring.domain.run import RunEvent

_AT_ONCE = 1_000
_FARTHER = 4
"""How much farther each look back goes than the one before, so that all of them cost little more than the last."""


def events(  # noqa: PLR0913 - the filters of the list
    *,
    job: Annotated[str | None, option("Only those of this job.", "ID")] = None,
    run: Annotated[int | None, option("Only those of this run, of its nodes and of their jobs.", "ID")] = None,
    kind: Annotated[
        tuple[str, ...], option("Only these: names of states or causes; may be given several times.", "KIND")
    ] = (),
    after: Annotated[int | None, option("Those behind this cursor (default: the last ones).", "CURSOR")] = None,
    limit: Annotated[int, option("At most so many (default: 100).", "N")] = 100,
    follow_: Annotated[bool, option("Go on until Ctrl-C.", name=("--follow", "-f"))] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Show what happened to jobs, oldest first. In JSON an array, or with -f one document a line."""
    checked_limit(limit, MOST_LINES if run is None else MOST)
    kinds = tuple(one for words in kind for one in words.split(","))
    with access.client() as client:
        of_job = None if job is None else number(job)
        if run is not None:
            wanted = _OfRun(run, of_job, checked_kinds(kinds, "kinds"))
            return _of_run(client, wanted, after, limit, follow_=follow_, as_json=access.json)
        found: list[Event] = []
        if after is None:
            newest = client.last_event()
            found = _last(client, newest, of_job, kinds, limit)
            after = found[0].seq - 1 if found else newest
        elif not follow_:
            found = client.events(after=after, job=of_job, kinds=kinds, limit=limit)
        if follow_:
            _follow(client, after, of_job, kinds, as_json=access.json)
    if access.json:
        show.as_json([event_wire(event) for event in found])
    else:
        for event in found:
            show.line(_line(event))
        if not found:
            show.line("No events.")
    return 0


def _last(client: Client, newest: int, job: int | None, kinds: Sequence[str], limit: int) -> list[Event]:
    """The last so many that are wanted: looked for behind cursors that lie ever farther back."""
    span = limit if job is None else newest
    while True:
        after = max(0, newest - span)
        found = deque(_behind(client, after, job, kinds), maxlen=limit)
        if after == 0 or len(found) == limit:
            return list(found)
        span *= _FARTHER


def _behind(client: Client, after: int, job: int | None, kinds: Sequence[str]) -> Iterator[Event]:
    """All behind a cursor, oldest first."""
    while page := client.events(after=after, job=job, kinds=kinds, limit=_AT_ONCE):
        yield from page
        if len(page) < _AT_ONCE:
            return
        after = page[-1].seq


class _OfRun(NamedTuple):
    """Which events of a run are wanted."""

    run: int
    job: int | None
    kinds: tuple[str, ...]

    def has(self, event: RunEvent) -> bool:
        """Whether this is one of them."""
        return self.job in {None, event.job} and (not self.kinds or is_one_of(event, self.kinds))


def _of_run(  # noqa: PLR0913 - as the command has them
    client: Client, wanted: _OfRun, after: int | None, limit: int, *, follow_: bool, as_json: bool
) -> int:
    """What happened in a run: the last, or those behind a cursor; with ``follow_`` what comes until it has ended."""
    start = after or 0
    if after is None:
        found = list(deque(_wanted_of_run(client, wanted, 0), maxlen=limit))
        start = found[0].seq - 1 if found else 0
    else:
        found = [] if follow_ else list(islice(_wanted_of_run(client, wanted, start), limit))
    if not follow_:
        show.as_json([run_event_wire(event) for event in found]) if as_json else _run_lines(found)
        return 0
    while True:
        over = client.run(wanted.run).done  # before its events are asked for, so that its last ones are among them
        for event in _wanted_of_run(client, wanted, start):
            start = event.seq
            show.json_line(run_event_wire(event)) if as_json else _run_lines([event])
        show.flush()
        if over:
            return 0
        client.await_news(SECOND)


def _wanted_of_run(client: Client, wanted: _OfRun, after: int) -> Iterator[RunEvent]:
    """Those behind a cursor, oldest first."""
    while page := client.run_events(wanted.run, after=after, limit=_AT_ONCE):
        after = page[-1].seq
        yield from (event for event in page if wanted.has(event))
        if len(page) < _AT_ONCE:
            return


def _run_lines(events: Iterable[RunEvent]) -> None:
    for event in events:
        what = f"node {event.node}" if event.node else f"run {event.run}"
        job = f" (job {event.job})" if event.job else ""
        show.line(looks.one_line(f"{looks.time_of_day(event.at)} {what}{job}: {event.cause}, now {event.target}"))


def _follow(client: Client, after: int, job: int | None, kinds: tuple[str, ...], *, as_json: bool) -> None:
    client.await_news(Duration(0))
    while True:
        page = client.events(after=after, job=job, kinds=kinds)
        for event in page:
            after = event.seq
            show.json_line(event_wire(event)) if as_json else show.line(_line(event))
        show.flush()
        if not page:
            client.await_news(SECOND)


def _line(event: Event) -> str:
    return f"{looks.time_of_day(event.at)} job {event.job:<8} {looks.one_line(follow.event_text(event))}"
