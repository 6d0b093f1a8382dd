"""Workflows and runs over REST: decode, one call of the client, encode."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.client.operating import OperatingClient
from mainspring.client.run_wire import node_wire, replay_wire, run_event_wire, run_wire, workflow_wire
from mainspring.domain.graph import compiled
from mainspring.domain.pictures.seen import of_graph
from mainspring.domain.run import STATES, Replay, RunFilter, RunRequest
from mainspring.domain.span import in_trace
from mainspring.domain.workflow import from_plain
from mainspring.errors import InvalidWorkflow, UnknownRun
from mainspring.server import pages
from mainspring.server.decode import body_of, no_fields, object_of
from mainspring.server.exchange import Access, Answer, Asked, Entry
from mainspring.server.operation import Page, gives
from mainspring.server.schemas.values import whole, word

_WORKFLOWS = "/api/v1/workflows"
_RUNS = "/api/v1/runs"
_RUN = "/api/v1/runs/{id}"
_RUN_STATE = word(STATES)
_MOST_JOBS = 1_000
_JOBS = whole(20, least=0, most=_MOST_JOBS) | {"description": "At most so many jobs of each node."}


class _Start(msgspec.Struct, forbid_unknown_fields=True):
    params: dict[str, Any] = {}
    tags: dict[str, str] = {}


class _Inline(msgspec.Struct, forbid_unknown_fields=True):
    """``definition``: a document; it need not be known by name."""

    definition: dict[str, Any]
    params: dict[str, Any] = {}
    tags: dict[str, str] = {}


class _Resume(msgspec.Struct, forbid_unknown_fields=True, rename={"from_": "from"}):
    """``from``: a node that is done again, with all below it; ``as_it_was``: under the definition of then."""

    from_: str | None = None
    as_it_was: bool = False


class _Restart(msgspec.Struct, forbid_unknown_fields=True):
    """``newest``: with the definition that the name of the workflow stands for now."""

    newest: bool = False


class RunRoutes:
    """The handlers, on one client."""

    def __init__(self, client: OperatingClient) -> None:
        self._client = client

    def entries(self) -> list[Entry]:
        """The routes of these nouns."""
        return [
            Entry("GET", _WORKFLOWS, Access.READ, self.workflows, gives(Page("WorkflowShown")), pages.QUERY),
            Entry("GET", f"{_WORKFLOWS}/{{name}}", Access.READ, self.workflow, gives("WorkflowShown")),
            Entry("PUT", f"{_WORKFLOWS}/{{name}}", Access.CHANGE, self.put, gives("WorkflowShown", body="WorkflowPut")),
            Entry(
                "POST",
                f"{_WORKFLOWS}/{{name}}/runs",
                Access.CHANGE,
                self.start,
                gives("Run", body="RunStart", status=201),
            ),
            Entry("POST", _RUNS, Access.CHANGE, self.start_inline, gives("Run", body="RunInline", status=201)),
            Entry(
                "GET",
                _RUNS,
                Access.READ,
                self.listed,
                gives(Page("Run"), values={"state": _RUN_STATE}),
                ("workflow", "state", "cursor", "limit"),
            ),
            Entry("GET", _RUN, Access.READ, self.one, gives("Run")),
            Entry(
                "GET",
                f"{_RUN}/nodes",
                Access.READ,
                self.nodes,
                gives(Page("RunNode"), values={"jobs": _JOBS}),
                ("cursor", "limit", "jobs"),
            ),
            Entry("GET", f"{_RUN}/events", Access.READ, self.events, gives(Page("RunEvent")), ("cursor", "limit")),
            Entry("GET", f"{_RUN}/graph", Access.READ, self.graph, gives("RunGraph")),
            Entry("POST", f"{_RUN}/cancel", Access.ACT, self.cancel, gives("Run")),
            Entry("POST", f"{_RUN}/resume", Access.ACT, self.resume, gives("Replay", body="Resume", status=201)),
            Entry("POST", f"{_RUN}/restart", Access.ACT, self.restart, gives("Replay", body="Restart", status=201)),
        ]

    def workflows(self, asked: Asked) -> Answer:
        """All workflows, by name."""
        return pages.paged(asked, self._client.workflows(), workflow_wire, lambda workflow: (workflow.name,))

    def workflow(self, asked: Asked) -> Answer:
        """One workflow, with its nodes."""
        return Answer(200, workflow_wire(self._client.workflow(asked.path["name"])))

    def put(self, asked: Asked) -> Answer:
        """A name stands for this definition from now on."""
        name = asked.path["name"]
        document = from_plain({"name": name} | object_of(asked))
        if document.name != name:
            raise InvalidWorkflow(f"it is named {document.name!r}, and its address {name!r}", place="name")
        return Answer(200, workflow_wire(self._client.acting(asked.actor).put_workflow(document)))

    def start(self, asked: Asked) -> Answer:
        """A run of a workflow that is known by name."""
        body = body_of(asked, _Start, "A run")
        return self._started(asked, RunRequest(asked.path["name"], body.params, in_trace(body.tags, asked.traceparent)))

    def start_inline(self, asked: Asked) -> Answer:
        """A run of the definition that it comes with."""
        body = body_of(asked, _Inline, "A run")
        tags = in_trace(body.tags, asked.traceparent)
        return self._started(asked, RunRequest(from_plain(body.definition), body.params, tags))

    def _started(self, asked: Asked, request: RunRequest) -> Answer:
        run = self._client.acting(asked.actor).start_run(request)
        return Answer(201, run_wire(run), {"location": f"{_RUNS}/{run.id}"})

    def listed(self, asked: Asked) -> Answer:
        """Runs, newest first."""
        query = asked.query
        limit = asked.whole("limit", 50, 1, 1000)
        page = self._client.runs(RunFilter(query.get("workflow"), query.get("state"), query.get("cursor"), limit))
        return Answer(200, {"items": [run_wire(run) for run in page.items], "next": page.next})

    def one(self, asked: Asked) -> Answer:
        """One run."""
        return Answer(200, run_wire(self._client.run(_number(asked))))

    def nodes(self, asked: Asked) -> Answer:
        """Its nodes, in the order of its definition."""
        limit = asked.whole("limit", 1000, 1, 1000)
        after, jobs = asked.whole("cursor", 0, 0, 2**53), asked.whole("jobs", 20, 0, _MOST_JOBS)
        found = self._client.run_nodes(_number(asked), after=after, limit=limit, jobs=jobs)
        more = str(found[-1].number) if len(found) == limit else None
        return Answer(200, {"items": [node_wire(node) for node in found], "next": more})

    def events(self, asked: Asked) -> Answer:
        """What happened in it, to its nodes and to their jobs, oldest first."""
        limit = asked.whole("limit", 1000, 1, 1000)
        found = self._client.run_events(_number(asked), after=asked.whole("cursor", 0, 0, 2**53), limit=limit)
        after = str(found[-1].seq) if len(found) == limit else None
        return Answer(200, {"items": [run_event_wire(event) for event in found], "next": after})

    def graph(self, asked: Asked) -> Answer:
        """The definition that it keeps, and which node needs which."""
        document = self._client.run_document(_number(asked))
        edges = [[need, node.name] for node in of_graph(compiled(document)) for need in node.needs]
        return Answer(200, {"definition": msgspec.to_builtins(document), "edges": edges})

    def cancel(self, asked: Asked) -> Answer:
        """It is told to stop."""
        no_fields(asked)
        return Answer(200, run_wire(self._client.acting(asked.actor).cancel_run(_number(asked))))

    def restart(self, asked: Asked) -> Answer:
        """All of it again, as a new run."""
        body = body_of(asked, _Restart, "A restart") if asked.body else _Restart()
        return _replayed(self._client.acting(asked.actor).restart_run(_number(asked), newest=body.newest))

    def resume(self, asked: Asked) -> Answer:
        """On from what failed, as a new run that keeps what is good."""
        body = body_of(asked, _Resume, "A resume") if asked.body else _Resume()
        client = self._client.acting(asked.actor)
        return _replayed(client.resume_run(_number(asked), since=body.from_, as_it_was=body.as_it_was))


def _replayed(replay: Replay) -> Answer:
    return Answer(201, replay_wire(replay), {"location": f"{_RUNS}/{replay.run.id}"})


def _number(asked: Asked) -> int:
    """The run in the address."""
    text = asked.path["id"]
    if not text.isascii() or not text.isdigit() or len(text) > 19:
        raise UnknownRun(text[:40])
    return int(text)
