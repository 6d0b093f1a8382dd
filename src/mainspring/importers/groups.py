"""Groups, branches and final nodes of a pipeline, flattened to needs, rules and conditions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mainspring.domain.joins import Rule


class Shape(NamedTuple):
    """A node of the source with its place in the flat graph. ``chosen``: a condition that a branch or switch makes."""

    name: str
    node: Mapping[str, Any]
    needs: tuple[str, ...]
    rule: Rule
    may_fail: bool = False
    chosen: str | None = None


def flat(nodes: Sequence[Mapping[str, Any]], rule: Rule) -> list[Shape]:
    """All nodes in their order. A name that comes twice stays so, for the checks of documents to find."""
    groups = {node["name"]: node for node in nodes if node.get("kind") == "group"}
    branches = {node["name"]: node for node in nodes if node.get("kind") == "branch"}
    return [_shape(node, nodes, groups, branches, rule) for node in nodes]


def _shape(
    node: Mapping[str, Any],
    nodes: Sequence[Mapping[str, Any]],
    groups: Mapping[str, Mapping[str, Any]],
    branches: Mapping[str, Mapping[str, Any]],
    rule: Rule,
) -> Shape:
    name, needs = node["name"], tuple(node["needs"])
    lenient = _lenient(node, groups)
    if node.get("kind") == "finally":
        others = tuple(one["name"] for one in nodes if one.get("kind") != "finally")
        return Shape(name, node, others, Rule.ALL_DONE)
    if _on_errors(node):
        peers = tuple(one["name"] for one in nodes if one.get("group") == node.get("group") and not _on_errors(one))
        return Shape(name, node, peers, Rule.ONE_FAILED, lenient)
    if node.get("kind") == "group":
        members = tuple(one["name"] for one in nodes if one.get("group") == name and not _on_errors(one))
        inherited = needs or _inherited(node, groups)
        own = rule if node.get("type") != "AllowFailure" else Rule.ALL_DONE
        return Shape(name, node, tuple(dict.fromkeys((*inherited, *members))), own, lenient)
    chosen = next((branches[need] for need in needs if need in branches and "chooses" in branches[need]), None)
    condition = f"results[{json.dumps(chosen['name'])}] == {json.dumps(name)}" if chosen else None
    if str(node.get("branch", "")).startswith("case"):
        condition = "false"
    return Shape(name, node, needs or _inherited(node, groups), rule, lenient, condition)


def _on_errors(node: Mapping[str, Any]) -> bool:
    return node.get("branch") in ("errors", "workflow errors")


def _inherited(node: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """What the first nodes of a group wait for: what the group waits for, or the group around it."""
    around = groups.get(node.get("group", ""))
    while around is not None:
        if around["needs"]:
            return tuple(around["needs"])
        around = groups.get(around.get("group", ""))
    return ()


def _lenient(node: Mapping[str, Any], groups: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether a group around it allows failures."""
    around = groups.get(node.get("group", ""))
    while around is not None:
        if around.get("type") == "AllowFailure":
            return True
        around = groups.get(around.get("group", ""))
    return False
