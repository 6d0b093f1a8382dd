"""``mainspring logs``: what a job wrote."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import follow, looks, show
from mainspring.cli.access import Access
from mainspring.cli.job import Id, number
from mainspring.client.wire import logline_wire
from mainspring.domain.event import Event
from mainspring.domain.logline import LogLine


def logs(
    id_: Id,
    /,
    *,
    follow_: Annotated[
        bool, Parameter(name=("--follow", "-f"), negative="", help="Go on until the job has ended.", show_default=False)
    ] = False,
    attempt: Annotated[int | None, Parameter(help="Only what this attempt wrote.")] = None,
    access: Access = of.DEFAULT,
) -> int:
    """Show what a job wrote, oldest line first. In JSON an array, or with -f one document a line."""
    with access.client() as client:
        job = number(id_)
        if follow_:
            follow.until_ended(client, job, lambda news: _tell(news, attempt, as_json=access.json))
            return 0
        lines = follow.all_lines(client, job, attempt=attempt)
        if access.json:
            show.as_json([logline_wire(line) for line in lines])
        else:
            _tell(list(lines), attempt, as_json=False)
    return 0


def _tell(news: Sequence[Event | LogLine], attempt: int | None, *, as_json: bool) -> None:
    on_terminal = show.on_terminal()
    for one in news:
        if not isinstance(one, LogLine) or (attempt is not None and one.attempt != attempt):
            continue
        if as_json:
            show.json_line(logline_wire(one))
        else:
            show.line(looks.harmless(one.text) if on_terminal else one.text)
    show.flush()
