"""What is wrong in a request is refused with a problem document that names it, and nothing is changed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.api.serving import API, Serving

pytestmark = pytest.mark.usefixtures("worker")

JSON = {"content-type": "application/json"}


def post(server: Serving, body: bytes | str) -> tuple[int, dict[str, Any]]:
    """The problem that a submit with this body is answered with; no job may come of it."""
    before = newest(server)
    answer = server.http.post(f"{API}/jobs", content=body, headers=JSON)
    assert newest(server) == before
    return answer.status_code, problem(answer)


def problem(answer: Any) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    document: dict[str, Any] = answer.json()
    assert {"type", "title", "status", "detail", "code"} <= set(document)
    assert document["status"] == answer.status_code
    assert document["type"] == f"urn:mainspring:error:{document['code']}"
    return document


def newest(server: Serving) -> list[int]:
    return [job["id"] for job in server.http.get(f"{API}/jobs?limit=1").json()["items"]]


@pytest.mark.parametrize(
    ("fields", "status", "code", "field"),
    [
        ({"task": "receit"}, 422, "unknown_task", "task"),
        ({}, 422, "invalid_option", "task"),
        ({"task": 7}, 422, "invalid_option", "task"),
        ({"task": ""}, 422, "unknown_task", "task"),
        ({"task": "receipt"}, 422, "invalid_parameters", "params.order_id"),
        ({"task": "receipt", "params": {"order_id": "7"}}, 422, "invalid_parameters", "params.order_id"),
        ({"task": "receipt", "params": {"order_id": 7, "x": 1}}, 422, "invalid_parameters", "params.x"),
        ({"task": "echo", "params": [1]}, 422, "invalid_parameters", "params"),
        ({"task": "echo", "params": None}, 422, "invalid_parameters", "params"),
        ({"task": "echo", "priority": "high"}, 422, "invalid_option", "priority"),
        ({"task": "echo", "priority": 1001}, 422, "invalid_option", "priority"),
        ({"task": "echo", "delay": "soon"}, 422, "invalid_duration", "delay"),
        ({"task": "echo", "delay": -1}, 422, "invalid_duration", "delay"),
        ({"task": "echo", "delay": "1s", "run_at": "2199-01-01T00:00:00Z"}, 422, "invalid_option", "run_at"),
        ({"task": "echo", "run_at": "tomorrow"}, 422, "invalid_instant", "run_at"),
        ({"task": "echo", "run_at": "2199-01-01T00:00:00"}, 422, "invalid_instant", "run_at"),
        ({"task": "echo", "timeout": 0}, 422, "invalid_option", "timeout"),
        ({"task": "echo", "retry": {"max_attempts": 0}}, 422, "invalid_option", "retry.max_attempts"),
        ({"task": "echo", "retry": {"attempts": 3}}, 422, "invalid_option", "retry.attempts"),
        ({"task": "echo", "retry": 3}, 422, "invalid_option", "retry"),
        ({"task": "echo", "tags": {"a": 1}}, 422, "invalid_option", "tags"),
        ({"task": "echo", "tags": {"a=b": "1"}}, 422, "invalid_option", "tags"),
        ({"task": "echo", "queue": "../x"}, 422, "invalid_task", "queue"),
        ({"task": "echo", "parms": {}}, 422, "invalid_option", "parms"),
        ({"task": "echo", "unique": ""}, 422, "invalid_option", "unique"),
        ({"task": "echo", "unique": "k" * 256}, 422, "invalid_option", "unique"),
        ({"task": "echo", "unique": {"key": "k", "while": "running"}}, 422, "invalid_option", "unique.while"),
        ({"task": "echo", "unique": {"key": "k", "period": "soon"}}, 422, "invalid_duration", "unique.period"),
        ({"task": "echo", "needs": ["a"]}, 422, "not_yet_supported", "needs"),
        ({"task": "echo", "run_if": "always"}, 422, "not_yet_supported", "run_if"),
        ({"task": "echo", "memory": "1GiB"}, 422, "not_yet_supported", "memory"),
        ({"task": "echo", "requires": {"disk": "fast"}}, 422, "not_yet_supported", "requires"),
        ({"task": "echo", "params": {"text": "a\0b"}}, 422, "invalid_text", "params.text"),
        ({"task": "echo", "params": {"text": "x" * 1_048_576}}, 413, "payload_too_large", "params"),
        ({"task": "echo", "meta": "x" * 1_048_576}, 413, "payload_too_large", "meta"),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else "",
)
def test_a_wrong_submit_names_what_is_wrong(
    server: Serving, fields: dict[str, Any], status: int, code: str, field: str | None
) -> None:
    answered, document = post(server, json.dumps(fields))
    assert (answered, document["code"]) == (status, code), document
    if field is not None:
        assert document["field"].startswith(field), document


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 400, "malformed_json"),
        (b"{", 400, "malformed_json"),
        (b"{'task': 'echo'}", 400, "malformed_json"),
        (b'{"task": "echo",}', 400, "malformed_json"),
        (b'{"task": "echo"} x', 400, "malformed_json"),
        (b'\xff\xfe{"task": "echo"}', 400, "malformed_json"),
        (b'{"task": "ech\xff"}', 400, "malformed_json"),
        (b"[]", 422, "invalid_json"),
        (b"null", 422, "invalid_json"),
        (b'"echo"', 422, "invalid_json"),
        (b'{"task": "receipt", "task": "echo"}', 422, "invalid_json"),
        (b'{"task": "echo", "params": {"text": {"a": 1, "a": 2}}}', 422, "invalid_json"),
        (b'{"task": "echo", "params": {"text": NaN}}', 422, "invalid_json"),
        (b'{"task": "echo", "params": {"text": Infinity}}', 422, "invalid_json"),
        (b'{"task": "echo", "params": {"text": 1e999}}', 422, "invalid_json"),
        (b'{"task": "echo", "params": {"count": ' + b"9" * 300 + b"}}", 422, "invalid_json"),
        (b'{"task": "echo", "params": {"count": ' + b"9" * 5000 + b"}}", 422, "invalid_json"),
        (b'{"task": "echo", "params": {"text": "\\ud800"}}', 422, "invalid_text"),
        (b'{"task": "echo", "params": {"text": "\\u0000"}}', 422, "invalid_text"),
        (b'{"task": "echo", "params": {"text": ' + b"[" * 10_000 + b"]" * 10_000 + b"}}", 422, "invalid_json"),
        (b'{"task": "echo", "params": {"text": ' + b"[" * 200_000, 422, "invalid_json"),
    ],
    ids=lambda value: repr(value[:50]) if isinstance(value, bytes) else "",
)
def test_json_that_can_not_be_kept_is_refused(server: Serving, body: bytes, status: int, code: str) -> None:
    answered, document = post(server, body)
    assert (answered, document["code"]) == (status, code), document


def test_the_path_to_the_fault_is_told(server: Serving) -> None:
    _, document = post(server, b'{"task": "echo", "params": {"text": [{}, {"deep": NaN}]}}')
    assert document["field"] == "params.text[1].deep"


def test_near_matches_are_told(server: Serving) -> None:
    assert "shop.receipt" in post(server, b'{"task": "shop.receit"}')[1]["remedy"]
    assert "params" in post(server, b'{"task": "echo", "parms": {}}')[1]["remedy"]
    assert "state" in problem(server.http.get(f"{API}/jobs?stat=dead"))["remedy"]
    assert "succeeded" in problem(server.http.get(f"{API}/jobs?state=suceeded"))["remedy"]


def test_an_idempotency_key_that_cannot_be_one_is_refused(server: Serving) -> None:
    before = newest(server)
    for key in (b"", b"k" * 256, b"k\tk", "schlüssel".encode()):
        answer = server.http.post(f"{API}/jobs", json={"task": "echo"}, headers=[(b"Idempotency-Key", key)])
        assert (answer.status_code, problem(answer)["code"]) == (422, "invalid_option")
        assert problem(answer)["field"] == "Idempotency-Key"
    assert newest(server) == before


@pytest.mark.parametrize("text", ["999999", "0", "-1", "abc", "1.0", "9" * 30, "9223372036854775808", "job 1", "%00"])
@pytest.mark.parametrize("below", ["", "/attempts", "/events", "/logs", "/cancel", "/retry"])
def test_an_unknown_job_is_not_found(server: Serving, text: str, below: str) -> None:
    method = "POST" if below in {"/cancel", "/retry"} else "GET"
    answer = server.http.request(method, f"{API}/jobs/{text}{below}")
    assert (answer.status_code, problem(answer)["code"]) == (404, "unknown_job")
    if text == "999999":
        assert answer.json()["detail"] == "unknown job 999999"


@pytest.mark.parametrize(
    ("path", "code", "field"),
    [
        ("jobs?state=done", "invalid_input", "state"),
        ("jobs?state=new", "invalid_input", "state"),
        ("jobs?limit=0", "invalid_input", "limit"),
        ("jobs?limit=1001", "invalid_input", "limit"),
        ("jobs?limit=ten", "invalid_input", "limit"),
        ("jobs?limit=1&limit=2", "invalid_input", "limit"),
        ("jobs?cursor=xyz", "invalid_cursor", "cursor"),
        ("jobs?since=yesterday", "invalid_instant", "since"),
        ("jobs?until=2026-11-29T03:00:00", "invalid_instant", "until"),
        ("jobs?tag=team", "invalid_input", "tag"),
        ("jobs?task=nothing", "unknown_task", "task"),
        ("jobs?queue=%FF", "invalid_text", "query"),
        ("jobs?" + "&".join(f"a{number}=1" for number in range(200)), "invalid_input", "query"),
        ("jobs/1?x=1", "invalid_input", "x"),
        ("jobs/1/events?cursor=-1", "invalid_cursor", "cursor"),
        ("jobs/1/events?limit=10001", "invalid_input", "limit"),
        ("jobs/1/logs?attempt=0", "invalid_input", "attempt"),
        ("jobs/1/logs?follow=yes", "invalid_input", "follow"),
        ("tasks?name=x", "invalid_input", "name"),
    ],
)
def test_a_wrong_query_names_what_is_wrong(server: Serving, path: str, code: str, field: str) -> None:
    answer = server.http.get(f"{API}/{path}")
    assert (answer.status_code, problem(answer)["code"], answer.json()["field"]) == (422, code, field)


@pytest.mark.parametrize("path", ["/api", "/api/v1", "/api/v1/job", "/api/v1/jobs/", "/api/v1/jobs/1/x", "/metric"])
def test_an_address_with_nothing_at_it_is_not_found(server: Serving, path: str) -> None:
    answer = server.http.get(path)
    assert (answer.status_code, problem(answer)["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("DELETE", f"{API}/jobs", "GET, HEAD, POST"),
        ("PUT", f"{API}/jobs/1", "GET, HEAD"),
        ("GET", f"{API}/jobs/1/cancel", "POST"),
        ("POST", f"{API}/tasks", "GET, HEAD"),
        ("OPTIONS", f"{API}/jobs", "GET, HEAD, POST"),
        ("POST", "/healthz", "GET, HEAD"),
    ],
)
def test_a_wrong_method_is_answered_with_the_right_ones(server: Serving, method: str, path: str, allow: str) -> None:
    answer = server.http.request(method, path)
    assert (answer.status_code, problem(answer)["code"]) == (405, "method_not_allowed")
    assert answer.headers["allow"] == allow


def test_an_action_takes_no_fields(server: Serving) -> None:
    number = server.submit(delay="1h")["id"]
    answer = server.http.post(f"{API}/jobs/{number}/cancel", json={"force": True})
    assert (answer.status_code, problem(answer)["field"]) == (422, "force")
    assert server.job(number)["state"] == "scheduled"


@pytest.mark.parametrize("path", [f"{API}/jobs?queue=", f"{API}/audit?subject=", f"{API}/runs?workflow="])
def test_an_empty_part_of_the_query_is_refused_and_does_not_mean_all_or_nothing(server: Serving, path: str) -> None:
    answer = server.http.get(path)
    assert (answer.status_code, problem(answer)["code"]) == (422, "invalid_input")


def test_an_address_with_a_meaning_of_its_own_is_no_id(server: Serving) -> None:
    for path in ("batch", "bulk"):
        answer = server.http.get(f"{API}/jobs/{path}")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_token_is_not_revoked_by_a_request_with_fields_that_mean_nothing(server: Serving) -> None:
    made = server.http.post(f"{API}/tokens", json={"name": "kept", "role": "viewer"})
    answer = server.http.request("DELETE", f"{API}/tokens/kept", json={"when": "later"})
    assert (answer.status_code, problem(answer)["field"]) == (422, "when")
    assert server.http.delete(f"{API}/tokens/{made.json()['id']}").json()["revoked_at"]


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("POST", "/runs", {}, "definition"),
        ("POST", "/runs", {"definition": {"name": "w", "nodes": [{"task": "echo"}]}}, "nodes[0].name"),
        ("POST", "/runs", {"definition": {"name": "w", "nodes": [{"name": "a"}], "timeout": 0}}, "timeout"),
        ("PUT", "/workflows/w", {}, "nodes"),
        ("POST", "/jobs", {"task": "receipt", "unique": {}}, "unique.key"),
        ("POST", "/jobs", {"task": "receipt", "unique": {"key": "a", "wihle": 1}}, "unique.wihle"),
        ("POST", "/jobs", {"task": "receipt", "tags": {"a": 1}}, "tags"),
        ("POST", "/tokens", {"name": "x"}, "role"),
        ("POST", "/tokens", {"name": "x", "role": "admin", "expires_in": "soon"}, "expires_in"),
        ("POST", "/schedules/outage", {"name": "x"}, "from"),
        ("POST", "/schedules/outage", {"name": "x", "from": "2026-01-01T00:00Z"}, "to"),
        ("POST", "/schedules/load", {"for": "long"}, "for"),
        ("POST", "/schedules/load", {"from": "noon"}, "from"),
        ("POST", "/schedules/x/backfill", {"from": "2026-01-01T00:00:00Z"}, "to"),
        ("POST", "/schedules/x/backfill", {"from": "noon", "to": "2026-01-01T00:00:00Z"}, "from"),
        ("PUT", "/subscriptions/s", {}, "topic"),
        ("POST", "/webhooks", {"name": "w"}, "url"),
        ("POST", "/login", {"name": "w"}, "password"),
        ("GET", "/series?metric=moved&step=long", None, "step"),
        ("GET", "/jobs/events?kind=ended", None, "kind"),
    ],
)
def test_the_field_is_told_also_where_it_is_missing(
    server: Serving, method: str, path: str, body: dict[str, Any] | None, field: str
) -> None:
    told = problem(server.http.request(method, f"{API}{path}", json=body))
    assert (told["status"], told.get("field")) == (422, field), told
