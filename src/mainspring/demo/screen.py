"""What the person at the demo sees: steps as they happen, a bar while many jobs run, a table at the end.

On a terminal the bar moves; elsewhere it is a plain line now and then. Draws only; it asks and decides nothing.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from mainspring.errors import OutputFailed

_ICONS = {"succeeded": "[green]✔ succeeded[/]", "dead": "[red]✖ dead[/]", "cancelled": "[bright_black]⊘ cancelled[/]"}
_WIDE = 120


class Row(NamedTuple):
    """One line of the table: what happened to a job, and what it shows. ``wrong`` says what differed, or is empty."""

    job: str
    task: str
    state: str
    attempts: str
    duration: str
    shows: str
    wrong: str = ""

    @property
    def name(self) -> str:
        """What it is about: a job and its task, or a question."""
        return f"job {self.job} {self.task}" if self.job else self.task


class Screen:
    """Standard output, as far as the demo is concerned."""

    def __init__(self) -> None:
        self._live = sys.stdout.isatty()
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")  # a terminal without our arrows still gets the words
        self._console = Console(highlight=False, width=None if self._live else _WIDE)

    def _print(self, *things: Any, wrap: bool = True) -> None:
        """Raises OutputFailed where nobody can take it; a reader that has gone ends us quietly."""
        try:
            self._console.print(*things, soft_wrap=not wrap)
        except OSError as error:
            raise OutputFailed(error.strerror or str(error)) from error

    def title(self, text: str) -> None:
        """A new act."""
        self._print(f"\n[bold]{escape(text)}[/]")

    def step(self, text: str) -> None:
        """Something happened."""
        self._print(f"  {escape(text)}", wrap=False)

    def result(self, row: Row) -> None:
        """A job has ended."""
        mark = "[bold red]unexpected[/]" if row.wrong else "[green]as expected[/]"
        told = f"{row.name}: {row.state}; {row.shows}"
        told += f" ({row.wrong})" if row.wrong else ""
        self._print(f"  {escape(told)}  {mark}", wrap=False)

    @contextmanager
    def bar(self, text: str, total: int) -> Iterator[Bar]:
        """A bar for many jobs."""
        if not self._live:
            yield Bar(self, text, total, None)
            return
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=self._console) as progress:
            yield Bar(self, text, total, progress)

    def table(self, rows: Sequence[Row]) -> None:
        """What happened."""
        table = Table(title="What happened", title_justify="left", title_style="bold", header_style="bold")
        for heading, side in (
            ("job", "right"),
            ("task", "left"),
            ("state", "left"),
            ("attempts", "left"),
            ("took", "right"),
        ):
            table.add_column(heading, justify=side)  # type: ignore[arg-type]
        table.add_column("what it shows", overflow="fold")
        for row in rows:
            shows = escape(row.shows) + (f"\n[bold red]unexpected: {escape(row.wrong)}[/]" if row.wrong else "")
            state = _ICONS.get(row.state, escape(row.state))
            table.add_row(row.job, escape(row.task), state, escape(row.attempts), row.duration, shows)
        self._print()
        self._print(table)

    def facts(self, title: str, facts: Sequence[tuple[str, str]]) -> None:
        """Names and values, one line each."""
        self._print(f"\n[bold]{escape(title)}[/]")
        width = max(len(name) for name, _ in facts)
        for name, value in facts:
            self._print(f"  {escape(name):<{width}}  {escape(value)}", wrap=False)

    def verdict(self, text: str, *, good: bool) -> None:
        """The last line."""
        style = "bold green" if good else "bold red"
        self._print(f"\n[{style}]{escape(text)}[/]", wrap=False)


class Bar:
    """How far many jobs are."""

    def __init__(self, screen: Screen, text: str, total: int, progress: Progress | None) -> None:
        self._screen = screen
        self._text = text
        self._total = total
        self._progress = progress
        self._task = progress.add_task(text, total=total) if progress is not None else None
        self._next = 0

    def at(self, done: int) -> None:
        """So many are done."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done)
        elif done >= self._next:
            self._screen.step(f"{self._text}: {done} of {self._total}")
            self._next = done + max(1, self._total // 4) if done < self._total else self._total + 1

    def say(self, text: str) -> None:
        """A line above the bar."""
        self._screen.step(text)
