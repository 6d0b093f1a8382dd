"""Steps: a checked document as the store keeps it: nodes by number, edges, a start and an end.

A step's number is the place of its node in the document, from 1. Step 0 is the start: it has succeeded when a run
begins, and nodes without needs have it as theirs. The last step is the end: when all that it needs have ended, the run
has. It needs those nodes that no other node surely waits for, so that little is counted there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from mainspring.domain.conditions import parse
from mainspring.domain.graph import Graph
from mainspring.domain.joins import EARLY
from mainspring.domain.references import found
from mainspring.domain.workflow import Node, Workflow
from mainspring.errors import InvalidWorkflow

START = 0
END_NAME = ""
SPOILED = "its definition in the database can't be read"


class Step(NamedTuple):
    """A node as it is kept. ``needs``: how many; ``inputs``: the numbers of the nodes that it reads, by name."""

    number: int
    name: str
    needs: int
    early: bool
    may_fail: bool
    document: str
    inputs: str


def header_of(document: Workflow) -> str:
    """The document without its nodes, as JSON."""
    return msgspec.json.encode(msgspec.structs.replace(document, nodes=())).decode()


def document_of(header: str, nodes: list[str]) -> Workflow:
    """The document as it was, from its header and its nodes. Raises InvalidWorkflow."""
    empty = read_header(header)
    try:
        found = tuple(msgspec.json.decode(one, type=Node) for one in nodes)
    except msgspec.MsgspecError as error:
        raise InvalidWorkflow(f"{SPOILED} ({error})", place="nodes") from error
    return msgspec.structs.replace(empty, nodes=found)


def read_header(header: str) -> Workflow:
    """A document without its nodes, as it is kept. Raises InvalidWorkflow for one that was spoiled by hand."""
    try:
        return msgspec.json.decode(header, type=Workflow)
    except msgspec.MsgspecError as error:
        raise InvalidWorkflow(f"{SPOILED} ({error})", place="workflow") from error


def steps(graph: Graph) -> Iterator[Step]:
    """All steps in order, the end last."""
    nodes = graph.document.nodes
    for place, node in enumerate(nodes):
        yield Step(
            number=place + 1,
            name=node.name,
            needs=len(graph.needs[place]),
            early=node.run_if in EARLY,
            may_fail=node.may_fail,
            document=msgspec.json.encode(node).decode(),
            inputs=_json(_inputs(graph, place)),
        )
    result = _result_inputs(graph)
    yield Step(
        len(nodes) + 1, END_NAME, len(_last(graph)), early=False, may_fail=False, document="", inputs=_json(result)
    )


def edges(graph: Graph) -> Iterator[tuple[int, int]]:
    """Which step each step lets go, with the start and the end; in order, so that a store only appends."""
    for place, needs in enumerate(graph.needs):
        if not needs:
            yield START, place + 1
    last, end = set(_last(graph)), len(graph.needs) + 1
    for place, children in enumerate(graph.children):
        for child in children:
            yield place + 1, child + 1
        if place in last:
            yield place + 1, end


def _last(graph: Graph) -> list[int]:
    """Nodes that none surely waits for: a node below them that goes early may have ended before they have."""
    nodes = graph.document.nodes
    return [
        place
        for place, children in enumerate(graph.children)
        if all(nodes[child].run_if in EARLY for child in children)
    ]


def _inputs(graph: Graph, place: int) -> dict[str, int]:
    node = graph.document.nodes[place]
    if not (node.params or node.map or node.when):
        return {}
    names = set(graph.result_needs(place))
    if node.when is not None:
        names |= parse(node.when).nodes
    return {name: graph.numbers[name] + 1 for name in sorted(names)}


def _result_inputs(graph: Graph) -> dict[str, int]:
    names = {one.name for _, one in found(graph.document.result, "result") if one.kind == "$node"}
    return {name: graph.numbers[name] + 1 for name in sorted(names)}


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
