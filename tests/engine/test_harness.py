"""The Harness: real task code on the real engine, under time that only the test moves."""

import asyncio
import itertools
import logging
from datetime import UTC, datetime, timedelta

import pytest

from mainspring import Context, JobDead, Mainspring, Retry, RetryAfter, cron, every
from mainspring.domain.states import Cause, Outcome, State
from mainspring.errors import WaitTimeout
from mainspring.testing import Harness


def states(h: Harness, job: int) -> list[State]:
    return [event.target for event in h.events(job)]


def test_a_retry_due_in_a_month_fires_when_a_month_has_passed():
    app = Mainspring("shop")
    tries = []

    @app.task(retry=Retry(delay="30d", jitter=0))
    def bill() -> str:
        tries.append(h.now)
        if len(tries) == 1:
            raise ConnectionError("no line")
        return "sent"

    with Harness(app, start="2026-01-01T00:00:00Z") as h:
        job = bill.submit()
        h.run_until_idle()
        assert job.refresh().state is State.RETRYING
        h.advance("29d")
        assert len(tries) == 1
        h.advance("1d")
        h.advance("1s")
        assert job.refresh().state is State.SUCCEEDED
        assert job.result() == "sent"
        assert tries[1] - tries[0] >= datetime(2026, 1, 31, tzinfo=UTC) - datetime(2026, 1, 1, tzinfo=UTC)


def test_backoff_of_one_hour_doubles_as_declared():
    app = Mainspring("shop")
    at = []

    @app.task(retry=Retry(delay="1h", factor=2, max_attempts=4, jitter=0))
    def call() -> None:
        at.append(h.clock.monotonic())
        raise ConnectionError

    with Harness(app) as h:
        job = call.submit()
        h.advance("1d")
        hours = [round((after - before) / 3_600_000_000, 2) for before, after in itertools.pairwise(at)]
        assert hours == [1, 2, 4]
        with pytest.raises(JobDead, match="ConnectionError"):
            job.result(timeout="1s")


def test_the_error_may_choose_the_delay_and_never_on_ends_it_at_once():
    app = Mainspring("shop")

    @app.task(retry=Retry(never_on=[ValueError], jitter=0))
    def call(what: str) -> None:
        if what == "later":
            raise RetryAfter("2h")
        raise ValueError(what)

    with Harness(app) as h:
        later, never = call.submit(what="later"), call.submit(what="never")
        h.run_until_idle()
        (retrying,) = [event for event in h.events(later.id) if event.cause is Cause.RETRY]
        assert retrying.detail is not None
        assert round((retrying.detail["due"] - retrying.at) / 3_600_000_000, 3) == 2
        assert never.refresh().state is State.DEAD
        assert len(never.attempts()) == 1


def test_async_code_sleeps_in_virtual_time_and_times_out_there():
    app = Mainspring("shop")

    @app.task
    async def nap(length: float) -> float:
        await asyncio.sleep(length)
        return h.clock.monotonic() / 1_000_000

    @app.task(timeout="10s", retry=Retry(max_attempts=1))
    async def slow() -> None:
        await asyncio.sleep(3600)

    with Harness(app) as h:
        before = h.clock.monotonic() / 1_000_000
        long, late = nap.submit(length=3600), slow.submit()
        h.advance("59m")
        assert long.refresh().state is State.RUNNING
        assert late.refresh().state is State.DEAD
        assert [attempt.outcome for attempt in late.attempts()] == [Outcome.TIMED_OUT]
        h.advance("2m")
        assert long.result() == pytest.approx(before + 3600, abs=0.1)


def test_print_log_progress_and_children_of_a_job():
    app = Mainspring("shop")

    @app.task
    def child(n: int) -> int:
        return n * n

    @app.task
    def parent(ctx: Context) -> int:
        print("one", flush=True)
        ctx.progress(1, 2)
        return sum(child.submit(n=n).result() for n in (2, 3))

    @app.task
    async def aparent() -> int:
        handle = await child.asubmit(n=4)
        return await handle.aresult()

    with Harness(app) as h:
        job, ajob = parent.submit(), aparent.submit()
        assert job.result() == 13
        assert ajob.result() == 16
        assert [line.text for line in job.logs()] == ["one"]
        assert {one.parent for one in h.jobs(task="child")} == {job.id, ajob.id}


