"""Workflow: the document that defines a DAG, as it is written, sent, stored and hashed.

Whatever a definition comes from (Python, a file, REST, an importer) becomes this document; graph.py checks it and makes
of it what the engine reads. Nothing here runs anything.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Any

import msgspec

from mainspring.domain.joins import Rule
from mainspring.domain.misfit import misfit
from mainspring.errors import InvalidWorkflow, near

MOST_NODES = 100_000
MOST_BYTES = 64 * 1024 * 1024
MOST_ITEMS = 100_000
"""Items of one map node."""

NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


class OnFailure(StrEnum):
    """What a failed node means for the rest of the run."""

    CONTINUE = "continue"  # whatever does not depend on it goes on; resume takes up the rest
    FAIL_FAST = "fail_fast"  # the run is stopped: nodes that clean up go on, all others are cancelled


class Node(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One node. It names a task, or another workflow, or neither: then it only joins and needs no worker.

    ``needs``: names of the nodes that it waits for; a node whose result its parameters take is one of them without
    being named. ``run_if``: the join rule. ``when``: a condition on parameters and results (conditions.py); where it is
    not met the node is skipped. ``params``: what the task or workflow gets; values may hold references (references.py).
    ``map``: a list, or a reference to one: one job (or run) per item, at most ``parallel`` of them at a time; the
    node's result is the list of theirs. ``may_fail``: its failure does not make the run failed, and does not stop it.

    ``queue``, ``priority``, ``delay``, ``retry``, ``timeout``, ``expires``, ``tags``: as a submit has them
    (job.JobRequest), for nodes with a task.
    """

    name: str
    task: str | None = None
    workflow: str | None = None
    needs: tuple[str, ...] = ()
    params: dict[str, Any] = {}
    run_if: Rule = Rule.ALL_SUCCESS
    when: str | None = None
    map: list[Any] | dict[str, Any] | None = None
    parallel: int | None = None
    may_fail: bool = False
    queue: str | None = None
    priority: int | None = None
    delay: str | float | None = None
    retry: dict[str, Any] | None = None
    timeout: str | float | None = None
    expires: str | float | None = None
    tags: dict[str, str] = {}
    description: str = ""


class Workflow(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A definition of a DAG.

    ``parameters``: the JSON Schema of the parameters of a run, an object (left out: a run takes none); ``timeout``: of
    a run as a whole, from its start (None: none); ``on_failure``: what a failed node means for the rest; ``parallel``:
    most nodes of a run that are active at a time (None: any number); ``result``: a value with references, which is the
    result of a run where another workflow nests this one (default: null).
    """

    name: str
    nodes: tuple[Node, ...]
    parameters: dict[str, Any] = {}
    on_failure: OnFailure = OnFailure.CONTINUE
    timeout: str | float | None = None
    parallel: int | None = None
    result: Any = None
    description: str = ""

    @property
    def schema(self) -> dict[str, Any]:
        """The schema that the parameters of a run are checked against."""
        return self.parameters or NO_PARAMETERS

    def with_defaults(self, params: Any) -> Any:
        """The parameters of a run, with the schema's defaults for those that are left out. What is no object stays."""
        if not isinstance(params, dict):
            return params
        known = self.schema.get("properties", {}).items()
        defaults = {name: one["default"] for name, one in known if isinstance(one, dict) and "default" in one}
        return defaults | params


def canonical(document: Workflow) -> bytes:
    """The document as JSON in its one true spelling: defaults left out, keys of objects sorted."""
    return msgspec.json.encode(document, order="deterministic")


def content_hash(document: Workflow) -> str:
    """What tells versions apart: the SHA-256 of the canonical JSON, in hex."""
    return hashlib.sha256(canonical(document)).hexdigest()


def from_plain(value: Any) -> Workflow:
    """A document from what a JSON or YAML reader gave. Raises InvalidWorkflow with the place."""
    try:
        return msgspec.convert(value, Workflow)
    except msgspec.ValidationError as error:
        raise _misfit(error) from error


def from_json(data: bytes) -> Workflow:
    """A document from what ``canonical`` made, or from any JSON that was checked before. Raises InvalidWorkflow."""
    try:
        return msgspec.json.decode(data, type=Workflow)
    except msgspec.ValidationError as error:
        raise _misfit(error) from error


def _misfit(error: msgspec.ValidationError) -> InvalidWorkflow:
    """What msgspec says, in our words."""
    found = misfit(error)
    if not found.unknown:
        return InvalidWorkflow(found.what.replace("`", "'"), place=found.path)
    place, _, unknown = found.path.rpartition(".")
    kind = Node if place.startswith("nodes[") else Workflow
    fields = kind.__struct_fields__
    return InvalidWorkflow(
        f"there is no field {unknown!r}",
        place=place,
        remedy=near(unknown, fields) or f"There are: {', '.join(fields)}.",
    )


def document_schema() -> dict[str, Any]:
    """The JSON Schema of documents, as docs/reference/workflow.schema.json has it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A mainspring workflow",
        **msgspec.json.schema(Workflow),
    }
