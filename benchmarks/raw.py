"""The raw limit: what plain sqlite3 can do with the same rows, in the same tables, as durably.

The life cycle of a job is its place (ready, then lease), its lease with a claim, its attempt, its end and two events,
in batches of 100 with two commits a batch. There is no retry, no fence that anyone checks, no process: just the rows.
"""

from __future__ import annotations

import random
import sqlite3
import time
from pathlib import Path

import mainspring.store

SCHEMA = Path(mainspring.store.__file__).parent / "sql" / "schema" / "0001_spine.sqlite.sql"
BATCH = 100
_LEASE = 30_000_000


class RawStore:
    """The product's tables in a file of their own, through the driver of the standard library."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("pragma journal_mode = wal")
        self._connection.execute("pragma synchronous = full")
        self._connection.execute("pragma wal_autocheckpoint = 4000")
        self._connection.executescript(SCHEMA.read_text(encoding="utf-8"))
        if self._connection.execute("pragma synchronous").fetchone()[0] != 2:
            raise SystemExit("this SQLite can't be made durable")
        self._next = 1

    def close(self) -> None:
        """Close and remove it."""
        self._connection.close()
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)

    def insert(self, count: int, *, batch: int) -> float:
        """Store jobs as a submit does; jobs per second."""
        started = time.perf_counter()
        for _ in range(0, count, batch):
            self._insert(min(batch, count))
        return count / (time.perf_counter() - started)

    def _insert(self, count: int) -> None:
        connection, now = self._connection, _now()
        connection.execute("begin immediate")
        connection.execute("update counter set next = next + ? where name = 'job'", (count,))
        jobs = range(self._next, self._next + count)
        self._next += count
        connection.executemany(
            "insert into job (id, task, lane, priority, policy, due, created, params) "
            "values (?, 'bench.noop', 1, 5, 1, ?, ?, '{}')",
            [(job, now, now) for job in jobs],
        )
        connection.executemany(
            "insert into ready (job, lane, priority, due, attempt, since) values (?, 1, 5, ?, 0, ?)",
            [(job, now, now) for job in jobs],
        )
        connection.executemany(
            "insert into event (job, at, cause, source, target, attempt, actor) "
            "values (?, ?, 'submit', 'new', 'queued', 0, 'client')",
            [(job, now) for job in jobs],
        )
        connection.execute("commit")

    def drain(self, count: int, *, batch: int = BATCH) -> float:
        """Claim and end this many waiting jobs; jobs per second."""
        started, done = time.perf_counter(), 0
        while done < count:
            claims = self.claim(batch)
            self.end(claims)
            done += len(claims)
        return done / (time.perf_counter() - started)

    def claim(self, batch: int) -> list[tuple[int, int]]:
        """Move the next jobs from ready to lease; their claims."""
        connection, now = self._connection, _now()
        connection.execute("begin immediate")
        jobs = [
            row[0]
            for row in connection.execute(
                "select job from ready where lane = 1 order by priority, due, job limit ?", (batch,)
            )
        ]
        connection.executemany("delete from ready where job = ?", [(job,) for job in jobs])
        for job in jobs:
            connection.execute("select task, policy, params, expires from job where id = ?", (job,)).fetchone()
        claims = [(job, random.getrandbits(62)) for job in jobs]
        connection.executemany(
            "insert into lease (job, claim, attempt, worker, until, since, lane, priority) "
            "values (?, ?, 1, 7, ?, ?, 1, 5)",
            [(job, claim, now + _LEASE, now) for job, claim in claims],
        )
        connection.executemany(
            "insert into event (job, at, cause, source, target, attempt, actor) "
            "values (?, ?, 'claim', 'queued', 'running', 1, 'worker:7')",
            [(job, now) for job in jobs],
        )
        connection.execute("commit")
        return claims

    def end(self, claims: list[tuple[int, int]]) -> None:
        """Move these to their end."""
        connection, now = self._connection, _now()
        connection.execute("begin immediate")
        connection.executemany("delete from lease where job = ? and claim = ?", claims)
        connection.executemany(
            "insert into attempt (job, number, outcome, charge, worker, started, ended, sandbox) "
            "values (?, 1, 'succeeded', 'attempt', 7, ?, ?, 'S0')",
            [(job, now, now) for job, _ in claims],
        )
        connection.executemany(
            "update job set state = 'succeeded', attempt = 1, started = ?, finished = ?, worker = 7, result = 'null' "
            "where id = ?",
            [(now, now, job) for job, _ in claims],
        )
        connection.executemany(
            "insert into event (job, at, cause, source, target, attempt, actor, detail) "
            "values (?, ?, 'succeed', 'running', 'succeeded', 1, 'worker:7', '{\"outcome\":\"succeeded\"}')",
            [(job, now) for job, _ in claims],
        )
        connection.execute("commit")


def _now() -> int:
    return time.time_ns() // 1_000
