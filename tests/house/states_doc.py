"""Drawings and tables of states in docs/concepts.md, of jobs and of nodes, made from the tables of the code.

Run as a module (``python -m tests.house.states_doc``) it renews the page; test_states_doc.py compares.
"""

from __future__ import annotations

from pathlib import Path

from mainspring.domain.joins import NodeState
from mainspring.domain.node_states import NODE_FINAL, NODE_TABLE
from mainspring.domain.states import FINAL, PLACE, TABLE, State
from tests.house.tree import ROOT

PAGE = ROOT / "docs" / "concepts.md"
_OUTSIDE = "[*]"


def drawing() -> str:
    """All transitions as a Mermaid state diagram; causes of the same move share an arrow."""
    arrows: dict[tuple[State, State], list[str]] = {}
    for row in TABLE:
        arrows.setdefault((row.source, row.target), []).append(row.cause.value)
    lines = [f"    {_end(source)} --> {target}: {', '.join(causes)}" for (source, target), causes in arrows.items()]
    lines += [f"    {state} --> {_OUTSIDE}" for state in State if state in FINAL]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])


def _end(state: State) -> str:
    return _OUTSIDE if state is State.NEW else state.value


def table() -> str:
    """All transitions with their sentences."""
    lines = [f"| {row.source} | {row.cause} | {row.target} | {row.sentence} |" for row in TABLE]
    return "\n".join(["| from | cause | to | because |", "|---|---|---|---|", *lines])


def places() -> str:
    """Which table holds a job in which state."""
    held: dict[str, list[str]] = {}
    for state, place in PLACE.items():
        if state is not State.NEW:
            held.setdefault(place.value, []).append(state.value)
    lines = [f"| {place} | {', '.join(states)} |" for place, states in held.items()]
    return "\n".join(["| place | holds the states |", "|---|---|", *lines])


def drawing_of_nodes() -> str:
    """All moves of a node."""
    lines = [f"    {_OUTSIDE} --> {NodeState.WAITING}: start"]
    lines += [f"    {row.source} --> {row.target}: {row.cause}" for row in NODE_TABLE]
    lines += [f"    {state} --> {_OUTSIDE}" for state in NodeState if state in NODE_FINAL]
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, "```"])


def table_of_nodes() -> str:
    """All moves of a node with their sentences."""
    lines = [f"| {row.source} | {row.cause} | {row.target} | {row.sentence} |" for row in NODE_TABLE]
    return "\n".join(["| from | cause | to | because |", "|---|---|---|---|", *lines])


PARTS = {
    "drawing": drawing,
    "table": table,
    "places": places,
    "drawing of nodes": drawing_of_nodes,
    "table of nodes": table_of_nodes,
}


def renewed(text: str) -> str:
    """The page with its made parts as they should be. Each stands between its two marks."""
    for name, make in PARTS.items():
        start, end = f"<!-- states: {name} -->", f"<!-- states: end of {name} -->"
        before, found, rest = text.partition(start)
        _, closed, after = rest.partition(end)
        if not (found and closed):
            raise ValueError(f"the page has no marks {start!r} and {end!r}")
        text = f"{before}{start}\n\n{make()}\n\n{end}{after}"
    return text


def renew(page: Path = PAGE) -> None:
    """Write the page anew."""
    page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    renew()
