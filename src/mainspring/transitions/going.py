"""Going: a node that may go, what must be read for that, and the items of its map."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from mainspring.domain.attempt import Failure
from mainspring.domain.conditions import parse
from mainspring.domain.ids import RunId
from mainspring.domain.references import filled, found, kind_of
from mainspring.domain.workflow import MOST_ITEMS, Node
from mainspring.errors import MainspringError
from mainspring.store.runs import Key
from mainspring.transitions.firing import SPOILED, UNREADABLE, Refused, named, node_of, numbers_of
from mainspring.transitions.inputs import Sources, Wants


class Going(NamedTuple):
    """A node that may go, unless its condition forbids it. ``lined``: it has stood in line for room, so it does not."""

    key: Key
    node: Node
    inputs: dict[str, int]
    lined: bool = False


def going_of(key: Key, document: str, inputs: str, *, lined: bool = False) -> Going:
    """A node from the store; what was spoiled by hand is refused when it is to go."""
    try:
        return Going(key, node_of(document), numbers_of(inputs), lined)
    except Refused:
        return Going(key, SPOILED, {}, lined)


def wanted(going: Iterable[Going]) -> list[tuple[RunId, Wants]]:
    """What must be read to let these go, but for those that can't go as they are."""
    found: list[tuple[RunId, Wants]] = []
    for one in going:
        with suppress(Refused, MainspringError):
            wants = at_once(one)
            if wants is not None:
                found.append((one.key[0], wants))
    return found


def at_once(one: Going) -> Wants | None:
    """What must be read to let a node go: for its condition, the items of its map, the parameters of its run.

    Raises Refused, and InvalidCondition: of a row that was spoiled by hand.
    """
    node = one.node
    if node is SPOILED:
        raise Refused(UNREADABLE)
    if node.when is None and node.map is None and node.workflow is None:
        return None
    read = [value for value in (node.map, node.params if node.workflow is not None else None) if value is not None]
    names: set[str] = set()
    params = False
    if node.when is not None:
        condition = parse(node.when)
        names |= condition.nodes
        params = any(name.root == "params" for name in condition.names)
    for reference in (reference for value in read for _, reference in found(value, "params")):
        params = params or reference.kind == "$param"
        names |= {reference.name} if reference.kind == "$node" else set()
    return Wants(params=params, nodes=named(names, one.inputs))


def items_of(node: Node, sources: Sources, run: RunId, wants: Wants | None) -> list[Any]:
    """The items of a map. Raises Refused."""
    if isinstance(node.map, list) and not any(isinstance(item, dict | list) for item in node.map):
        return node.map
    items = filled(node.map, sources.values(run, wants or Wants()), "map")
    if not isinstance(items, list):
        kind = "nothing" if items is None else kind_of(items)
        raise Refused(Failure("NotAList", f"map of node {node.name!r} needs a list, and what it refers to is {kind}"))
    if len(items) > MOST_ITEMS:
        raise Refused(
            Failure("TooManyItems", f"map of node {node.name!r} has {len(items):,} items; at most {MOST_ITEMS:,}")
        )
    return items


def refusal(error: Refused | MainspringError) -> Failure:
    """Why a node can't go, as it is kept."""
    return error.failure if isinstance(error, Refused) else Failure(type(error).__name__, error.message)
