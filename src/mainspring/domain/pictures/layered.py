"""A run in the terminal: its nodes in layers, with states, lengths, a bar in time, and the critical path marked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.joins import NodeState
from mainspring.domain.pictures.seen import ICONS, Seen, critical_path, layers, length_text

WIDEST_LAYER = 25
"""A layer with more nodes shows those that matter and counts the others."""

_BAR = 24
_LONGEST_NAME = 40
_MATTER = (NodeState.FAILED, NodeState.ACTIVE, NodeState.CANCELLED)


class Row(NamedTuple):
    """A line. ``state`` is for its colour; None where it is of the whole layer."""

    text: str
    state: NodeState | None = None
    critical: bool = False


def layered(seen: Sequence[Seen], now: Instant) -> list[Row]:
    """The picture, a row per line. ``*`` marks the critical path."""
    way = set(critical_path(seen))
    began = min((node.started for node in seen if node.started is not None), default=now)
    ended = max((now if node.finished is None else node.finished for node in seen if node.started), default=now)
    wide = min(_LONGEST_NAME, max((len(_name(node)) for node in seen), default=0))
    frame = _Frame(wide, began, ended, now)
    rows: list[Row] = []
    for number, layer in enumerate(layers(seen)):
        if number:
            rows.append(Row("  │"))
        shown = layer if len(layer) <= WIDEST_LAYER else _that_matter(layer, way)
        rows += [frame.row(node, critical=node.name in way) for node in shown]
        left = [node for node in layer if node not in shown] if len(shown) < len(layer) else []
        if left:
            counts = Counter(str(node.state or "node") for node in left)
            rows.append(Row(f"    … and {', '.join(f'{count:,} {state}' for state, count in counts.most_common())}"))
    return rows


def _that_matter(layer: Sequence[Seen], way: set[str]) -> list[Seen]:
    matter = [node for node in layer if node.name in way or node.state in _MATTER]
    return matter[:WIDEST_LAYER]


def _name(node: Seen) -> str:
    return node.name if node.items is None else f"{node.name} [{node.ended}/{node.items}]"


class _Frame(NamedTuple):
    """What all rows share: the width of names, and the time of the run."""

    wide: int
    began: int
    ended: int
    now: Instant

    def row(self, node: Seen, *, critical: bool) -> Row:
        name = _name(node)
        name = name if len(name) <= self.wide else f"{name[: self.wide - 1]}…"
        state = f"{node.state or ''}" + (f" ({node.reason})" if node.reason else "")
        needs = f"  ← {', '.join(node.needs[:4])}{' …' if len(node.needs) > 4 else ''}" if node.needs else ""
        columns = f"{'*' if critical else ' '} {ICONS[node.state]} {name:<{self.wide}}"
        if node.state is not None:
            columns += f"  {state:<12} {length_text(node.length(self.now)):>8} {self._bar(node)}"
        return Row(f"{columns}{needs}".rstrip(), node.state, critical)

    def _bar(self, node: Seen) -> str:
        """Where in the time of the run it ran."""
        if node.started is None:
            return " " * _BAR
        span = max(1, self.ended - self.began)
        first = min(_BAR - 1, _BAR * (node.started - self.began) // span)
        end = self.now if node.finished is None else node.finished
        last = max(first + 1, min(_BAR, -(-_BAR * (end - self.began) // span)))
        return " " * first + "█" * (last - first) + " " * (_BAR - last)
