"""Jobs over REST, on a real server process and a real file: submit, look, cancel, retry."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from mainspring.domain.attempt import Failure
from mainspring.domain.ids import JobId
from mainspring.domain.logline import LogChunk
from mainspring.domain.states import Outcome
from mainspring.store import Store
from tests.api.serving import API, HandWorker, Serving

pytestmark = pytest.mark.usefixtures("worker")

CONTRACT = {
    *("id", "task", "state", "queue", "priority", "params", "result", "error", "attempt", "max_attempts", "run_at"),
    *("created_at", "started_at", "finished_at", "worker", "tags", "run", "node", "replay_of"),
}


def test_a_submit_is_answered_with_the_job_and_its_address(server: Serving) -> None:
    answer = server.http.post(f"{API}/jobs", json={"task": "shop.receipt", "params": {"order_id": 7}})
    job = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{API}/jobs/{job['id']}"
    assert job["state"] == "queued"
    assert job["params"] == {"order_id": 7}
    assert job["attempt"] == 0
    assert set(job) >= CONTRACT
    assert server.http.get(answer.headers["location"]).json() == job


def test_everything_that_a_submit_may_say_is_kept(server: Serving) -> None:
    job = server.submit(
        "echo",
        params={"text": "Zoë 🕰"},
        queue="mail",
        priority=-3,
        delay="1h",
        retry={"max_attempts": 7},
        timeout="90s",
        expires="1d",
        tags={"team": "mail"},
        meta={"from": ["page", 2]},
    )
    assert job["task"] == "shop.echo"
    assert job["state"] == "scheduled"
    assert (job["queue"], job["priority"], job["max_attempts"], job["timeout"]) == ("mail", -3, 7, "1m30s")
    assert job["params"] == {"text": "Zoë 🕰"}
    assert job["tags"] == {"team": "mail"}
    assert job["meta"] == {"from": ["page", 2]}
    assert job["created_at"] < job["run_at"] < job["expires_at"]
    assert job["run_at"].endswith("Z")


def test_a_job_may_wait_for_an_instant(server: Serving) -> None:
    job = server.submit(run_at="2199-01-01T00:00:00+01:00")
    assert job["state"] == "scheduled"
    assert job["run_at"] == "2198-12-31T23:00:00Z"


def test_a_waiting_job_is_cancelled_at_once(server: Serving) -> None:
    job = server.submit(delay="1h")
    answer = server.http.post(f"{API}/jobs/{job['id']}/cancel")
    assert answer.status_code == 200
    assert answer.json()["state"] == "cancelled"
    again = server.http.post(f"{API}/jobs/{job['id']}/cancel")
    assert again.status_code == 409
    assert again.json()["code"] == "illegal_state"
    assert again.json()["state"] == "cancelled"


_numbers = itertools.count()


def running(server: Serving, worker: HandWorker, **fields: Any) -> int:
    """A job that was claimed, from a queue of its own."""
    queue = f"queue-{next(_numbers)}"
    number: int = server.submit(queue=queue, **fields)["id"]
    assert worker.claim(queue) == number
    return number


def run_to(server: Serving, worker: HandWorker, outcome: Outcome, **fields: Any) -> int:
    """A job that was claimed and has ended."""
    number = running(server, worker, retry={"max_attempts": 1}, **fields)
    failure = None if outcome is Outcome.SUCCEEDED else Failure("ValueError", "empty payload", "Traceback ...")
    worker.end(number, outcome, result=b'{"sent": 1}', failure=failure)
    return number


def test_a_job_that_succeeded_shows_its_result_attempt_and_history(server: Serving, worker: HandWorker) -> None:
    number = run_to(server, worker, Outcome.SUCCEEDED)
    job = server.job(number)
    assert (job["state"], job["result"], job["error"], job["attempt"]) == ("succeeded", {"sent": 1}, None, 1)
    assert job["worker"] == "alpha"
    assert job["created_at"] <= job["started_at"] <= job["finished_at"]
    (attempt,) = server.http.get(f"{API}/jobs/{number}/attempts").json()["items"]
    assert (attempt["number"], attempt["outcome"], attempt["charge"]) == (1, "succeeded", "attempt")
    assert attempt["duration"] >= 0
    events = server.http.get(f"{API}/jobs/{number}/events").json()
    assert [(event["from"], event["to"]) for event in events["items"]] == [
        ("new", "queued"),
        ("queued", "running"),
        ("running", "succeeded"),
    ]
    assert [event["seq"] for event in events["items"]] == sorted(event["seq"] for event in events["items"])
    assert events["next"] is None


def test_a_failure_is_shown_with_its_type_message_and_traceback(server: Serving, worker: HandWorker) -> None:
    number = run_to(server, worker, Outcome.FAILED)
    job = server.job(number)
    assert job["state"] == "dead"
    error = {"type": "ValueError", "message": "empty payload", "traceback": "Traceback ...", "evidence": {}}
    assert job["error"] == error
    assert server.http.get(f"{API}/jobs/{number}/attempts").json()["items"][0]["error"] == error


def test_a_running_job_is_asked_to_stop(server: Serving, worker: HandWorker) -> None:
    number = running(server, worker)
    (attempt,) = server.http.get(f"{API}/jobs/{number}/attempts").json()["items"]
    assert (attempt["outcome"], attempt["ended_at"], attempt["duration"]) == (None, None, None)
    answer = server.http.post(f"{API}/jobs/{number}/cancel", json={})
    assert answer.status_code == 200
    assert (answer.json()["state"], answer.json()["cancel_requested"]) == ("running", True)
    worker.end(number, Outcome.CANCELLED)
    assert server.job(number)["state"] == "cancelled"


def test_a_retry_by_hand_makes_a_new_job_once(server: Serving, worker: HandWorker) -> None:
    number = run_to(server, worker, Outcome.FAILED, params={"text": "a"})
    answer = server.http.post(f"{API}/jobs/{number}/retry")
    new = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{API}/jobs/{new['id']}"
    assert (new["replay_of"], new["params"], new["state"]) == (number, {"text": "a"}, "queued")
    assert server.job(number)["replayed_by"] == new["id"]
    live = server.http.post(f"{API}/jobs/{number}/retry")
    assert (live.status_code, live.json()["code"]) == (409, "replay_live")
    server.http.post(f"{API}/jobs/{new['id']}/cancel")
    assert server.http.post(f"{API}/jobs/{number}/retry").status_code == 201


def test_a_job_that_has_not_ended_is_not_retried(server: Serving) -> None:
    number = server.submit(delay="1h")["id"]
    answer = server.http.post(f"{API}/jobs/{number}/retry")
    assert (answer.status_code, answer.json()["code"], answer.json()["state"]) == (409, "illegal_state", "scheduled")


def test_output_is_read_by_cursor(server: Serving, worker: HandWorker, store: Store) -> None:
    number = JobId(running(server, worker))
    now = store.clock.now()
    store.logs.append(
        [(number, 1, 1, LogChunk(now, "stdout", "one\ntwo\n")), (number, 1, 3, LogChunk(now, "log", "three", "INFO"))]
    )
    worker.end(number, Outcome.SUCCEEDED)
    first = server.http.get(f"{API}/jobs/{number}/logs?limit=2&follow=false").json()
    assert [line["text"] for line in first["items"]] == ["one", "two"]
    rest = server.http.get(f"{API}/jobs/{number}/logs", params={"cursor": first["next"]}).json()
    assert [(line["text"], line["stream"], line["level"]) for line in rest["items"]] == [("three", "log", "INFO")]
    assert rest["next"] is None
    assert server.http.get(f"{API}/jobs/{number}/logs?attempt=2").json()["items"] == []


def test_events_are_read_by_cursor(server: Serving) -> None:
    number = server.submit(delay="1h")["id"]
    server.http.post(f"{API}/jobs/{number}/cancel")
    first = server.http.get(f"{API}/jobs/{number}/events?limit=1").json()
    assert [event["to"] for event in first["items"]] == ["scheduled"]
    assert first["items"][0]["detail"]["due"] == server.job(number)["run_at"]
    rest = server.http.get(f"{API}/jobs/{number}/events", params={"cursor": first["next"]}).json()
    assert [event["to"] for event in rest["items"]] == ["cancelled"]


def test_many_submits_at_once_are_all_there(server: Serving) -> None:
    def some(thread: int) -> list[int]:
        return [server.submit(params={"count": 1}, tags={"thread": str(thread)})["id"] for _ in range(50)]

    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(some, range(8)))
    assert len({number for numbers in made for number in numbers}) == 400
    for thread, numbers in enumerate(made):
        page = server.http.get(f"{API}/jobs?tag=thread%3D{thread}&limit=1000").json()
        assert [job["id"] for job in page["items"]] == sorted(numbers, reverse=True)
