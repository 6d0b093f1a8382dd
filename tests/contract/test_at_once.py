"""Moves that are made whole, many at a time: what they write is what goes step by step elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mainspring.clock import HOUR, MINUTE
from mainspring.domain.attempt import Ending
from mainspring.domain.ids import JobId, WorkerId
from mainspring.domain.queue import QueueChange
from mainspring.domain.states import Cause, Outcome, State
from mainspring.domain.task import Lodging
from mainspring.engine.claiming import Claimer, Claims
from mainspring.engine.held import Limits, Room, RunnerView
from mainspring.store import Transaction, lanes
from mainspring.store.at_once import LONGEST
from mainspring.transitions.ended import Report, Settled, end
from tests import postgres
from tests.contract.engines import Bench, Dump, MemoryBench, PostgresBench
from tests.contract.stories import LEASE, Story

WRITTEN = ("ready", "due", "lease", "attempt", "event", "job", "expiry")
ACTOR = "worker:1"


class StepByStep:
    """A transaction as it is where nothing is made at once."""

    at_once = False

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


class Noted(StepByStep):
    """A transaction as it is, whose statements are noted."""

    at_once = True

    def __init__(self, tx: Transaction, asked: list[str]) -> None:
        super().__init__(tx)
        self._asked = asked

    def rows(self, name: str, **values: Any) -> Any:
        self._asked.append(name)
        return self._tx.rows(name, **values)

    def together(self, *asked: Any) -> Any:
        self._asked += [name for name, _ in asked]
        return self._tx.together(*asked)


class Hand:
    """A worker's claims and ends in a single lane. ``how``: what it sees of a transaction."""

    def __init__(
        self, story: Story, how: Callable[[Transaction], Any], slots: int = 100, worker: WorkerId | None = None
    ) -> None:
        self.story = story
        self._how = how
        self._slots = slots
        self._claimer = Claimer(worker or story.worker, LEASE, ACTOR, story.clock)

    def claim(self, known: lanes.Map | None = None, avoid: tuple[JobId, ...] = ()) -> Claims:
        room = Room(Limits(self._slots, 1), {}, [RunnerView(1, Lodging.SHARED, frozenset())])

        def work(tx: Transaction) -> Claims:
            return self._claimer.claim(self._how(tx), known or lanes.read_map(tx), room, None, avoid=avoid)

        claims = self.story.store.write(work)
        self.story.claims |= {one.grant.left.job: one.grant.claim for one in claims.jobs}
        return claims

    def end(self, *endings: Ending) -> Settled:
        def work(tx: Transaction) -> Settled:
            reports = [Report(one, self.story.policy(tx, one.job), alone=False) for one in endings]
            return end(self._how(tx), reports, ACTOR)

        return self.story.store.write(work)


@pytest.fixture(params=["memory", "postgres"])
def new_story(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Story]]:
    benches: list[Bench] = []

    def make() -> Story:
        if request.param == "memory":
            benches.append(MemoryBench(tmp_path))
        else:
            databases: postgres.Databases = request.getfixturevalue("postgres_databases")
            benches.append(PostgresBench(tmp_path, databases))
        return Story(benches[-1])

    yield make
    for bench in benches:
        bench.close()


@pytest.fixture
def story(new_story: Callable[[], Story]) -> Story:
    return new_story()


def plainly(tx: Transaction) -> Transaction:
    return tx


