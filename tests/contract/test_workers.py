"""Workers: who is there, who is lost, and what they learn by asking."""

from __future__ import annotations

import pytest

from mainspring.clock import HOUR, MINUTE, SECOND, Duration, Instant
from mainspring.control import read
from mainspring.control import workers as control_workers
from mainspring.control.catalog import declare
from mainspring.domain.ids import LaneId
from mainspring.domain.states import Outcome
from mainspring.domain.worker import WorkerState
from mainspring.errors import IllegalState, UnknownWorker
from mainspring.store import Transaction, lanes, workers
from mainspring.store.jobs import FIRST
from mainspring.store.workers import Poll, Question, SeenLease
from tests.contract.stories import LEASE, Story, app_of, task


def beat(story: Story, state: WorkerState, lasts: Duration = LEASE) -> None:
    story.store.write(lambda tx: workers.beat(tx, story.worker, state, lasts))


def shown(story: Story) -> WorkerState:
    return read.all_workers(story.store)[-1].state


def poll(story: Story, horizon: Instant | None = None, ids: list[LaneId] | None = None) -> Poll:
    until = story.clock.now() if horizon is None else horizon

    def look(tx: Transaction) -> Poll:
        asked = [lane.id for lane in lanes.read_map(tx).lanes] if ids is None else ids
        return workers.poll(tx, Question(story.worker, "shop", [(lane, *FIRST) for lane in asked], until))

    return story.store.read(look)


def test_a_worker_is_shown_as_it_introduced_itself(story: Story) -> None:
    (worker,) = read.all_workers(story.store)
    assert (worker.id, worker.name, worker.host, worker.pid) == (story.worker, "alpha", "host", 42)
    assert (worker.app, worker.code_hash, worker.version, worker.slots) == ("shop", "one", "0.1.0", 10)
    assert (worker.queues, worker.labels, worker.tasks) == (("shop",), {"disk": "fast"}, ("shop.send",))
    assert (worker.state, worker.running, worker.pids) == (WorkerState.ACTIVE, 0, {})
    assert (worker.started_at, worker.beat_at) == (story.clock.now(), story.clock.now())
    assert worker.incarnation == "alpha-incarnation"


def test_two_workers_of_one_name_are_two_workers_newest_first(story: Story) -> None:
    other = story.hello("beta")
    assert [worker.id for worker in read.all_workers(story.store)] == [other, story.worker]
    assert story.store.read(lambda tx: workers.all_workers(tx, 1))[0].id == other


def test_a_worker_that_falls_silent_is_lost_and_one_that_speaks_again_is_back(story: Story) -> None:
    story.clock.forward(LEASE)
    assert shown(story) is WorkerState.ACTIVE
    story.clock.forward(1)
    assert shown(story) is WorkerState.LOST
    beat(story, WorkerState.DRAINING)
    assert shown(story) is WorkerState.DRAINING
    beat(story, WorkerState.STOPPED)
    story.clock.forward(HOUR)
    assert shown(story) is WorkerState.STOPPED, "it said goodbye; that is no loss"


def test_a_worker_shows_what_it_runs_and_its_processes(story: Story) -> None:
    story.running()
    job = story.running()
    story.store.write(lambda tx: workers.set_pids(tx, story.worker, {"coordinator": 1, "runners": [2, 3]}))
    (worker,) = read.all_workers(story.store)
    assert (worker.running, worker.pids) == (2, {"coordinator": 1, "runners": [2, 3]})
    story.end(job)
    assert read.all_workers(story.store)[0].running == 1


def test_a_poll_tells_what_an_idle_worker_must_know(story: Story) -> None:
    nothing = poll(story)
    assert nothing == Poll(None, False, [], [], None, nothing.lanes, nothing.catalog, None, "[]")
    later = story.submit(delay="5m", expires="1h")
    assert poll(story).next_due == story.job(later).run_at
    assert poll(story).next_expiry == story.job(later).expires_at
    assert not poll(story).claimable
    waiting = story.submit()
    assert poll(story).claimable
    assert not poll(story, ids=[]).claimable
    story.claim(waiting)
    assert not poll(story).claimable
    assert poll(story).cancels == []
    story.cancel(waiting)
    assert poll(story).cancels == [(waiting, story.claims[waiting])]


