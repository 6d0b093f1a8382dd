"""The wire form of a point of a series, as REST answers and ``--json`` prints it, and the way back."""

from __future__ import annotations

from typing import Any

from mainspring.clock import SECOND, Duration, instant, instant_text, seconds
from mainspring.domain.metric import BUCKETS, METRICS, Amount, Kind, Point, quantile

_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_IN_TIME = frozenset({"oldest"})
"""Levels that are lengths of time."""

_BOUNDS = [*map(seconds, BUCKETS), None]
"""Upper bounds of buckets in seconds; the last has none."""


def point_wire(metric: str, point: Point) -> dict[str, Any]:
    """One stretch; lengths are seconds. What does not go for this kind of metric is null."""
    kind, amount = METRICS[metric].kind, point.amount
    timed = _is_time(metric)
    measured = kind is not Kind.COUNT and amount.number > 0

    def told(value: float) -> float:
        return round(seconds(Duration(round(value))), 6) if timed else round(value, 3)

    shares: dict[str, float | None] = dict.fromkeys(_SHARES)
    if kind is Kind.LENGTH:
        for name, share in _SHARES.items():
            length = quantile(point.counts, share, amount.most)
            shares[name] = None if length is None else told(length)
    return {
        "at": instant_text(point.at),
        "queue": point.queue or None,
        "task": point.task or None,
        "label": point.label or None,
        "count": None if kind is Kind.LEVEL else amount.number,
        "mean": told(amount.total / amount.number) if measured else None,
        "max": told(amount.most) if measured else None,
        **shares,
        "buckets": [{"le": _BOUNDS[bucket], "count": number} for bucket, number in point.counts],
    }


def point_of(metric: str, wire: dict[str, Any]) -> Point:
    """The point of its wire form; of levels the mean stands for all that were looked at."""
    number = int(wire["mean"] is not None) if wire["count"] is None else wire["count"]
    unit = SECOND if _is_time(metric) else 1
    total, most = round((wire["mean"] or 0) * number * unit), round((wire["max"] or 0) * unit)
    counts = tuple((_BOUNDS.index(one["le"]), one["count"]) for one in wire["buckets"])
    queue, task, label = (wire[name] or "" for name in ("queue", "task", "label"))
    return Point(instant(wire["at"]), queue, task, label, Amount(number, total, most), counts)


def _is_time(metric: str) -> bool:
    return METRICS[metric].kind is Kind.LENGTH or metric in _IN_TIME
