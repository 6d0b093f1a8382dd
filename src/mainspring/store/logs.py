"""Job output, in a SQLite file of its own beside the store, so that chatty jobs never lengthen a claim.

Committed without waiting for the disk: a killed process loses nothing that was written, a power cut may lose the last
seconds of output (never of jobs).
"""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.chance import Chance
from mainspring.clock import Clock
from mainspring.domain.ids import JobId
from mainspring.domain.logline import LOG_LIMIT, LogChunk, LogLine
from mainspring.store.migrate import upgrade
from mainspring.store.sqlite import SqliteEngine, Transaction


class LogBook:
    """Writes and reads the output of jobs."""

    def __init__(self, engine: SqliteEngine) -> None:
        self._engine = engine

    @classmethod
    def beside(cls, path: str, *, clock: Clock, chance: Chance, binary: str) -> LogBook:
        """Open the log file that belongs to a database file (``x.db`` -> ``x.logs.db``)."""
        place = path if path == ":memory:" else f"{path.removesuffix('.db')}.logs.db"
        engine = SqliteEngine(place, clock=clock, chance=chance, inline=True, durable=False)
        upgrade(engine, "logs", binary=binary)
        return cls(engine)

    def append(self, entries: Sequence[tuple[JobId, int, int, LogChunk]]) -> None:
        """Store chunks: (job, attempt, number of the chunk's first line within the job, chunk)."""
        rows = [
            (job, seq, attempt, chunk.at, chunk.stream, chunk.level, chunk.text) for job, attempt, seq, chunk in entries
        ]
        self._engine.write(lambda tx: tx.many("log/insert", rows))

    def kept(self, job: JobId) -> tuple[int, int]:
        """Bytes that may still be kept of a job's output, and the next free line number."""

        def look(tx: Transaction) -> tuple[int, int]:
            size, last = tx.rows("log/size", job=job)[0]
            if last == 0:
                return LOG_LIMIT, 1
            (_, _, _, _, _, body), *_ = tx.rows("log/after", job=job, attempt=None, after=last, limit=1)
            return max(0, LOG_LIMIT - size), last + line_count(body)

        return self._engine.read(look)

    def lines(self, job: JobId, *, attempt: int | None, after: int, limit: int) -> list[LogLine]:
        """Lines with a number above ``after``, in order, at most ``limit``."""
        chunks = self._engine.read(
            lambda tx: tx.rows("log/after", job=job, attempt=attempt, after=after, limit=max(1, limit))
        )
        found: list[LogLine] = []
        for first, number, at, stream, level, body in chunks:
            for offset, line in enumerate(body.removesuffix("\n").split("\n")):
                if first + offset > after:
                    found.append(LogLine(first + offset, job, number, at, stream, level, line))
                    if len(found) == limit:
                        return found
        return found

    def close(self) -> None:
        """Close the file."""
        self._engine.close()


def line_count(body: str) -> int:
    """How many lines readers see in a chunk's text."""
    return body.removesuffix("\n").count("\n") + 1
