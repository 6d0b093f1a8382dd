"""The wire forms: the names of the contract, JSON-ready, times as text."""

from __future__ import annotations

import json

from mainspring.client.wire import attempt_wire, event_wire, job_wire, logline_wire, task_wire, worker_wire
from mainspring.clock import SECOND, Duration, Instant
from mainspring.domain.attempt import Attempt
from mainspring.domain.event import Event
from mainspring.domain.ids import EventSeq, JobId, WorkerId
from mainspring.domain.job import Job
from mainspring.domain.logline import LogLine
from mainspring.domain.states import Cause, Charge, Outcome, State
from mainspring.domain.worker import Worker, WorkerState
from tests.api.samples import AT, ERROR, FAILURE, JOB, TEXT
from tests.api.serving import CATALOG


def test_a_job() -> None:
    assert json.loads(json.dumps(job_wire(JOB))) == {
        "id": 7,
        "task": "shop.echo",
        "state": "retrying",
        "queue": "shop",
        "priority": 5,
        "params": {"a": 1},
        "result": None,
        "error": ERROR,
        "attempt": 1,
        "max_attempts": 4,
        "retry": {"max_attempts": 4},
        "timeout": "30s",
        "run_at": TEXT,
        "created_at": TEXT,
        "started_at": TEXT,
        "finished_at": None,
        "expires_at": None,
        "worker": "alpha",
        "tags": {"team": "mail"},
        "meta": [1],
        "parent": 3,
        "replay_of": 2,
        "replayed_by": None,
        "cancel_requested": False,
        "progress": {"done": 1},
        "params_open": False,
        "run": None,
        "node": None,
        "item": None,
        "tick": None,
    }


def test_every_field_of_a_job_is_on_the_wire() -> None:
    assert set(Job.__struct_fields__) <= set(job_wire(JOB))


def test_an_attempt_that_runs_and_one_that_has_ended() -> None:
    running = Attempt(JobId(7), 1, None, "alpha", AT, None, "S0", None, None)
    shown = attempt_wire(running)
    assert (shown["outcome"], shown["ended_at"], shown["duration"], shown["charge"], shown["error"]) == (None,) * 5
    after = Instant(AT + Duration(5 * SECOND // 2))
    ended = Attempt(JobId(7), 1, Outcome.TIMED_OUT, "alpha", AT, after, "S1", Charge.ATTEMPT, FAILURE)
    assert json.loads(json.dumps(attempt_wire(ended))) == {
        "job": 7,
        "number": 1,
        "outcome": "timed_out",
        "worker": "alpha",
        "started_at": TEXT,
        "ended_at": "2026-11-29T03:00:02.500001Z",
        "duration": 2.5,
        "sandbox": "S1",
        "charge": "attempt",
        "error": ERROR,
    }


def test_an_event_tells_its_due_instant_as_a_time() -> None:
    event = Event(EventSeq(9), JobId(7), AT, Cause.RETRY, State.RUNNING, State.RETRYING, 1, "worker:1", {"due": AT})
    assert json.loads(json.dumps(event_wire(event))) == {
        "seq": 9,
        "job": 7,
        "at": TEXT,
        "cause": "retry",
        "from": "running",
        "to": "retrying",
        "attempt": 1,
        "actor": "worker:1",
        "detail": {"due": TEXT},
    }


def test_a_line_of_output() -> None:
    line = LogLine(3, JobId(7), 1, AT, "log", "INFO", "hello")
    assert logline_wire(line) == {
        "seq": 3,
        "job": 7,
        "attempt": 1,
        "at": TEXT,
        "stream": "log",
        "level": "INFO",
        "text": "hello",
    }


def test_a_task() -> None:
    shown = json.loads(json.dumps(task_wire(CATALOG.tasks[1])))
    assert (shown["name"], shown["app"], shown["short"]) == ("shop.receipt", "shop", "receipt")
    assert (shown["executor"], shown["argv"], shown["timeout"], shown["sandbox"]) == ("async", [], None, "S0")
    assert shown["schema"]["required"] == ["order_id"]


def test_a_worker() -> None:
    worker = Worker(
        id=WorkerId(1),
        incarnation="00ff",
        name="alpha",
        host="here",
        pid=9,
        app="shop",
        code_hash="1",
        version="0.1.0",
        queues=("mail",),
        labels={"disk": "fast"},
        slots=4,
        state=WorkerState.DRAINING,
        started_at=AT,
        beat_at=AT,
        running=2,
        pids={"runners": [2]},
        tasks=("shop.echo",),
    )
    shown = json.loads(json.dumps(worker_wire(worker)))
    assert set(shown) == set(Worker.__struct_fields__) - {"incarnation"}
    assert (shown["state"], shown["started_at"], shown["queues"], shown["tasks"]) == (
        "draining",
        TEXT,
        ["mail"],
        ["shop.echo"],
    )
