"""From submit to result through the SDK, against a real store in a file and a worker in this process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mainspring import Context, Event, Handle, Job, Mainspring, Retry, State, Unique, current
from mainspring.client.direct import DirectClient
from mainspring.clock import instant
from mainspring.errors import (
    IllegalState,
    InvalidDuration,
    InvalidInput,
    InvalidInstant,
    InvalidOption,
    InvalidParameters,
    InvalidTask,
    InvalidText,
    JobCancelled,
    JobDead,
    JobNotSucceeded,
    KeyHeld,
    NotYetSupported,
    PayloadTooLarge,
    ReplayLive,
    UnknownJob,
    WaitTimeout,
)
from mainspring.sdk.connection import use_client
from mainspring.store import Store
from tests import blank
from tests.domain.working import Working

app = Mainspring("shop")


@dataclass
class Receipt:
    order: int
    day: date


@app.task
def receipt(order_id: int, day: date = date(2026, 1, 1)) -> Receipt:
    return Receipt(order_id, day)


@app.task
async def double(n: int) -> int:
    return 2 * n


@app.task(retry=Retry(max_attempts=2, delay=0))
def broken() -> None:
    raise ValueError("no luck")


@app.task(retry=Retry(max_attempts=3, delay=0))
def third_time(ctx: Context) -> list[object]:
    ctx.progress(ctx.attempt, 3)
    ctx.heartbeat([*(ctx.details or []), ctx.attempt])
    if ctx.attempt < 3:
        raise ValueError("again")
    return [ctx.job_id, ctx.details, current() is ctx]


@app.task
def nothing() -> None:
    return None


@app.task
def lying() -> int:
    return "no number"  # type: ignore[return-value]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store.open(blank.lay(tmp_path / "main.db"))
    client = DirectClient(store)
    with use_client(client):
        yield store
    client.close()


def test_a_job_goes_from_submit_to_its_typed_result(store: Store) -> None:
    job = receipt.submit(7, day=date(2026, 2, 3))
    assert job.record.task == "shop.receipt"
    assert job.record.params == {"order_id": 7, "day": "2026-02-03"}
    assert job.state is State.QUEUED
    assert not job.done
    with Working(store, app):
        assert job.result(timeout="60s") == Receipt(7, date(2026, 2, 3))
    assert job.done
    assert job.state is State.SUCCEEDED
    assert [line.text for line in job.logs()] == ["attempt 1", "returned"]
    assert [line.text for line in job.logs(after=job.logs()[0].seq)] == ["returned"]
    assert [attempt.number for attempt in job.attempts()] == [1]
    again = app.job(job.id)
    assert again == job
    assert again.result() == Receipt(7, date(2026, 2, 3)), "the app knows the task, so the type comes back"


def test_a_job_that_another_app_made_gives_plain_json(store: Store) -> None:
    with Working(store, app):
        job = receipt.submit(order_id=1)
        job.result(timeout=60)
    assert Mainspring("other").job(job.id).result() == {"order": 1, "day": "2026-01-01"}


def test_a_result_that_does_not_fit_its_annotation_is_given_as_it_is(store: Store) -> None:
    with Working(store, app):
        assert lying.submit().result(timeout=60) == "no number"  # type: ignore[comparison-overlap]
        assert nothing.submit().result(timeout=60) is None


def test_a_dead_job_tells_its_error(store: Store) -> None:
    with Working(store, app):
        job = broken.submit()
        with pytest.raises(
            JobDead, match=rf"job {job.id} \(shop.broken\) is dead after 2 attempts: ValueError: no luck"
        ) as caught:
            job.result(timeout=60)
    assert caught.value.code == "job_dead"
    assert isinstance(caught.value, JobNotSucceeded)
    assert f"mainspring logs {job.id}" in str(caught.value)
    assert caught.value.__notes__ == ["Traceback of ValueError"]
    assert [attempt.failure.message for attempt in job.attempts() if attempt.failure] == ["no luck", "no luck"]


def test_a_cancelled_job_says_so(store: Store) -> None:
    job = double.submit(1).cancel()
    assert job.state is State.CANCELLED
    with pytest.raises(JobCancelled, match=r"job 1 \(shop.double\) was cancelled") as caught:
        job.result()
    assert caught.value.code == "job_cancelled"
    with pytest.raises(IllegalState, match="is cancelled and can't be cancelled"):
        job.cancel()


def test_a_wait_that_is_too_short_leaves_the_job_alone(store: Store) -> None:
    job = double.submit(1)
    with pytest.raises(WaitTimeout, match="job 1 is queued and did not end within 50ms") as caught:
        job.result(timeout="50ms")
    assert (caught.value.code, caught.value.exit_status) == ("wait_timeout", 1)
    with pytest.raises(WaitTimeout):
        job.result(timeout=0)
    assert job.refresh().state is State.QUEUED


def test_a_retry_by_hand_is_a_new_job_that_points_to_the_old(store: Store) -> None:
    job = double.submit(4)
    with pytest.raises(IllegalState):
        job.retry()
    job.cancel()
    new = job.retry()
    assert new.id != job.id
    assert new.record.replay_of == job.id
    with pytest.raises(ReplayLive):
        job.retry()
    with Working(store, app):
        assert new.result(timeout=60) == 8
    assert job.refresh().record.replayed_by == new.id


def test_the_context_reaches_the_code_and_details_reach_the_next_attempt(store: Store) -> None:
    with Working(store, app):
        job = third_time.submit()
        assert job.result(timeout=60) == [job.id, [1, 2, 3], True]


def test_bulk_submits_are_all_or_none(store: Store) -> None:
    jobs = double.submit_many({"n": n} for n in range(50))
    assert [job.id for job in jobs] == list(range(1, 51))
    assert [job.record.params for job in jobs[:2]] == [{"n": 0}, {"n": 1}]
    with pytest.raises(InvalidParameters) as caught:
        double.submit_many([{"n": 1}, {"n": "x"}])
    assert caught.value.__notes__ == ["in row 1 of submit_many"]
    assert double.submit_many([]) == []
    with pytest.raises(UnknownJob, match="unknown job 51"):
        app.job(51)


def test_options_reach_the_job(store: Store) -> None:
    later = double.options(
        priority=1,
        delay=timedelta(hours=1),
        queue="slow",
        retry=Retry(max_attempts=9),
        timeout="30s",
        expires="1d",
        tags={"team": "mail"},
        meta={"why": [1]},
    )
    record = later.submit(n=3).record
    assert (record.state, record.priority, record.queue) == (State.SCHEDULED, 1, "slow")
    assert (record.max_attempts, record.timeout, record.tags, record.meta) == (9, "30s", {"team": "mail"}, {"why": [1]})
    assert record.run_at - record.created_at >= 3_590_000_000
    assert record.expires_at is not None
    assert later.options(priority=7).submit(n=3).record.priority == 7
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    assert double.options(run_at=moment).submit(n=1).record.run_at == instant("2030-01-01T00:00:00Z")


def test_a_unique_key_gives_the_job_that_has_it(store: Store) -> None:
    first = double.options(unique="k").submit(n=1)
    second = double.options(unique="k").submit(n=2)
    assert (first.new, second.new, second) == (True, False, first)
    many = double.options(unique=Unique("m", period="1h")).submit_many([{"n": 1}, {"n": 2}])
    assert [one.new for one in many] == [True, False]
    with pytest.raises(KeyHeld) as refused:
        double.options(unique=Unique("k", on_conflict="reject")).submit(n=3)
    assert refused.value.job == first.id
    assert double.submit(n=4).new


def test_options_that_are_not_there_are_refused_before_anything_is_stored(store: Store) -> None:
    with pytest.raises(InvalidOption, match=r"A submit has no option 'prio'\. Did you mean priority"):
        double.options(prio=1)  # type: ignore[call-arg]
    with pytest.raises(InvalidOption, match=r"the jobs are in the SQLite file .*main\.db"):
        double.options(connection=object()).submit(1)
    with pytest.raises(InvalidOption, match="unique is 7"):
        double.options(unique=7)  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match=r"the jobs are in the SQLite file"):
        double.submit(1, connection=object())
    with pytest.raises(NotYetSupported, match="requires is not supported by this version"):
        double.options(requires={})  # type: ignore[call-arg]
    assert list(app.events(follow=False)) == []


@pytest.mark.parametrize(
    ("options", "field", "error"),
    [
        ({"priority": 10**6}, "priority", InvalidOption),
        ({"priority": True}, "priority", InvalidOption),
        ({"delay": "soon"}, "delay", InvalidDuration),
        ({"expires": -1}, "expires", InvalidDuration),
        ({"timeout": "0s"}, "timeout", InvalidOption),
        ({"tags": {"a": 1}}, "tags", InvalidOption),
        ({"tags": "a=b"}, "tags", InvalidOption),
        ({"retry": 5}, "retry", InvalidOption),
        ({"retry": {"retries": 5}}, "retry.retries", InvalidOption),
        ({"queue": "no space"}, "queue", InvalidTask),
        ({"queue": 7}, "queue", InvalidOption),
        ({"meta": object()}, "meta", InvalidOption),
        ({"meta": {"a": "\0"}}, "meta.a", InvalidText),
        ({"run_at": datetime(2030, 1, 1)}, "run_at", InvalidInstant),  # noqa: DTZ001
        ({"run_at": 5}, "run_at", InvalidInstant),
        ({"run_at": "tomorrow"}, "run_at", InvalidInstant),
        ({"delay": "1s", "run_at": "2030-01-01T00:00:00Z"}, "run_at", InvalidOption),
    ],
)
def test_an_option_with_a_wrong_value_is_refused_by_name(
    store: Store, options: dict[str, Any], field: str, error: type[InvalidInput]
) -> None:
    with pytest.raises(error) as caught:
        double.options(**options).submit(1)
    assert caught.value.field == field
    assert list(app.events(follow=False)) == []


def test_parameters_that_can_not_be_stored_are_refused(store: Store) -> None:
    @Mainspring("shop").task
    def echo(text: Any) -> None: ...

    with pytest.raises(PayloadTooLarge, match="params is 2,0"):
        echo.submit(text="x" * 2_000_000)
    with pytest.raises(InvalidText, match=r"params\.text\[0\]\.k holds a NUL"):
        echo.submit(text=[{"k": "a\0"}])
    with pytest.raises(InvalidParameters, match="parameter 'text' can't be written as JSON"):
        echo.submit(text=object())
    assert list(app.events(follow=False)) == []


# --- events --------------------------------------------------------------------------------------------------------


def causes(events: list[Event]) -> list[str]:
    return [event.cause.value for event in events]


def test_a_watch_shows_each_step_in_order_and_ends_with_the_job(store: Store) -> None:
    job = broken.submit()
    with Working(store, app):
        events = list(job.watch())
    assert causes(events) == ["submit", "claim", "retry", "promote", "claim", "exhaust"]
    assert [event.seq for event in events] == sorted({event.seq for event in events})
    assert {event.job for event in events} == {job.id}
    assert list(job.watch(after=events[2].seq)) == events[3:]
    assert list(job.watch(after=events[-1].seq)) == []


def test_a_watch_that_begins_before_the_worker_sees_the_end(store: Store) -> None:
    job = double.submit(2)
    seen: list[Event] = []
    watcher = threading.Thread(target=lambda: seen.extend(job.watch()))
    watcher.start()
    with Working(store, app):
        watcher.join(20)
    assert causes(seen) == ["submit", "claim", "succeed"]


def test_the_events_of_all_jobs_come_in_order_and_can_be_resumed(store: Store) -> None:
    jobs = double.submit_many([{"n": n} for n in range(3)])
    jobs[1].cancel()
    history = list(app.events(follow=False))
    assert causes(history) == ["submit", "submit", "submit", "cancel"]
    assert list(app.events(after=history[1].seq, follow=False)) == history[2:]
    assert causes(list(app.events(["cancelled"], follow=False))) == ["cancel"]
    with pytest.raises(InvalidInput, match="Did you mean cancel"):
        app.events(["cancelld"])


def test_following_begins_now_and_goes_on(store: Store) -> None:
    double.submit(1)
    stream = app.events()
    double.submit(2).cancel()
    assert (next(stream).job, next(stream).cause.value) == (2, "cancel")
    double.submit(3)
    assert next(stream).job == 3


# --- async ---------------------------------------------------------------------------------------------------------


async def test_the_whole_of_it_in_async_code(store: Store) -> None:
    job = await double.asubmit(n=21)
    assert (await job.arefresh()).state is State.QUEUED
    with Working(store, app):
        assert await job.aresult(timeout=60) == 42
        assert [event.cause.value async for event in job.awatch()] == ["submit", "claim", "succeed"]
    assert [line.text for line in await job.alogs()] == ["attempt 1", "returned"]
    assert len(await job.aattempts()) == 1
    assert await app.ajob(job.id) == job
    assert [event.job async for event in app.aevents(follow=False)] == [job.id] * 3
    other = await double.options(priority=1).asubmit(1)
    assert (await other.acancel()).state is State.CANCELLED
    assert (await other.aretry()).record.replay_of == other.id
    with pytest.raises(JobCancelled):
        await other.aresult()
    with pytest.raises(WaitTimeout):
        await (await double.asubmit(1)).aresult(timeout="30ms")
    assert len(await double.asubmit_many([{"n": 1}, {"n": 2}])) == 2


async def test_many_waiters_leave_threads_for_those_who_work(store: Store) -> None:
    jobs = await double.asubmit_many([{"n": n} for n in range(60)])
    waiters = [asyncio.create_task(job.aresult(timeout=60)) for job in jobs]
    late = await double.asubmit(n=100)
    with Working(store, app):
        assert await asyncio.gather(*waiters) == [2 * n for n in range(60)]
        assert await late.aresult(timeout=60) == 200


async def test_following_in_async_code(store: Store) -> None:
    stream = app.aevents(after=0)
    await double.asubmit(5)
    assert (await anext(stream)).cause.value == "submit"
    ahead = asyncio.ensure_future(anext(stream))
    await double.asubmit(6)
    assert (await asyncio.wait_for(ahead, 20)).job == 2


def test_handles_are_values_named_by_their_job(store: Store) -> None:
    job = double.submit(1)
    assert Job is Handle
    assert {job, app.job(job.id)} == {job}
    assert job != 1
    assert repr(job) == "<job 1>"
    assert repr(job.refresh()) == "<job 1 shop.double queued>"


def test_a_wait_without_end_ends_with_the_job(store: Store) -> None:
    job = double.submit(5)
    found: list[int] = []
    waiter = threading.Thread(target=lambda: found.append(job.result()))
    waiter.start()
    with Working(store, app):
        waiter.join(20)
    assert found == [10]


async def test_an_async_watch_that_begins_before_the_worker_sees_the_end(store: Store) -> None:
    job = await double.asubmit(2)

    async def watch() -> list[Event]:
        return [event async for event in job.awatch()]

    watching = asyncio.create_task(watch())
    assert (await job.arefresh()).state is State.QUEUED
    with Working(store, app):
        assert causes(await asyncio.wait_for(watching, 20)) == ["submit", "claim", "succeed"]
