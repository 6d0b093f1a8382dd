"""``mainspring workflows``, ``run``, ``runs``, ``run-show``, ``run-cancel``, ``resume``, ``restart``: DAGs and runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import looks, show, values
from mainspring.cli.access import Access, option
from mainspring.cli.follow_run import counts, failure_lines, followed, result_lines
from mainspring.client import Client
from mainspring.client.run_wire import node_wire, replay_wire, run_wire, workflow_wire
from mainspring.clock import Duration, SystemClock, length_text
from mainspring.domain.joins import RunState
from mainspring.domain.pictures.layered import layered
from mainspring.domain.pictures.seen import Seen
from mainspring.domain.run import Replay, Run, RunEvent, RunFilter, RunNode, RunRequest
from mainspring.errors import InvalidInput, InvalidWorkflow
from mainspring.importers import written

Number = Annotated[int, Parameter(name="ID", help="The run's number.")]
_PAGE = 1_000
_SHOWN = 10
"""Kept nodes that are named."""


def workflows(*, access: Access = of.DEFAULT) -> int:
    """List the workflows that are known by name."""
    with access.client() as client:
        found = client.workflows()
    if access.json:
        show.as_json([workflow_wire(one) for one in found])
        return 0
    now = SystemClock().now()
    rows = [(one.name, f"{one.nodes:,}", one.hash[:12], looks.age(now, one.changed_at)) for one in found]
    show.table(("WORKFLOW", "NODES", "VERSION", "CHANGED"), rows, empty="No workflows yet.", right=(1,))
    return 0


def run(
    what: Annotated[str, Parameter(name="NAME|FILE", help="A workflow by name, or a document, YAML or JSON.")],
    /,
    *words: Annotated[str, Parameter(name="name=value", help="Parameters, read by the workflow's schema.")],
    params: Annotated[
        str | None, option("All parameters as a JSON object, or @FILE (@- reads standard input).", "JSON")
    ] = None,
    wait: Annotated[bool, option("Show its progress until it has ended; exit status 1 unless it succeeds.")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Start a run. Its number is printed once it is stored durably."""
    with access.client(make=True) as client:
        text = _text(what)
        document = client.workflow(what).document if text is None else written.read(text, Path(what).name)
        given = values.params_of(document, words, params)
        try:
            started = client.start_run(RunRequest(what if text is None else document, given))
        except InvalidWorkflow as error:
            if text is None:
                raise
            raise written.placed(error, text, Path(what).name) from error
        with show.done(f"run {started.id} is stored all the same."):
            ended = followed(client, started.id, quiet=access.json) if wait else started
            if access.json:
                show.as_json(run_wire(ended))
            else:
                failed = wait and ended.progress.failed + ended.progress.excused
                _show_lines(_line(ended), *result_lines(ended))
                _show_lines(*(failure_lines(client, every_node(client, ended.id)) if failed else ()))
    return 0 if not wait or ended.state is RunState.SUCCEEDED else 1


def runs(
    *,
    workflow: Annotated[str | None, option("Only of this workflow.", "NAME")] = None,
    state: Annotated[str | None, option("Only in this state; live: all that have not ended.", "STATE")] = None,
    limit: Annotated[int, option("At most so many; the default is 50.", "N")] = 50,
    access: Access = of.DEFAULT,
) -> int:
    """List runs, newest first."""
    with access.client() as client:
        page = client.runs(RunFilter(workflow=workflow, state=state, limit=limit))
        found = page.items
        while page.next is not None and len(found) < limit:  # where few of very many match, one answer has not all
            page = client.runs(RunFilter(workflow, state, page.next, limit - len(found)))
            found += page.items
    if access.json:
        show.as_json([run_wire(one) for one in found])
        return 0
    now = SystemClock().now()
    rows = [(str(one.id), one.workflow, one.state.value, counts(one), looks.age(now, one.created_at)) for one in found]
    show.table(("RUN", "WORKFLOW", "STATE", "NODES", "STARTED"), rows, empty="No runs match.")
    return 0


