"""What a claim looks at, counted and not timed, so that a busy machine fails nothing; benchmarks.growth has times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from mainspring.control.catalog import declare
from mainspring.domain.ids import LaneId
from mainspring.domain.job import JobRequest
from mainspring.domain.task import Lodging
from mainspring.engine.claiming import Claimer
from mainspring.engine.held import Limits, Room, RunnerView
from mainspring.store import Transaction, jobs, lanes
from mainspring.store.jobs import Birth
from mainspring.store.lanes import Map
from mainspring.store.sqlite import SqliteTransaction
from tests import postgres
from tests.contract.engines import PostgresBench, SqliteBench, by_hand, connection_of
from tests.contract.stories import LEASE, Story, app_of, task

MANY = 20_000
OWN, THEIRS = "shop", "bank"
ROWS = "select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint from pg_stat_xact_user_tables"


@pytest.fixture(params=["sqlite", "postgres"])
def story(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Story]:
    """Two apps, each with a lane, and nothing waits."""
    databases: postgres.Databases = request.getfixturevalue("postgres_databases")
    bench = SqliteBench(tmp_path) if request.param == "sqlite" else PostgresBench(tmp_path, databases)
    one = Story(bench)
    declare(one.store, app_of(task("bank.clean")))
    for name in ("shop.send", "bank.clean"):
        one.cancel(one.submit(name))
    yield one
    bench.close()


def lanes_of(story: Story, app: str) -> list[LaneId]:
    return [lane.id for lane in story.store.read(lanes.read_map).lanes if lane.app == app]


def fill(story: Story, where: Sequence[LaneId], each: int, name: str = "shop.send") -> None:
    """So many waiting jobs in each of these lanes."""

    def births(tx: Transaction) -> None:
        for lane in where:
            jobs.insert(tx, [Birth(name, lane, 5, 1, tx.now, None, None, None, None, None, "{}")] * each, "client")

    story.store.write(births)
    story.clock.forward()


def effort(tx: Transaction, work: Callable[[], int]) -> tuple[int, int]:
    """What the work gives, and how much the engine does for it: rows that it reads, or steps of its machine."""
    if isinstance(tx, SqliteTransaction):
        steps: list[int] = []

        def go_on() -> bool:
            steps.append(1)
            return False

        connection = connection_of(tx)
        connection.set_progress_handler(go_on, 10)
        try:
            return work(), len(steps)
        finally:
            connection.set_progress_handler(None)
    ((before,),) = by_hand(tx, ROWS)
    done = work()
    ((after,),) = by_hand(tx, ROWS)
    return done, (after or 0) - (before or 0)


def claim(story: Story, slots: int) -> tuple[int, int]:
    """How many jobs a worker of our app gets that knows its lanes, and the effort; nothing is kept of it."""
    every = story.store.read(lanes.read_map)
    own = Map([lane for lane in every.lanes if lane.app == OWN], every.rules)
    room = Room(Limits(slots, slots), {}, [RunnerView(1, Lodging.SHARED, frozenset())])
    claimer = Claimer(story.worker, LEASE, "worker:1", story.clock)
    found: list[tuple[int, int]] = []

    class TakenBack(Exception):
        pass

    def work(tx: Transaction) -> None:
        found.append(effort(tx, lambda: len(claimer.claim(tx, own, room, None, avoid=()).jobs)))
        raise TakenBack

    with pytest.raises(TakenBack):
        story.store.write(work)
    return found[-1]


def test_a_claim_does_the_same_however_many_wait(story: Story) -> None:
    """Also when somebody has analyzed the tables while little waited, and the session knows its way since then."""
    story.bench.alter(story.store, "analyze")
    fill(story, lanes_of(story, OWN), 100)
    few, least = claim(story, 10)
    fill(story, lanes_of(story, OWN), MANY)
    many, most = claim(story, 10)
    print(f"{least} with 100, {most} with {MANY:,}")
    assert (few, many) == (10, 10)
    assert most <= 2 * least


def test_jobs_of_other_apps_cost_a_claim_nothing(story: Story) -> None:
    alone, least = claim(story, 10)
    fill(story, lanes_of(story, THEIRS), MANY, "bank.clean")
    beside, most = claim(story, 10)
    print(f"{least} alone, {most} beside {MANY:,}")
    assert (alone, beside) == (0, 0)
    assert most <= 2 * least + 10


def test_a_claim_from_200_busy_lanes_costs_a_few_times_that_from_one(story: Story) -> None:
    fill(story, lanes_of(story, OWN), 150)
    one, least = claim(story, 100)
    story.submit_many([JobRequest("shop.send", queue=f"q{number}") for number in range(200)])
    fill(story, lanes_of(story, OWN), MANY // 200)
    many, most = claim(story, 100)
    print(f"{least} from one lane, {most} from 200")
    assert (one, many) == (100, 100)
    assert most <= 12 * least, "a head of each lane, and the first jobs of the best lanes"
