"""Prune: what a million old jobs that retention takes out cost those that run meanwhile, on PostgreSQL.

Baseline: the same drain in the same database, beside a server that has nothing to take out yet.
"""

from __future__ import annotations

import time

import psycopg

from benchmarks.drain import fill
from benchmarks.place import Place
from benchmarks.postgres import PostgresPlace
from benchmarks.report import Line, paired

OLD = 1_000_000

_JOBS = """insert into job (id, task, lane, priority, policy, due, created, params, state, attempt, started, finished,
  worker)
select nextval('job_id'), 'bench.noop', (select min(id) from lane), 5, (select min(id) from policy), at, at, '{{}}',
  'succeeded', 1, at, at, 1
from generate_series(1, {count}) as one
cross join (select (extract(epoch from now())::bigint - 864000) * 1000000) as old (at)"""
_ATTEMPTS = """insert into attempt (job, number, outcome, charge, worker, started, ended, sandbox)
select id, 1, 'succeeded', 'attempt', 1, started, finished, 'S0' from job where state = 'succeeded'"""
_EVENTS = """insert into event (job, at, cause, source, target, attempt, actor)
select id, finished, cause, source, target, 1, 'worker:1' from job cross join (values ('submit', 'new', 'queued'),
  ('claim', 'queued', 'running'), ('succeed', 'running', 'succeeded')) as move (cause, source, target)
where state = 'succeeded'"""
_DEAD = "select sum(n_dead_tup) from pg_stat_user_tables where relname in ('job', 'attempt', 'event')"


def measure(*, quick: bool) -> list[Line]:
    """One line: the rate of a drain beside the prune, and without."""
    jobs, old = (5_000, 20_000) if quick else (50_000, OLD)
    with PostgresPlace() as place:
        _grow(place, old)
        alone = _drained(place, jobs, keep="100d")
        began = time.perf_counter()
        with place.reading() as look:
            before = look("select count(*) from job")
            beside = _drained(place, jobs, keep="1d")
            gone, took = before + jobs - look("select count(*) from job"), time.perf_counter() - began
            dead = look(_DEAD)
    return [
        paired(
            "drain beside a prune",
            "jobs/s",
            [(beside, alone)],
            raw_is="the same with nothing to prune",
            budget=0.9,
            budget_text=">= 0.90 of without",
            more_is_better=True,
            note=f"{old:,} old jobs; {gone:,} went in {took:.0f} s; {dead:,} dead rows stand behind",
        )
    ]


def _grow(place: Place, old: int) -> None:
    """Old ended jobs as workers leave them."""
    fill(place, 1)
    with psycopg.connect(place.url, autocommit=True) as connection:
        connection.execute("set search_path = mainspring")
        for text in (_JOBS.format(count=old), _ATTEMPTS, _EVENTS):
            connection.execute(text.encode())
        connection.execute("vacuum analyze")


def _drained(place: Place, jobs: int, *, keep: str) -> float:
    server = place.start("server", "--port", "0", keep_succeeded=keep)
    with place.reading() as look:
        mark = look("select max(id) from job")
        fill(place, jobs)
        worker = place.worker()
        place.until("a start", lambda: look("select count(*) from lease") > 0)
        waiting = "select cast(exists (select 1 from ready) or exists (select 1 from lease) as integer)"
        place.until("the drain", lambda: look(waiting) == 0, within=300, every=0.25)
        took = look(f"select max(ended) - min(started) from attempt where job > {mark}") / 1e6
    place.stop(worker)
    place.stop(server)
    return jobs / took
