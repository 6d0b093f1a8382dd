"""Queues: a pause and a limit hold from the moment that they are said, whatever a worker knew before."""

from __future__ import annotations

import threading

import pytest

from mainspring.chance import SeededChance
from mainspring.clock import SECOND
from mainspring.control import queues
from mainspring.domain.attempt import Ending
from mainspring.domain.job import JobRequest
from mainspring.domain.queue import Queue, QueueChange
from mainspring.domain.states import Outcome, State
from mainspring.domain.task import Lodging
from mainspring.engine.claiming import Claimer, Claims
from mainspring.engine.held import Limits, Room, RunnerView
from mainspring.errors import InvalidOption, InvalidTask, InvalidText, UnknownQueue
from mainspring.store import Store, Transaction, lanes
from mainspring.store.lanes import Map
from mainspring.transitions.ended import Report, end
from tests.contract.stories import LEASE, Story
from tests.contract.test_claims import order
from tests.contract.test_statements import Recorder


def change(story: Story, name: str, **values: object) -> Queue:
    return queues.change(story.store, name, QueueChange(**values), actor="ann")  # type: ignore[arg-type]


def the_map(story: Story) -> Map:
    return story.store.read(lanes.read_map)


def claim(story: Story, known: Map | None = None, slots: int = 100, store: Store | None = None) -> Claims:
    """What a worker gets that knows of these lanes (default: of the present ones)."""
    room = Room(Limits(slots, slots), {}, [RunnerView(1, Lodging.SHARED, frozenset())])
    claimer = Claimer(story.worker, LEASE, "worker:1", story.clock)

    def work(tx: Transaction) -> Claims:
        return claimer.claim(tx, lanes.read_map(tx) if known is None else known, room, None, avoid=())

    return (store or story.store).write(work)


# --- what is told of queues -------------------------------------------------------------------------------------------


def test_a_queue_is_shown_with_what_is_in_it(story: Story) -> None:
    assert [queue.name for queue in queues.listed(story.store)] == ["mail", "shop"], "those that tasks name"
    story.submit_many([JobRequest("send"), JobRequest("send", delay="1h"), JobRequest("mail"), JobRequest("crunch")])
    story.running()
    story.end(story.running(), Outcome.FAILED)
    story.submit("send", queue="other")
    mail, other, shop = queues.listed(story.store)
    assert mail == Queue("mail", queued=1)
    assert other == Queue("other", queued=1)
    assert shop == Queue("shop", queued=2, scheduled=1, retrying=1, running=1)
    assert queues.one(story.store, "shop") == shop


def test_a_pause_tells_since_when_by_whom_and_why(story: Story) -> None:
    began = story.clock.now()
    assert change(story, "mail", paused=True, note="their server is down") == Queue(
        "mail", paused_at=began, paused_by="ann", note="their server is down"
    )
    story.clock.forward()
    again = queues.change(story.store, "mail", QueueChange(paused=True, note="still"), actor="bob")
    assert (again.paused_at, again.paused_by, again.note) == (began, "ann", "still"), "it is as old as it is"
    assert change(story, "mail", limit=3) == Queue("mail", 3, began, "ann", "still")
    assert change(story, "mail", paused=False) == Queue("mail", 3), "the note was about the pause"
    assert change(story, "mail", note="3 is what they allow").note == "3 is what they allow"
    assert change(story, "mail", limit=None, note=None) == Queue("mail")


def test_a_limit_that_can_not_be_is_refused(story: Story) -> None:
    for limit in (0, -1, 1_000_001):
        with pytest.raises(InvalidOption, match="limit"):
            change(story, "mail", limit=limit)
        assert queues.one(story.store, "mail") == Queue("mail")


def test_a_note_that_can_not_be_stored_is_refused(story: Story) -> None:
    with pytest.raises(InvalidText):
        change(story, "mail", note="a\0b")
    with pytest.raises(InvalidOption, match="note"):
        change(story, "mail", note="x" * 1001)


