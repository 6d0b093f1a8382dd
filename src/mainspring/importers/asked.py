"""What a node of a pipeline asks for: items, retries, sleeps, failures, and results that conditions will look at."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from mainspring.domain import conditions
from mainspring.domain.joins import Rule
from mainspring.importers.durations import length
from mainspring.importers.expressions import translated
from mainspring.importers.groups import Shape

NEVER_ENDING = 1_000_000
_PER = [1, 2, 3]
"""Items of a fan-out that is only named ("per sample")."""

_TEMPLATE = re.compile(r"\{\{\s*(?:inputs|workflow)\.parameters\.([A-Za-z0-9_\-]+)\s*\}\}")
_ITEMS_OF = re.compile(r"\{\{\s*tasks\.([A-Za-z0-9_\-]+)\.outputs\.result\s*\}\}")


def filled(value: Any, params: Mapping[str, Any]) -> Any:
    """A text with its parameters in their places."""
    if not isinstance(value, str):
        return value
    return _TEMPLATE.sub(lambda match: str(params.get(match[1], match[0])), value)


def pruned(shapes: Sequence[Shape], target: str) -> list[Shape]:
    """The targets and what they need, directly or not."""
    by_name = {shape.name: shape for shape in shapes}
    todo, kept = target.split(), set[str]()
    while todo:
        name = todo.pop()
        if name in by_name and name not in kept:
            kept.add(name)
            todo += by_name[name].needs
    return [shape for shape in shapes if shape.name in kept]


def items(node: Mapping[str, Any], results: Mapping[str, Any]) -> Any:
    """What it is mapped over, or None."""
    if "withItems" in node:
        return list(node["withItems"])
    if "withParam" in node:
        source = _ITEMS_OF.fullmatch(str(node["withParam"]).strip())
        return {"$node": source[1]} if source and source[1] in results else list(_PER)
    matrix = node.get("matrix")
    if isinstance(matrix, dict):
        axes = {key: values for key, values in matrix.items() if isinstance(values, list) and key != "include"}
        crossed = [dict(zip(axes, row, strict=True)) for row in itertools.product(*axes.values())] if axes else []
        return crossed or list(matrix.get("include") or _PER)
    return list(_PER) if "fan_out" in node else None


def results(shapes: Sequence[Shape], params: Mapping[str, Any]) -> dict[str, Any]:
    """A result for each node whose result another one looks at, such that conditions can be answered."""
    found: dict[str, Any] = {}
    names = {shape.name for shape in shapes}
    for shape in shapes:
        if shape.node.get("chooses"):
            found[shape.name] = shape.node["chooses"]
        source = _ITEMS_OF.fullmatch(str(shape.node.get("withParam", "")).strip())
        if source:
            count = next((int(value) for value in params.values() if str(value).isdigit()), len(_PER))
            found[source[1]] = list(range(count))
        said = translated(shape.node.get("when"), names, Rule.ALL_SUCCESS).when
        if said:
            for expression in _comparisons(conditions.parse(said).expression):
                _answer(found, expression)
    return found


def _comparisons(expression: conditions.Expression) -> list[conditions.Compare]:
    match expression:
        case conditions.Compare():
            return [expression]
        case conditions.Every(terms=terms) | conditions.Either(terms=terms):
            return [one for term in terms for one in _comparisons(term)]
        case conditions.Not(term=term):
            return _comparisons(term)
        case _:
            return []


def _answer(found: dict[str, Any], compare: conditions.Compare) -> None:
    """Let a result be the first value that it is compared with."""
    name, value = compare.left, compare.right
    if not isinstance(name, conditions.Name) or name.root != "results" or not isinstance(value, conditions.Literal):
        return
    if not name.path:
        found.setdefault(name.name, value.value)
        return
    level = found.setdefault(name.name, {})
    for step in name.path[:-1]:
        level = level.setdefault(step, {}) if isinstance(level, dict) else {}
    if isinstance(level, dict):
        level.setdefault(name.path[-1], value.value)


def retry(node: Mapping[str, Any], scale: float) -> dict[str, Any] | None:
    """The policy, or None where it asks for none: then a failure is the end, as in these systems."""
    further = node.get("retries")
    if not isinstance(further, int):
        return {"max_attempts": 1}
    attempts = further if node.get("retries_counts") else further + 1
    backoff = node.get("backoff") or {}
    first = length(backoff.get("delay") or backoff.get("interval") or backoff.get("duration") or 0) or 0.0
    cap = length(backoff.get("maxInterval") or backoff.get("cap") or 0) or 0.0
    factor = float(backoff.get("factor") or (2 if backoff.get("type") == "exponential" else 1))
    by = scale or 1.0
    policy: dict[str, Any] = {"max_attempts": max(1, attempts), "delay": first * by, "factor": factor, "jitter": 0.0}
    return policy | {"max_delay": max(cap, first) * by} if cap else policy


_EXIT = re.compile(r"\bexit\s+[1-9]\d*\b")
_UNTIL = re.compile(r"fails until the retry count equals (\d+)")


def failures(node: Mapping[str, Any]) -> int:
    """How many attempts fail before one succeeds."""
    command = node.get("command")
    words = [str(one) for one in command] if isinstance(command, list) else [str(command or "")]
    text = " ".join(words)
    until = _UNTIL.search(text)
    if until:
        return int(until[1])
    certain = words[:2] == ["sh", "-c"] and len(words) == 3 and _EXIT.fullmatch(words[2].strip())
    return NEVER_ENDING if certain or text.strip() == "always fails" else 0


_SLEEP = re.compile(r"sleep\s+(\S+)", re.IGNORECASE)


def sleep(node: Mapping[str, Any]) -> float:
    """The seconds that its command sleeps, where that is all it does."""
    command = node.get("command")
    text = " ".join(map(str, command)) if isinstance(command, list) else str(command or "")
    found = _SLEEP.fullmatch(text.strip())
    return (length(found[1]) or 0.0) if found else 0.0
