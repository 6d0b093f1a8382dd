"""GET /events: one ordered stream of all that happens, resumable, filtered, and bounded for each who listens."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import httpx2
import pytest
import uvicorn

from mainspring.clock import MILLISECOND, Duration
from mainspring.domain.states import Outcome
from mainspring.server.connection import Patient
from tests.api.serving import API, HandWorker, Serving, eventually
from tests.api.test_refusals import problem

pytestmark = pytest.mark.usefixtures("worker")


def events(lines: Iterator[str]) -> Iterator[tuple[str, Any, str]]:
    """Name, value and cursor of each event; a cursor alone has neither."""
    fields: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if line and name:
            fields[name] = value
        elif fields:
            yield fields.get("event", ""), json.loads(fields.get("data", "null")), fields.get("id", "")
            fields = {}


@contextmanager
def listening(server: Serving, query: str = "", **headers: str) -> Iterator[Iterator[tuple[str, Any, str]]]:
    """Somebody who listens, once the server knows where he begins."""
    with server.http.stream("GET", f"{API}/events{query}", headers=headers) as answer:
        assert answer.status_code == 200, answer.read()
        assert answer.headers["content-type"] == "text/event-stream"
        told = events(answer.iter_lines())
        if "last-event-id" not in headers and "cursor" not in query:
            name, _, cursor = next(told)
            assert (name, cursor.isdigit()) == ("", True), "where it begins, before anything has happened"
        yield told


def moves(told: Iterator[tuple[str, Any, str]], count: int) -> list[tuple[int, str]]:
    return [(value["job"], value["to"]) for name, value, _ in islice((one for one in told if one[0]), count)]


def test_what_happens_is_told_in_order_and_once_also_to_one_that_comes_back(
    server: Serving, worker: HandWorker
) -> None:
    with listening(server) as told:
        first = server.submit(queue="told")["id"]
        name, value, cursor = next(told)
        assert (name, value["job"], value["from"], value["to"]) == ("job", first, "new", "queued")
        assert (value["task"], value["queue"], value["run"], str(value["seq"])) == ("shop.echo", "told", None, cursor)
    worker.claim("told")
    worker.end(first, Outcome.SUCCEEDED)
    second = server.submit(queue="told")["id"]
    with listening(server, **{"last-event-id": cursor}) as told:
        assert moves(told, 3) == [(first, "running"), (first, "succeeded"), (second, "queued")]


def test_filters_leave_out_the_rest(server: Serving, worker: HandWorker) -> None:
    with listening(server, "?queue=filtered&kind=succeeded,running") as told:
        server.submit(queue="other")
        job = server.submit(queue="filtered")["id"]
        worker.claim("filtered")
        with listening(server, f"?job={job}") as of_job:
            worker.end(job, Outcome.SUCCEEDED)
            assert moves(of_job, 1) == [(job, "succeeded")]
        assert moves(told, 2) == [(job, "running"), (job, "succeeded")]


def test_of_a_run_are_told_what_happens_to_it_to_its_nodes_and_to_their_jobs(
    server: Serving, worker: HandWorker
) -> None:
    nodes = [{"name": "join"}, {"name": "A", "task": "shop.echo", "queue": "of-run", "needs": ["join"]}]
    begun = [
        server.http.post(f"{API}/runs", json={"definition": {"name": name, "nodes": nodes}}).json()["id"]
        for name in ("this", "other")
    ]
    for _ in begun:
        worker.end(worker.claim("of-run"), Outcome.SUCCEEDED)
    with listening(server, f"?run={begun[0]}&cursor=0") as told:
        found = [(name, value["node"], value["to"]) for name, value, _ in islice((one for one in told if one[0]), 6)]
        assert found == [
            ("run", None, "pending"),
            ("node", "join", "succeeded"),
            ("job", "A", "queued"),
            ("job", "A", "running"),
            ("job", "A", "succeeded"),
            ("run", None, "succeeded"),
        ]
    with listening(server, f"?run={begun[0]}&kind=run.*,node.succeeded&cursor=0") as told:
        kinds = [(name, value["to"]) for name, value, _ in islice((one for one in told if one[0]), 3)]
        assert kinds == [("run", "pending"), ("node", "succeeded"), ("run", "succeeded")]


def test_the_whole_history_is_told_from_the_first_cursor(server: Serving) -> None:
    job = server.submit(queue="whole")["id"]
    with listening(server, f"?cursor=0&job={job}") as told:
        assert moves(told, 1) == [(job, "queued")]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("?kind=suceeded", 422, "invalid_input"),
        ("?job=x", 422, "invalid_input"),
        ("?cursor=x", 422, "invalid_cursor"),
        ("?cursor=9999999999", 422, "invalid_cursor"),
        ("?state=dead", 422, "invalid_input"),
    ],
)
def test_what_is_wrong_with_it_is_told_by_the_status(server: Serving, query: str, status: int, code: str) -> None:
    answer = server.http.get(f"{API}/events{query}")
    assert (answer.status_code, problem(answer)["code"]) == (status, code)


def test_one_that_takes_nothing_is_cut_off_and_one_that_does_is_not() -> None:
    """Uvicorn with our connection, which has little patience here, and answers that never end."""
    let_go = threading.Event()

    async def endless(scope: Any, _: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        size = 1_048_576 if scope["path"] == "/much" else 1
        while not let_go.is_set():
            await send({"type": "http.response.body", "body": b"x" * size, "more_body": True})
            await asyncio.get_running_loop().run_in_executor(None, let_go.wait, 0.01)

    class Hasty(Patient):
        patience = Duration(200 * MILLISECOND)

    config = uvicorn.Config(endless, port=0, http=Hasty, lifespan="off", log_config=None, log_level="critical")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        eventually(lambda: server.started)
        port = server.servers[0].sockets[0].getsockname()[1]
        connections = server.server_state.connections
        with httpx2.stream("GET", f"http://127.0.0.1:{port}/little", trust_env=False) as taken:
            pieces = taken.iter_raw()
            with socket.create_connection(("127.0.0.1", port)) as stuck:
                stuck.sendall(b"GET /much HTTP/1.1\r\nHost: x\r\n\r\n")
                eventually(lambda: next(pieces) and len(connections) == 2)
                eventually(lambda: next(pieces) and len(connections) == 1)
                assert next(pieces), "the other one goes on"
    finally:
        let_go.set()
        server.should_exit = True
        thread.join()
