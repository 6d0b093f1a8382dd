"""``mainspring logs``: what a job wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import follow, looks, show
from mainspring.cli.access import Access, option
from mainspring.cli.job import number
from mainspring.cli.records import RECORDS, Records, shown
from mainspring.client import Client
from mainspring.client.wire import logline_wire
from mainspring.domain.event import Event
from mainspring.domain.logline import LogLine
from mainspring.domain.states import FINAL
from mainspring.errors import WrongUse


def logs(  # noqa: PLR0913 - of whom, and which of it
    id_: Annotated[str | None, Parameter(name="ID", help="The job.")] = None,
    /,
    *,
    follow_: Annotated[bool, option("Go on until the job has ended.", name=("--follow", "-f"))] = False,
    attempt: Annotated[int | None, option("Only what this attempt wrote.", "N")] = None,
    system: Annotated[bool, option("Show what servers and workers said of themselves instead.")] = False,
    records: Records = RECORDS,
    access: Access = of.DEFAULT,
) -> int:
    """Show what a job wrote, or servers and workers, oldest line first.

    In JSON an array, or with -f one document a line.
    """
    if system:
        if id_ is not None or attempt is not None:
            raise WrongUse("--system shows no job's output.", remedy="Leave ID and --attempt out; see --job.")
        return shown(records, access, on=follow_)
    if id_ is None:
        raise WrongUse("Whose log?", remedy="Name a job, or give --system.", field="ID")
    if records != RECORDS:
        raise WrongUse("These options choose lines of --system.", remedy="Give --system, or leave them out.")
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
