"""The neutral pipeline JSON: shapes of DAGs as other systems write them, read with the meaning that each gives them.

A node becomes a node that ends as it is told (stand_ins.outcome); commands are looked at for ``exit 1``, ``sleep 5``
and the words "always fails", and never run. What a skipped need means differs: Argo and Kestra go on behind one, the
others skip what needs it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from mainspring.domain.joins import Rule
from mainspring.domain.workflow import Node, OnFailure, Workflow
from mainspring.errors import InvalidOption, InvalidWorkflow
from mainspring.importers import asked
from mainspring.importers.durations import length
from mainspring.importers.expressions import Translated, depends, translated
from mainspring.importers.found import OUTCOME, Found, taken, workflow_name
from mainspring.importers.groups import Shape, flat

_GOES_ON = ("argo", "kestra")
_NOTED = ("schedule", "triggers", "concurrency", "env", "sla", "on_exit")
_NODE_NOTED = ("then_calls", "needs_condition", "optional_needs", "retry_if", "catch")


def read(document: Any, *, scale: float = 0.0) -> Found:
    """The workflows of a pipeline. ``scale``: of sleeps and time-outs (0: no sleeps, time-outs as written).

    Raises InvalidWorkflow with the place; InvalidOption for a scale that can't be.
    """
    if not 0 <= scale <= 1000:
        raise InvalidOption(f"scale is {scale}; it must be from 0 to 1,000.", field="scale")
    name = workflow_name(str(taken(document, "name", str, "")))
    reader = _Reader(document, name, scale)
    inner = [reader.nested(key, one) for key, one in document.get("subgraphs", {}).items()]
    main = reader.workflow(name, taken(document, "nodes", list, ""), document)
    for key in _NOTED:
        if document.get(key):
            reader.notes.append(f"{key} is not taken over.")
    return Found((*inner, main), tuple(dict.fromkeys(reader.notes)))


class _Reader:
    """One file: what its nodes share."""

    def __init__(self, document: Mapping[str, Any], name: str, scale: float) -> None:
        self.name = name
        self.scale = scale
        self.notes: list[str] = []
        self.params = document.get("params") or {}
        self.subgraphs = document.get("subgraphs") or {}
        system = str((document.get("source") or {}).get("system", "")).lower()
        self.rule = Rule.NONE_FAILED if system.startswith(_GOES_ON) else Rule.ALL_SUCCESS

    def nested(self, key: str, graph: Mapping[str, Any]) -> Workflow:
        """A sub-graph as a workflow that takes any parameters."""
        found = self.workflow(f"{self.name}.{workflow_name(key)}", taken(graph, "nodes", list, key), graph)
        return Workflow(found.name, found.nodes, parameters={"type": "object"}, parallel=found.parallel)

    def workflow(self, name: str, nodes: list[Any], about: Mapping[str, Any]) -> Workflow:
        for number, node in enumerate(nodes):
            taken(node, "name", str, f"nodes[{number}]")
            taken(node, "needs", list, f"nodes[{number}]")
        shapes = flat(nodes, self.rule)
        if about.get("target"):
            shapes = asked.pruned(shapes, asked.filled(about["target"], self.params))
        results = asked.results(shapes, self.params)
        names = {shape.name for shape in shapes}
        return Workflow(
            name,
            tuple(self._node(shape, results, names) for shape in shapes),
            on_failure=OnFailure.FAIL_FAST if about.get("fail_fast") is True else OnFailure.CONTINUE,
            timeout=self._limit(about.get("timeout"), {}),
            parallel=about.get("max_parallel"),
            description="Imported from a pipeline.",
        )

    def _node(self, shape: Shape, results: Mapping[str, Any], names: Container[str]) -> Node:
        node = shape.node
        rule = Rule(node["trigger_rule"]) if node.get("trigger_rule") in set(Rule) else shape.rule
        if node.get("kind") == "group":
            return Node(shape.name, needs=shape.needs, run_if=rule)
        said = self._condition(shape, rule, names)
        for key in _NODE_NOTED:
            if node.get(key):
                self.notes.append(f"{key} of nodes is not taken over.")
        items = asked.items(node, results)
        common: dict[str, Any] = {
            "needs": shape.needs,
            "run_if": said.rule,
            "when": said.when,
            "map": items,
            "may_fail": shape.may_fail or node.get("continue_on_error") is True,
        }
        called = node.get("calls")
        if isinstance(called, str) and called in self.subgraphs:
            inner = f"{self.name}.{workflow_name(called)}"
            return Node(shape.name, workflow=inner, params=dict(node.get("params") or {}), **common)
        return Node(
            shape.name,
            task=OUTCOME,
            params=self._told(shape, results, items, fails=said.fails),
            retry=asked.retry(node, self.scale),
            timeout=self._limit(node.get("timeout") or _minutes(node), node.get("params") or {}),
            **common,
        )

    def _condition(self, shape: Shape, rule: Rule, names: Container[str]) -> Translated:
        node = shape.node
        if shape.chosen is not None:
            return Translated(rule, shape.chosen)
        if node.get("depends_expr"):
            return depends(str(node["depends_expr"]), shape.needs)
        said = translated(node.get("when"), names, rule)
        if said.note:
            self.notes.append(f"{shape.name}: {said.note}")
        return said

    def _told(self, shape: Shape, results: Mapping[str, Any], items: Any, *, fails: bool) -> dict[str, Any]:
        """What the stand-in is told."""
        told: dict[str, Any] = {"node": shape.name}
        failures = asked.NEVER_ENDING if fails else asked.failures(shape.node)
        seconds = asked.sleep(shape.node) * self.scale
        if items is not None:
            told["result"] = {"$item": True}
        elif shape.name in results:
            told["result"] = results[shape.name]
        if failures:
            told["failures"] = failures
        if seconds:
            told["seconds"] = seconds
        return told

    def _limit(self, value: Any, params: Mapping[str, Any]) -> float | None:
        """A time-out in seconds, scaled where anything takes time."""
        if value is None:
            return None
        seconds = length(asked.filled(value, params))
        if seconds is None:
            raise InvalidWorkflow(f"{value!r} is not a length of time", place="timeout")
        return seconds * self.scale if self.scale else seconds


def _minutes(node: Mapping[str, Any]) -> str | None:
    minutes = node.get("timeout_minutes")
    return None if minutes is None else f"{minutes}m"
