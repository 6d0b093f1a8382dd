"""Many jobs at once, made in the database from one that was submitted: the same rows as a submit and an end write."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import apsw
import psycopg

from benchmarks.app import app
from benchmarks.place import Place
from benchmarks.postgres import PostgresPlace

_STEP = 100_000
_NUMBERS = "with recursive number (id) as (select {first} union all select id + 1 from number where id < {last})"
_WAITING = (
    f"""insert into job (id, task, lane, priority, policy, due, created, params)
    {_NUMBERS}
    select number.id, task, lane, priority, policy, due, created, params from number cross join job
    where job.id = {{pattern}}""",
    """insert into ready (job, lane, priority, due, attempt, since)
    select id, lane, priority, due, 0, created from job where id between {first} and {last}""",
    """insert into event (job, at, cause, source, target, attempt, actor)
    select id, created, 'submit', 'new', 'queued', 0, 'client' from job where id between {first} and {last}""",
)
_FINISHED = (
    f"""insert into job (id, task, lane, priority, policy, due, created, params, state, attempt, started, finished,
      worker, result)
    {_NUMBERS}
    select number.id, task, lane, priority, policy, due, created, params, 'succeeded', 1, created, created, 0, 'null'
    from number cross join job where job.id = {{pattern}}""",
    """insert into attempt (job, number, outcome, charge, worker, started, ended, sandbox)
    select id, 1, 'succeeded', 'attempt', 0, created, created, 'S0' from job where id between {first} and {last}""",
    """insert into event (job, at, cause, source, target, attempt, actor, detail)
    select job.id, created, kind.cause, kind.source, kind.target, kind.attempt, kind.actor, kind.detail
    from job cross join (
      select 'submit' as cause, 'new' as source, 'queued' as target, 0 as attempt, 'client' as actor, null as detail
      union all select 'claim', 'queued', 'running', 1, 'worker:0', null
      union all select 'succeed', 'running', 'succeeded', 1, 'worker:0', '{{"outcome":"succeeded"}}'
    ) as kind where id between {first} and {last}""",
)

_RAN = (
    f"""insert into run (id, workflow, version, params, created, on_failure, state, finished, result)
    {_NUMBERS}
    select number.id, workflow, version, params, created, on_failure, 'succeeded', created, 'null'
    from number cross join run where run.id = {{pattern}}""",
)
_ENDED_BY_HAND = (
    "delete from ready where job in ({jobs})",
    """update job set state = 'dead', attempt = 1, started = created, finished = created, worker = 0
    where id in ({jobs})""",
    """insert into event (job, at, cause, source, target, attempt, actor)
    select id, created, 'claim', 'queued', 'running', 1, 'worker:0' from job where id in ({jobs})""",
    """insert into event (job, at, cause, source, target, attempt, actor)
    select id, created, 'exhaust', 'running', 'dead', 1, 'worker:0' from job where id in ({jobs})""",
    "update run set state = 'failed', finished = created where id in ({runs})",
)

_COUNTED = (
    """insert into reader (name, cursor) select name, (select max(seq) from event)
    from (select 'roll-up' as name union all select 'depths') as known where true
    on conflict (name) do update set cursor = excluded.cursor""",
    "delete from depth",
    """insert into depth (lane, task, state, jobs)
    select job.lane, job.task, coalesce(job.state, case when lease.job is not null then 'running'
      when ready.job is not null then 'queued' else due.state end), count(*)
    from job left join lease on lease.job = job.id left join ready on ready.job = job.id
    left join due on due.job = job.id
    group by 1, 2, 3""",
)
"""As a server has long counted them: else it would do that while others are measured."""


def waiting(place: Place, count: int, queues: Sequence[str] = ("default",)) -> None:
    """So many more jobs of ``noop`` wait in each of these queues."""
    for queue in queues:
        _grow(place, _WAITING, count, queue)
    _settle(place)


def finished(place: Place, count: int) -> int:
    """So many more have succeeded, with attempt and events; the number of the last."""
    last = _grow(place, _FINISHED, count, "default")
    _settle(place)
    return last


def ran(place: Place, pattern: int, count: int) -> None:
    """So many more runs like this one have succeeded."""
    with place.sdk():
        first = app.tasks["noop"].submit().id + 1
    _write(place, _RAN, first, first + count - 1, pattern)


def end_by_hand(place: Place, jobs: Sequence[int], runs: Sequence[int]) -> None:
    """These queued jobs are dead, and these runs have failed."""
    with executing(place) as run:
        run("begin")
        for text in _ENDED_BY_HAND:
            run(text.format(jobs=", ".join(map(str, jobs)), runs=", ".join(map(str, runs))))
        run("commit")


def _settle(place: Place) -> None:
    """What a server and autovacuum would have done long ago."""
    with executing(place) as run:
        run("begin")
        for text in _COUNTED:
            run(text)
        run("commit")
        if isinstance(place, PostgresPlace):
            run("vacuum analyze")


def _grow(place: Place, texts: tuple[str, ...], count: int, queue: str) -> int:
    with place.sdk():
        pattern = app.tasks["noop"].options(queue=queue).submit().id
    last = pattern + count
    _write(place, texts, pattern + 1, last, pattern)
    return last


def _write(place: Place, texts: tuple[str, ...], begin: int, last: int, pattern: int) -> None:
    """Rows with these numbers, like the pattern; nobody takes the numbers any more."""
    with executing(place) as run:
        for first in range(begin, last + 1, _STEP):
            run("begin")
            for text in texts:
                run(text.format(first=first, last=min(last, first + _STEP - 1), pattern=pattern))
            run("commit")
        run(
            f"select setval('job_id', {last})"
            if isinstance(place, PostgresPlace)
            else f"update counter set next = {last + 1} where name = 'job'"
        )


@contextmanager
def executing(place: Place) -> Iterator[Callable[[str], object]]:
    """A function that runs one text on the database of a place, on a connection of its own."""
    if isinstance(place, PostgresPlace):
        with psycopg.connect(place.url, autocommit=True) as connection:
            connection.execute("set search_path = mainspring")
            yield lambda text: connection.execute(text.encode())
        return
    file = apsw.Connection(str(place.database))
    file.set_busy_timeout(30_000)
    try:
        yield lambda text: list(file.execute(text))
    finally:
        file.close()
