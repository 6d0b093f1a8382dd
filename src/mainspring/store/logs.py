"""Job output: beside a SQLite store in a file of its own, so that chatty jobs never lengthen a claim.

Committed without waiting for the disk: a killed process loses nothing that was written, a power cut may lose the last
seconds of output (never of jobs). On PostgreSQL it is a table, under the same rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mainspring.domain.ids import JobId
from mainspring.domain.logline import LOG_LIMIT, LogChunk, LogLine
from mainspring.store.rows import text
from mainspring.store.transaction import Engine, Transaction


class LogBook:
    """Writes and reads the output of jobs. ``present``: the engine that has it now; ``close`` closes the last one."""

    def __init__(self, present: Callable[[], Engine], close: Callable[[], None] | None = None) -> None:
        self._present = present
        self._close = close

    @property
    def engine(self) -> Engine:
        """Where the output is now."""
        return self._present()

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
                # What no text column of PostgreSQL takes is shown escaped, as the Python runner does it too.
                shown = chunk.text.replace("\0", "\\x00")
                stored.append((job, last[job], attempt, chunk.at, chunk.stream, chunk.level, shown))
            tx.many("log/insert", stored)

        self._present().write(work, durable=False)

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

    def forget(self, jobs: Sequence[JobId]) -> None:
        """Take out the output of these jobs."""
        self._present().write(lambda tx: tx.many("log/forget", [(job,) for job in jobs]), durable=False)

    def close(self) -> None:
        """Close it."""
        self._present().close() if self._close is None else self._close()


def line_count(body: str) -> int:
    """How many lines readers see in a chunk's text."""
    return body.removesuffix("\n").count("\n") + 1
