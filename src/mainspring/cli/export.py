"""``mainspring export jobs|events|ticks|run ID``: all there is, one JSON document a line; or a run as a picture."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import show
from mainspring.cli.access import Access, option
from mainspring.cli.runs import every_event, every_node, seen_of
from mainspring.client import database
from mainspring.client.run_wire import node_wire, run_event_wire, run_wire
from mainspring.clock import SystemClock
from mainspring.domain.pictures.diagram import dot, mermaid
from mainspring.domain.pictures.gantt import gantt
from mainspring.errors import WrongUse

Format = Literal["jsonl", "mermaid", "dot", "svg"]


def export(
    what: Annotated[Literal["jobs", "events", "ticks", "run"], Parameter(show=False)],
    number: Annotated[int | None, Parameter(name="ID", show=False)] = None,
    /,
    *,
    format_: Annotated[
        Format,
        option(
            "How: jsonl (the default) is one JSON document a line; of a run also mermaid, dot, and svg: a Gantt chart.",
            "FORMAT",
            name=("--format",),
        ),
    ] = "jsonl",
    access: Access = of.DEFAULT,
) -> int:
    """Write out all jobs by id, each with its attempts, all events by seq, or all ticks of schedules, as they are now.

    Or one run: itself, its nodes in the order of the definition, its events by seq; or a picture of it.
    """
    if what == "run":
        return _run(number, format_, access)
    if number is not None or format_ != "jsonl":
        raise WrongUse(f"export {what} takes neither an ID nor another format than jsonl.")
    url = access.load().settings.database_url
    if what == "jobs":
        database.export_jobs(url, _line)
    elif what == "ticks":
        database.export_ticks(url, _line)
    else:
        database.export_events(url, _line)
    return 0


def _run(number: int | None, format_: Format, access: Access) -> int:
    if number is None:
        raise WrongUse("export run takes the number of a run.", remedy="Write: mainspring export run ID")
    with access.client() as client:
        run = client.run(number)
        nodes = every_node(client, number)
        events = every_event(client, number) if format_ == "jsonl" else []
    if format_ == "jsonl":
        _line(run_wire(run))
        for node in nodes:
            _line(node_wire(node))
        for event in events:
            _line(run_event_wire(event))
        return 0
    seen = [seen_of(node) for node in nodes]
    title = f"run {run.id}: {run.workflow} ({run.state})"
    if format_ == "svg":
        text = gantt(title, seen, SystemClock().now())
    else:
        text = (mermaid if format_ == "mermaid" else dot)(title, seen)
    show.line(text.rstrip())
    return 0


def _line(document: dict[str, Any]) -> None:
    show.json_line(document, at_once=False)
