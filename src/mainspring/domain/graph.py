"""Graph: a document that was checked, with its nodes by number.

``compiled`` is the one gate: what it returns has no cycle, knows all its needs and tasks, and its conditions and
references can be read. It raises one error, which names the place (``nodes[3].needs[0]``). 100,000 nodes take about a
second, so each step looks at a node once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from mainspring.domain import conditions, references
from mainspring.domain.conditions import Condition
from mainspring.domain.joins import EARLY
from mainspring.domain.nodes import CERTAIN, check_most, check_node, check_timeout, check_values
from mainspring.domain.parameters import checked_json
from mainspring.domain.task import NAME
from mainspring.domain.workflow import MOST_BYTES, MOST_NODES, Node, Workflow, canonical
from mainspring.errors import InvalidWorkflow, near

LONGEST_NAME = 200
_SHOWN = 20


class Graph(msgspec.Struct, frozen=True):
    """A checked document. A node's number is its place in ``document.nodes``, from 0.

    ``needs``: by number, what each node waits for: as written, then those that its parameters take results from;
    ``children``: the reverse; ``order``: all numbers, each behind its needs, else as written.
    """

    document: Workflow
    numbers: dict[str, int]
    needs: tuple[tuple[int, ...], ...]
    children: tuple[tuple[int, ...], ...]
    order: tuple[int, ...]

    def condition(self, number: int) -> Condition | None:
        """The condition of a node, or None."""
        when = self.document.nodes[number].when
        return None if when is None else conditions.parse(when)

    def result_needs(self, number: int) -> frozenset[str]:
        """The nodes whose results its parameters, map or condition read: what must be at hand when it goes."""
        node = self.document.nodes[number]
        read = {one.name for _, one in _node_references(node, "") if one.kind == "$node"}
        if node.when is not None:
            read |= {name.name for name in conditions.parse(node.when).names if name.root == "results"}
        return frozenset(read)


def compiled(
    document: Workflow,
    *,
    tasks: Container[str] | None = None,
    known: Callable[[], Iterable[str]] = tuple,
    workflows: Collection[str] | None = None,
) -> Graph:
    """Check a document and number its nodes. Raises InvalidWorkflow, PayloadTooLarge.

    ``tasks`` and ``workflows``: the names that nodes may name (None: any); ``known``: what a refusal may suggest.
    Parameter schemas are schemas.py's, nesting across documents is nesting.py's.
    """
    _check_document(document)
    numbers = _numbered(document.nodes)
    needs = _all_needs(document, numbers)
    children = _children(needs)
    order = _ordered(document.nodes, needs, children)
    graph = Graph(document, numbers, needs, children, order)
    _check_nodes(graph, order)
    check_names(document, tasks, workflows, known)
    return graph


# ------------------------------------------------------------------------------------------------ the whole
def _check_document(document: Workflow) -> None:
    if not NAME.fullmatch(document.name) or ".." in document.name:
        raise InvalidWorkflow(
            f"{document.name!r} is no name of a workflow",
            place="name",
            remedy="Use letters, digits, dot, dash and underscore (at most 200, no '..').",
        )
    if not document.nodes:
        raise InvalidWorkflow("it has no nodes", place="nodes", remedy="Give it one.")
    if len(document.nodes) > MOST_NODES:
        raise InvalidWorkflow(f"it has {len(document.nodes):,} nodes; at most {MOST_NODES:,}", place="nodes")
    _check_json(document)
    check_most(document.parallel, "parallel")
    check_timeout(document.timeout, "timeout")
    schema = document.schema
    if schema.get("type", "object") != "object" or not isinstance(schema.get("properties", {}), dict):
        raise InvalidWorkflow(
            "parameters must be the JSON Schema of an object",
            place="parameters",
            remedy='Write {"type": "object", "properties": {"day": {"type": "string"}}, "required": ["day"]}.',
        )


def _check_json(document: Workflow) -> None:
    """Whether it can be stored. The look into each value is left to those that can hold what encoding does not tell."""
    try:
        data = canonical(document)
    except (TypeError, ValueError, OverflowError, RecursionError):
        data = b""
    if not data or len(data) > MOST_BYTES or b"\\u0000" in data:
        checked_json(msgspec.to_builtins(document), "workflow", limit=MOST_BYTES)


def _numbered(nodes: Sequence[Node]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for number, node in enumerate(nodes):
        name = node.name
        if not name or len(name) > LONGEST_NAME or not name.isprintable():
            raise InvalidWorkflow(
                f"{name!r:.220} is no name of a node",
                place=f"nodes[{number}].name",
                remedy=f"Use 1 to {LONGEST_NAME} printable characters.",
            )
        if numbers.setdefault(name, number) != number:
            raise InvalidWorkflow(
                f"there are two nodes named {name!r}: nodes[{numbers[name]}] and nodes[{number}]",
                place=f"nodes[{number}].name",
                remedy="Give each node a name of its own.",
            )
    return numbers


# ------------------------------------------------------------------------------------------------ needs
def _all_needs(document: Workflow, numbers: Mapping[str, int]) -> tuple[tuple[int, ...], ...]:
    """The needs of each node by number: written ones first, then those that references add."""
    declared = _declared_parameters(document)
    found = []
    for number, node in enumerate(document.nodes):
        place = f"nodes[{number}]"
        own: dict[int, None] = {}
        for position, name in enumerate(node.needs):
            need = numbers.get(name)
            if need is None or need == number or need in own:
                raise _wrong_need(document, numbers, number, position)
            own[need] = None
        check_values(node, place)
        for where, reference in _node_references(node, place):
            _check_reference(node, reference, where, numbers, declared)
            if reference.kind == "$node":
                _add(node, own, numbers[reference.name], reference.name, where)
        found.append(tuple(own))
    for where, reference in references.found(document.result, "result"):
        _check_reference(None, reference, where, numbers, declared)
    return tuple(found)


def _node_references(node: Node, place: str) -> Iterable[tuple[str, references.Reference]]:
    if node.map is not None:
        yield from references.found(node.map, f"{place}.map")
    for name, value in node.params.items():
        if type(value) not in CERTAIN:
            yield from references.found(value, f"{place}.params.{name}")


def _add(node: Node, own: dict[int, None], need: int, name: str, where: str) -> None:
    if need in own:
        return
    if node.run_if in EARLY:
        raise InvalidWorkflow(
            f"node {node.name!r} takes the result of {name!r}, which is not in its needs",
            place=where,
            remedy=f"Add it to needs if it should count for run_if: {node.run_if}; or take it from a node below it.",
        )
    own[need] = None


def _wrong_need(document: Workflow, numbers: Mapping[str, int], number: int, position: int) -> InvalidWorkflow:
    node, place = document.nodes[number], f"nodes[{number}].needs[{position}]"
    name = node.needs[position]
    if name not in numbers:
        return InvalidWorkflow(
            f"node {node.name!r} needs {name!r}, and there is no such node", place=place, remedy=near(name, numbers)
        )
    if name == node.name:
        return InvalidWorkflow(f"a cycle: {name} -> {name}", place=place, remedy="Take out the need.")
    return InvalidWorkflow(f"node {node.name!r} needs {name!r} twice", place=place, remedy="Name each need once.")


def _declared_parameters(document: Workflow) -> Mapping[str, Any] | None:
    """The parameters that a run has, or None where it may have others too."""
    schema = document.schema
    return schema.get("properties", {}) if schema.get("additionalProperties", True) is False else None


def _check_reference(
    node: Node | None,
    reference: references.Reference,
    place: str,
    numbers: Mapping[str, int],
    declared: Mapping[str, Any] | None,
) -> None:
    """Whether what it names is there. ``node``: whose it is; None for the result of the workflow."""
    name = reference.name
    if reference.kind == "$node":
        if name not in numbers:
            raise InvalidWorkflow(
                f"it takes the result of {name!r}, and there is no such node", place=place, remedy=near(name, numbers)
            )
        if node is not None and name == node.name:
            raise InvalidWorkflow(f"node {name!r} takes its own result", place=place, remedy="Name another node.")
    elif reference.kind == "$param":
        _check_parameter(name, place, declared)
    elif node is None or node.map is None or ".map" in place:
        raise InvalidWorkflow(
            f"there is no {reference.kind} here", place=place, remedy="It stands in params of a node that has map."
        )


def _check_parameter(name: str, place: str, declared: Mapping[str, Any] | None) -> None:
    if declared is not None and name not in declared:
        listed = f"It takes: {', '.join(declared) or 'none'}."
        raise InvalidWorkflow(
            f"the workflow has no parameter {name!r}", place=place, remedy=near(name, declared) or listed
        )


def _children(needs: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    children: list[list[int]] = [[] for _ in needs]
    for number, own in enumerate(needs):
        for need in own:
            children[need].append(number)
    return tuple(map(tuple, children))


def _ordered(
    nodes: Sequence[Node], needs: Sequence[Sequence[int]], children: Sequence[Sequence[int]]
) -> tuple[int, ...]:
    """All numbers, needs first. Raises InvalidWorkflow that prints a cycle."""
    open_ = list(map(len, needs))
    order = [number for number, count in enumerate(open_) if count == 0]
    for number in order:  # grows while it is walked
        for child in children[number]:
            open_[child] -= 1
            if open_[child] == 0:
                order.append(child)
    if len(order) < len(nodes):
        raise _cycle(nodes, needs, open_)
    return tuple(order)


def _cycle(nodes: Sequence[Node], needs: Sequence[Sequence[int]], open_: Sequence[int]) -> InvalidWorkflow:
    """Walk against the needs that are left until a node comes again."""
    number = next(number for number, count in enumerate(open_) if count)
    way: dict[int, None] = {}
    while number not in way:
        way[number] = None
        number = next(need for need in needs[number] if open_[need])
    walked = list(way)
    cycle = walked[walked.index(number) :][::-1]
    first = cycle.index(min(cycle))
    cycle = [*cycle[first:], *cycle[:first]]
    names = [nodes[one].name for one in cycle]
    shown = names if len(names) <= _SHOWN else [*names[:_SHOWN], f"({len(names) - _SHOWN} more)"]
    return InvalidWorkflow(
        f"a cycle: {' -> '.join([*shown, names[0]])}",
        place=f"nodes[{cycle[0]}].needs",
        remedy="Read it as: each is needed by the next. Take out one of these needs.",
    )


# ------------------------------------------------------------------------------------------------ nodes
def _check_nodes(graph: Graph, order: Sequence[int]) -> None:
    ranks: list[int] = []
    for number, node in enumerate(graph.document.nodes):
        place = f"nodes[{number}]"
        check_node(node, place)
        if node.when is not None:
            ranks = ranks or _ranks(order)
            _check_condition(graph, number, ranks, place)


def _ranks(order: Sequence[int]) -> list[int]:
    ranks = [0] * len(order)
    for rank, number in enumerate(order):
        ranks[number] = rank
    return ranks


def _check_condition(graph: Graph, number: int, ranks: Sequence[int], place: str) -> None:
    place = f"{place}.when"
    try:
        condition = conditions.parse(graph.document.nodes[number].when or "")
    except InvalidWorkflow as error:
        raise error.at(place) from error
    declared = _declared_parameters(graph.document)
    for name in condition.names:
        if name.root == "params":
            _check_parameter(name.name, place, declared)
            continue
        there = graph.numbers.get(name.name)
        if there is None:
            raise InvalidWorkflow(
                f"the condition looks at {name.name!r}, and there is no such node",
                place=place,
                remedy=near(name.name, graph.numbers),
            )
        if not _above(graph, there, number, ranks):
            raise InvalidWorkflow(
                f"the condition looks at {name.name!r}, which is not above this node",
                place=place,
                remedy=f"Add {name.name!r} to its needs.",
            )


def _above(graph: Graph, upper: int, lower: int, ranks: Sequence[int]) -> bool:
    """Whether a way leads up from lower to upper; nodes ordered before upper can't be on it."""
    if upper in graph.needs[lower]:
        return True
    seen, todo = {lower}, [lower]
    while todo:
        for need in graph.needs[todo.pop()]:
            if need == upper:
                return True
            if need not in seen and ranks[need] > ranks[upper]:
                seen.add(need)
                todo.append(need)
    return False


