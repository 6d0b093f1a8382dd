"""A limit on requests of one asker: a steady rate with room for a burst, and never for the probes of health."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from mainspring.chance import SeededChance
from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.errors import TooManyRequests
from mainspring.server.exchange import Access, Answer, Entry
from mainspring.server.operation import gives
from mainspring.server.pace import AHEAD, Pace
from mainspring.server.web import Web
from mainspring.testing.virtual import VirtualClock

AT_ONCE = 5 * AHEAD // SECOND + 1
"""Requests that one may make at once at a rate of 5."""


def test_who_asks_faster_than_the_rate_is_told_when_to_come_back() -> None:
    clock = VirtualClock()
    pace = Pace(clock, 5)
    for _ in range(AT_ONCE):
        pace.take("ann")
    with pytest.raises(TooManyRequests) as raised:
        pace.take("ann")
    assert raised.value.retry_after == 1
    pace.take("bob")
    clock.wait(Duration(raised.value.retry_after * SECOND))
    for _ in range(5):
        pace.take("ann")
    with pytest.raises(TooManyRequests):
        pace.take("ann")


def test_who_keeps_to_the_rate_is_never_stopped() -> None:
    clock = VirtualClock()
    pace = Pace(clock, 5)
    for _ in range(1_000):
        pace.take("ann")
        clock.wait(Duration(200 * MILLISECOND))


def test_another_rate_holds_from_now_on_and_none_is_no_limit() -> None:
    pace = Pace(VirtualClock())
    for _ in range(1_000):
        pace.take("ann")
    pace.adopt(1)
    for _ in range(AHEAD // SECOND + 1):
        pace.take("ann")
    with pytest.raises(TooManyRequests):
        pace.take("ann")


async def asked(web: Web, path: str, host: str) -> tuple[int, dict[str, str], dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "client": (host, 1)}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await web(scope | {"headers": [(b"host", b"127.0.0.1:8750")]}, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, json.loads(body)


def test_a_server_answers_429_to_that_address_alone_and_goes_on_telling_its_health() -> None:
    entries = [
        Entry("GET", "/x", Access.READ, lambda _: Answer(200, {}), gives("Nothing")),
        Entry("GET", "/healthz", Access.PROBE, lambda _: Answer(200, {}), gives("Nothing")),
    ]
    web = Web(entries, 8750, SeededChance(1), pace=Pace(VirtualClock(), 1))

    async def crowd() -> None:
        for _ in range(AHEAD // SECOND + 1):
            assert (await asked(web, "/x", "10.0.0.1"))[0] == 200
        status, headers, problem = await asked(web, "/x", "10.0.0.1")
        assert (status, headers["content-type"]) == (429, "application/problem+json")
        assert (headers["retry-after"], problem["code"]) == ("1", "too_many_requests")
        assert (await asked(web, "/x", "10.0.0.2"))[0] == 200
        for _ in range(50):
            assert (await asked(web, "/healthz", "10.0.0.1"))[0] == 200

    asyncio.run(crowd())
    web.close()
