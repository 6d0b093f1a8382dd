"""The trace of a submit reaches the code of its job, wherever that runs, and what it submits in turn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec import Raw

from mainspring.domain.frame import Answer, Hello, Request
from tests.processes.runners.driver import APPS, Driver, driving

PLACE = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
WITHIN = f"00-{PLACE}-01"


@pytest.fixture(scope="module")
def runner() -> Iterator[Driver]:
    with driving(APPS / "traced.py") as driver:
        driver.app = "traced"
        yield driver


@pytest.mark.parametrize("task", ["look", "look_thread", "look_process"])
def test_spans_of_a_job_are_below_its_attempt(runner: Driver, task: str):
    (hello,) = runner.said(Hello)
    assert hello.traced
    ended = runner.end(runner.start(task, trace=WITHIN))
    assert json.loads(bytes(ended.result)) == [PLACE, WITHIN]
    outside = runner.end(runner.start("look"))
    assert json.loads(bytes(outside.result)) == [f"{0:032x}-{0:016x}", ""]


def test_what_a_job_submits_is_in_its_trace(runner: Driver):
    asked: list[Any] = []

    def desk(request: Request) -> Answer:
        asked.append(json.loads(bytes(request.body)))
        return Answer(request.number, Raw(b"[[4711, true]]" if request.verb == "submit" else b"null"))

    runner.desk = desk
    runner.end(runner.start("hand_on", trace=WITHIN))
    assert f'"traceparent": "{WITHIN}"' in json.dumps(asked)


def test_an_app_that_does_not_use_opentelemetry_is_told_of_no_trace():
    with driving() as driver:
        (hello,) = driver.said(Hello)
        assert not hello.traced