def run_show(number: Number, /, *, access: Access = of.DEFAULT) -> int:
    """Show a run: its nodes in layers with states and lengths, and the critical path."""
    with access.client() as client:
        found, nodes = client.run(number), every_node(client, number)
        why = [] if access.json else failure_lines(client, nodes)
    if access.json:
        show.as_json(run_wire(found) | {"nodes": [node_wire(one) for one in nodes]})
        return 0
    _show_lines(_line(found), *([f"made by {looks.tick(found.tick)}"] if found.tick else []), *result_lines(found))
    _show_lines(*(row.text for row in layered([seen_of(one) for one in nodes], SystemClock().now())), *why)
    return 0


def run_cancel(number: Number, /, *, access: Access = of.DEFAULT) -> int:
    """Cancel a run: what waits never goes, what runs is asked to stop."""
    with access.client(actor=of.operator()) as client:
        found = client.cancel_run(number)
    with show.done(_line(found)):
        show.as_json(run_wire(found)) if access.json else show.line(_line(found))
    return 0


def restart(
    number: Number,
    /,
    *,
    newest: Annotated[bool, option("With the definition that the workflow's name stands for now.")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Run an ended run again from its start, as a new run with the same definition and parameters."""
    with access.client(actor=of.operator()) as client:
        replay = client.restart_run(number, newest=newest)
    return _replayed(replay, as_json=access.json)


def resume(
    number: Number,
    /,
    *,
    since: Annotated[
        str | None, option("Do this node again, with all below it, also if it was good.", "NODE", name=("--from",))
    ] = None,
    as_it_was: Annotated[bool, option("Keep to the definition that the old run had.")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Go on from what failed in an ended run, as a new run that keeps its good results."""
    with access.client(actor=of.operator()) as client:
        replay = client.resume_run(number, since=since, as_it_was=as_it_was)
    return _replayed(replay, as_json=access.json)


def _replayed(replay: Replay, *, as_json: bool) -> int:
    found = replay.run
    kept = f"; {looks.counted(found.kept, 'node')} kept" if found.kept else ""
    with show.done(_line(found)):
        if as_json:
            show.as_json(replay_wire(replay))
            return 0
        for one in replay.changed:
            show.note(f"{one.task} has other code now: {one.now[:12]} (run {found.replay_of}: {one.before[:12]})")
            if one.kept:
                more = f" and {len(one.kept) - _SHOWN:,} more" if len(one.kept) > _SHOWN else ""
                show.note(f"  kept from the code of before: {', '.join(one.kept[:_SHOWN])}{more}")
        show.line(f"{_line(found)}; replays run {found.replay_of}{kept}")
    return 0


def _text(what: str) -> str | None:
    """What is in the file of this name, where there is one."""
    file = Path(what)
    if not file.is_file():
        if file.suffix in {".yaml", ".yml", ".json"} or "/" in what:
            raise InvalidInput(
                f"There is no file {what}.",
                remedy="A workflow that is known goes by its name: mainspring workflows",
                field="FILE",
            )
        return None
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{file} can't be read: {error}.", remedy="Give a file in UTF-8.", field="FILE") from error


def _show_lines(*lines: str) -> None:
    for line in lines:
        show.line(line)


def _line(found: Run) -> str:
    length = "" if found.finished_at is None else f" in {length_text(Duration(found.finished_at - found.created_at))}"
    why = "" if found.stop is None else f" (told to stop: {found.stop.value})"
    return f"run {found.id} {found.state.value}{length}: {found.workflow}, {counts(found)}{why}"


def every_node(client: Client, number: int) -> list[RunNode]:
    """The nodes of a run, in the order of its definition."""
    found: list[RunNode] = []
    while page := client.run_nodes(number, after=found[-1].number if found else 0, limit=_PAGE):
        found += page
    return found


def every_event(client: Client, number: int) -> list[RunEvent]:
    """What happened in a run, oldest first."""
    found: list[RunEvent] = []
    while page := client.run_events(number, after=found[-1].seq if found else 0, limit=_PAGE):
        found += page
    return found


def seen_of(node: RunNode) -> Seen:
    """A node as pictures look at it."""
    return Seen(
        node.name,
        tuple(node.needs),
        node.task or node.workflow or "",
        node.state,
        node.reason or (f"kept from run {node.kept}" if node.kept else ""),
        node.started_at or node.left_at,
        node.finished_at,
        node.items,
        node.items_ended,
    )
