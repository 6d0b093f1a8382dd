"""Workflows, their runs, and the nodes and events of those, over REST."""

from __future__ import annotations

from msgspec import to_builtins

from mainspring.client import unwire
from mainspring.client.http import Steps, get, items, pages, part, send
from mainspring.domain.run import Replay, Run, RunEvent, RunFilter, RunNode, RunPage, RunRequest, WorkflowShown
from mainspring.domain.workflow import Workflow


def put_workflow(document: Workflow) -> Steps[WorkflowShown]:
    """Store a definition; its name stands for it from now on."""
    stored = yield send("PUT", f"/workflows/{part(document.name)}", to_builtins(document))
    return unwire.workflow_of(stored)


def workflow(name: str) -> Steps[WorkflowShown]:
    """What a name stands for, with its nodes."""
    return unwire.workflow_of((yield get(f"/workflows/{part(name)}")))


def workflows() -> Steps[list[WorkflowShown]]:
    """All workflows, by name, without their nodes."""
    return [unwire.workflow_of(one) for one in (yield from pages("/workflows"))]


def start_run(request: RunRequest) -> Steps[Run]:
    """Begin a run; it is durable when this answers."""
    body = {"params": request.params, "tags": request.tags}
    if isinstance(request.workflow, str):
        return unwire.run_of((yield send("POST", f"/workflows/{part(request.workflow)}/runs", body)))
    return unwire.run_of((yield send("POST", "/runs", body | {"definition": to_builtins(request.workflow)})))


def run(run: int) -> Steps[Run]:
    """One run."""
    return unwire.run_of((yield get(f"/runs/{run}")))


def runs(wanted: RunFilter) -> Steps[RunPage]:
    """A page of runs, newest first."""
    page = yield get("/runs", workflow=wanted.workflow, state=wanted.state, cursor=wanted.cursor, limit=wanted.limit)
    return RunPage([unwire.run_of(one) for one in page["items"]], page["next"])


def run_nodes(run: int, *, after: int = 0, limit: int = 1000, jobs: int = 20) -> Steps[list[RunNode]]:
    """Nodes of a run in the order of its definition, behind a number, each with at most so many jobs."""
    found = yield from items(f"/runs/{run}/nodes", cursor=after, limit=limit, jobs=jobs)
    return [unwire.node_of(one) for one in found]


def run_events(run: int, *, after: int = 0, limit: int = 1000) -> Steps[list[RunEvent]]:
    """What happened in a run behind a cursor, oldest first."""
    return [unwire.run_event_of(one) for one in (yield from items(f"/runs/{run}/events", cursor=after, limit=limit))]


def run_document(run: int) -> Steps[Workflow]:
    """The definition that a run keeps."""
    return unwire.document_of((yield get(f"/runs/{run}/graph"))["definition"])


def restart_run(run: int, *, newest: bool = False) -> Steps[Replay]:
    """Run it all again, as a new run."""
    return unwire.replay_of((yield send("POST", f"/runs/{run}/restart", {"newest": newest})))


def resume_run(run: int, *, since: str | None = None, as_it_was: bool = False) -> Steps[Replay]:
    """Go on from what failed, as a new run that keeps what is good."""
    body = {"from": since, "as_it_was": as_it_was}
    return unwire.replay_of((yield send("POST", f"/runs/{run}/resume", body)))


def cancel_run(run: int) -> Steps[Run]:
    """Tell a run to stop."""
    return unwire.run_of((yield send("POST", f"/runs/{run}/cancel")))
