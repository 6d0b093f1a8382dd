"""What a benchmark found: lines with value, raw baseline, budget and verdict; as a table for people and as JSON."""

from __future__ import annotations

import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import apsw
from rich.console import Console
from rich.table import Table

HISTORY = Path(__file__).with_name("history") / "runs.jsonl"


@dataclass(frozen=True)
class Line:
    """One figure.

    ``value`` and ``raw`` are in ``unit``; ``score`` is what the budget speaks of (``value`` itself, or a ratio to raw);
    ``budget`` is its limit, a floor when ``more_is_better``; None where the design sets none. ``samples``: the values
    that ``value`` is the median of.
    """

    name: str
    value: float
    unit: str
    raw: float | None = None
    raw_is: str = ""
    score: float | None = None
    budget: float | None = None
    budget_text: str = ""
    more_is_better: bool = False
    samples: tuple[float, ...] = ()
    note: str = ""

    @property
    def verdict(self) -> str:
        """``ok`` or ``short``; empty without a budget."""
        if self.budget is None:
            return ""
        score = self.value if self.score is None else self.score
        within = score >= self.budget if self.more_is_better else score <= self.budget
        return "ok" if within else "short"


def paired(name: str, unit: str, pairs: Sequence[tuple[float, float]], **more: object) -> Line:
    """A line from alternating (product, raw) pairs: medians of both, and the median of the ratios as the score."""
    return Line(
        name,
        statistics.median(product for product, _ in pairs),
        unit,
        raw=statistics.median(raw for _, raw in pairs),
        score=statistics.median(product / raw for product, raw in pairs),
        samples=tuple(product for product, _ in pairs),
        **more,  # type: ignore[arg-type]
    )


def percentile(samples: Sequence[float], share: float) -> float:
    """The sample below which this share of the samples lies (nearest rank)."""
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, max(0, round(share * len(ordered) + 0.5) - 1))]


def figure(value: float) -> str:
    """Three digits that matter, with thousands apart."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def show(lines: Sequence[Line], *, folder: str, against: str = "raw limit") -> None:
    """Print the table. ``against``: what the other figure of a line is."""
    table = Table(title=f"mainspring on {machine()['cpu']} · {folder}", title_justify="left", show_lines=False)
    for heading, side in (
        ("what", "left"),
        ("measured", "right"),
        (against, "right"),
        ("ratio", "right"),
        ("budget", "right"),
        ("", "left"),
        ("how", "left"),
    ):
        table.add_column(heading, justify=side, overflow="fold")  # type: ignore[arg-type]
    for line in lines:
        ratio = "" if not line.raw else f"{(line.score or line.value / line.raw):.2f}"
        table.add_row(
            line.name,
            f"{figure(line.value)} {line.unit}",
            "" if line.raw is None else figure(line.raw),
            ratio,
            line.budget_text,
            {"ok": "[green]ok[/]", "short": "[bold red]short[/]"}.get(line.verdict, ""),
            " · ".join(part for part in (line.raw_is and f"{against}: {line.raw_is}", line.note) if part),
        )
    Console(width=None if sys.stdout.isatty() else 170).print(table)


def machine() -> dict[str, str]:
    """What it ran on."""
    model = platform.processor() or platform.machine()
    for text in _lines(Path("/proc/cpuinfo")):
        if text.startswith("model name"):
            model = text.partition(":")[2].strip()
            break
    return {
        "cpu": f"{os.cpu_count()} x {model}",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "sqlite": f"{apsw.sqlite_lib_version()} (raw: {sqlite3.sqlite_version})",
    }


def record(lines: Sequence[Line], *, quick: bool, **more: object) -> None:
    """Append this run to the history. ``more``: what else is to be known of it."""
    HISTORY.parent.mkdir(exist_ok=True)
    run = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "quick": quick,
        "machine": machine(),
        **more,
        "lines": [{**asdict(line), "verdict": line.verdict} for line in lines],
    }
    with HISTORY.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run) + "\n")


def _commit() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HISTORY.parent, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
