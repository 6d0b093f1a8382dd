"""The intake of job output: chunks from runners to the log book, byte credits back."""

from __future__ import annotations

from mainspring.clock import Clock
from mainspring.domain.frame import Credit, Log
from mainspring.domain.ids import JobId
from mainspring.domain.logline import LOG_LIMIT, LogChunk
from mainspring.engine.held import Held, Outbox, RunnerView
from mainspring.errors import StoreError
from mainspring.store.logs import LogBook, line_count

_FAR = 1_000_000_000
"""More lines than an attempt can have."""


class LogIntake:
    """Gathers what came in during a turn; ``write`` stores it before the ends of its jobs are recorded."""

    def __init__(self, book: LogBook, clock: Clock) -> None:
        self._book = book
        self._clock = clock
        self._entries: list[tuple[JobId, int, int, LogChunk]] = []
        self._credits: dict[int, int] = {}

    def take(self, runner: RunnerView, frame: Log) -> None:
        """Output of a job; that of an attempt which lost its lease is dropped, but its credit is given back."""
        size = sum(len(chunk.text.encode()) for chunk in frame.chunks)
        self._credits[runner.number] = self._credits.get(runner.number, 0) + size
        held = runner.jobs.get(frame.job)
        if held is None or held.claim != frame.claim or held.fenced:
            return
        for chunk in frame.chunks:
            self._entries.append((held.job, held.attempt, held.next_line, chunk))
            held.next_line += line_count(chunk.text)

    def kept(self, held: Held) -> tuple[int, int]:
        """How much of a later attempt's output may still be kept, and its first line number.

        When the log book can't be read the attempt starts all the same, with room and numbers of its own.
        """
        try:
            return self._book.kept(held.job)
        except StoreError:
            return LOG_LIMIT, held.attempt * _FAR

    def note(self, held: Held, text: str) -> None:
        """A line of ours in the log of a job."""
        self._entries.append(
            (held.job, held.attempt, held.next_line, LogChunk(self._clock.now(), "mainspring", text + "\n"))
        )
        held.next_line += 1

    def write(self, out: Outbox) -> None:
        """Store what came in. Raises StoreError with everything kept."""
        if self._entries:
            self._book.append(self._entries)
            self._entries = []
            out.news = True
        for number, size in self._credits.items():
            out.frames.append((number, Credit(size)))
        self._credits.clear()
