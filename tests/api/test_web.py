"""The limits of the web application: slow bodies, slow handlers, crowds, faults. Spoken to in ASGI, in this process."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from mainspring.chance import SeededChance
from mainspring.clock import MILLISECOND, Duration
from mainspring.server import request_id
from mainspring.server.exchange import Access, Answer, Asked, Entry
from mainspring.server.operation import gives
from mainspring.server.web import Limits, Web

SHORT = Duration(50 * MILLISECOND)
LIMITS = Limits(
    body_time=SHORT, answer_time=SHORT, linger=SHORT, waiting=2, bytes_held=1000, threads=2, probe_threads=1
)
HEADERS = [(b"host", b"127.0.0.1:8750"), (b"content-type", b"application/json")]


class Exchange:
    """One request: what the client sends piece by piece, and what it got back."""

    def __init__(
        self, path: str, *pieces: bytes, more: bool = False, length: bool = True, request: bytes | None = None
    ) -> None:
        self.path = path
        self._named = [] if request is None else [(b"X-Request-ID", request)]
        self.sent: list[dict[str, Any]] = []
        self._pieces = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
        if pieces and not more:
            self._pieces[-1]["more_body"] = False
        self._headers = [*HEADERS, (b"transfer-encoding", b"chunked")] if length and pieces else HEADERS

    async def run(self, web: Web) -> tuple[int, dict[str, Any]]:
        scope = {
            "type": "http",
            "method": "POST" if self._pieces else "GET",
            "path": self.path,
            "query_string": b"",
            "headers": [*self._headers, *self._named],
        }
        await web(scope, self._receive, self._send)
        body = b"".join(message.get("body", b"") for message in self.sent)
        self.said: dict[str, Any] = json.loads(body)
        return self.sent[0]["status"], self.said

    async def _receive(self) -> dict[str, Any]:
        if self._pieces:
            return self._pieces.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    async def _send(self, message: Any) -> None:
        self.sent.append(message)


class Desk:
    """Handlers of the test: one that waits until it may go on, one that fails, one that answers."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.entries = [
            Entry("GET", "/slow", Access.READ, self.slow, gives("Nothing")),
            Entry("GET", "/broken", Access.READ, self.broken, gives("Nothing")),
            Entry("GET", "/odd", Access.READ, self.odd, gives("Nothing")),
            Entry("GET", "/probe", Access.PROBE, self.quick, gives("Nothing")),
            Entry("POST", "/quick", Access.CHANGE, self.quick, gives("Nothing")),
        ]

    def slow(self, _: Asked) -> Answer:
        self.go.wait(60)
        return Answer(200, {})

    def broken(self, _: Asked) -> Answer:
        raise KeyError("the inside of the house")

    def odd(self, _: Asked) -> Answer:
        logging.getLogger("mainspring.server").warning("something is odd")
        return Answer(200, {})

    def quick(self, asked: Asked) -> Answer:
        return Answer(200, {"length": len(asked.body)})


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.go.set()


@pytest.fixture
def web(desk: Desk) -> Iterator[Web]:
    made = Web(desk.entries, 8750, SeededChance(1), LIMITS)
    yield made
    desk.go.set()
    made.close()


async def test_a_body_in_pieces_is_put_together(web: Web) -> None:
    assert await Exchange("/quick", b"12", b"345").run(web) == (200, {"length": 5})


async def test_a_body_that_does_not_come_is_given_up(web: Web) -> None:
    status, problem = await Exchange("/quick", b"12", more=True).run(web)
    assert (status, problem["code"]) == (408, "request_timeout")
    assert "2 bytes came" in problem["detail"]


async def test_an_answer_that_does_not_come_leaves_open_what_happened(web: Web) -> None:
    status, problem = await Exchange("/slow").run(web)
    assert (status, problem["code"]) == (504, "answer_timeout")
    assert "may have been made" in problem["remedy"]


async def test_a_crowd_is_told_to_come_back_and_probes_are_not_part_of_it(web: Web) -> None:
    waiting = [asyncio.create_task(Exchange("/slow").run(web)) for _ in range(LIMITS.waiting)]
    await asyncio.wait(waiting, timeout=0.001)
    late = Exchange("/slow")
    status, problem = await late.run(web)
    assert (status, problem["code"]) == (429, "too_busy")
    assert (b"retry-after", b"1") in late.sent[0]["headers"]
    assert (await Exchange("/probe").run(web))[0] == 200
    assert [status for status, _ in await asyncio.gather(*waiting)] == [504, 504]


async def test_bodies_together_are_bounded_and_let_go(web: Web, desk: Desk) -> None:
    status, problem = await Exchange("/quick", b"x" * 1001).run(web)
    assert (status, problem["code"]) == (429, "too_busy")
    for _ in range(3):
        assert (await Exchange("/quick", b"x" * 900).run(web))[0] == 200


async def test_a_fault_of_ours_tells_nothing_of_our_insides(web: Web, caplog: pytest.LogCaptureFixture) -> None:
    status, problem = await Exchange("/broken").run(web)
    assert (status, problem["code"]) == (500, "mainspring_error")
    assert "inside of the house" not in json.dumps(problem)
    (record,) = caplog.records
    assert "the inside of the house" in caplog.text
    assert record.getMessage().partition("(")[2].rstrip(")") in problem["detail"]


@pytest.mark.parametrize("given", [None, b"r-7f:3/a+b=c@d._", b"", b"two words", b"\xff", b"x" * 101])
async def test_a_request_has_an_id_in_its_answer_its_problem_and_all_that_is_logged_meanwhile(
    web: Web, given: bytes | None
) -> None:
    fits = given is not None and given.startswith(b"r-")
    seen: list[dict[str, str]] = []

    class Seen(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(request_id.bound())

    handler = Seen()
    log = logging.getLogger("mainspring.server")
    log.addHandler(handler)
    try:
        for path, status in (("/odd", 200), ("/broken", 500), ("/nowhere", 404)):
            exchange = Exchange(path, request=given)
            assert (await asyncio.create_task(exchange.run(web)))[0] == status  # as a server does
            answered = dict(exchange.sent[0]["headers"])[b"x-request-id"].decode()
            assert (answered == (given or b"").decode("latin-1")) == fits
            assert exchange.said.get("request", answered) == answered
            assert ("request" in exchange.said) == (status != 200)
            assert seen == ([] if status == 404 else [{"request": answered}])
            seen.clear()
    finally:
        log.removeHandler(handler)
    assert request_id.bound() == {}, "of no other"


async def test_websockets_are_turned_away(web: Web) -> None:
    said: list[Any] = []

    async def send(message: Any) -> None:
        said.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    await web({"type": "websocket", "path": "/api/v1/jobs", "headers": HEADERS}, receive, send)
    assert said == [{"type": "websocket.close", "code": 1008}]