def test_a_queue_that_nobody_has_named_is_unknown_and_a_near_name_is_told(story: Story) -> None:
    with pytest.raises(UnknownQueue, match="mail"):
        change(story, "mial", paused=True)
    with pytest.raises(UnknownQueue):
        queues.one(story.store, "nothing-like-it")


def test_a_limit_or_a_note_makes_a_queue_known_so_that_it_holds_for_its_first_job(story: Story) -> None:
    assert change(story, "night", limit=1) == Queue("night", 1)
    assert change(story, "bulk", limit=None) == Queue("bulk"), "even where it says no more than that"
    assert [queue.name for queue in queues.listed(story.store)] == ["bulk", "mail", "night", "shop"]
    story.submit_many([JobRequest("send", queue="night")] * 3)
    assert len(claim(story).jobs) == 1
    assert change(story, "bulk", paused=True).paused_by == "ann"
    story.submit("send", queue="bulk")
    assert {lane.queue: lane.paused for lane in the_map(story).lanes}["bulk"] is True


def test_what_makes_no_queue_known(story: Story) -> None:
    before = story.dump()
    for values in ({"paused": True}, {"paused": False, "note": "x"}, {}):
        with pytest.raises(UnknownQueue, match="queue set"):
            change(story, "night", **values)
    with pytest.raises(InvalidTask):
        change(story, "no such", limit=1)
    with pytest.raises(InvalidOption):
        change(story, "night", limit=0)
    assert [queue.name for queue in queues.listed(story.store)] == ["mail", "shop"]
    assert story.dump()["queue"] == before["queue"]


# --- what holds for claims --------------------------------------------------------------------------------------------


def test_nothing_is_claimed_from_a_paused_queue_by_a_worker_that_has_not_heard_of_it(story: Story) -> None:
    job, other = story.submit("mail"), story.submit()
    old = the_map(story)
    change(story, "mail", paused=True)
    got = claim(story, old)
    assert (order(got), got.stale) == ([], True)
    assert {lane.queue: lane.paused for lane in the_map(story).lanes} == {"mail": True, "shop": False}
    assert {story.state(one) for one in (job, other)} == {State.QUEUED}
    change(story, "mail", paused=False)
    assert order(claim(story)) == [job, other]


def test_running_jobs_of_a_paused_queue_go_on(story: Story) -> None:
    job = story.running("mail")
    change(story, "mail", paused=True)
    assert story.renew(job)
    story.end(job)
    assert story.state(job) is State.SUCCEEDED


def test_a_limit_holds_over_lanes_workers_and_what_runs_already(story: Story) -> None:
    story.running(queue="mail")
    ids = story.submit_many([JobRequest("mail"), JobRequest("send", queue="mail", priority=9), JobRequest("mail")])
    other = story.submit()
    change(story, "mail", limit=3)
    got = claim(story)
    assert order(got) == [ids[0], ids[2], other]
    assert got.more
    assert order(claim(story)) == []
    for claimed in got.jobs[:1]:
        story.claims[claimed.grant.left.job] = claimed.grant.claim
    story.end(ids[0])
    assert order(claim(story)) == [ids[1]]


def test_what_a_lost_job_has_taken_of_a_limit_comes_back_with_its_lease(story: Story) -> None:
    change(story, "mail", limit=1)
    ids = story.submit_many([JobRequest("mail")] * 2)
    assert order(claim(story)) == ids[:1]
    story.clock.forward(LEASE + SECOND)
    assert order(claim(story)) == [], "as long as nobody has declared it lost"
    story.lose_expired()
    assert order(claim(story)) == ids[:1]


def test_a_limit_holds_at_once_for_a_worker_that_has_not_heard_of_it(story: Story) -> None:
    story.submit_many([JobRequest("mail")] * 5)
    old = the_map(story)
    change(story, "mail", limit=2)
    assert order(claim(story, old)) == []
    assert len(order(claim(story))) == 2


