"""Jobs that are born into free slots of the worker whose ends have let them go: leased at once, as if claimed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mainspring.control import queues
from mainspring.domain.ids import JobId
from mainspring.domain.queue import QueueChange
from mainspring.domain.states import Outcome, State
from mainspring.domain.task import Lodging
from mainspring.engine.claiming import Claimed, Claimer
from mainspring.engine.held import Limits, Room, RunnerView
from mainspring.store import Transaction, lanes, runs
from mainspring.store.free_slots import FreeSlots
from mainspring.store.lanes import Map
from mainspring.transitions.ended import Ends, Report
from tests.contract.run_stories import Runs, node
from tests.contract.stories import LEASE, Story

ACTOR = "worker:1"


class Hand:
    """A worker that ends jobs, and takes in the same transaction what they let go. ``slots``: how many it has."""

    def __init__(self, story: Story, slots: int = 100) -> None:
        self.story = story
        self._claimer = Claimer(story.worker, LEASE, ACTOR, story.clock)
        self._slots = slots

    def room(self) -> Room:
        return Room(Limits(self._slots, 1), {}, [RunnerView(1, Lodging.SHARED, frozenset())])

    def free(self, known: Map) -> FreeSlots | None:
        return self._claimer.free(known, self.room(), None)

    def end(self, *ended: JobId, at_birth: bool = True, known: Map | None = None) -> list[Claimed]:
        """End these; what is claimed with it. ``at_birth`` false: from ready, as whoever has no free slots does."""

        def work(tx: Transaction) -> list[Claimed]:
            links = runs.links(tx, ended)
            reports = [
                Report(
                    self.story.ending(job, Outcome.SUCCEEDED), self.story.policy(tx, job), alone=False, link=links[job]
                )
                for job in ended
            ]
            map_ = known or lanes.read_map(tx)
            free = self.free(map_) if at_birth else None
            ends = Ends(tx, reports, ACTOR, free=free)
            born = ends.advanced.born
            if free is None:
                claimed = self._claimer.claim(tx, map_, self.room(), None, avoid=(), born=born).jobs
            else:
                claimed = self._claimer.newborn(tx, free, born)
            ends.settle()
            return claimed

        claimed = self.story.store.write(work)
        self.story.claims |= {one.grant.left.job: one.grant.claim for one in claimed}
        return claimed


@pytest.fixture
def flows(story: Story) -> Runs:
    return Runs(story)


def started(flows: Runs, *below: dict[str, Any], task: str = "shop.send") -> JobId:
    """A run whose first node runs; these nodes are below it."""
    flows.start(node("top", task="shop.send"), *(node(f"n{at}", "top", **more) for at, more in enumerate(below)))
    (top,) = flows.waiting().values()
    flows.story.claim(top.id)
    return top.id


def with_random_numbers_left_out(dump: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
    """Claims are random; the events of one job are in order, and those of several needn't be."""
    events = [row[1:] for row in sorted(dump["event"], key=lambda row: (row[1], row[0]))]
    return dump | {"lease": sorted((*row[:1], *row[2:]) for row in dump["lease"]), "event": events}


def test_what_is_born_into_a_slot_is_written_as_if_it_had_been_claimed(story: Story) -> None:
    """Two runs alike, one of each way: what differs are the numbers of runs and jobs alone."""
    flows = Runs(story)
    hand = Hand(story)
    told: list[list[Any]] = []
    for at_birth in (True, False):
        top = started(flows, {"params": {"n": {"$node": "top"}}}, {"priority": 2}, {})
        claimed = hand.end(top, at_birth=at_birth)
        jobs = sorted(one.grant.left.job for one in claimed)
        assert [story.state(job) for job in jobs] == [State.RUNNING] * 3
        dump = with_random_numbers_left_out(story.dump())
        assert not dump["ready"]
        starts = [(one.load.params, one.load.wants, one.lane, one.policy, one.grant.left[1:]) for one in claimed]
        rows = [[(row[0] - jobs[0], *row[1:]) for row in dump[name] if row[0] in jobs] for name in ("lease", "event")]
        told.append([sorted(starts, key=repr), *rows])
        hand.end(*jobs)
    assert told[0] == told[1]


def test_what_has_no_slot_waits_as_ever(flows: Runs) -> None:
    top = started(flows, {}, {}, {})
    claimed = Hand(flows.story, slots=2).end(top)
    assert len(claimed) == 2
    assert list(flows.waiting()) == ["n2"]


@pytest.mark.parametrize("more", [{"task": "shop.mail"}, {"expires": "1h"}, {"task": "shop.crunch"}], ids=str)
def test_what_a_look_must_judge_is_not_taken_at_birth(flows: Runs, more: dict[str, Any]) -> None:
    """Another lane, another kind of room, a stated expiry."""
    top = started(flows, more)
    known = flows.store.read(lanes.read_map)
    assert len(known.lanes) == 1
    assert Hand(flows.story).end(top, known=known) == []
    assert list(flows.waiting()) == ["n0"]


def test_what_is_to_start_later_does(flows: Runs) -> None:
    top = started(flows, {"delay": "5m"})
    assert Hand(flows.story).end(top) == []
    (born,) = [job for job in range(top + 1, top + 20) if flows.story.state(JobId(job)) is State.SCHEDULED]
    assert flows.story.moves(JobId(born)) == [("schedule", "new", "scheduled")]


def test_no_slot_is_free_under_rules_that_were_changed_meanwhile(flows: Runs) -> None:
    top = started(flows, {})
    old = flows.store.read(lanes.read_map)
    queues.change(flows.store, "shop", QueueChange(paused=True), actor="ann")
    assert Hand(flows.story).end(top, known=old) == []
    assert list(flows.waiting()) == ["n0"]


def alone(map_: Map) -> Map:
    return map_


def limited(map_: Map) -> Map:
    return map_._replace(lanes=[map_.lanes[0]._replace(limit=5)])


def shared(map_: Map) -> Map:
    return map_._replace(lanes=[map_.lanes[0]._replace(workers=2)])


def several(map_: Map) -> Map:
    return map_._replace(lanes=[*map_.lanes, map_.lanes[0]])


def heavy(map_: Map) -> Map:
    return map_._replace(lanes=[map_.lanes[0]._replace(slots=2)])


@pytest.mark.parametrize(("changed", "slots"), [(alone, 3), (limited, 0), (shared, 0), (several, 0), (heavy, 0)])
def test_slots_are_free_where_all_that_a_look_could_find_would_be_ours(
    story: Story, changed: Callable[[Map], Map], slots: int
) -> None:
    story.submit()
    free = Hand(story, slots=3).free(changed(story.store.read(lanes.read_map)))
    assert (free is not None) is bool(slots)


def test_a_worker_that_knows_not_all_tasks_and_one_that_is_full_have_none(story: Story) -> None:
    story.submit()
    known = story.store.read(lanes.read_map)
    hand = Hand(story)
    assert hand._claimer.free(known, hand.room(), ["shop.send"]) is None
    assert Hand(story, slots=0).free(known) is None
