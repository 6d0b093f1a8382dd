"""Every route in every form of its address: whatever is not the way in is closed, before anything behind it is asked.

Spoken to in ASGI, in this process, with no client behind the handlers: a request that came through would be a fault of
the server, and no test would pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest

from mainspring.chance import SeededChance
from mainspring.clock import SystemClock
from mainspring.domain.access import PREFIX, Asker, Role
from mainspring.errors import Unauthenticated
from mainspring.server.admission import Admission
from mainspring.server.exchange import Entry
from mainspring.server.web import Web
from tests.house.openapi_file import entries

PUBLIC = {"/healthz", "/readyz", "/api/v1/login"}

FORMS = (
    *("{0}", "{0}/", "/{0}", "/.{0}", "{0}/.", "{0}/../healthz", "/healthz/..{0}", "/healthz{0}", "{0}/healthz"),
    *("{0}/readyz", "{0}/api/v1/login", "{0};x", "{0};/healthz", "{0}%2fhealthz", "{0}%00", "{0}%00/healthz"),
    *("{0}.", "{0}.json", "{0}%20", "{0}%0a", "{0}%3f/healthz", "{0}#/healthz", "{0}\\healthz", "{0}%5c..%5chealthz"),
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get")
OVERRIDES = tuple((name, b"GET") for name in (b"x-http-method-override", b"x-method-override", b"x-http-method"))
FORWARDED = ((b"x-original-url", b"/healthz"), (b"x-rewrite-url", b"/healthz"), (b"x-forwarded-prefix", b"/healthz"))

ROUTES = entries()


def recognise(secret: str) -> Asker:
    """Tokens of the test say themselves who they are of."""
    role, _, queue = secret.removeprefix(PREFIX).partition("-")
    if role not in set(Role):
        raise Unauthenticated("wrong")
    return Asker(role, Role(role), (queue,) if queue else None)


@pytest.fixture(scope="module")
def web() -> Iterator[Web]:
    made = Web(ROUTES, 8750, SeededChance(1), admission=Admission(recognise, SystemClock(), lambda _: "mail"))
    yield made
    made.close()


async def ask(
    web: Web, method: str, path: str, *headers: tuple[bytes, bytes], host: str = "10.0.0.1"
) -> tuple[int, Any]:
    """The status of an answer, and what it says. ``host``: who asks."""
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "method": method,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": b"",
        "client": (host, 1),
        "headers": [(b"host", b"box:8750"), (b"content-type", b"application/json"), *headers],
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await web(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], json.loads(body)


def address(entry: Entry) -> str:
    return re.sub(r"\{\w+\}", "1", entry.path)


@pytest.mark.parametrize("form", FORMS)
async def test_no_form_of_an_address_opens_it_without_a_token(web: Web, form: str) -> None:
    for entry in ROUTES:
        path = form.format(address(entry))
        if unquote(path) not in PUBLIC:
            status, said = await ask(web, entry.method, path)
            assert status in {401, 404, 405}, (entry.method, path, said)


async def test_an_address_in_upper_case_opens_nothing_without_a_token(web: Web) -> None:
    for entry in ROUTES:
        for path in (address(entry).upper(), address(entry).title()):
            status, said = await ask(web, entry.method, path)
            assert status in {401, 404, 405}, (entry.method, path, said)


@pytest.mark.parametrize("method", METHODS)
async def test_no_other_method_opens_an_address_without_a_token(web: Web, method: str) -> None:
    for path in sorted({address(entry) for entry in ROUTES} - PUBLIC):
        for headers in ((), OVERRIDES, FORWARDED):
            status, said = await ask(web, method, path, *headers)
            assert status in {401, 404, 405}, (method, path, said)


async def test_a_wrong_token_opens_no_route(web: Web) -> None:
    for number, entry in enumerate(ROUTES):
        for turn, wrong in enumerate((b"Bearer mst_wrong", b"Basic YTpi", b"Bearer mss_admin")):
            host = f"10.0.{turn}.{number % 250}"  # wrong ones are counted for each address
            status, said = await ask(web, entry.method, address(entry), (b"authorization", wrong), host=host)
            assert status == 401 or entry.path in PUBLIC, (entry.method, entry.path, said)


async def test_who_may_only_look_changes_nothing(web: Web) -> None:
    token = (b"authorization", b"Bearer mst_viewer")
    for entry in ROUTES:
        if entry.needs is not None and entry.needs is not Role.VIEWER:
            status, said = await ask(web, entry.method, address(entry), token)
            assert (status, said["code"]) == (403, "role_too_low"), (entry.method, entry.path)


NOT_OF_QUEUES = {
    *("GET /", "GET /api/docs", "GET /api/openapi.json", "GET /api/v1/tasks", "GET /api/v1/tasks/{name}"),
    *("GET /api/v1/workers", "GET /api/v1/workers/{id}", "POST /api/v1/schedules/preview", "GET /api/v1/session"),
    *("POST /api/v1/login", "POST /api/v1/logout", "GET /healthz", "GET /readyz"),
}
"""Open to whoever is kept to some queues, as they tell of none."""

OF_ONE_QUEUE = {
    *("GET /api/v1/queues", "GET /api/v1/queues/{name}", "PATCH /api/v1/queues/{name}"),
    *("GET /api/v1/jobs", "GET /api/v1/jobs/count", "POST /api/v1/jobs", "POST /api/v1/jobs/batch"),
    *("POST /api/v1/jobs/bulk", "GET /api/v1/events", "GET /api/v1/series"),
    *(f"GET /api/v1/jobs/{{id}}{more}" for more in ("", "/attempts", "/events", "/explain", "/logs")),
    *(f"POST /api/v1/jobs/{{id}}/{verb}" for verb in ("cancel", "retry")),
}
"""Open to them where they are about one of these queues; test_users.py has the cases."""


async def test_who_is_kept_to_a_queue_finds_every_other_route_closed(web: Web) -> None:
    token = (b"authorization", b"Bearer mst_admin-audio")
    names = {f"{entry.method} {entry.path}" for entry in ROUTES}
    assert names >= NOT_OF_QUEUES | OF_ONE_QUEUE
    for entry in ROUTES:
        name = f"{entry.method} {entry.path}"
        if name not in NOT_OF_QUEUES | OF_ONE_QUEUE:
            status, said = await ask(web, entry.method, address(entry), token)
            assert (status, said["code"]) == (403, "out_of_reach"), name
    for name in OF_ONE_QUEUE:
        method, _, path = name.partition(" ")
        if "{" in path:  # job 1 is in the queue mail, and 1 is no queue of theirs
            status, said = await ask(web, method, re.sub(r"\{\w+\}", "1", path), token)
            assert (status, said["code"]) == (403, "out_of_reach"), name