def test_a_poll_names_only_the_cancels_of_its_own_jobs(story: Story) -> None:
    beta = story.hello("beta")
    job = story.submit()
    story.claim(job, worker=beta)
    story.cancel(job)
    assert poll(story).cancels == []


def test_leases_are_seen_when_they_end_before_the_horizon(story: Story) -> None:
    job = story.running()
    until = Instant(story.clock.now() + LEASE)
    assert poll(story, until).expiring == []
    expected = [SeenLease(job, story.claims[job], until)]
    assert poll(story, Instant(until + 1)).expiring == expected
    assert story.store.read(lambda tx: workers.sweep_look(tx, Instant(until + 1))) == (None, expected, None)


def test_a_claim_id_of_63_bits_survives_every_question(story: Story) -> None:
    job = story.running()
    assert story.claims[job] < 2**63
    assert story.seen()[0].claim == story.claims[job]


def test_a_new_lane_and_a_new_task_are_noticed(story: Story) -> None:
    before = poll(story)
    story.submit("mail")
    assert poll(story).lanes != before.lanes
    assert poll(story).lanes == story.store.read(lanes.read_map).version
    declare(story.store, app_of(task("shop.extra"), code_hash="two"))
    assert poll(story).catalog != before.catalog


def test_a_sweep_looks_at_due_jobs_leases_and_expiries(story: Story) -> None:
    job = story.running()
    story.end(job, Outcome.FAILED)
    story.submit(expires="2m")
    now = story.clock.now()
    due, leases, expiry = story.store.read(lambda tx: workers.sweep_look(tx, now))
    assert (due, leases, expiry) == (now + 10 * SECOND, [], now + 2 * MINUTE)


def test_a_heartbeat_with_a_look_beats_and_answers_what_a_look_answers(story: Story) -> None:
    story.cancel(story.running())
    story.running()
    story.submit(delay="10m")
    story.submit(expires="5m")
    until = Instant(story.clock.forward(LEASE // 2) + LEASE)

    def both(tx: Transaction) -> Poll:
        asked = Question(story.worker, "shop", [(lane.id, *FIRST) for lane in lanes.read_map(tx).lanes], until)
        return workers.beat_and_poll(tx, asked, WorkerState.DRAINING, LEASE)

    found = story.store.write(both)
    assert found == poll(story, until)
    assert found.claimable
    assert len(found.cancels) == 1
    assert len(found.expiring) == 2
    (worker,) = read.all_workers(story.store)
    assert (worker.state, worker.beat_at) == (WorkerState.DRAINING, story.clock.now())


def test_a_drain_that_is_asked_for_is_shown_at_once_and_told_to_the_worker(story: Story) -> None:
    worker = control_workers.drain(story.store, story.worker, actor="ann")
    assert (worker.id, worker.state) == (story.worker, WorkerState.DRAINING)
    control_workers.drain(story.store, story.worker, actor="bob")
    assert poll(story).drain_by == "ann", "who asked first"
    other = story.hello("beta")
    assert control_workers.one(story.store, other).state is WorkerState.ACTIVE
    story.clock.forward(LEASE + 1)
    assert control_workers.one(story.store, story.worker).state is WorkerState.LOST, "it can't hear"


def test_a_worker_that_has_stopped_or_never_was_can_not_be_drained(story: Story) -> None:
    beat(story, WorkerState.STOPPED)
    with pytest.raises(IllegalState, match="stopped"):
        control_workers.drain(story.store, story.worker, actor="ann")
    assert shown(story) is WorkerState.STOPPED
    for number in (99, 0, -1, 2**70):
        with pytest.raises(UnknownWorker):
            control_workers.drain(story.store, number, actor="ann")


def test_a_worker_on_other_code_than_the_newest_of_its_app_is_marked(story: Story) -> None:
    assert not read.all_workers(story.store)[0].outdated
    declare(story.store, app_of(task("bank.pay"), code_hash="three"))
    assert not read.all_workers(story.store)[0].outdated, "that is another app"
    declare(story.store, app_of(task("shop.send", description="new"), code_hash="two"))
    assert read.all_workers(story.store)[0].outdated
    assert control_workers.one(story.store, story.worker).outdated