# ------------------------------------------------------------------------------------------------ other names
def check_names(
    document: Workflow,
    tasks: Container[str] | None,
    workflows: Collection[str] | None,
    known: Callable[[], Iterable[str]],
) -> None:
    """Whether the names that its nodes name are there. Raises InvalidWorkflow."""
    for number, node in enumerate(document.nodes):
        if node.task is not None and node.workflow is not None:
            raise InvalidWorkflow(
                f"node {node.name!r} has a task and a workflow",
                place=f"nodes[{number}].workflow",
                remedy="Make two nodes of it.",
            )
        if node.task is not None and tasks is not None and node.task not in tasks:
            hint = near(node.task, known()) or "Workers report theirs: mainspring up --app app.py"
            raise InvalidWorkflow(f"unknown task {node.task!r}", place=f"nodes[{number}].task", remedy=hint)
        if node.workflow is None:
            continue
        if node.workflow == document.name:
            raise InvalidWorkflow(
                f"it nests itself: {document.name} -> {document.name}", place=f"nodes[{number}].workflow"
            )
        if workflows is not None and node.workflow not in workflows:
            hint = near(node.workflow, workflows) or "Workers report theirs; one in a file: PUT /api/v1/workflows/NAME"
            raise InvalidWorkflow(f"unknown workflow {node.workflow!r}", place=f"nodes[{number}].workflow", remedy=hint)
