"""Job output, in a SQLite file of its own beside the store, so that chatty jobs never lengthen a claim.

Committed without waiting for the disk: a killed process loses nothing that was written, a power cut may lose the last
seconds of output (never of jobs).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from mainspring.chance import Chance
from mainspring.clock import SECOND, Clock, Duration
from mainspring.domain.ids import JobId
from mainspring.domain.logline import LOG_LIMIT, LogChunk, LogLine
from mainspring.store.migrate import upgrade
from mainspring.store.rows import text
from mainspring.store.sqlite import SqliteEngine, Transaction

LOOK = SECOND
"""How often it is looked whether the file is still the one that is open."""

_LOG = logging.getLogger("mainspring.logs")


class LogBook:
    """Writes and reads the output of jobs.

    A file that is removed or moved away under our hands would take in everything and show nothing; it is made anew and
    the system log says so.
    """

    def __init__(self, open_engine: Callable[[], SqliteEngine]) -> None:
        self._open = open_engine
        self._lock = threading.Lock()
        self._engine = open_engine()
        self._file = _identity(self._engine.path)
        self._look_at = Duration(self._engine.clock.monotonic() + LOOK)

    @classmethod
    def beside(cls, path: str, *, clock: Clock, chance: Chance, binary: str) -> LogBook:
        """Open the log file that belongs to a database file (``x.db`` -> ``x.logs.db``)."""
        place = path if path == ":memory:" else f"{path.removesuffix('.db')}.logs.db"

        def open_engine() -> SqliteEngine:
            engine = SqliteEngine(place, clock=clock, chance=chance, inline=True, durable=False)
            try:
                upgrade(engine, "logs", binary=binary)
            except BaseException:
                engine.close()
                raise
            return engine

        return cls(open_engine)

    def _present(self) -> SqliteEngine:
        """The engine on the file that is there now."""
        if not self._lock.acquire(blocking=False):  # somebody looks right now
            return self._engine
        try:
            engine, now = self._engine, self._engine.clock.monotonic()
            if engine.memory or now < self._look_at:
                return engine
            self._look_at = Duration(now + LOOK)
            if _identity(engine.path) == self._file:
                return engine
            # The old one is closed when the last who reads in it lets go of it.
            self._engine = self._open()
            self._file = _identity(engine.path)
            _LOG.warning(
                "%s was removed or replaced while it was open: output of jobs in the old file is no longer shown; "
                "new output goes into the file that is there now",
                engine.path,
            )
            return self._engine
        finally:
            self._lock.release()

    def append(self, entries: Sequence[tuple[JobId, int, int, LogChunk]]) -> None:
        """Store chunks: (job, attempt, number of the chunk's first line within the job, chunk).

        Where that number is taken, the next free one is: an attempt that has lost its lease and does not know it yet
        may still write, and must stop neither its successor's output nor that of other jobs.
        """

        def work(tx: Transaction) -> None:
            last = dict(tx.rows("log/last", jobs=text(list({job for job, *_ in entries}))))
            stored = []
            for job, attempt, first, chunk in entries:
                last[job] = max(first - 1, last[job]) + line_count(chunk.text)
                stored.append((job, last[job], attempt, chunk.at, chunk.stream, chunk.level, chunk.text))
            tx.many("log/insert", stored)

        self._present().write(work)

    def kept(self, job: JobId) -> tuple[int, int]:
        """Bytes that may still be kept of a job's output, and the next free line number."""
        size, last = self._present().read(lambda tx: tx.rows("log/size", job=job))[0]
        return max(0, LOG_LIMIT - size), last + 1

    def lines(self, job: JobId, *, attempt: int | None, after: int, limit: int) -> list[LogLine]:
        """Lines with a number above ``after``, in order, at most ``limit``."""
        chunks = self._present().read(
            lambda tx: tx.rows("log/after", job=job, attempt=attempt, after=after, limit=max(0, limit))
        )
        found: list[LogLine] = []
        for last, number, at, stream, level, body in chunks:
            for seq, line in enumerate(body.removesuffix("\n").split("\n"), last - line_count(body) + 1):
                if seq > after:
                    found.append(LogLine(seq, job, number, at, stream, level, line))
                    if len(found) == limit:
                        return found
        return found

    def close(self) -> None:
        """Close the file."""
        self._engine.close()


def _identity(path: str) -> tuple[int, int] | None:
    """Which file is there, if any."""
    try:
        found = Path(path).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def line_count(body: str) -> int:
    """How many lines readers see in a chunk's text."""
    return body.removesuffix("\n").count("\n") + 1
