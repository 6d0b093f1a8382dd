"""A runner in another language, written from docs/architecture/runner-protocol.md, does what a Python one does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mainspring.domain.frame import Hello
from mainspring.domain.states import Outcome
from tests.processes.runners.driver import Driver, driving

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node (Debian: nodejs)")


@pytest.fixture(scope="module")
def runner() -> Iterator[Driver]:
    with driving(argv=(str(NODE), str(Path(__file__).parent / "runners" / "runner.mjs"))) as driver:
        driver.app = "node"
        yield driver


def test_it_says_hello_with_its_tasks(runner: Driver):
    hello = runner.hello()
    assert isinstance(hello, Hello)
    assert (hello.language, hello.pid) == ("javascript", runner.process.pid)
    assert {task.name: task.schema["required"] for task in hello.catalog.tasks} == {
        "node.greet": ["name", "times"],
        "node.nap": ["seconds"],
    }


def test_it_runs_jobs_side_by_side_and_their_logs_stay_apart(runner: Driver):
    claims = {name: runner.start("greet", name=name, times=50) for name in ("Ada", "Grüße 🌍", "Linus")}
    for name, claim in claims.items():
        ended = runner.end(claim)
        assert ended.outcome is Outcome.SUCCEEDED
        assert json.loads(bytes(ended.result)) == {"greeting": f"hello {name}"}
        assert runner.text(claim).splitlines() == [f"hello {name} {time}" for time in range(50)]


def test_it_takes_large_parameters_by_bulk(runner: Driver):
    ended = runner.run("greet", name="x" * 500_000, times=0)
    assert len(bytes(ended.result)) > 500_000


@pytest.mark.parametrize("outcome", [Outcome.CANCELLED, Outcome.TIMED_OUT])
def test_it_honours_a_cancel(runner: Driver, outcome: Outcome):
    claim = runner.start("nap", attempt=2, seconds=1000)
    runner.printed(claim, "asleep since attempt 2")
    assert runner.progress(claim) == [{"asleep": True}]
    runner.cancel(claim, outcome)
    assert runner.end(claim).outcome is outcome


def test_it_tells_failures(runner: Driver):
    ended = runner.run("nap", seconds=-1)
    assert ended.outcome is Outcome.FAILED
    assert ended.failure is not None
    assert (ended.failure.type, ended.failure.message) == ("RangeError", "can't sleep for -1 s")


def test_it_answers_pings_and_marks_what_it_cuts(runner: Driver):
    runner.ping(3)
    runner.until(lambda: 3 in runner.pongs())
    claim = runner.start("greet", room=20, name="Ada", times=3)
    runner.end(claim)
    assert runner.text(claim) == "hello Ada 0\n[mainspring: 24 bytes cut here; 10 MiB are kept per job]\n"


def test_told_to_stop_it_finishes_and_exits():
    with driving(argv=(str(NODE), str(Path(__file__).parent / "runners" / "runner.mjs"))) as driver:
        driver.app = "node"
        claim = driver.start("nap", seconds=0.3)
        driver.printed(claim, "asleep")
        driver.stop()
        assert driver.death().evidence["exit_code"] == 0
        assert driver.end(claim).outcome is Outcome.SUCCEEDED
