"""Mermaid and DOT texts of a workflow or run. Names go in as labels only, so that any character may be in them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from mainspring.domain.joins import NodeState
from mainspring.domain.pictures.seen import Seen, critical_path

_COLOURS = {
    NodeState.WAITING: "#e5e7eb",
    NodeState.ACTIVE: "#bfdbfe",
    NodeState.SUCCEEDED: "#bbf7d0",
    NodeState.FAILED: "#fecaca",
    NodeState.SKIPPED: "#f3f4f6",
    NodeState.CANCELLED: "#fde68a",
}


def mermaid(title: str, seen: Sequence[Seen]) -> str:
    """A Mermaid flow chart; the state of a node is in its label and its colour."""
    numbers = {node.name: number for number, node in enumerate(seen)}
    lines = ["---", f"title: {_plain(title)}", "---", "flowchart LR"]
    for number, node in enumerate(seen):
        label = _quoted_mermaid("<br>".join(_label(node)))
        shape = f'["{label}"]' if node.what else f'(("{label}"))'
        lines.append(f"    n{number}{shape}" + (f":::{node.state}" if node.state else ""))
    lines += [
        f"    n{numbers[need]} --> n{numbers[node.name]}" for node in seen for need in node.needs if need in numbers
    ]
    used = {node.state for node in seen if node.state}
    lines += [f"    classDef {state} fill:{_COLOURS[state]},color:#111827" for state in NodeState if state in used]
    return "\n".join(lines) + "\n"


def dot(title: str, seen: Sequence[Seen]) -> str:
    """A Graphviz digraph; the critical path of a run that has ended is drawn in bold."""
    numbers = {node.name: number for number, node in enumerate(seen)}
    way = critical_path(seen)
    bold = set(pairwise(way))
    lines = [f"digraph {_quoted_dot(title)} {{", "    rankdir=LR;", '    node [shape=box, style="rounded,filled"];']
    for number, node in enumerate(seen):
        colour = _COLOURS[node.state] if node.state else "#ffffff"
        label = _quoted_dot("\n".join(_label(node)))
        shape = "" if node.what else ", shape=circle"
        lines.append(f'    n{number} [label={label}, fillcolor="{colour}"{shape}];')
    for node in seen:
        for need in node.needs:
            if need in numbers:
                style = " [penwidth=3]" if (need, node.name) in bold else ""
                lines.append(f"    n{numbers[need]} -> n{numbers[node.name]}{style};")
    return "\n".join([*lines, "}"]) + "\n"


def _label(node: Seen) -> list[str]:
    items = "" if node.items is None else f" [{node.ended}/{node.items}]"
    state = f"{node.state}: {node.reason}" if node.state and node.reason else node.state or ""
    return [line for line in (f"{node.name}{items}", str(state)) if line]


def _plain(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _quoted_mermaid(text: str) -> str:
    text = text.replace("<br>", "\0").replace("#", "#35;").replace('"', "#quot;")
    return text.replace("<", "#lt;").replace(">", "#gt;").replace("\0", "<br>")


def _quoted_dot(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
