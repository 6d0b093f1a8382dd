"""Workflows, their runs, and the nodes of those."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.domain.joins import NodeState, Reason, RunState, Stop
from mainspring.domain.states import State
from mainspring.domain.workflow import Workflow
from mainspring.server.operation import Schema
from mainspring.server.schemas.values import (
    ANYTHING,
    MOMENT,
    OBJECT,
    TAGS,
    asked,
    listed,
    maybe,
    named,
    record,
    text,
    whole,
    word,
)


def _documents() -> dict[str, Schema]:
    """Those of the document that defines a workflow, as docs/reference/workflow.schema.json has them."""
    _, parts = msgspec.json.schema_components([Workflow], ref_template="#/components/schemas/{name}")
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(parts))
    found["Workflow"] |= {
        "examples": [
            {
                "name": "pipeline",
                "nodes": [{"name": "extract", "task": "shop.extract"}, {"name": "load", "needs": ["extract"]}],
            }
        ]
    }
    return found


_DOCUMENTS = _documents()
_DEFINITION = named("Workflow")
_START = {"params": OBJECT | {"examples": [{"day": "2026-11-29"}]}, "tags": TAGS | {"maxProperties": 50}}

_RUN = {
    "id": whole(377, least=1),
    "workflow": text("pipeline"),
    "hash": text("9f2c"),
    "state": word(RunState, example="running"),
    "params": ANYTHING,
    "result": ANYTHING,
    "nodes": whole(4),
    "kept": whole(0),
    "progress": {"type": "object", "additionalProperties": whole(1), "examples": [{"waiting": 3, "active": 1}]},
    "items": whole(500),
    "items_ended": whole(340),
    "created_at": MOMENT,
    "finished_at": maybe(MOMENT),
    "deadline": maybe(MOMENT),
    "stop": maybe(word(Stop)),
    "stop_at": maybe(MOMENT),
    "stop_by": maybe(text("ann@10.0.0.7")),
    "parent": maybe(whole(10482)),
    "parent_run": maybe(whole(376)),
    "parent_node": maybe(whole(2)),
    "replay_of": maybe(whole(370)),
    "replayed_by": maybe(whole(380)),
    "tags": TAGS,
    "tick": maybe(named("MadeBy")),
}
_CHANGE = record({"task": text("shop.load"), "before": text("1f0e"), "now": text("9a2b"), "kept": listed(text("load"))})

SCHEMAS = {
    **_DOCUMENTS,
    "WorkflowPut": _DOCUMENTS["Workflow"]
    | {"required": ["nodes"], "title": "WorkflowPut", "description": "A Workflow; its name is that of the address."},
    "WorkflowShown": record(
        {
            "name": text("pipeline"),
            "hash": text("9f2c", pattern="^[0-9a-f]+$"),
            "nodes": whole(4),
            "changed_at": MOMENT,
            "definition": _DEFINITION,
        }
    ),
    "RunStart": asked(_START),
    "RunInline": asked({"definition": _DEFINITION, **_START}, required=["definition"]),
    "Run": record(_RUN),
    "Resume": asked({"from": maybe(text("load")), "as_it_was": {"type": "boolean", "default": False}}),
    "Restart": asked({"newest": {"type": "boolean", "default": False}}),
    "Replay": record(_RUN | {"changed": listed(_CHANGE)}),
    "RunNode": record(
        {
            "number": whole(3),
            "name": text("load"),
            "task": maybe(text("shop.load")),
            "workflow": maybe(text("nested")),
            "state": word(NodeState, example="active"),
            "reason": maybe(word(Reason)),
            "needs": listed(text("extract")),
            "items": maybe(whole(12)),
            "items_ended": whole(0),
            "items_kept": whole(0),
            "jobs": listed(whole(10482)),
            "job_states": listed(
                record(
                    {
                        "id": whole(10482),
                        "item": maybe(whole(0)),
                        "state": word(State, example="running"),
                        "started_at": maybe(MOMENT),
                        "finished_at": maybe(MOMENT),
                    }
                )
            ),
            "runs": listed(whole(378)),
            "kept": maybe(whole(370)),
            "left_at": maybe(MOMENT),
            "started_at": maybe(MOMENT),
            "finished_at": maybe(MOMENT),
            "error": maybe(named("Failure")),
        }
    ),
    "RunEvent": record(
        {
            "seq": whole(90211),
            "run": whole(377),
            "node": maybe(text("load")),
            "job": maybe(whole(10482)),
            "at": MOMENT,
            "cause": text("go"),
            "from": text("waiting"),
            "to": text("active"),
            "attempt": maybe(whole(1)),
            "actor": text("worker:7"),
            "detail": maybe(OBJECT),
        }
    ),
    "RunGraph": record(
        {
            "definition": _DEFINITION,
            "edges": listed(listed(text("extract"), minItems=2, maxItems=2), examples=[[["extract", "load"]]]),
        }
    ),
}
