"""``mainspring logs``: what a job wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from mainspring.cli import access as of
from mainspring.cli import follow, looks, show
from mainspring.cli.access import Access, option
from mainspring.cli.job import Id, number
from mainspring.client import Client
from mainspring.client.wire import logline_wire
from mainspring.domain.event import Event
from mainspring.domain.logline import LogLine
from mainspring.domain.states import FINAL


def logs(
    id_: Id,
    /,
    *,
    follow_: Annotated[bool, option("Go on until the job has ended.", name=("--follow", "-f"))] = False,
    attempt: Annotated[int | None, option("Only what this attempt wrote.", "N")] = None,
    access: Access = of.DEFAULT,
) -> int:
    """Show what a job wrote, oldest line first. In JSON an array, or with -f one document a line."""
    with access.client() as client:
        job = number(id_)
        if follow_:
            told: list[int] = []
            follow.until_ended(client, job, lambda news: told.append(_tell(news, attempt, as_json=access.json)))
            _tell_nothing(client, job, attempt, lines=sum(told))
            return 0
        lines = list(follow.all_lines(client, job, attempt=attempt))
        if access.json:
            show.as_json([logline_wire(line) for line in lines])
        else:
            _tell(lines, attempt, as_json=False)
        _tell_nothing(client, job, attempt, lines=len(lines))
    return 0


def _tell_nothing(client: Client, job: int, attempt: int | None, *, lines: int) -> None:
    """An empty answer may have several reasons."""
    if lines:
        return
    found = client.job(job)
    if attempt is not None and attempt > found.attempt:
        show.note(f"job {job} has had {looks.counted(found.attempt, 'attempt')}.")
    elif not found.attempt:
        show.note(f"job {job} is {found.state.value} and has not started.")
    else:
        which = f"attempt {attempt} of job {job}" if attempt is not None else f"job {job}"
        show.note(f"{which} has written nothing{'' if found.state in FINAL else ' yet'}.")


def _tell(news: Sequence[Event | LogLine], attempt: int | None, *, as_json: bool) -> int:
    """Print the lines among the news; how many they were."""
    on_terminal, told = show.on_terminal(), 0
    for one in news:
        if not isinstance(one, LogLine) or (attempt is not None and one.attempt != attempt):
            continue
        told += 1
        if as_json:
            show.json_line(logline_wire(one))
        else:
            show.line(looks.harmless(one.text) if on_terminal else one.text)
    show.flush()
    return told
