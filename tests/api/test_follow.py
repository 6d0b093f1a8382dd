"""Lines of a job as they come: a stream that ends with the job, with its listener, or with the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mainspring.domain.logline import LogChunk
from mainspring.domain.states import Outcome
from mainspring.store import Store
from tests.api.serving import API, HandWorker, Serving, eventually
from tests.api.test_refusals import problem

pytestmark = pytest.mark.usefixtures("worker")


def write(store: Store, job: int, text: str) -> None:
    """What a job prints."""
    seq, _ = store.logs.kept(job)  # type: ignore[arg-type]
    store.logs.append([(job, seq + 1, 1, LogChunk(store.clock.now(), "stdout", text))])  # type: ignore[list-item]


def events(lines: Iterator[str]) -> Iterator[tuple[str, Any, str]]:
    """Name, value and cursor of each event."""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line and name:
            fields[name] = value
        elif fields:
            yield fields["event"], json.loads(fields["data"]), fields.get("id", "")
            fields = {}


def test_lines_come_while_the_job_runs_and_the_end_ends_it(server: Serving, store: Store, worker: HandWorker) -> None:
    job = server.submit(queue="follow")["id"]
    worker.claim("follow")
    write(store, job, "one")
    with server.http.stream("GET", f"{API}/jobs/{job}/logs?follow=true") as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "text/event-stream"
        told = events(answer.iter_lines())
        name, line, cursor = next(told)
        assert (name, line["text"], str(line["seq"])) == ("line", "one", cursor)
        write(store, job, "two")
        assert next(told)[1]["text"] == "two"
        worker.end(job, Outcome.SUCCEEDED, result=b"1")
        assert next(told)[:2] == ("end", {"id": job, "state": "succeeded"})
        assert next(told, None) is None
    with server.http.stream("GET", f"{API}/jobs/{job}/logs?follow=true", headers={"Last-Event-ID": cursor}) as answer:
        assert [one[1].get("text") for one in events(answer.iter_lines())] == ["two", None], (
            "it goes on behind the first"
        )


def test_what_is_wrong_with_it_is_told_by_the_status(server: Serving) -> None:
    missing = server.http.get(f"{API}/jobs/999999/logs?follow=true")
    assert (missing.status_code, problem(missing)["code"]) == (404, "unknown_job")
    job = server.submit(queue="never")["id"]
    wrong = server.http.get(f"{API}/jobs/{job}/logs?follow=true&cursor=x")
    assert (wrong.status_code, problem(wrong)["code"]) == (422, "invalid_cursor")


def test_a_listener_that_has_gone_costs_nothing_and_a_hundred_are_enough(server: Serving) -> None:
    job = server.submit(queue="never")["id"]
    opened = [server.http.stream("GET", f"{API}/jobs/{job}/logs?follow=true") for _ in range(90)]
    answers = [one.__enter__() for one in opened]
    assert {one.status_code for one in answers} == {200}
    assert server.http.get("/healthz").status_code == 200, "they hold no thread"
    for one in opened:
        one.__exit__(None, None, None)

    def free() -> bool:
        with server.http.stream("GET", f"{API}/jobs/{job}/logs?follow=true") as answer:
            return bool(answer.status_code == 200)

    eventually(free)


def test_the_end_of_the_server_ends_it_in_order(tmp_path: Path) -> None:
    serving = Serving(tmp_path)
    try:
        serving.wait_until_up()
        opened = Store.open(serving.database)
        HandWorker(opened).arrive()
        opened.close()
        job = serving.submit()["id"]
        with serving.http.stream("GET", f"{API}/jobs/{job}/logs?follow=true") as answer:
            assert serving.end() == 0
            assert list(events(answer.iter_lines())) == []
        assert len(serving.said.splitlines()) == 1, serving.said
    finally:
        serving.close()
