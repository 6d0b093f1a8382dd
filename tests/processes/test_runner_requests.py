"""SDK calls inside a job travel to its coordinator as frames, from wherever the code runs."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from msgspec import Raw

from mainspring.domain.frame import Answer, Request
from mainspring.domain.states import Outcome
from tests.processes.runners.driver import Driver, driving


def desk(request: Request) -> Answer:
    """A platform that gives every job the id 4711, and every message the number 12."""
    if request.verb == "job":
        return Answer(request.number, code="unknown_job", message="unknown job 999 List them with: mainspring jobs")
    if request.verb == "publish":
        return Answer(request.number, Raw(b"12"))
    if request.verb == "subscribe":
        made = {"cursor": 0, "made": 0, "refused": 0, "refusal": None, "created_at": 0, "created_by": "job:1"}
        return Answer(request.number, Raw(msgspec.json.encode(json.loads(bytes(request.body))["wanted"] | made)))
    return Answer(request.number, Raw(b"[[4711, true]]" if request.verb == "submit" else b"null"))


@pytest.fixture(scope="module")
def runner() -> Iterator[Driver]:
    with driving() as driver:
        driver.desk = desk
        yield driver


@pytest.mark.parametrize("task", ["submit_async", "submit_in_place", "submit_thread", "submit_process"])
def test_a_job_submits_by_its_coordinator_as_its_own_child(runner: Driver, task: str):
    before = len(runner.said(Request))
    claim = runner.start(task)
    ended = runner.end(claim)
    assert ended.outcome is Outcome.SUCCEEDED, ended
    assert bytes(ended.result) == b"4711"
    asked = runner.said(Request)[before:]
    submits = [request for request in asked if request.verb == "submit"]
    assert [(request.job, request.claim) for request in submits] == [(ended.job, claim)]
    body = json.loads(bytes(submits[0].body))
    assert body["requests"][0]["task"] == "jobs.noop"


@pytest.mark.parametrize("task", ["publish_async", "publish_thread", "publish_process"])
def test_a_job_publishes_by_its_coordinator(runner: Driver, task: str):
    before = len(runner.said(Request))
    claim = runner.start(task)
    ended = runner.end(claim)
    assert ended.outcome is Outcome.SUCCEEDED, ended
    assert bytes(ended.result) == b"12"
    (asked,) = [one for one in runner.said(Request)[before:] if one.verb == "publish"]
    assert (asked.job, asked.claim) == (ended.job, claim)
    assert json.loads(bytes(asked.body)) == {"topic": "paid", "data": [{"order_id": 7}]}


def test_a_job_subscribes_by_its_coordinator(runner: Driver):
    before = len(runner.said(Request))
    assert bytes(runner.run("subscribe_thread").result) == b'"paid-jobs.noop"'
    (asked,) = [one for one in runner.said(Request)[before:] if one.verb == "subscribe"]
    wanted = json.loads(bytes(asked.body))["wanted"]
    assert (wanted["topic"], wanted["task"], wanted["params"], wanted["after"]) == (
        *("paid", "jobs.noop", {"fixed": True}, 0),
    )


def test_many_jobs_ask_at_once(runner: Driver):
    claims = [runner.start(task) for task in ("submit_async", "submit_in_place", "submit_thread") * 20]
    assert {bytes(runner.end(claim, within=20).result) for claim in claims} == {b"4711"}


def test_an_error_comes_back_as_its_class(runner: Driver):
    told = bytes(runner.run("submit_wrong").result).decode()
    assert told == '"UnknownJob: unknown job 999 List them with: mainspring jobs"'


def test_a_thread_of_no_job_can_not_ask(runner: Driver):
    told = msgspec.json.decode(runner.run("submit_from_bare_thread").result)
    assert told.startswith("StoreUnreachable: ")
    assert "outside any job" in told


def test_an_app_that_submits_while_it_is_imported_is_unusable(tmp_path: Path):
    app = tmp_path / "early.py"
    app.write_text(
        "from mainspring import Mainspring\n"
        "app = Mainspring('early', database_url='sqlite:////dev/null/none.db')\n"
        "@app.task\n"
        "def noop() -> None: ...\n"
        "noop.submit()\n"
    )
    with driving(app, greet=False) as driver:
        said = driver.hello()
        assert "early.py" in str(said)
        assert "outside any job" in str(said)
        assert 'if __name__ == "__main__"' in str(said)
        assert "python -c" not in str(said), "which would go well"


def test_a_thread_that_waits_for_an_answer_can_be_cancelled():
    with driving() as driver:

        def silent(request: Request) -> Answer:
            return Answer(0)

        driver.desk = silent
        claim = driver.start("wait_for_an_answer")
        driver.printed(claim, "waiting")
        driver.cancel(claim)
        assert driver.end(claim, within=3).outcome is Outcome.CANCELLED
        assert not driver.stuck(claim)


def test_async_code_that_waits_for_an_answer_can_be_cancelled_and_the_late_answer_disturbs_nobody():
    with driving() as driver:
        held: list[Request] = []

        def hold(request: Request) -> Answer:
            if request.verb == "submit":
                held.append(request)
                raise LookupError
            return Answer(request.number)

        assert driver.run("noop").outcome is Outcome.SUCCEEDED
        driver.desk = desk
        driver.run("submit_async")  # it tells of the app's tasks first, in a thread
        driver.desk = hold
        claim = driver.start("submit_async")
        with contextlib.suppress(LookupError):
            driver.until(lambda: held)
        driver.cancel(claim)
        assert driver.end(claim, within=3).outcome is Outcome.CANCELLED
        driver.process.bulk.put(Answer(held[0].number, Raw(b"[[12, true]]")))
        assert driver.run("noop").outcome is Outcome.SUCCEEDED


def test_frames_for_others_are_served_while_the_loop_waits_for_an_answer():
    with driving() as driver:
        held: list[Request] = []

        def hold(request: Request) -> Answer:
            if request.verb != "submit":
                return Answer(request.number)
            held.append(request)
            raise LookupError

        driver.desk = hold
        claim = driver.start("submit_in_place")
        with contextlib.suppress(LookupError):
            driver.until(lambda: held)
        driver.ping(5)
        other = driver.start("noop")
        driver.process.bulk.put(Answer(held[0].number, Raw(b"[[12, true]]")))
        assert bytes(driver.end(claim).result) == b"12"
        driver.until(lambda: 5 in driver.pongs(), what="a pong once the loop turns again")
        assert driver.end(other).outcome is Outcome.SUCCEEDED
