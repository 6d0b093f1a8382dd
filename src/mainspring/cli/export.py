"""``mainspring export jobs|events``: all there is, one JSON document a line, from one snapshot."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import show
from mainspring.cli.access import Access, option
from mainspring.client import database


def export(
    what: Annotated[Literal["jobs", "events"], Parameter(show=False)],
    /,
    *,
    format_: Annotated[  # noqa: ARG001 - there is one as yet
        Literal["jsonl"], option("How: jsonl (the default) is one JSON document a line.", "FORMAT", name=("--format",))
    ] = "jsonl",
    access: Access = of.DEFAULT,
) -> int:
    """Write out all jobs by id, each with its attempts, or all events by seq, as they are at this moment."""
    url = access.load().settings.database_url
    if what == "jobs":
        database.export_jobs(url, _line)
    else:
        database.export_events(url, _line)
    return 0


def _line(document: dict[str, Any]) -> None:
    show.json_line(document, at_once=False)
