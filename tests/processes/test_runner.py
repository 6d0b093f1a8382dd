"""A real runner under a real guard: jobs of every kind begin, print, end, and end wrong."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mainspring.domain.frame import Hello, Unusable
from mainspring.domain.states import Outcome
from tests.processes.runners.driver import Driver, driving


@pytest.fixture(scope="module")
def runner() -> Iterator[Driver]:
    with driving() as driver:
        yield driver


def test_a_runner_says_hello_with_its_catalog(runner: Driver):
    hello = runner.hello()
    assert isinstance(hello, Hello)
    assert (hello.protocol, hello.language, hello.pid) == (1, "python", runner.process.pid)
    assert hello.catalog.app == "jobs"
    assert {"jobs.noop", "jobs.shell", "jobs.echo_process"} <= {task.name for task in hello.catalog.tasks}


@pytest.mark.parametrize("task", ["echo", "echo_thread", "echo_process", "echo_process_async"])
def test_a_result_comes_back(runner: Driver, task: str):
    ended = runner.run(task, value={"a": [1, "ü", None]})
    assert ended.outcome is Outcome.SUCCEEDED, ended
    assert bytes(ended.result) == '{"a":[1,"ü",null]}'.encode()
    assert ended.sandbox == ("S1, without limits" if "process" in task else "S0")


@pytest.mark.parametrize("task", ["echo", "echo_thread", "echo_process"])
def test_large_parameters_follow_on_bulk(runner: Driver, task: str):
    text = "x" * 900_000
    ended = runner.run(task, value=text)
    assert ended.outcome is Outcome.SUCCEEDED
    assert bytes(ended.result).decode() == f'"{text}"'


def test_many_at_once(runner: Driver):
    claims = [runner.start(task) for _ in range(300) for task in ("noop", "echo_thread")]
    for claim in claims[::2]:
        assert runner.end(claim, within=20).outcome is Outcome.SUCCEEDED


def test_each_attempt_knows_who_it_is(runner: Driver):
    claim = runner.start("whoami", attempt=3)
    assert bytes(runner.end(claim).result).decode().endswith(',3,"jobs.whoami"]')


@pytest.mark.parametrize("task", ["fail", "fail_thread", "fail_process"])
def test_a_failure_shows_the_users_lines_and_no_others(runner: Driver, task: str):
    ended = runner.run(task, text="not paid")
    assert ended.outcome is Outcome.FAILED
    assert not ended.final
    failure = ended.failure
    assert failure is not None
    assert (failure.type, failure.message) == ("Unpaid", "not paid")
    assert "raise Unpaid(text)" in failure.traceback
    assert "src/mainspring" not in failure.traceback
    assert {"Unpaid", "jobs.Unpaid", "Exception", "builtins.Exception", "BaseException"} <= set(failure.types)


def test_an_error_may_choose_its_delay(runner: Driver):
    assert runner.run("fail_later").retry_after == "7s"
    assert runner.run("fail_with_attribute").retry_after == 3


def test_a_delay_that_is_none_is_said_in_the_failure(runner: Driver):
    ended = runner.run("fail_later", delay="soon")
    assert (ended.retry_after, ended.failure.message if ended.failure else "") == (None, "busy")
    assert ended.failure is not None
    assert ended.failure.evidence == {
        "retry_after_ignored": "'soon' is not a duration; the policy's delay was taken",
    }
    fine = runner.run("fail_later").failure
    assert fine is not None
    assert fine.evidence == {}


def test_an_error_that_can_not_be_told_is_told_all_the_same(runner: Driver):
    ended = runner.run("fail_badly")
    assert ended.failure is not None
    assert ended.failure.message == "(its text could not be made: RuntimeError)"
    assert ended.retry_after is None


@pytest.mark.parametrize(
    ("task", "params", "kind"),
    [
        ("leave", {"where": "loop"}, "SystemExit"),
        ("leave", {"where": "memory"}, "MemoryError"),
        ("leave_thread", {}, "SystemExit"),
    ],
)
def test_leaving_is_a_failure_and_the_runner_goes_on(runner: Driver, task: str, params: dict[str, Any], kind: str):
    ended = runner.run(task, **params)
    assert ended.failure is not None
    assert (ended.outcome, ended.failure.type) == (Outcome.FAILED, kind)
    assert runner.run("noop").outcome is Outcome.SUCCEEDED


@pytest.mark.parametrize(
    ("kind", "failure", "words"),
    [
        ("large", "ResultTooLarge", "result_too_large: "),
        ("nan", "InvalidJson", "result.a[1]"),
        ("nul", "InvalidText", "result.a[0]"),
        ("object", "InvalidJson", "object"),
        ("surrogate", "InvalidText", "result"),
    ],
)
def test_a_result_that_can_not_be_stored_fails_for_good(runner: Driver, kind: str, failure: str, words: str):
    ended = runner.run("give", kind=kind)
    assert ended.outcome is Outcome.FAILED
    assert ended.final
    assert ended.failure is not None
    assert ended.failure.type == failure
    assert words in ended.failure.message


def test_parameters_that_do_not_fit_and_unknown_tasks_fail(runner: Driver):
    wrong = runner.run("talk", name="x", lines="many")
    assert wrong.failure is not None
    assert (wrong.outcome, wrong.failure.type) == (Outcome.FAILED, "InvalidParameters")
    assert "lines" in wrong.failure.message
    assert wrong.unfit
    unknown = runner.run("nobody")
    assert unknown.failure is not None
    assert unknown.failure.message == "this runner's app has no task 'jobs.nobody'"


def test_progress_is_passed_on_and_details_come_back_to_the_next_attempt(runner: Driver):
    for task, row, done in (("tell", 7, 1), ("tell_process", 8, 3)):
        claim = runner.start(task, details={"details": {"row": 1}})
        ended = runner.end(claim)
        assert bytes(ended.result) == b'{"row":1}'
        assert b'"row":%d' % row in bytes(ended.details)
        assert runner.progress(claim)[-1]["done"] == done


def test_reports_are_thinned_out(runner: Driver):
    claim = runner.start("tell_often", times=5000)
    ended = runner.end(claim)
    assert b'"done":4999' in bytes(ended.details)
    assert len(runner.progress(claim)) < 50


def test_the_loop_answers_pings_and_ignores_signals_that_are_not_for_it(runner: Driver):
    os.kill(runner.process.pid, signal.SIGINT)
    os.kill(runner.process.pid, signal.SIGTERM)
    runner.ping(41)
    runner.until(lambda: 41 in runner.pongs())


def test_told_to_stop_it_finishes_and_exits():
    with driving() as driver:
        claim = driver.start("talk_thread", name="a", lines=100)
        driver.printed(claim, "a 0")
        driver.stop()
        death = driver.death()
        assert death.evidence["exit_code"] == 0
        assert death.killed is None
        assert driver.end(claim).outcome is Outcome.SUCCEEDED
        assert driver.text(claim).splitlines()[-1] == "a 99"


def test_an_app_that_can_not_be_imported_is_unusable(tmp_path: Path):
    broken = tmp_path / "broken.py"
    broken.write_text("import os\n\nvalue = int('nine')  # the culprit\n")
    with driving(broken, greet=False) as driver:
        said = driver.hello()
        assert isinstance(said, Unusable)
        assert "broken.py" in said.message
        assert "line 3" in said.message
        assert "int('nine')  # the culprit" in said.message
        assert "invalid literal for int()" in said.message
        assert driver.death().evidence["exit_code"] == 4


@pytest.mark.parametrize("bad", [b"this is no JSON\n", b'{"type":"dance"}\n', b'{"type":"start","job":"seven"}\n'])
def test_a_runner_that_is_spoken_to_badly_says_so_and_ends(bad: bytes, capfd: pytest.CaptureFixture[str]):
    with driving() as driver:
        driver.process.control.socket.send(bad)
        assert driver.death().evidence["exit_code"] == 1
    assert "A frame can't be read" in capfd.readouterr().err
