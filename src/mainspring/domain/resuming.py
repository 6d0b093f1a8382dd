"""Resuming: which nodes of an ended run keep their results in the next one. A pure decision.

A node is kept when it succeeded, or was skipped by its condition or rule, and so are all nodes above it: what lies
below anything that is done again has seen something that is not so any more, and is done again as well. Of a map, or a
nested workflow, that is done again for its own sake alone, parts are kept: it gets what it got before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from mainspring.domain.graph import Graph
from mainspring.domain.joins import NodeState, Reason
from mainspring.domain.workflow import Node

_MEANING = ("task", "workflow", "params", "run_if", "when", "map", "may_fail")
"""What a result depends on; queue, retry, timeout and their like may change under it."""


class Outcome(NamedTuple):
    """How a node of the old run ended."""

    state: NodeState
    reason: Reason | None = None

    @property
    def good(self) -> bool:
        """Whether it need not be done again for its own sake."""
        skipped = self.state is NodeState.SKIPPED and self.reason is not Reason.UPSTREAM_FAILED
        return skipped or self.state is NodeState.SUCCEEDED


def kept(before: Graph, outcomes: Mapping[str, Outcome], again: str | None = None) -> set[str]:
    """The nodes of a run that keep their results. ``again``: a node that is done again in any case."""
    nodes = before.document.nodes
    found: set[int] = set()
    for number in before.order:
        name = nodes[number].name
        outcome = outcomes.get(name)
        if outcome is not None and outcome.good and name != again and found.issuperset(before.needs[number]):
            found.add(number)
    return {nodes[number].name for number in found}


def partly(before: Graph, names: set[str], again: str | None = None) -> list[str]:
    """The nodes that are done again of which parts may be good. ``names``: those that are kept."""
    nodes = before.document.nodes
    return [
        node.name
        for number, node in enumerate(nodes)
        if node.name not in names
        and node.name != again
        and (node.map is not None or node.workflow is not None)
        and all(nodes[need].name in names for need in before.needs[number])
    ]


def changes(before: Graph, now: Graph, names: set[str]) -> list[str]:
    """Why nodes can't be kept under a new definition: ``load has other params``. Empty when all can."""
    told: list[str] = []
    for name in sorted(names, key=before.numbers.__getitem__):
        if name not in now.numbers:
            told.append(f"{name} is not there any more")
            continue
        old, new = before.document.nodes[before.numbers[name]], now.document.nodes[now.numbers[name]]
        fields = [field for field in _MEANING if _field(old, field) != _field(new, field)]
        if _needs(before, name) != _needs(now, name):
            fields.append("needs")
        if fields:
            told.append(f"{name} has other {', '.join(fields)}")
    return told


def _field(node: Node, name: str) -> object:
    return msgspec.to_builtins(getattr(node, name))


def _needs(graph: Graph, name: str) -> set[str]:
    return {graph.document.nodes[need].name for need in graph.needs[graph.numbers[name]]}
