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
from mainspring.store.rows import text
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
        try:
            upgrade(engine, "logs", binary=binary)
        except BaseException:
            engine.close()
            raise
        return cls(engine)

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

        self._engine.write(work)

    def kept(self, job: JobId) -> tuple[int, int]:
        """Bytes that may still be kept of a job's output, and the next free line number."""
        size, last = self._engine.read(lambda tx: tx.rows("log/size", job=job))[0]
        return max(0, LOG_LIMIT - size), last + 1

    def lines(self, job: JobId, *, attempt: int | None, after: int, limit: int) -> list[LogLine]:
        """Lines with a number above ``after``, in order, at most ``limit``."""
        chunks = self._engine.read(
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


def line_count(body: str) -> int:
    """How many lines readers see in a chunk's text."""
    return body.removesuffix("\n").count("\n") + 1
