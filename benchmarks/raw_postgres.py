"""The raw limit on PostgreSQL: what plain psycopg can do with the same rows, in the same tables, as durably.

The same life cycle as in raw.py, in batches of 100 with two commits a batch, each batch a handful of statements that
take arrays: the fastest plain way that we know.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import psycopg

import mainspring.store

SQL = Path(mainspring.store.__file__).parent / "sql" / "schema"
BATCH = 100
_LEASE = 30_000_000


class RawPostgres:
    """The product's tables in a schema of their own, through the plain driver."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        run = self._connection.execute
        run("drop schema if exists raw cascade")
        run("create schema raw")
        run("set search_path = raw")
        for script in sorted(SQL.glob("*.postgres.sql")):
            run(script.read_bytes())
        self._connection.prepare_threshold = 1
        self._next = 1

    def close(self) -> None:
        self._connection.execute("drop schema raw cascade")
        self._connection.close()

    def insert(self, count: int, *, batch: int) -> float:
        """Store jobs as a submit does; jobs per second."""
        started = time.perf_counter()
        for _ in range(0, count, batch):
            self._insert(min(batch, count))
        return count / (time.perf_counter() - started)

    def _insert(self, count: int) -> None:
        now, run = _now(), self._connection.execute
        jobs = list(range(self._next, self._next + count))
        self._next += count
        with self._connection.pipeline():
            run("begin")
            run("select nextval('job_id') from generate_series(1, %s)", (count,))
            run(
                "insert into job (id, task, lane, priority, policy, due, created, params) "
                "select id, 'bench.noop', 1, 5, 1, %s, %s, '{}' from unnest(%s::bigint[]) as one (id)",
                (now, now, jobs),
            )
            run(
                "insert into ready (job, lane, priority, due, attempt, since) "
                "select id, 1, 5, %s, 0, %s from unnest(%s::bigint[]) as one (id)",
                (now, now, jobs),
            )
            run(
                "insert into event (job, at, cause, source, target, attempt, actor) "
                "select id, %s, 'submit', 'new', 'queued', 0, 'client' from unnest(%s::bigint[]) as one (id)",
                (now, jobs),
            )
            run("commit")

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
        now, run = _now(), self._connection.execute
        with self._connection.pipeline():
            run("begin")
            jobs = [
                row[0]
                for row in run(
                    "delete from ready where job in (select job from ready where lane = 1 "
                    "order by priority, due, job limit %s for update skip locked) returning job",
                    (batch,),
                ).fetchall()
            ]
            claims = [random.getrandbits(62) for _ in jobs]
            loads = run("select id, task, policy, params, expires from job where id = any(%s::bigint[])", (jobs,))
            run(
                "insert into lease (job, claim, attempt, worker, until, since, lane, priority) "
                "select job, claim, 1, 7, %s, %s, 1, 5 from unnest(%s::bigint[], %s::bigint[]) as one (job, claim)",
                (now + _LEASE, now, jobs, claims),
            )
            run(
                "insert into event (job, at, cause, source, target, attempt, actor) "
                "select job, %s, 'claim', 'queued', 'running', 1, 'worker:7' from unnest(%s::bigint[]) as one (job)",
                (now, jobs),
            )
            run("commit")
            loads.fetchall()
        return list(zip(jobs, claims, strict=True))

    def end(self, claims: list[tuple[int, int]]) -> None:
        """Move these to their end."""
        now, run = _now(), self._connection.execute
        jobs, numbers = [job for job, _ in claims], [claim for _, claim in claims]
        with self._connection.pipeline():
            run("begin")
            run(
                "delete from lease using unnest(%s::bigint[], %s::bigint[]) as one (job, claim) "
                "where lease.job = one.job and lease.claim = one.claim returning lease.job",
                (jobs, numbers),
            )
            run(
                "insert into attempt (job, number, outcome, charge, worker, started, ended, sandbox) "
                "select job, 1, 'succeeded', 'attempt', 7, %s, %s, 'S0' from unnest(%s::bigint[]) as one (job)",
                (now, now, jobs),
            )
            run(
                "update job set state = 'succeeded', attempt = 1, started = %s, finished = %s, worker = 7, "
                "result = 'null' where id = any(%s::bigint[])",
                (now, now, jobs),
            )
            run(
                "insert into event (job, at, cause, source, target, attempt, actor, detail) "
                "select job, %s, 'succeed', 'running', 'succeeded', 1, 'worker:7', '{\"outcome\":\"succeeded\"}' "
                "from unnest(%s::bigint[]) as one (job)",
                (now, jobs),
            )
            run("commit")


def _now() -> int:
    return time.time_ns() // 1_000