def test_a_task_may_be_replaced_for_a_while():
    app = Mainspring("shop")

    @app.task
    def charge(order: int) -> str:
        raise AssertionError("the real one must not run")

    tar = app.command("tar", ["tar", "-czf", "{dest}", "/"], params={"dest": str})

    with Harness(app) as h:
        with h.replace(charge, lambda order: f"charged {order}"):
            assert charge.submit(order=7).result() == "charged 7"
        assert tar.submit(dest="x").result() == {"exit_code": 0}
        with h.replace("tar", lambda dest: {"exit_code": 0, "dest": dest}):
            assert tar.submit(dest="y").result() == {"exit_code": 0, "dest": "y"}


def test_the_same_seed_gives_the_same_events():
    def story(seed: int) -> list[object]:
        app = Mainspring("shop")

        @app.task
        def flaky(n: int) -> None:
            if n % 3 == 0:
                raise ConnectionError

        with Harness(app, seed=seed) as h:
            flaky.submit_many([{"n": n} for n in range(9)])
            h.advance("1h")
            return [(event.job, event.at, event.cause) for event in h.events()]

    assert story(1) == story(1)
    assert story(1) != story(2)  # jitter


def test_it_works_inside_a_running_loop():
    app = Mainspring("shop")

    @app.task
    async def hello() -> str:
        await asyncio.sleep(5)
        return "hello"

    async def main() -> object:
        with Harness(app) as h:
            job = hello.submit()
            h.run_until(job)
            return job.result()

    assert asyncio.run(main()) == "hello"


def test_waiting_for_what_never_comes_is_bounded():
    app = Mainspring("shop")

    @app.task
    def never() -> None: ...

    with Harness(app) as h:
        job = never.options(delay="2h").submit()
        with pytest.raises(WaitTimeout, match="1h"):
            h.run_until(job)
        h.run_until(job, within="2h")
        assert job.refresh().state is State.SUCCEEDED


def test_waits_are_timed_by_the_virtual_clock():
    app = Mainspring("shop")

    @app.task
    def later() -> str:
        return "done"

    with Harness(app) as h:
        job = later.options(delay="31d").submit()
        before = h.now
        with pytest.raises(WaitTimeout, match="30s"):
            job.result(timeout="30s")
        assert timedelta(seconds=30) <= h.now - before < timedelta(minutes=1)
        assert job.result() == "done", "without a timeout it waits the month"
        assert h.now - before >= timedelta(days=31)


def test_a_wait_for_what_nothing_can_bring_says_so():
    app = Mainspring("shop")

    @app.task
    async def stands_still() -> None:
        await asyncio.get_running_loop().create_future()

    with Harness(app) as h:
        job = stands_still.submit()
        with pytest.raises(WaitTimeout, match="wait for ever"):
            job.result()
        assert [one.state for one in h.jobs()] == [State.RUNNING]


def test_plain_code_waits_in_virtual_time_and_is_asked_to_stop_there():
    app = Mainspring("shop")
    seen = []

    @app.task(timeout="1h", retry=Retry(max_attempts=1))
    def patient(ctx: Context) -> bool:
        seen.append((ctx.wait("30m"), ctx.wait("30d")))
        return True

    @app.task(timeout="10s", retry=Retry(max_attempts=1))
    def busy(ctx: Context) -> None:
        while not ctx.cancelled:
            pass

    with Harness(app) as h:
        jobs = patient.submit(), busy.submit()
        h.advance("2h")
        assert seen == [(False, True)]
        assert [[attempt.outcome for attempt in job.attempts()] for job in jobs] == [[Outcome.TIMED_OUT]] * 2


def test_the_job_of_a_crashed_worker_runs_again_when_its_lease_was_swept():
    app = Mainspring("shop")

    @app.task
    async def long() -> str:
        await asyncio.sleep(600)
        return "done"

    with Harness(app) as h:
        job = long.submit()
        h.run_until_idle()
        h.crash_worker()
        h.advance("29s")
        assert [attempt.outcome for attempt in job.attempts()] == [None]
        h.advance("7s")
        assert [attempt.outcome for attempt in job.attempts()] == [Outcome.LOST, None]
        assert job.result() == "done"


def test_an_async_job_that_sleeps_for_a_month_is_told_of_its_childs_end():
    app = Mainspring("shop")

    @app.task
    async def child() -> str:
        await asyncio.sleep(31 * 86_400)
        return "rested"

    @app.task
    async def parent() -> str:
        return await (await child.asubmit()).aresult()

    with Harness(app) as h:
        assert parent.submit().result() == "rested"
        assert h.now >= datetime(2026, 2, 1, tzinfo=UTC)


