"""The table of all contestants, for a terminal and as markdown for a page."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from benchmarks.report import Line, figure

HEADINGS = ("what", "stored in", "durable", "one worker, jobs/s", "two workers, jobs/s", "pick-up p50 / p99, ms")


@dataclass
class Row:
    """What was found of one contestant, a figure a round, in the order of the rounds."""

    name: str
    version: str
    stored: str
    durable: str
    how: str
    one: list[float] = field(default_factory=list)
    two: list[float] = field(default_factory=list)
    p50: list[float] = field(default_factory=list)
    p99: list[float] = field(default_factory=list)

    def cells(self) -> tuple[str, ...]:
        """Its line of the table, medians of the rounds."""
        one, two, p50, p99 = (figure(statistics.median(each)) for each in (self.one, self.two, self.p50, self.p99))
        return f"{self.name} ({self.version})", self.stored, self.durable, one, two, f"{p50} / {p99}"

    def lines(self) -> list[Line]:
        """The same for the history."""
        every: tuple[tuple[str, str, list[float]], ...] = (
            ("drain, one worker", "jobs/s", self.one),
            ("drain, two workers", "jobs/s", self.two),
            ("pick-up, p50", "ms", self.p50),
            ("pick-up, p99", "ms", self.p99),
        )
        return [
            Line(
                f"{self.name} ({self.version}): {what}",
                statistics.median(samples),
                unit,
                samples=tuple(samples),
                more_is_better=unit == "jobs/s",
                note=f"{self.stored}; durable: {self.durable}; {self.how}",
            )
            for what, unit, samples in every
        ]


def show(rows: Sequence[Row], caption: Sequence[str], *, width: int | None) -> None:
    """Print it for a person."""
    table = Table(title="no-op jobs, side by side", title_justify="left")
    for place, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if place > 2 else "left", overflow="fold")
    for row in rows:
        table.add_row(*row.cells())
    console = Console(width=width)
    console.print(table)
    for line in (*caption, *(f"{row.name}: {row.how}" for row in rows)):
        console.print(line, markup=False, highlight=False)


def markdown(rows: Sequence[Row], caption: Sequence[str], *, say: Callable[[str], None] = print) -> None:
    """Print it as a page shows it."""
    say(f"| {' | '.join(HEADINGS)} |")
    say("|---|---|---|--:|--:|--:|")
    for row in rows:
        say(f"| {' | '.join(row.cells())} |")
    say("")
    for line in (*caption, *(f"{row.name}: {row.how}" for row in rows)):
        say(f"- {line}")
