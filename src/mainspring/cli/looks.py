"""How values look to a person: icons and colours of states, ages, lengths, cut texts. Pure; nothing is printed here."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from mainspring.clock import SECOND, Duration, Instant, instant_text, length_text
from mainspring.domain.job import Job
from mainspring.domain.states import Outcome, State
from mainspring.domain.timetable import MadeBy
from mainspring.domain.worker import WorkerState


class Look(NamedTuple):
    """An icon, the word and a colour; the word alone says it all where neither is seen."""

    icon: str
    word: str
    style: str

    @property
    def text(self) -> str:
        """Icon and word."""
        return f"{self.icon} {self.word}"


_STATES = {
    State.NEW: ("·", "dim"),
    State.SCHEDULED: ("◷", "cyan"),
    State.QUEUED: ("○", "blue"),
    State.RUNNING: ("▶", "bold yellow"),
    State.RETRYING: ("↻", "magenta"),
    State.SUCCEEDED: ("✔", "green"),
    State.DEAD: ("✖", "bold red"),
    State.CANCELLED: ("⊘", "bright_black"),
}
_OUTCOMES = {
    Outcome.SUCCEEDED: ("✔", "green"),
    Outcome.FAILED: ("✖", "red"),
    Outcome.CRASHED: ("✸", "bold red"),
    Outcome.TIMED_OUT: ("⧗", "red"),
    Outcome.CANCELLED: ("⊘", "bright_black"),
    Outcome.LOST: ("?", "magenta"),
    Outcome.RELEASED: ("↩", "cyan"),
}
_WORKERS = {
    WorkerState.ACTIVE: ("●", "green"),
    WorkerState.IMPAIRED: ("▲", "bold yellow"),
    WorkerState.DRAINING: ("◐", "yellow"),
    WorkerState.STOPPED: ("○", "bright_black"),
    WorkerState.LOST: ("?", "magenta"),
}
WIDE, NARROWEST = 120, 16
"""Characters of a line of a plain table, and of a column that is cut for it."""

_RUNNING = Look("▶", "running", "bold yellow")

# Colours that a job chose are kept; whatever else moves a terminal's cursor or title is shown, not obeyed.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]|\x1b(?!\[[0-9;]*m)")
_ANY_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def state_look(state: State) -> Look:
    """A job's state."""
    icon, style = _STATES[state]
    return Look(icon, state.value, style)


def outcome_look(outcome: Outcome | None) -> Look:
    """An attempt's outcome; None while it runs."""
    if outcome is None:
        return _RUNNING
    icon, style = _OUTCOMES[outcome]
    return Look(icon, outcome.value, style)


def worker_look(state: WorkerState) -> Look:
    """A worker's state."""
    icon, style = _WORKERS[state]
    return Look(icon, state.value, style)


def age(now: Instant, then: Instant | None) -> str:
    """How long ago, or in how long: ``12s ago``, ``in 5m 0s``; a dash for never."""
    if then is None:
        return "-"
    span = Duration(now - then)
    if abs(span) < SECOND:
        return "now"
    whole = length_text(Duration(abs(span) // SECOND * SECOND)).replace(".0s", "s")
    return f"{whole} ago" if span > 0 else f"in {whole}"


def moment(at: Instant | None) -> str:
    """A point in time in the reader's zone: ``2026-11-29 03:00:00``."""
    return "-" if at is None else f"{_local(at):%Y-%m-%d %H:%M:%S}"


def time_of_day(at: Instant) -> str:
    """``03:00:00.123`` in the reader's zone."""
    return f"{_local(at):%H:%M:%S.%f}"[:-3]


def _local(at: Instant) -> datetime:
    return datetime.fromtimestamp(int(at) // 1_000_000, UTC).replace(microsecond=int(at) % 1_000_000).astimezone()


def cut(text: str, most: int) -> str:
    """The text, at most so long, with an ellipsis where something is missing."""
    return text if len(text) <= most else f"{text[: max(0, most - 1)]}…"


def compact(value: Any) -> str:
    """A JSON value in one line; text without quotes."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def counted(number: int, what: str) -> str:
    """``1 job``, ``1,200 jobs``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def tried(attempt: int, most: int) -> str:
    """``2 of 4``; the number alone where attempts that are not charged (lost, given back) have led beyond."""
    return f"{attempt} of {most}" if attempt <= most else str(attempt)


def columns(
    titles: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int], gives: Iterable[int]
) -> list[str]:
    """A table in plain lines, each column as wide as it needs to be.

    ``right``: columns of numbers; ``gives``: columns that are cut where a line would have more than WIDE characters,
    the first of them first, and none below NARROWEST. No other column is ever cut.
    """
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    excess = sum(widths) + 2 * (len(widths) - 1) - WIDE
    for index in gives:
        taken = max(0, min(excess, widths[index] - NARROWEST))
        widths[index] -= taken
        excess -= taken
    lines = []
    for row in (titles, *rows):
        cells = [
            cut(cell, width).rjust(width) if index in right else cut(cell, width).ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def least_width(titles: Sequence[str], rows: Sequence[Sequence[str]], gives: Collection[int]) -> int:
    """Characters that a line of the table needs when its giving columns have given all they can."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    least = [min(width, NARROWEST) if index in gives else width for index, width in enumerate(widths)]
    return sum(least) + 2 * (len(least) - 1)


def params_line(params: Any, most: int = 60) -> str:
    """Parameters as they are typed: ``order_id=7 day=monday``, each and all of them cut."""
    if not isinstance(params, dict):
        return cut(one_line(compact(params)), most)
    return cut(" ".join(f"{name}={cut(one_line(compact(value)), 40)}" for name, value in params.items()), most)


def job_params(job: Job, most: int) -> str:
    """Those of a job; what is not known yet as a reference: ``rows=<raw.rows>``."""
    return params_line(_with_names(job.params) if job.params_open else job.params, most)


def _with_names(value: Any) -> Any:
    """References as people read them."""
    if isinstance(value, list):
        return [_with_names(one) for one in value]
    if not isinstance(value, dict):
        return value
    kind = next((key for key in value if key[:1] == "$"), None)
    if kind is None:
        return {key: _with_names(one) for key, one in value.items()}
    if kind == "$literal":
        return value[kind]
    return f"<{'.'.join(map(str, [value[kind], *value.get('path', ())]))}>"


def one_line(text: str) -> str:
    """The text for a cell: line ends and all that could move a cursor are shown as what they are."""
    return _ANY_CONTROL.sub(_escape, text)


def harmless(text: str) -> str:
    """Output of a job for a terminal: its colours stay, what else would steer the terminal is shown."""
    return _CONTROL.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    names = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return names.get(match[0], f"\\x{ord(match[0]):02x}")


def tick(made_by: MadeBy) -> str:
    """What made a job or a run."""
    return f"schedule {made_by.schedule}, tick of {instant_text(made_by.at)} ({made_by.origin})"