def test_async_code_that_never_waits_is_found_out():
    app = Mainspring("shop")

    @app.task
    async def spins() -> None:
        while True:  # noqa: ASYNC110 - that is the mistake
            await asyncio.sleep(0)

    with Harness(app) as h:
        spins.submit()
        with pytest.raises(WaitTimeout, match="without waiting for anything"):
            h.run_until_idle()


def test_what_a_job_logs_is_in_its_log_and_the_loggers_are_as_before():
    app = Mainspring("shop")

    @app.task
    def talk(ctx: Context) -> None:
        ctx.log.info("hello from %d", ctx.job_id)

    handlers, level = list(logging.getLogger().handlers), logging.getLogger("shop").level
    with Harness(app):
        job = talk.submit()
        job.result()
        assert [(line.stream, line.level, line.text) for line in job.logs()] == [
            ("log", "INFO", f"hello from {job.id}")
        ]
    assert (logging.getLogger().handlers, logging.getLogger("shop").level) == (handlers, level)


async def test_async_tests_await_jobs_of_the_harness():
    app = Mainspring("shop")

    @app.task
    async def nap() -> str:
        await asyncio.sleep(3600)
        return "slept"

    with Harness(app) as h:
        job = await nap.asubmit()
        assert await job.aresult() == "slept"
        h.run_until_idle()
        assert [event.target for event in h.events(job)] == [State.QUEUED, State.RUNNING, State.SUCCEEDED]


def test_schedules_fire_as_time_goes_by_and_jobs_know_their_tick():
    app = Mainspring("shop")
    told = []

    @app.task
    def report(ctx: Context, kind: str) -> None:
        assert ctx.tick is not None
        told.append((kind, ctx.tick.scheduled, ctx.tick.previous, ctx.tick.last_success))

    app.schedule("nightly", cron("30 2 * * *", tz="Europe/Berlin"), report, params={"kind": "night"})
    with Harness(app, start="2026-03-27T12:00:00Z") as h:
        h.advance("31d")
        assert len(told) == 31
        assert {job.state for job in h.jobs()} == {State.SUCCEEDED}
    first, second = told[0][1], told[1][1]
    assert (first.isoformat(), second.isoformat()) == ("2026-03-28T02:30:00+01:00", "2026-03-29T03:00:00+02:00")
    assert told[0][2:] == (None, None)
    assert told[1][2:] == (first, first)


def test_a_tick_waits_for_the_job_before_it_in_virtual_time():
    app = Mainspring("shop")

    @app.task
    async def slow() -> None:
        await asyncio.sleep(90)

    app.schedule("pulse", every("60s"), slow, overlap="buffer_all")
    with Harness(app) as h:
        h.advance("5m")
        ticks = h.client.ticks("pulse").items
        assert [tick.outcome for tick in reversed(ticks)] == ["fired", "fired", "fired", "waiting", "waiting"]
        started = [job.started_at for job in h.jobs() if job.started_at is not None]
        assert [round((later - earlier) / 1e6) for earlier, later in itertools.pairwise(started)] == [90, 90]


def test_a_workflow_that_is_scheduled_runs_once_a_tick_and_its_jobs_know_it():
    app = Mainspring("shop")
    told = []

    @app.task
    def report(ctx: Context, day: str) -> str:
        assert ctx.tick is not None
        told.append((day, ctx.tick.scheduled.isoformat(), ctx.tick.last_success))
        return day

    @app.workflow
    def pipeline(day: str) -> None:
        report(report(day))

    app.schedule("nightly", cron("0 3 * * *"), pipeline, params={"day": "last"})
    with Harness(app, start="2026-03-27T12:00:00Z") as h:
        h.advance("2d")
        assert [tick.state for tick in h.client.ticks("nightly").items] == ["succeeded"] * 2
    assert [(day, at) for day, at, _ in told] == [("last", f"2026-03-{day}T03:00:00+00:00") for day in (28, 28, 29, 29)]
    assert told[0][2] is None
    assert told[2][2] is not None


def test_a_job_that_nobody_scheduled_has_no_tick():
    app = Mainspring("shop")

    @app.task
    def plain(ctx: Context) -> bool:
        return ctx.tick is None

    with Harness(app) as h:
        job = plain.submit()
        h.run_until_idle()
        assert job.result() is True
