"""An upgrade with jobs in it, killed at each step, and a version that is older than the tables: both engines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mainspring.clock import HOUR
from mainspring.control import read
from mainspring.domain.ids import JobId
from mainspring.domain.states import FINAL, Outcome, State
from mainspring.errors import SchemaTooOld
from mainspring.store import Store
from mainspring.store.check import Level, check
from mainspring.store.statements import migrations
from mainspring.store.upgrading import upgrade_at
from tests import postgres
from tests.contract.children import LONGEST, environment
from tests.contract.engines import Bench, PostgresBench, SqliteBench, unsound
from tests.contract.stories import Story
from tests.upgrade.older import older

MakeBench = Callable[[str], Bench]
STATES = [state for state in State if state is not State.NEW]


class OwnPostgresBench(PostgresBench):
    """Its database is of no use to other tests."""

    def close(self) -> None:
        self.close_stores()
        self._databases.drop(self.database)


@pytest.fixture(params=["sqlite", "postgres"])
def make_bench(
    request: pytest.FixtureRequest, tmp_path: Path, postgres_databases: postgres.Databases
) -> Iterator[MakeBench]:
    """Benches of one engine, by name."""
    made: list[Bench] = []

    def make(name: str) -> Bench:
        place = tmp_path / name
        place.mkdir()
        on_postgres = request.param == "postgres"
        made.append(OwnPostgresBench(place, postgres_databases) if on_postgres else SqliteBench(place))
        return made[-1]

    yield make
    for bench in made:
        bench.close()


def kill_upgrades(bench: Bench, times: int) -> list[int]:
    """Exit codes of so many upgrades; each but the first comes one step further before it dies."""
    words = [sys.executable, "-m", "tests.upgrade.killing", bench.url, str(times)]
    done = subprocess.run(words, env=environment(), check=True, capture_output=True, timeout=LONGEST)
    codes: list[int] = json.loads(done.stdout)
    return codes


def finish(story: Story, jobs: list[JobId]) -> None:
    """Whoever had them is gone; they are run until all have ended."""
    story.clock.forward(HOUR)
    story.promote()
    story.lose_expired()
    for job in jobs:
        if story.claim(job):
            story.end(job, Outcome.SUCCEEDED)


def test_an_upgrade_that_is_killed_at_each_step_is_gone_on_with_and_all_jobs_of_the_older_version_end(
    make_bench: MakeBench,
) -> None:
    source, bench = Story(make_bench("source")), make_bench("upgraded")
    jobs = {source.bring(state): state for state in STATES}
    before = {job: source.moves(job) for job in jobs}
    old = older(bench)
    old.make()
    old.fill(source.store)
    later = [number for number, _, _ in migrations(bench.dialect)][1:]
    assert kill_upgrades(bench, len(later)) == [-9] * len(later)
    if bench.dialect == "postgres":
        with pytest.raises(SchemaTooOld, match="db upgrade"):
            Store.open(bench.url)
    assert upgrade_at(bench.url)[0].made == later[-1:], "those before it had been made, one by each that was killed"

    story = Story(bench)
    assert {job: story.state(job) for job in jobs} == jobs
    assert {job: story.moves(job) for job in jobs} == before
    finish(story, list(jobs))
    ended = {job: story.state(job) for job in jobs}
    assert set(ended.values()) <= FINAL
    assert {state for job, state in ended.items() if jobs[job] not in FINAL} == {State.SUCCEEDED}
    assert {job: ended[job] for job in jobs if jobs[job] in FINAL} == {
        job: state for job, state in jobs.items() if state in FINAL
    }
    assert unsound(story.store) == []
    assert story.submit() not in jobs


def test_a_version_that_is_older_than_the_tables_works_on_them_as_far_as_they_have_only_grown(
    make_bench: MakeBench,
) -> None:
    """As in a fleet that is upgraded one by one: each table has a column that this version has never heard of."""
    bench = make_bench("grown")
    story = Story(bench)
    for table in sorted({table for table, _ in older(bench).columns()}):
        story.bench.alter(story.store, f"alter table {table} add column of_later int")
    story.bench.alter(story.store, "create table of_later (id integer primary key)")
    story.bench.alter(story.store, f"update schema_version set version = {migrations(bench.dialect)[-1][0] + 1}")
    again = Story(bench)
    jobs = [again.bring(state) for state in STATES] + [again.submit(unique="key")]
    again.cancel(again.running())
    again.retry(again.bring(State.DEAD))
    finish(again, jobs)
    assert {again.state(job) for job in jobs} <= FINAL
    assert len(read.history(again.store, after=0, job=None, kinds=(), limit=1000)) > len(jobs)
    assert unsound(again.store) == []
    assert [finding for finding in check(again.store) if finding.level is Level.FAULT] == []