def a_life(story: Story, how: Callable[[Transaction], Any]) -> tuple[Dump, list[object]]:
    """Jobs of all kinds are claimed and end in all ways, some of them twice."""
    first, *others = [story.submit(priority=number % 3, tags={"n": str(number)}) for number in range(7)]
    late = story.submit(expires="1m")
    story.claim(first)
    story.end(first, Outcome.FAILED)
    story.clock.forward(10 * MINUTE)
    story.promote()
    hand = Hand(story, how, slots=7)
    claims = [hand.claim(), hand.claim()]
    story.cancel(others[0])
    odd = '{"a": "b\\\\ \\u0000 \U0001f600 \\" {}"}'
    endings = [story.ending(job, Outcome.SUCCEEDED, result=odd.encode(), details=b"7") for job in others[:3]]
    endings += [endings[1], story.ending(others[1], Outcome.SUCCEEDED, claim=1)]
    endings += [story.ending(others[3], Outcome.FAILED), story.ending(first, Outcome.SUCCEEDED, result=None)]
    endings += [story.ending(others[5], Outcome.SUCCEEDED, result=b"1" * (LONGEST + 1), sandbox="S1")]
    story.clock.forward(MINUTE)
    settled = hand.end(*endings)
    told: list[object] = [[(one.grant.left, one.load, one.policy, one.details) for one in each.jobs] for each in claims]
    told += [each.more for each in claims]
    told += [settled.verdicts, [job for job, _ in settled.fenced], story.state(late)]
    dump = story.bench.dump(story.store)
    return {name: dump[name] for name in WRITTEN}, told


def without_claims(dump: Dump) -> Dump:
    """Claims are random, those in a row are drawn once; events of one job are in order, those of several needn't be."""
    events = [row[1:] for row in sorted(dump["event"], key=lambda row: (row[1], row[0]))]
    return dump | {"lease": [(*row[:1], *row[2:]) for row in dump["lease"]], "event": events}


def test_what_is_written_and_told_at_once_is_what_goes_step_by_step_elsewhere(
    new_story: Callable[[], Story],
) -> None:
    (at_once, told), (stepwise, told_so) = a_life(new_story(), plainly), a_life(new_story(), StepByStep)
    assert told == told_so
    for name in WRITTEN:
        assert without_claims(at_once)[name] == without_claims(stepwise)[name], name
    assert len(at_once["attempt"]) == 7


def test_a_job_of_which_an_older_attempt_still_lives_here_is_left_to_others(story: Story) -> None:
    hand = Hand(story, plainly)
    lost, waiting = story.submit(), story.submit()
    hand.claim()
    story.clock.forward(2 * LEASE)
    story.lose_expired()
    assert [one.grant.left.job for one in hand.claim(avoid=(lost,)).jobs] == [waiting]
    assert story.state(lost) is State.QUEUED
    assert [one.grant.left.job for one in hand.claim().jobs] == [lost]


def test_a_job_whose_expiry_has_come_ends_so_beside_those_that_start(story: Story) -> None:
    late, fine = story.submit(expires="1m"), story.submit(expires="2h")
    story.clock.forward(HOUR)
    assert [one.grant.left.job for one in Hand(story, plainly).claim().jobs] == [fine]
    assert (story.state(late), story.state(fine)) == (State.DEAD, State.RUNNING)
    assert story.moves(late)[-1][0] == Cause.EXPIRE


def test_nothing_is_claimed_under_rules_that_were_changed_meanwhile(story: Story) -> None:
    from mainspring.control import queues

    job = story.submit()
    old = story.store.read(lanes.read_map)
    queues.change(story.store, "shop", QueueChange(paused=True), actor="ann")
    assert Hand(story, plainly).claim(old).stale
    assert story.state(job) is State.QUEUED


def test_two_workers_take_at_once_while_there_is_plenty_for_both_and_share_what_is_left(story: Story) -> None:
    asked: list[str] = []
    hands = [Hand(story, lambda tx: Noted(tx, asked), 4, worker) for worker in (story.worker, story.hello("second"))]
    waiting = [story.submit() for _ in range(20)]
    known = story.store.read(lanes.read_map)
    shared = known._replace(lanes=[lane._replace(workers=len(hands)) for lane in known.lanes])
    taken, sizes, ways = [], [], []
    for hand in [*hands, *hands, *hands, *hands]:
        asked.clear()
        jobs = [one.grant.left.job for one in hand.claim(shared).jobs]
        taken += jobs
        sizes.append(len(jobs))
        ways.append("look" if "job/reserve" in asked else "whole")
    assert sorted(taken) == waiting, "each once"
    # The first look of each tells that there is plenty; then they take what fits, until there is not enough for one.
    assert ways == ["look", "look", "whole", "whole", "whole", "look", "look", "look"]
    assert sizes == [4, 4, 4, 4, 4, 0, 0, 0]
