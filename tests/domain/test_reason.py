"""Why a job is where it is: each reason as a line of facts and the codes and words that they lead to."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mainspring.clock import MINUTE, SECOND, Instant
from mainspring.domain.attempt import Failure
from mainspring.domain.event import Event
from mainspring.domain.ids import EventSeq, JobId, WorkerId
from mainspring.domain.job import Job
from mainspring.domain.queue import Queue
from mainspring.domain.reason import MOST_COUNTED, Facts, Reason, explained
from mainspring.domain.states import Cause, State
from mainspring.domain.worker import Worker, WorkerState

NOW = Instant(1_800_000_000_000_000)
BOOM = Failure("ValueError", "boom")


def worker(name: str = "alpha", number: int = 1, **facts: Any) -> Worker:
    plain = Worker(
        id=WorkerId(number),
        incarnation=name,
        name=name,
        host="here",
        pid=1,
        app="shop",
        code_hash="1",
        version="0.1.0",
        queues=(),
        labels={},
        slots=4,
        state=WorkerState.ACTIVE,
        started_at=NOW,
        beat_at=NOW,
        running=0,
        pids={},
        tasks=("shop.send",),
    )
    return msgspec.structs.replace(plain, **facts)


def job(state: State = State.QUEUED, **facts: Any) -> Job:
    plain = Job(
        id=JobId(7),
        task="shop.send",
        state=state,
        queue="mail",
        priority=5,
        params={},
        result=None,
        error=None,
        attempt=0,
        max_attempts=4,
        retry={},
        timeout=None,
        run_at=NOW,
        created_at=NOW,
        started_at=None,
        finished_at=None,
        expires_at=None,
        worker=None,
        tags={},
        meta=None,
        parent=None,
        replay_of=None,
        replayed_by=None,
        cancel_requested=False,
    )
    return msgspec.structs.replace(plain, **facts)


def why(of: Job | None = None, *workers: Worker, **facts: Any) -> list[Reason]:
    asked: dict[str, Any] = {"requires": {}, "slots": 1, "queue": Queue("mail"), "taken": {}} | facts
    return explained(Facts(now=NOW, job=of or job(), app="shop", workers=workers, **asked)).reasons


def event(cause: Cause, source: State, target: State, actor: str) -> Event:
    return Event(EventSeq(1), JobId(7), NOW, cause, source, target, 1, actor)


PAUSED = Queue("mail", paused_at=Instant(NOW - 3 * MINUTE), paused_by="ann", note="their server is down")
RUNNING = job(State.RUNNING, attempt=2, worker="alpha", started_at=Instant(NOW - 12 * SECOND))
SOON = Instant(NOW + 5 * MINUTE)

QUEUED: list[tuple[dict[str, Any], list[Worker], list[str], str]] = [
    ({}, [worker()], ["next"], "nothing is in its way: alpha takes it"),
    ({}, [], ["no_worker"], "no live worker runs shop.send"),
    ({}, [worker(state=WorkerState.LOST)], ["no_worker"], "no live worker runs shop.send"),
    ({}, [worker(state=WorkerState.DRAINING)], ["no_worker"], "(alpha is draining)"),
    ({}, [worker(state=WorkerState.IMPAIRED, tasks=())], ["app_broken"], "no runner of alpha can load the app"),
    ({}, [worker(tasks=("shop.other",))], ["task_unknown"], "(alpha has other code of shop, without it)"),
    ({}, [worker(queues=("shop",))], ["queue_unserved"], "no live worker takes jobs of queue mail (alpha knows"),
    ({"requires": {"disk": "fast"}}, [worker()], ["label_missing"], "no live worker has the label disk=fast"),
    ({"slots": 8}, [worker()], ["too_large"], "it takes 8 slots, and no live worker has more than 4"),
    ({"queue": PAUSED}, [worker()], ["queue_paused"], "paused (3m 0s ago, by ann): their server is down"),
    ({"queue": PAUSED}, [], ["queue_paused", "no_worker"], "queue mail is paused"),
    ({"queue": Queue("mail", limit=2, running=2)}, [worker()], ["queue_full"], "2 jobs of queue mail now running"),
    ({"queue": Queue("mail", limit=2, running=1)}, [worker()], ["next"], "nothing"),
    ({"taken": {1: 4}}, [worker()], ["busy"], "too few free slots (alpha: 4 of 4 taken)"),
    ({"taken": {1: 3}, "slots": 2}, [worker()], ["busy"], "alpha: 3 of 4 taken), and it takes 2"),
    ({"taken": {1: 4}}, [worker(), worker("beta", 2)], ["next"], "beta takes it"),
    ({"taken": {1: 4}, "ahead": 3}, [worker()], ["busy", "behind"], "too few"),
    ({"queued_at": Instant(NOW - 11 * SECOND)}, [worker()], ["overdue"], "it has waited for 11s"),
    ({"queued_at": Instant(NOW - 11 * SECOND), "ahead": 1}, [worker()], ["behind"], "1 job"),
    ({"ahead": 1}, [worker()], ["behind"], "1 job of shop go"),
    ({"ahead": MOST_COUNTED + 1}, [worker()], ["behind"], "more than 1,000 jobs of shop"),
]


@pytest.mark.parametrize(("facts", "workers", "codes", "words"), QUEUED)
def test_why_a_queued_job_waits(facts: dict[str, Any], workers: list[Worker], codes: list[str], words: str) -> None:
    found = why(None, *workers, **facts)
    assert [one.code for one in found] == codes
    assert words in found[0].text


def test_what_a_person_can_do_something_about_comes_with_what_to_do() -> None:
    assert why(queue=PAUSED)[0].remedy == "mainspring queue resume mail"
    assert why()[0].remedy == "Start one: mainspring up --app app.py"
    assert why(None, worker(), requires={"a": "1", "b": "2"})[0].remedy.endswith("--label a=1 --label b=2")
    assert why(None, worker(), taken={1: 4})[0].remedy == "", "to wait is all"


OTHERS: list[tuple[Job, dict[str, Any], list[str], str]] = [
    (job(State.SCHEDULED, run_at=SOON), {"due_at": SOON}, ["not_due"], "it is due in 5m 0s"),
    (job(State.SCHEDULED), {"due_at": Instant(NOW - 9 * SECOND)}, ["not_promoted"], "it has been due for 9s"),
    (
        job(State.RETRYING, attempt=1, error=BOOM),
        {"due_at": SOON},
        ["backoff"],
        "attempt 1 of 4 failed: ValueError: boom; the next one may start in 5m 0s",
    ),
    (job(State.SCHEDULED), {"due_at": SOON, "queue": PAUSED}, ["not_due", "queue_paused"], "it is due"),
    (RUNNING, {}, ["running"], "attempt 2 of 4 runs on alpha for 12s"),
    (RUNNING, {"children": 2}, ["children", "running"], "2 jobs that it submitted have not ended"),
    (
        msgspec.structs.replace(RUNNING, cancel_requested=True),
        {"cancel_by": "ann"},
        ["cancelling", "running"],
        "it was asked to stop by ann",
    ),
    (
        RUNNING,
        {"worker": worker(state=WorkerState.LOST, beat_at=Instant(NOW - MINUTE)), "leased_until": SOON},
        ["worker_silent", "running"],
        "alpha was last seen 1m 0s ago",
    ),
    (
        job(State.SUCCEEDED, attempt=1, worker="alpha"),
        {"last": event(Cause.SUCCEED, State.RUNNING, State.SUCCEEDED, "worker:1")},
        ["succeeded"],
        "its code returned (attempt 1, on alpha)",
    ),
    (
        job(State.DEAD, attempt=4, worker="alpha", error=BOOM),
        {"last": event(Cause.EXHAUST, State.RUNNING, State.DEAD, "worker:1")},
        ["dead"],
        "no further one is allowed (attempt 4, on alpha): ValueError: boom",
    ),
    (
        job(State.CANCELLED),
        {"last": event(Cause.CANCEL, State.QUEUED, State.CANCELLED, "ann@here")},
        ["cancelled"],
        "cancelled before it was claimed, by ann@here",
    ),
    (job(State.DEAD), {"last": None}, ["dead"], "it ended dead"),
]


@pytest.mark.parametrize(("of", "facts", "codes", "words"), OTHERS)
def test_why_any_other_job_is_where_it_is(of: Job, facts: dict[str, Any], codes: list[str], words: str) -> None:
    found = why(of, worker(), **facts)
    assert [one.code for one in found] == codes
    assert words in found[0].text


def test_what_ends_by_itself_says_when() -> None:
    assert why(job(State.SCHEDULED), worker(), due_at=SOON)[0].until == SOON
    assert why(job(State.RETRYING), worker(), due_at=SOON)[0].until == SOON


def test_every_state_has_a_reason() -> None:
    for state in set(State) - {State.NEW}:
        assert why(job(state), worker()), state