def test_a_full_queue_stands_in_nobodys_way(story: Story) -> None:
    first = story.submit("mail", priority=1)
    story.submit_many([JobRequest("mail", priority=1)] * 20)
    change(story, "mail", limit=1)
    others = story.submit_many([JobRequest("send", priority=9)] * 5)
    assert order(claim(story, slots=4)) == [first, *others[:3]]
    assert order(claim(story, slots=4)) == others[3:]


def test_many_full_queues_stand_in_nobodys_way_either(story: Story) -> None:
    """More of them than a look goes into, each with more and better jobs than there are slots."""
    names = [f"full{n}" for n in range(20)]
    for name in names:
        story.running(queue=name)
        change(story, name, limit=2)
    story.submit_many([JobRequest("send", queue=name, priority=1) for name in names] * 5)
    taken = order(claim(story)) + order(claim(story))
    assert len(taken) == len(names), "one more of each"
    assert order(claim(story)) == []
    other = story.submit("mail", priority=9)
    got = claim(story, slots=5)
    assert order(got) == [other]
    assert got.more, "of the full ones something waits"


def test_a_lower_limit_stops_nothing_that_runs(story: Story) -> None:
    running = [story.running("mail") for _ in range(3)]
    waiting = story.submit("mail")
    assert change(story, "mail", limit=1).full
    for job in running:
        assert order(claim(story)) == []
        story.end(job)
    assert order(claim(story)) == [waiting]


def test_a_claim_asks_nothing_of_queues_that_have_no_limit(story: Story) -> None:
    """Claims are hot: a pause and the want of a limit ride on the lanes that a worker knows."""
    story.submit_many([JobRequest("mail"), JobRequest("send"), JobRequest("send")])
    change(story, "mail", paused=True)
    change(story, "mail", paused=False, note="fine")
    known, called = the_map(story), set[str]()
    room = Room(Limits(9, 9), {}, [RunnerView(1, Lodging.SHARED, frozenset())])
    claimer = Claimer(story.worker, LEASE, "worker:1", story.clock)

    def work(tx: Transaction) -> Claims:
        return claimer.claim(Recorder(tx, story.bench.dialect, called), known, room, None, avoid=())

    assert len(story.store.write(work).jobs) == 3
    assert not [name for name in called if name.startswith(("queue/", "worker/"))]


# --- several at once --------------------------------------------------------------------------------------------------


def test_three_workers_that_claim_at_once_never_exceed_a_limit(story: Story) -> None:
    """Each takes what it gets, ends some of it, and looks how many run: never more than may."""
    change(story, "mail", limit=4)
    story.submit_many([JobRequest("mail")] * 40)
    seen: list[int] = []
    errors: list[BaseException] = []
    crew = [threading.Thread(target=drain_mail, args=(story, seen, errors)) for _ in range(3)]
    for one in crew:
        one.start()
    for one in crew:
        one.join(50)
    assert not errors, errors
    assert max(seen) == 4, "more would be too many; fewer, and the limit was never reached"
    assert queues.one(story.store, "mail") == Queue("mail", 4)


def drain_mail(story: Story, seen: list[int], errors: list[BaseException]) -> None:
    """One worker, on a store of its own, until no job waits."""
    try:
        # its own clock: the hand clock does not wait for a lock
        store = Store.open(story.bench.url, inline=True) if story.bench.lasting else story.store
        policy = store.read(lambda tx: lanes.policy(tx, 1))
        chance = SeededChance(threading.get_ident())
        held: list[Report] = []
        waiting = True
        while waiting or held:
            got = claim(story, slots=5, store=store)
            ends = [Ending(one.grant.left.job, one.grant.claim, Outcome.SUCCEEDED, result=b"1") for one in got.jobs]
            held += [Report(ending, policy, alone=False) for ending in ends]
            queue = queues.one(store, "mail")
            seen.append(queue.running)
            waiting = queue.queued > 0
            some = chance.whole(0, len(held)) if waiting else len(held)
            done, held = held[:some], held[some:]
            if done:
                store.write(lambda tx, done=done: end(tx, done, "worker:1"))  # type: ignore[misc]
        if store is not story.store:
            store.close()
    except BaseException as error:  # noqa: BLE001 - told by the test
        errors.append(error)
