"""What pictures look at: nodes by name, with states and times where there are any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mainspring.clock import Duration, Instant, duration_text
from mainspring.domain.graph import Graph
from mainspring.domain.joins import NodeState


class Seen(NamedTuple):
    """A node. ``what``: its task or workflow; ``items`` and ``ended``: of a map, how many there are and have ended.

    ``state`` None: of a definition, which no run has begun.
    """

    name: str
    needs: tuple[str, ...] = ()
    what: str = ""
    state: NodeState | None = None
    reason: str = ""
    started: Instant | None = None
    finished: Instant | None = None
    items: int | None = None
    ended: int = 0

    def length(self, now: Instant) -> Duration | None:
        """How long it took, or has taken up to now; None before it began."""
        if self.started is None:
            return None
        end = now if self.finished is None else self.finished
        return Duration(max(0, end - self.started))


ICONS: Mapping[NodeState | None, str] = {
    None: "o",
    NodeState.WAITING: "·",
    NodeState.ACTIVE: ">",
    NodeState.SUCCEEDED: "✓",
    NodeState.FAILED: "✗",
    NodeState.SKIPPED: "-",
    NodeState.CANCELLED: "x",
}


def of_graph(graph: Graph) -> list[Seen]:
    """The nodes of a definition."""
    nodes = graph.document.nodes
    return [
        Seen(node.name, tuple(nodes[need].name for need in needs), node.task or node.workflow or "")
        for node, needs in zip(nodes, graph.needs, strict=True)
    ]


def layers(seen: Sequence[Seen]) -> list[list[Seen]]:
    """The nodes by the longest way to them; each behind its needs, else in their order."""
    by_name = {node.name: node for node in seen}
    depth: dict[str, int] = {}
    for node in seen:
        todo = [node.name]
        while todo:  # not by recursion: a chain may be 100,000 long
            name = todo[-1]
            open_ = [need for need in by_name[name].needs if need in by_name and need not in depth]
            if name in depth or not open_:
                needs = [depth[need] for need in by_name[name].needs if need in depth]
                depth.setdefault(name, 1 + max(needs, default=-1))
                todo.pop()
            else:
                todo += open_
    found: list[list[Seen]] = [[] for _ in range(1 + max(depth.values(), default=-1))]
    for node in seen:
        found[depth[node.name]].append(node)
    return found


def critical_path(seen: Sequence[Seen]) -> list[str]:
    """The chain that the run was as long as: back from the last end, each time to the need that ended last.

    Empty while nothing has ended.
    """
    by_name = {node.name: node for node in seen if node.finished is not None and node.started is not None}
    place = {node.name: number for number, node in enumerate(seen)}

    def end(node: Seen) -> tuple[int, int, int]:
        return node.finished or 0, node.started or 0, place[node.name]

    last = max(by_name.values(), key=end, default=None)
    way: list[str] = []
    while last is not None:
        way.append(last.name)
        last = max((by_name[need] for need in last.needs if need in by_name), key=end, default=None)
    return way[::-1]


def length_text(length: Duration | None) -> str:
    """A length as people read it: 1.23s, 840ms, 2m5s."""
    if length is None:
        return ""
    if length < 1_000_000:
        return f"{length / 1000:.0f}ms"
    if length < 60_000_000:
        return f"{length / 1_000_000:.2f}s"
    return duration_text(Duration(length // 1_000_000 * 1_000_000))
