"""Who may claim what, under the virtual clock: labels, costs in slots, pauses, limits, drains from outside."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from mainspring import Mainspring
from mainspring.chance import SeededChance
from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.control import queues
from mainspring.control import workers as control_workers
from mainspring.domain.ids import JobId
from mainspring.domain.queue import QueueChange
from mainspring.domain.states import Outcome, State
from mainspring.domain.worker import WorkerState, may_take
from mainspring.testing import Harness
from mainspring.testing.worker import SimulatedWorker, WorkerPlan
from tests.engine.crew import TIMING, Crew, lasting

# --- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("requires", "labels", "fits"),
    [
        ({}, {}, True),
        ({}, {"disk": "fast"}, True),
        ({"disk": "fast"}, {"disk": "fast", "zone": "a"}, True),
        ({"disk": "fast"}, {"disk": "slow"}, False),
        ({"disk": "fast"}, {"Disk": "fast"}, False),
        ({"disk": "fast", "gpu": "yes"}, {"disk": "fast"}, False),
    ],
)
def test_a_worker_needs_every_label_with_its_value(requires: dict[str, str], labels: dict[str, str], *, fits: bool):
    assert may_take(requires, 1, labels=labels, slots=1) is fits


def test_a_job_waits_for_a_worker_with_the_labels_that_its_task_requires_and_others_go_on():
    app = Mainspring("shop")
    ran: list[str] = []

    @app.task(requires={"disk": "fast"})
    async def crunch() -> None:
        ran.append("crunch")

    @app.task
    async def send() -> None:
        ran.append("send")

    with Harness(app, labels={"disk": "slow"}) as h:
        job = crunch.submit()
        send.submit()
        h.advance("1m")
        assert ran == ["send"]
        assert job.refresh().state is State.QUEUED
    with Harness(app, labels={"disk": "fast", "zone": "a"}) as h:
        crunch.submit()
        h.advance("1s")
        assert ran == ["send", "crunch"]
    with Harness(app) as h:
        crunch.submit()
        h.run_until_idle()
        assert ran == ["send", "crunch", "crunch"], "a harness has what its tasks require"


# --- slots ------------------------------------------------------------------------------------------------------------


class Load:
    """Tasks of different costs, and how many slots they ever took together."""

    def __init__(self) -> None:
        self.app = Mainspring("shop")
        self.now, self.most = 0, 0
        self.order: list[str] = []

        @self.app.task(slots=2)
        async def heavy(seconds: float = 1) -> None:
            await self._take("heavy", 2, seconds)

        @self.app.task
        async def light(seconds: float = 1) -> None:
            await self._take("light", 1, seconds)

        self.heavy, self.light = heavy, light

    async def _take(self, name: str, slots: int, seconds: float) -> None:
        self.order.append(name)
        self.now += slots
        self.most = max(self.most, self.now)
        await asyncio.sleep(seconds)
        self.now -= slots


def test_a_job_takes_as_many_slots_as_its_task_costs():
    load = Load()
    with Harness(load.app, slots=3) as h:
        jobs = [load.heavy.submit() for _ in range(3)] + [load.light.submit() for _ in range(4)]
        h.advance("10s")
        assert all(job.refresh().state is State.SUCCEEDED for job in jobs)
        assert load.most == 3
        h.advance("1s")
        load.order.clear()
        load.heavy.submit()
        load.light.submit()
        load.light.submit()
        h.run_until_idle()
        assert load.order == ["heavy", "light"]


def test_a_job_that_needs_more_slots_than_are_free_is_not_overtaken_for_ever():
    """Two slots; one is taken in turn by short jobs that keep coming. Slots are kept free until there are enough."""
    load = Load()
    with Harness(load.app, slots=2) as h:
        load.heavy.submit()
        h.advance("2s")
        load.order.clear()
        load.light.submit(seconds=3)
        h.advance("1s")
        heavy = load.heavy.submit()
        for _ in range(20):
            load.light.submit(seconds=1)
        h.advance("4s")
        assert load.order[:2] == ["light", "heavy"]
        assert heavy.refresh().state is State.SUCCEEDED
        h.advance("30s")
        assert load.order.count("light") == 21


def test_a_job_that_costs_more_slots_than_a_worker_has_stands_in_nobodys_way():
    load = Load()
    with Harness(load.app, slots=1) as h:
        heavy = load.heavy.submit()
        light = [load.light.submit() for _ in range(3)]
        h.advance("10s")
        assert [job.refresh().state for job in light] == [State.SUCCEEDED] * 3
        assert heavy.refresh().state is State.QUEUED


# --- queues -----------------------------------------------------------------------------------------------------------


def test_a_paused_queue_is_claimed_from_by_nobody_and_running_jobs_go_on():
    crew = Crew("alpha", "beta")
    (running,) = crew.submit("slow", lasting(5))
    crew.run(SECOND)
    crew.client.change_queue("main", QueueChange(paused=True))
    jobs = crew.submit("quick", count=3)
    crew.run(Duration(10 * SECOND))
    assert crew.outcomes(running) == [Outcome.SUCCEEDED]
    assert [crew.job(job).state for job in jobs] == [State.QUEUED] * 3
    crew.client.change_queue("main", QueueChange(paused=False))
    crew.run(Duration(SECOND + 100 * MILLISECOND))
    assert [crew.job(job).state for job in jobs] == [State.SUCCEEDED] * 3


def test_a_limit_holds_over_all_workers_and_every_job_runs():
    crew = Crew("alpha", "beta", "gamma", slots=4)
    crew.client.change_queue("main", QueueChange(limit=5))
    jobs = crew.submit("slow", *[lasting(2)] * 20, count=20)
    most = 0
    for _ in range(300):
        crew.run(Duration(100 * MILLISECOND))
        most = max(most, queues.one(crew.store, "main").running)
    assert most == 5
    assert [crew.job(job).state for job in jobs] == [State.SUCCEEDED] * 20


class Counting(Crew):
    """It counts what its workers ask of the store."""

    asked = 0

    def before_write(self) -> None:
        self.asked += 1

    def before_read(self) -> None:
        self.asked += 1


def test_jobs_that_a_limit_holds_back_cost_hardly_more_than_no_jobs_and_go_on_when_there_is_room():
    names = [f"w{number}" for number in range(8)]

    def asked(crew: Counting) -> int:
        crew.run(Duration(10 * SECOND))
        before = crew.asked
        crew.run(Duration(60 * SECOND))
        return crew.asked - before

    idle = asked(Counting(*names))
    crew = Counting(*names)
    crew.client.change_queue("main", QueueChange(limit=1))
    (first,) = crew.submit("slow", lasting(90))
    crew.run(SECOND)
    held_back = crew.submit("quick", count=100)
    assert asked(crew) <= 2 * idle + 60, "a look that finds them and one that finds no room, no more; one renews"
    assert {crew.job(job).state for job in held_back} == {State.QUEUED}
    crew.run(Duration(crew.runs(first)[0].started + 90 * SECOND - crew.clock.monotonic()))
    crew.run(Duration(2 * SECOND))
    assert crew.outcomes(first) == [Outcome.SUCCEEDED]
    assert State.SUCCEEDED in {crew.job(job).state for job in held_back}
    crew.run(Duration(120 * SECOND))
    assert {crew.job(job).state for job in held_back} == {State.SUCCEEDED}


# --- drain from outside -----------------------------------------------------------------------------------------------


def test_a_worker_that_is_drained_from_outside_ends_its_jobs_claims_none_and_stops():
    crew = Crew("alpha")
    alpha = crew.workers["alpha"]
    (running,) = crew.submit("slow", lasting(5))
    crew.run(SECOND)
    assert alpha.id is not None
    assert control_workers.drain(crew.store, alpha.id, actor="ann").state is WorkerState.DRAINING
    crew.run(SECOND)  # its poll: no bell rings here
    (later,) = crew.submit("quick")
    crew.run(Duration(10 * SECOND))
    assert alpha.stopped
    assert crew.outcomes(running) == [Outcome.SUCCEEDED]
    assert crew.job(later).state is State.QUEUED
    assert control_workers.one(crew.store, alpha.id).state is WorkerState.STOPPED


def test_jobs_that_outlast_the_drain_time_are_given_back():
    crew = Crew("alpha")
    (job,) = crew.submit("slow", lasting(3600))
    crew.run(SECOND)
    assert crew.workers["alpha"].id is not None
    control_workers.drain(crew.store, crew.workers["alpha"].id, actor="ann")
    crew.run(Duration(40 * SECOND))
    assert crew.outcomes(job) == [Outcome.RELEASED]
    assert crew.workers["alpha"].stopped


# --- fair share -------------------------------------------------------------------------------------------------------


def starts(crew: Crew, jobs: list[JobId]) -> Counter[str]:
    """How many of these jobs each worker has started."""
    return Counter(run.worker for job in jobs for run in crew.runs(job))


def test_jobs_that_all_could_start_now_are_spread_over_the_workers():
    crew = Crew("alpha", "beta", slots=10)
    crew.run(Duration(2 * SECOND))  # they have seen each other
    jobs = crew.submit("slow", *[lasting(60)] * 10, count=10)
    crew.run(Duration(100 * MILLISECOND))
    got = starts(crew, jobs)
    assert got["alpha"] + got["beta"] == 10
    assert min(got["alpha"], got["beta"]) >= 4


def test_what_nobody_else_takes_is_taken_a_moment_later():
    crew = Crew("alpha", "beta", slots=4)
    crew.run(Duration(2 * SECOND))
    full = crew.submit("slow", *[lasting(60)] * 8, count=8)
    crew.run(Duration(100 * MILLISECOND))
    assert starts(crew, full) == {"alpha": 4, "beta": 4}
    crew.kill("beta")  # nobody knows of it yet
    for job in full[:]:
        if crew.runs(job)[0].worker == "alpha":
            crew.client.cancel(job)
    crew.run(Duration(1500 * MILLISECOND))
    jobs = crew.submit("slow", *[lasting(60)] * 4, count=4)
    crew.run(Duration(20 * MILLISECOND))
    assert starts(crew, jobs) == {"alpha": 4}


def test_a_worker_that_may_not_take_them_gets_no_share():
    crew = Crew("alpha", slots=10)
    crew.workers["beta"] = SimulatedWorker(
        "beta", crew, crew.store, crew.clock, SeededChance(3), WorkerPlan(TIMING, 10, queues=("side",))
    )
    crew.run(Duration(2 * SECOND))
    began = crew.clock.monotonic()
    jobs = crew.submit("slow", *[lasting(60)] * 8, count=8)
    crew.run(Duration(MILLISECOND))
    assert starts(crew, jobs) == {"alpha": 8}
    assert crew.clock.monotonic() - began == MILLISECOND, "at once: there is nobody to wait for"


def test_nothing_is_left_where_more_waits_than_all_have_room_for():
    crew = Crew("alpha", "beta", slots=3)
    crew.run(Duration(2 * SECOND))
    jobs = crew.submit("slow", *[lasting(60)] * 50, count=50)
    crew.run(Duration(MILLISECOND))
    assert starts(crew, jobs) == {"alpha": 3, "beta": 3}
