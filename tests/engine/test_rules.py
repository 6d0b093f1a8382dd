"""Rules of dispatch and sweep that take time: retries, losses, poison, cancels, expiry; under the virtual clock."""

import asyncio

import pytest

from mainspring import Context, Mainspring, Retry
from mainspring.domain.states import Charge, Outcome, State
from mainspring.testing import Harness


def outcomes(h: Harness, job: int) -> list[Outcome | None]:
    return [attempt.outcome for attempt in h.client.attempts(job)]


def test_a_job_that_kills_its_process_starts_exactly_max_attempts_times():
    app = Mainspring("shop")
    starts = []

    @app.task(retry=Retry(max_attempts=3, delay="1s"))
    def poison() -> None:
        starts.append(1)
        h.crash_runner()

    with Harness(app) as h:
        job = poison.submit()
        h.advance("10m")
        assert job.refresh().state is State.DEAD
        assert len(starts) == 3
        assert outcomes(h, job.id) == [Outcome.CRASHED] * 3


def test_neighbours_of_a_crash_run_again_alone_and_are_not_charged_for_it():
    app = Mainspring("shop")
    starts: list[str] = []

    @app.task(retry=Retry(max_attempts=2, delay="1s", jitter=0))
    async def neighbour(n: int) -> int:
        starts.append(f"neighbour {n}")
        await asyncio.sleep(5)
        return n

    @app.task(retry=Retry(max_attempts=2, delay="1s", jitter=0))
    async def culprit() -> None:
        starts.append("culprit")
        await asyncio.sleep(1)
        h.crash_runner()

    with Harness(app) as h:
        neighbours = [neighbour.submit(n=n) for n in range(3)]
        bad = culprit.submit()
        h.advance("10m")
        assert [job.result() for job in neighbours] == [0, 1, 2]
        for job in neighbours:
            assert [attempt.charge for attempt in job.attempts()] == [Charge.SUSPECT, Charge.ATTEMPT]
        assert bad.refresh().state is State.DEAD
        assert starts.count("culprit") == 2, "its first crash was charged when it crashed alone"


def test_at_most_once_means_that_a_lost_job_ends_dead_and_says_so():
    app = Mainspring("shop")

    @app.task(retry=Retry(max_losses=0))
    async def once() -> None:
        await asyncio.sleep(60)

    with Harness(app) as h:
        job = once.submit()
        h.advance("1s")
        h.crash_worker()
        h.advance("5m")
        record = job.refresh().record
        assert record is not None
        assert record.state is State.DEAD
        assert record.error is not None
        assert "lost" in record.error.message
        assert outcomes(h, job.id) == [Outcome.LOST]


def test_a_job_of_a_killed_worker_runs_again_within_lease_and_sweep():
    app = Mainspring("shop")
    at = []

    @app.task
    async def work() -> str:
        at.append(h.clock.monotonic() / 1_000_000)
        await asyncio.sleep(3)
        return "done"

    with Harness(app, lease="30s", sweep="5s") as h:
        job = work.submit()
        h.advance("1s")
        h.crash_worker()
        h.advance("2m")
        assert job.result() == "done"
        assert outcomes(h, job.id) == [Outcome.LOST, Outcome.SUCCEEDED]
        assert at[1] - at[0] <= 30 + 5 + 1 + 1


def test_a_frozen_worker_loses_its_job_and_what_it_reports_is_refused():
    app = Mainspring("shop")

    @app.task
    async def work() -> str:
        await asyncio.sleep(20)
        return "done"

    with Harness(app, lease="5s", sweep="1s") as h:
        job = work.submit()
        h.advance("1s")
        h.freeze_worker("1m")
        h.advance("5m")
        assert job.result() == "done"
        assert outcomes(h, job.id) == [Outcome.LOST, Outcome.SUCCEEDED]


@pytest.mark.parametrize("when", ["scheduled", "retrying", "running"])
def test_a_cancel_reaches_a_job_wherever_it_is(when: str):
    app = Mainspring("shop")
    ended = []

    @app.task(retry=Retry(delay="1h", jitter=0))
    async def work(*, fail: bool) -> None:
        if fail:
            raise ConnectionError
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append(True)

    with Harness(app) as h:
        job = work.options(delay="1h" if when == "scheduled" else "0s").submit(fail=when == "retrying")
        h.advance("1m")
        assert job.refresh().state == when
        job.cancel()
        h.advance("10s")
        assert job.refresh().state is State.CANCELLED
        h.advance("1d")
        assert job.refresh().state is State.CANCELLED
        assert len(job.attempts()) == (0 if when == "scheduled" else 1)
        assert ended == ([True] if when == "running" else [])


def test_a_cancel_reaches_the_jobs_that_a_job_has_submitted():
    app = Mainspring("shop")

    @app.task
    async def child() -> None:
        await asyncio.sleep(3600)

    @app.task
    async def parent(ctx: Context) -> None:
        await child.asubmit()
        await child.options(delay="1d").asubmit()
        await asyncio.sleep(3600)

    with Harness(app) as h:
        job = parent.submit()
        h.advance("1s")
        job.cancel()
        h.advance("1m")
        assert {one.state for one in h.jobs()} == {State.CANCELLED}
        assert len(h.jobs()) == 3


def test_a_delayed_job_is_claimed_once_and_never_early():
    app = Mainspring("shop")
    at = []

    @app.task
    def later() -> None:
        at.append(h.clock.now())

    with Harness(app, lease="5s", sweep="1s") as h:
        job = later.options(delay="25s").submit()
        due = job.refresh().record
        assert due is not None
        h.advance("24s")
        assert at == []
        h.advance("2s")
        assert len(at) == 1
        assert at[0] >= due.run_at


def test_a_job_that_could_not_start_in_its_time_expires():
    app = Mainspring("shop")

    @app.task
    async def long() -> None:
        await asyncio.sleep(600)

    with Harness(app, slots=1) as h:
        first, second = long.submit(), long.options(expires="5m").submit()
        h.advance("20m")
        assert first.refresh().state is State.SUCCEEDED
        assert second.refresh().state is State.DEAD
        assert second.attempts() == []


def test_lower_priority_numbers_go_first_then_the_earlier_due_then_the_lower_id():
    app = Mainspring("shop")
    order = []

    @app.task
    async def work(name: str) -> None:
        order.append(name)
        await asyncio.sleep(1)

    with Harness(app, slots=1) as h:
        for name, priority in (("e", 9), ("c", 5), ("a", 1), ("d", 5), ("b", 1)):
            work.options(priority=priority).submit(name=name)
        h.advance("1m")
        assert order == ["a", "b", "c", "d", "e"]


def test_what_a_job_saved_is_handed_to_its_next_attempt():
    app = Mainspring("shop")
    seen = []

    @app.task(retry=Retry(delay="1s"))
    def work(ctx: Context) -> None:
        seen.append(ctx.details)
        ctx.heartbeat({"page": 7})
        if len(seen) == 1:
            raise ConnectionError

    with Harness(app) as h:
        work.submit()
        h.advance("1m")
        assert seen == [None, {"page": 7}]
