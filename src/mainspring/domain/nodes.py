"""Checks of a single node: what it may have beside what it is. graph.py calls them for each node of a document."""

from __future__ import annotations

from mainspring.clock import Duration, duration
from mainspring.domain import references
from mainspring.domain.job import PRIORITY_FIRST, PRIORITY_LAST
from mainspring.domain.parameters import LARGEST_WHOLE, SMALLEST_WHOLE, checked_json
from mainspring.domain.retry import Retry
from mainspring.domain.task import NAME
from mainspring.domain.workflow import MOST_BYTES, MOST_ITEMS, Node
from mainspring.errors import InvalidDuration, InvalidInput, InvalidWorkflow

CERTAIN = frozenset({str, int, bool, type(None)})
"""Types of values that need no look inside; a float may be NaN, and a list may hold one."""

_JOB_OPTIONS = ("queue", "priority", "delay", "retry", "timeout", "expires", "tags")


def check_node(node: Node, place: str) -> None:
    """Whether its fields go together and hold what they can hold. Raises InvalidWorkflow."""
    if node.task is None:
        _check_workless(node, place)
    if node.map is not None or node.parallel is not None:
        _check_map(node, place)
    if _has_options(node):
        _check_options(node, place)


def check_values(node: Node, place: str) -> None:
    """Whether its parameters and its list can be stored. Raises InvalidJson, InvalidText."""
    if node.map is not None:
        checked_json(node.map, f"{place}.map", limit=MOST_BYTES)
    for name, value in node.params.items():
        kind = type(value)
        if kind not in CERTAIN or (kind is int and not SMALLEST_WHOLE <= value <= LARGEST_WHOLE):
            checked_json(value, f"{place}.params.{name}", limit=MOST_BYTES)


def _has_options(node: Node) -> bool:
    if node.tags or node.retry is not None or node.priority is not None or node.queue is not None:
        return True
    return node.timeout is not None or node.delay is not None or node.expires is not None


def _check_workless(node: Node, place: str) -> None:
    given = next((name for name in _JOB_OPTIONS if getattr(node, name) not in (None, {})), None)
    if given is not None:
        raise InvalidWorkflow(
            f"node {node.name!r} has no task, so it can't have {given}",
            place=f"{place}.{given}",
            remedy="Options of jobs are for nodes with a task.",
        )
    if node.workflow is None and (node.params or node.map is not None):
        given = "params" if node.params else "map"
        raise InvalidWorkflow(
            f"node {node.name!r} has neither a task nor a workflow, so it can't have {given}",
            place=f"{place}.{given}",
            remedy="A node with neither only joins its needs.",
        )


def _check_map(node: Node, place: str) -> None:
    if node.map is None:
        raise InvalidWorkflow("parallel is for a node with map", place=f"{place}.parallel")
    check_most(node.parallel, f"{place}.parallel")
    if isinstance(node.map, dict):
        reference = references.read(node.map, f"{place}.map")
        if reference is None or reference.kind not in ("$node", "$param"):
            raise InvalidWorkflow(
                "map must be a list, or a reference to one",
                place=f"{place}.map",
                remedy='Write [1, 2, 3], {"$node": "split"} or {"$param": "days"}.',
            )
    elif len(node.map) > MOST_ITEMS:
        raise InvalidWorkflow(f"map has {len(node.map):,} items; at most {MOST_ITEMS:,}", place=f"{place}.map")


def _check_options(node: Node, place: str) -> None:
    for name in ("delay", "expires"):
        check_length(getattr(node, name), f"{place}.{name}")
    check_timeout(node.timeout, f"{place}.timeout")
    if node.priority is not None and not PRIORITY_FIRST <= node.priority <= PRIORITY_LAST:
        raise InvalidWorkflow(
            f"priority is {node.priority}; it must be from {PRIORITY_FIRST} to {PRIORITY_LAST}",
            place=f"{place}.priority",
            remedy="Lower goes first.",
        )
    if node.queue is not None and not NAME.fullmatch(node.queue):
        raise InvalidWorkflow(f"{node.queue!r} is no name of a queue", place=f"{place}.queue")
    if node.retry is not None:
        try:
            Retry.from_document(node.retry)
        except InvalidInput as error:
            text = error.message.removesuffix(".")
            raise InvalidWorkflow(text, place=f"{place}.{error.field}", remedy=error.remedy) from error


def check_most(value: int | None, place: str) -> None:
    """Whether it can be the most of something that may be at a time."""
    if value is not None and value < 1:
        raise InvalidWorkflow(f"parallel is {value}", place=place, remedy="At least 1; leave it out for no bound.")


def check_length(value: str | float | None, place: str) -> Duration | None:
    """Whether it is a duration; it, or None."""
    if value is None:
        return None
    try:
        return duration(value)
    except InvalidDuration as error:
        raise InvalidWorkflow(f"{value!r} is not a duration", place=place, remedy=error.remedy) from error


def check_timeout(value: str | float | None, place: str) -> None:
    """Whether something can be done within it."""
    if check_length(value, place) == 0:
        raise InvalidWorkflow("it is 0; it must be longer", place=place, remedy="Leave it out for no timeout.")
