"""How often a submit, a turn and a hop of a run wait for the server: each wait is two switches between processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import pytest

from mainspring.clock import MINUTE, SECOND, Instant, instant_text
from mainspring.control import schedules, submit
from mainspring.domain.attempt import Ending
from mainspring.domain.job import JobRequest
from mainspring.domain.plan import Plan
from mainspring.domain.states import Outcome
from mainspring.domain.task import Lodging
from mainspring.domain.timetable import Origin
from mainspring.engine.claiming import Claimed, Claimer
from mainspring.engine.fire import Fire
from mainspring.engine.held import Limits, Room, RunnerView
from mainspring.store import Transaction, lanes
from mainspring.store.postgres import PostgresEngine
from mainspring.transitions.ended import Ends, Report
from tests import postgres
from tests.contract.engines import PostgresBench
from tests.contract.run_stories import Runs, node
from tests.contract.stories import LEASE, Story

ACTOR = "worker:1"


@pytest.fixture
def story(tmp_path: Path, postgres_databases: postgres.Databases) -> Iterator[Story]:
    bench = PostgresBench(tmp_path, postgres_databases)
    yield Story(bench)
    bench.close()


def parts(story: Story, place: Path, work: Callable[[], object]) -> list[str]:
    """By what each part ends that goes to the server before it answers, on the session that has most of them."""
    engine = story.store.engine
    assert isinstance(engine, PostgresEngine)
    with ExitStack() as files:
        for number, session in enumerate(engine.sessions.all()):
            file = files.enter_context((place / f"heard{number}").open("wb"))
            session.connection.pgconn.trace(file.fileno())
            files.callback(session.connection.pgconn.untrace)
        work()
    return max((_parts(heard.read_text(errors="replace")) for heard in place.glob("heard*")), key=len)


def _parts(heard: str) -> list[str]:
    said = [line.split("\t") for line in heard.splitlines() if line.count("\t") > 2]
    return [one[3] for one, following in pairwise([*said, ["", ""]]) if one[1] == "F" != following[1]]


class Turns:
    """A worker's turns: what runs has ended, and the next is claimed, in one transaction."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._claimer = Claimer(story.worker, LEASE, ACTOR, story.clock)
        self._held: list[Claimed] = []

    def turn(self) -> int:
        """One of them; how many jobs it claimed."""
        self._held = self._story.store.write(self._work)
        return len(self._held)

    def _work(self, tx: Transaction) -> list[Claimed]:
        room = Room(Limits(1, 1), {}, [RunnerView(1, Lodging.SHARED, frozenset())])
        free = self._claimer.free(self._map(tx), room, None)
        assert free is not None
        ends = Ends(tx, [self._report(one) for one in self._held], ACTOR, free=free)
        claimed = self._claimer.newborn(tx, free, ends.advanced.born)
        if not claimed:
            claimed = self._claimer.claim(tx, self._map(tx), room, None, avoid=()).jobs
        ends.settle()
        return claimed

    def _map(self, tx: Transaction) -> lanes.Map:
        found: lanes.Map | None = getattr(self, "_known", None)
        if found is None:
            found = self._known = lanes.read_map(tx)
        return found

    def _report(self, one: Claimed) -> Report:
        left, claim = one.grant
        ending = Ending(job=left.job, claim=claim, outcome=Outcome.SUCCEEDED, result=b"1")
        return Report(ending, one.policy, alone=False, link=one.load.link)


def test_a_submit_goes_in_two_parts_with_a_sync_behind_each(story: Story, tmp_path: Path) -> None:
    """What it stands on with the number of the job; the job with the commit and the notice.

    Only behind a sync does the server count the time that we idle in a transaction.
    """
    story.submit()
    assert parts(story, tmp_path, story.submit) == ["Sync"] * 2

    def answered(key: str) -> object:
        return submit.submit_one(story.store, JobRequest("send"), actor="client", idempotency_key=key)

    answered("one")
    (tmp_path / "keyed").mkdir()
    found = parts(story, tmp_path / "keyed", lambda: answered("two"))
    assert found == ["Sync"] * 2, "it is not read to be answered, nor its key by itself"


@pytest.mark.parametrize("of_a_run", [False, True])
def test_a_turn_waits_for_what_it_claims_and_for_its_commit_and_no_more_where_a_run_goes_on(
    story: Story, tmp_path: Path, *, of_a_run: bool
) -> None:
    """What ended goes with the claim; what it lets go in a run is born into the slot that it has left."""
    if of_a_run:
        chain = [
            node("n0", task="shop.send"),
            *(node(f"n{one}", f"n{one - 1}", task="shop.send") for one in range(1, 5)),
        ]
        Runs(story).start(*chain)
    else:
        for _ in range(5):
            story.submit()
    turns = Turns(story)
    assert [turns.turn() for _ in range(3)] == [1, 1, 1]  # by then everything is known and prepared
    assert parts(story, tmp_path, turns.turn) == ["Sync"] * 2
    assert turns.turn() == 1, "and it claimed"


def test_ticks_that_were_foreseen_are_fired_in_seven_parts_however_many_they_are(story: Story, tmp_path: Path) -> None:
    """Four to look: what is due, what is unfinished, the task, the end; what they stand on; all rows; the commit."""
    fire = Fire(story.store, story.clock)
    found: list[int] = []
    for number, count in enumerate((1, 40)):
        plan = Plan({"at": instant_text(Instant(story.clock.now() + MINUTE))}, task="send")
        for each in range(count):
            schedules.put(story.store, f"s{number}-{each}", plan, origin=Origin.CLI, actor="ann")
        story.clock.forward(MINUTE - SECOND)
        fire.turn()
        story.clock.forward(SECOND)
        before = fire.made
        found.append(len(parts(story, tmp_path, fire.turn)))
        assert fire.made - before == count
    assert found[-1] == 7, "the first prepares its statements"
