"""The demo's real pipeline: the requests of a day are split by the hour, counted hour by hour, joined, and drawn.

requests.csv is a day of a public trace (requests to an image model, Alibaba 2026), with four columns left of it.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from mainspring.demo.work import app
from mainspring.sdk.drawing import index, item

REQUESTS = Path(__file__).with_name("requests.csv")

_HIGH, _WIDE = 200, 30


@app.task
def split(source: str, folder: str) -> list[str]:
    """A file for each hour of the day; their names."""
    hours: dict[int, list[dict[str, str]]] = {hour: [] for hour in range(24)}
    with Path(source).open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            hours[int(row["second"]) // 3600].append(row)
    names = []
    for hour, rows in hours.items():
        path = Path(folder) / f"hour-{hour:02}.json"
        path.write_text(json.dumps(rows), encoding="utf-8")
        names.append(str(path))
    return names


@app.task
def count(path: str, hour: int) -> dict[str, Any]:
    """What happened in an hour."""
    rows = json.loads(Path(path).read_text(encoding="utf-8"))
    took = sorted(int(row["took"]) for row in rows)
    return {
        "hour": hour,
        "requests": len(rows),
        "images": sum(int(row["images"]) for row in rows),
        "failed": sum(row["outcome"] == "failed" for row in rows),
        "median": took[len(took) // 2] if took else 0,
    }


@app.task
def report(hours: list[dict[str, Any]], path: str) -> dict[str, Any]:
    """Add the hours up, and draw them as bars into a file."""
    Path(path).write_text(chart(hours), encoding="utf-8")
    busiest = max(hours, key=lambda one: int(one["requests"]))
    totals = {name: sum(one[name] for one in hours) for name in ("requests", "images", "failed")}
    return {**totals, "busiest": busiest["hour"], "chart": path}


def chart(hours: list[dict[str, Any]]) -> str:
    """The requests of each hour, as SVG."""
    most = max(int(one["requests"]) for one in hours) or 1
    bars = []
    for one in hours:
        high = _HIGH * one["requests"] // most
        x, y = 40 + _WIDE * one["hour"], 40 + _HIGH - high
        told = f"{one['hour']}:00: {one['requests']} requests, {one['failed']} failed, median {one['median']} s"
        bars.append(
            f'<rect x="{x}" y="{y}" width="{_WIDE - 4}" height="{high}" fill="#3b6fb6"><title>{told}</title></rect>'
        )
        bars.append(f'<text x="{x + 4}" y="{56 + _HIGH}" font-size="11">{one["hour"]:02}</text>')
    wide = 80 + _WIDE * len(hours)
    title = f'<text x="40" y="22" font-size="15">Requests by the hour, at most {most}</text>'
    frame = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{80 + _HIGH}" font-family="sans-serif">'
    return "\n".join([frame, title, *bars, "</svg>", ""])


@app.workflow
def traffic(source: str, folder: str, path: str) -> Any:
    """Split, count each hour in parallel, join, draw."""
    parts: Any = split(source, folder)
    hours: Any = count.map(parts, path=item, hour=index)
    return report(hours, path)
