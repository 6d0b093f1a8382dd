"""What should become of an imported workflow: its nodes walked once, with rules read from their sentences.

Shares nothing with the engine but the document; what a task does is in its parameters (importers/stand_ins.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from mainspring.clock import duration, seconds
from mainspring.domain import conditions
from mainspring.domain.conditions import Facts
from mainspring.domain.graph import Graph, compiled
from mainspring.domain.workflow import Node, Workflow


class Ending(NamedTuple):
    """How a node ends, and what each of its jobs does: attempts, and their number."""

    state: str
    result: Any = None
    attempts: int = 0
    jobs: int = 0


class Expected(NamedTuple):
    """How a run ends."""

    state: str
    nodes: dict[str, Ending]


def expected(document: Workflow, nested: dict[str, Workflow]) -> Expected:
    """The end of a run that nobody stops."""
    graph = compiled(document)
    ends: dict[str, Ending] = {}
    for number in graph.order:
        ends[document.nodes[number].name] = _end(graph, number, ends, nested)
    failed = any(ends[node.name].state == "failed" and not node.may_fail for node in document.nodes)
    return Expected("failed" if failed else "succeeded", ends)


def _weight(ending: Ending) -> str:
    return {"upstream_failed": "failed", "rule": "skipped", "condition": "skipped"}.get(ending.state, ending.state)


def _end(graph: Graph, number: int, ends: dict[str, Ending], nested: dict[str, Workflow]) -> Ending:
    node = graph.document.nodes[number]
    weights = [_weight(ends[graph.document.nodes[need].name]) for need in graph.needs[number]]
    if not _met(node.run_if, weights):
        wants_success = node.run_if in ("all_success", "one_success", "none_failed", "none_failed_min_one_success")
        return Ending("upstream_failed" if wants_success and "failed" in weights else "rule")
    if node.when is not None:
        facts = Facts(
            {},
            {name: end.result for name, end in ends.items() if end.state == "succeeded"},
            {name: "skipped" if _weight(end) == "skipped" or end.state == "upstream_failed" else end.state
             for name, end in ends.items()},
        )  # fmt: skip
        if not conditions.holds(conditions.parse(node.when), facts):
            return Ending("condition")
    return _worked(node, ends, nested)


def _met(rule: str, weights: list[str]) -> bool:
    good, bad, none = (weights.count(one) for one in ("succeeded", "failed", "skipped"))
    if not weights:
        return True
    return {
        "all_success": good == len(weights),
        "all_done": True,
        "all_failed": bad == len(weights),
        "all_skipped": none == len(weights),
        "one_success": good > 0,
        "one_failed": bad > 0,
        "one_done": good + bad > 0,
        "none_failed": not bad,
        "none_skipped": not none,
        "none_failed_min_one_success": not bad and good > 0,
        "always": True,
    }[rule]


def _worked(node: Node, ends: dict[str, Ending], nested: dict[str, Workflow]) -> Ending:
    """What its jobs do."""
    items: Any = node.map
    if isinstance(items, dict):
        items = ends[items["$node"]].result
    count = 1 if items is None else len(items)
    if node.task is None and node.workflow is None:
        return Ending("succeeded")
    if node.workflow is not None:
        inner = expected(nested[node.workflow], nested)
        return Ending(inner.state, None, 0, count)
    allowed = (node.retry or {}).get("max_attempts", 1)
    failures = node.params.get("failures", 0)
    limit = None if node.timeout is None else seconds(duration(node.timeout))
    if limit is not None and node.params.get("seconds", 0.0) > limit:
        failures = allowed
    if count == 0:
        return Ending("succeeded", [])
    state = "succeeded" if failures < allowed else "failed"
    result = items if items is not None else node.params.get("result")
    return Ending(state, result, min(failures + 1, allowed), count)
