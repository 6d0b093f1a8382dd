"""A Gantt chart of a run as an SVG text: a row per node, as they began, with the critical path outlined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from mainspring.clock import Duration, Instant
from mainspring.domain.joins import NodeState
from mainspring.domain.pictures.seen import Seen, critical_path, length_text

MOST_ROWS = 1_000
_ROW, _TOP, _LEFT, _WIDE = 22, 48, 220, 760
_COLOURS = {NodeState.SUCCEEDED: "#16a34a", NodeState.FAILED: "#dc2626", NodeState.ACTIVE: "#2563eb"}


def gantt(title: str, seen: Sequence[Seen], now: Instant) -> str:
    """The chart. Nodes that never began are left out; of more than MOST_ROWS the longest are shown, and it says so."""
    begun = [node for node in seen if node.started is not None]
    rows = sorted(begun, key=lambda node: -(node.length(now) or 0))[:MOST_ROWS]
    rows.sort(key=lambda node: (node.started or 0, node.name))
    first = min((node.started or 0 for node in rows), default=now)
    last = max((now if node.finished is None else node.finished for node in rows), default=now)
    chart = _Chart(first, max(1, last - first), now, frozenset(critical_path(seen)))
    left_out = f" ({len(begun) - len(rows):,} shorter nodes are left out)" if len(begun) > len(rows) else ""
    height = _TOP + _ROW * len(rows) + 20
    size = f'width="{_LEFT + _WIDE + 100}" height="{height}"'
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="10" y="20" font-size="15">{escape(title + left_out)}</text>',
        *_axis(chart.span, height),
    ]
    for number, node in enumerate(rows):
        body += chart.row(node, _TOP + number * _ROW)
    return "\n".join([*body, "</svg>"]) + "\n"


def _axis(span: int, height: int) -> list[str]:
    lines = []
    for part in range(5):
        x = _LEFT + _WIDE * part / 4
        lines.append(f'<line x1="{x:.1f}" y1="34" x2="{x:.1f}" y2="{height - 14}" stroke="#e5e7eb"/>')
        label = length_text(Duration(span * part // 4))
        lines.append(f'<text x="{x:.1f}" y="32" fill="#6b7280" text-anchor="middle">{label}</text>')
    return lines


class _Chart(NamedTuple):
    """What all rows share."""

    first: int
    span: int
    now: Instant
    way: frozenset[str]

    def row(self, node: Seen, y: int) -> list[str]:
        length = node.length(self.now) or Duration(0)
        x = _LEFT + _WIDE * ((node.started or self.first) - self.first) / self.span
        width = max(1.5, _WIDE * length / self.span)
        colour = _COLOURS.get(node.state or NodeState.SUCCEEDED, "#9ca3af")
        outline = ' stroke="#111827" stroke-width="2"' if node.name in self.way else ""
        name = node.name if len(node.name) <= 30 else f"{node.name[:29]}…"
        words = escape(f"{node.name}: {node.state or ''} {length_text(length)}")
        place = f'x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="{_ROW - 7}"'
        return [
            f'<text x="{_LEFT - 8}" y="{y + 14}" text-anchor="end">{escape(name)}</text>',
            f'<rect {place} rx="3" fill="{colour}"{outline}><title>{words}</title></rect>',
            f'<text x="{x + width + 5:.1f}" y="{y + 14}" fill="#6b7280">{length_text(length)}</text>',
        ]
