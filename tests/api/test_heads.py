"""Requests whose head is endless, or never comes: one connection costs a server little, and the others nothing."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import pytest
import uvicorn

from mainspring.clock import MILLISECOND, Duration
from mainspring.server.connection import HEAD_LIMIT, Patient
from tests.api.serving import API, Serving, eventually

LONG = b"x" * (HEAD_LIMIT + 1)


def refusal(answer: bytes) -> tuple[bytes, str]:
    """The status line and the code of a problem document."""
    head, _, body = answer.partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json" in head
    code: str = json.loads(body)["code"]
    return head.partition(b"\r\n")[0], code


@pytest.mark.parametrize("begun", [b"GET /", b"GET /healthz HTTP/1.1\r\nX-A: ", b"GET /healthz HTTP/1.1\r\n"])
def test_a_head_without_an_end_is_refused_as_it_arrives(server: Serving, begun: bytes) -> None:
    headers = b"a: b\r\n" * (HEAD_LIMIT // 6 + 1)
    rest = headers if begun.endswith(b"\r\n") else LONG
    assert refusal(server.raw(begun + rest)) == (
        b"HTTP/1.1 431 Request Header Fields Too Large",
        "head_too_large",
    )
    assert server.http.get("/healthz").status_code == 200


def test_a_long_head_and_a_longer_body_are_taken(server: Serving) -> None:
    answer = server.http.get(f"{API}/jobs", headers={"x-a": "x" * 60_000})
    assert answer.status_code == 200
    job = server.http.post(f"{API}/jobs", json={"task": "shop.echo", "params": {"text": "x" * 900_000}})
    assert job.json()["code"] == "unknown_task", "it was read to its end: no worker has told of tasks here"


@pytest.mark.parametrize(
    "junk", [b"BREW / HTTP/1.1\r\nHost: x\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\r\n\r\n"]
)
def test_what_can_not_be_read_is_told_so_in_a_problem_document(server: Serving, junk: bytes) -> None:
    assert refusal(server.raw(junk)) == (b"HTTP/1.1 400 Bad Request", "malformed_request")


def test_a_method_that_is_known_and_not_taken_is_told_so(server: Serving) -> None:
    answer = server.raw(
        f"PROPFIND /healthz HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n".encode()
    )
    assert refusal(answer) == (b"HTTP/1.1 405 Method Not Allowed", "method_not_allowed")


class Hasty(Patient):
    """A connection that waits less long for a head."""

    head_time = Duration(300 * MILLISECOND)


class Small:
    """Uvicorn with such connections. ``/long`` is answered once the test says so, all else at once."""

    def __init__(self, protocol: type[Patient] = Hasty) -> None:
        self.go = threading.Event()
        config = uvicorn.Config(
            self._app, port=0, http=protocol, lifespan="off", interface="asgi3", log_config=None, timeout_keep_alive=60
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        eventually(lambda: self._server.started)
        self._port = self._server.servers[0].sockets[0].getsockname()[1]

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/long":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
            await send({"type": "http.response.body", "body": b"a", "more_body": True})
            await asyncio.get_running_loop().run_in_executor(None, self.go.wait, 60)
            await send({"type": "http.response.body", "body": b"b"})
            return
        while scope["method"] == "POST" and (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    def connection(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self._port), timeout=30)

    def close(self) -> None:
        """It ends in order, with no connection left."""
        self.go.set()
        self._server.should_exit = True
        self._thread.join()


@pytest.fixture(scope="module")
def small() -> Iterator[Small]:
    one = Small()
    yield one
    one.close()


def until(connection: socket.socket, end: bytes) -> None:
    """Read up to this end."""
    data = b""
    while not data.endswith(end):
        piece = connection.recv(65_536)
        assert piece, data
        data += piece


def rest(connection: socket.socket) -> bytes:
    """All that comes until the server hangs up."""
    data = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(65_536):
            data += piece
    return data


def test_a_head_that_does_not_come_is_given_up(small: Small) -> None:
    with small.connection() as half, small.connection() as silent:
        half.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-A")
        assert refusal(rest(half)) == (b"HTTP/1.1 408 Request Timeout", "request_timeout")
        assert rest(silent) == b""


def test_drops_of_a_head_give_it_no_more_time(small: Small) -> None:
    with small.connection() as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-A: ")
        slow.settimeout(0.05)
        data = b""
        while not data:
            slow.sendall(b"x")
            with suppress(TimeoutError):
                data = slow.recv(65_536)
        assert refusal(data)[1] == "request_timeout"


def test_the_next_head_on_a_connection_that_is_kept_has_its_time_too(small: Small) -> None:
    with small.connection() as kept:
        kept.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        until(kept, b"ok")
        kept.sendall(b"\r\nGET / HT")
        assert refusal(rest(kept))[1] == "request_timeout"


def test_half_a_head_behind_a_request_does_not_end_its_answer(small: Small) -> None:
    with small.connection() as two:
        two.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
        until(two, b"\r\n\r\na")
        two.sendall(b"GET / HT")
        two.settimeout(0.7)
        with pytest.raises(TimeoutError):
            two.recv(1)
        two.settimeout(30)
        small.go.set()
        assert two.recv(1) == b"b"
        assert refusal(rest(two))[1] == "request_timeout"


def test_trailers_without_an_end_are_not_kept(small: Small) -> None:
    with small.connection() as endless:
        endless.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-A: ")
        with suppress(ConnectionResetError, BrokenPipeError):
            for _ in range(4):
                endless.sendall(LONG)
        assert rest(endless) == b"", "there is nothing to say amid an answer"


class Narrow(Patient):
    """Few of these are open at once."""

    most = 3


@pytest.fixture
def narrow() -> Iterator[Small]:
    one = Small(Narrow)
    yield one
    one.close()


def test_where_there_are_too_many_whoever_has_been_silent_for_longest_makes_room(narrow: Small) -> None:
    with ExitStack() as stack:
        long, silent, kept = (stack.enter_context(narrow.connection()) for _ in range(3))
        long.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
        until(long, b"\r\n\r\na")
        silent.sendall(b"GET / HT")
        for one in (kept, stack.enter_context(narrow.connection())):
            one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            until(one, b"ok")
        assert rest(silent) == b"", "it is hung up on, and nobody else is"
        narrow.go.set()
        until(long, b"b")
        kept.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        until(kept, b"ok")


def test_where_all_are_being_answered_one_more_is_told_to_come_back(narrow: Small) -> None:
    with ExitStack() as stack:
        for _ in range(3):
            one = stack.enter_context(narrow.connection())
            one.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
            until(one, b"\r\n\r\na")
        more = stack.enter_context(narrow.connection())
        answer = rest(more)
        assert refusal(answer) == (b"HTTP/1.1 429 Too Many Requests", "too_busy")
        assert b"retry-after: 1" in answer.lower()
        narrow.go.set()


def test_a_server_has_no_more_connections_than_leave_the_store_its_files() -> None:
    program = (
        "from resource import *; from mainspring.server.serving import room_for_connections as room; "
        "setrlimit(RLIMIT_NOFILE, (256, 300)); print(room(), getrlimit(RLIMIT_NOFILE))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "150 (300, 300)\n"
