"""Many jobs in one request: all or none, with the first wrong one named, on a real server process."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from mainspring.domain.job import ATOMIC
from mainspring.server.security import BODY_LIMIT
from tests.api.serving import API, Serving
from tests.api.test_refusals import newest, problem

pytestmark = pytest.mark.usefixtures("worker")

GOOD = {"task": "receipt", "params": {"order_id": 1}}


def post(server: Serving, body: Any, key: str = "") -> httpx2.Response:
    headers = {"Idempotency-Key": key} if key else {}
    return server.http.post(f"{API}/jobs/batch", json=body, headers=headers)


@pytest.mark.parametrize("wrap", [list, lambda jobs: {"jobs": jobs}])
def test_a_batch_answers_its_jobs_in_order(server: Serving, wrap: Callable[[Any], Any]) -> None:
    jobs = [{"task": "echo", "params": {"count": number}, "queue": "bulk"} for number in range(300)]
    answer = post(server, wrap(jobs))
    assert answer.status_code == 201, answer.text
    items = answer.json()["items"]
    assert [server.job(items[place]["id"])["params"]["count"] for place in (0, 1, 299)] == [0, 1, 299]
    assert len({one["id"] for one in items}) == 300
    assert all(one["new"] for one in items)


@pytest.mark.parametrize(
    ("wrong", "code", "field"),
    [
        ({"task": "receipt", "params": {"order_id": "x"}}, "invalid_parameters", "params.order_id"),
        ({"task": "receipt"}, "invalid_parameters", "params.order_id"),
        ({"task": "nobody"}, "unknown_task", "task"),
        ({"params": {}}, "invalid_option", "task"),
        (GOOD | {"priority": 5000}, "invalid_option", "priority"),
        (GOOD | {"prio": 1}, "invalid_option", "prio"),
        (GOOD | {"delay": "soon"}, "invalid_duration", "delay"),
        (GOOD | {"requires": {"disk": "fast"}}, "not_yet_supported", "requires"),
        ("receipt", "invalid_json", "body"),
        (GOOD | {"queue": "a/b"}, "invalid_task", "queue"),
        (GOOD | {"meta": {"note": "a\0b"}}, "invalid_text", "meta.note"),
        ("a\0b", "invalid_text", "body"),
    ],
)
def test_the_first_wrong_job_is_named_by_index_and_field_and_none_is_stored(
    server: Serving, wrong: Any, code: str, field: str
) -> None:
    before = newest(server)
    for place in (0, 2):
        answer = post(server, [GOOD] * place + [wrong, GOOD, {"task": "receipt", "params": {"order_id": None}}])
        told = problem(answer)
        assert (answer.status_code, told["code"], told["index"], told["field"]) == (422, code, place, field)
        assert told["detail"].startswith(f"Item {place}: ")
    assert newest(server) == before


def test_a_unique_key_that_is_held_refuses_all_and_names_the_job_that_has_it(server: Serving) -> None:
    held = server.submit(unique="batch-1")
    before = newest(server)
    wrong = {"task": "echo", "unique": {"key": "batch-1", "on_conflict": "reject"}}
    told = problem(post(server, [GOOD, {"task": "echo", "unique": "batch-0"}, wrong]))
    assert (told["code"], told["index"], told["job"]) == ("key_held", 2, held["id"])
    assert newest(server) == before
    both = post(server, [{"task": "echo", "unique": "batch-1"}, {"task": "echo", "unique": "batch-0"}])
    assert both.status_code == 201
    assert [one["new"] for one in both.json()["items"]] == [False, True]
    again = post(server, [{"task": "echo", "unique": "batch-1"}])
    assert (again.status_code, again.json()["items"]) == (200, [{"id": held["id"], "new": False}])


def test_the_same_batch_with_the_same_key_is_stored_once(server: Serving) -> None:
    first = post(server, [GOOD] * 10, "batch-key")
    before = newest(server)
    again = post(server, {"jobs": [GOOD] * 10}, "batch-key")
    assert (again.status_code, again.json()) == (first.status_code, first.json()) == (201, first.json())
    assert newest(server) == before
    other = problem(post(server, [GOOD] * 9, "batch-key"))
    assert other["code"] == "idempotency_key_reused"
    assert "index" not in other


@pytest.mark.parametrize("body", [{}, {"jobs": None}, [], {"jobs": []}, "text", 3, None, {"jobs": [GOOD], "task": "x"}])
def test_what_is_no_list_of_jobs_is_refused(server: Serving, body: Any) -> None:
    answer = server.http.post(
        f"{API}/jobs/batch", content=json.dumps(body), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 422
    assert problem(answer)["field"] in {"jobs", "task"}


def test_a_batch_is_bounded_in_jobs_and_in_bytes(server: Serving) -> None:
    before = newest(server)
    many = post(server, [GOOD] * (ATOMIC + 1))
    assert (many.status_code, problem(many)["code"]) == (413, "too_many_jobs")
    large = [GOOD | {"meta": "x" * 1_000_000}] * (BODY_LIMIT // 1_000_000 + 1)
    answer = post(server, large)
    assert (answer.status_code, problem(answer)["code"]) == (413, "payload_too_large")
    assert newest(server) == before


def test_a_wrong_job_alone_is_not_spoken_of_as_one_of_a_list(server: Serving) -> None:
    told = problem(server.http.post(f"{API}/jobs", json={"task": "nobody"}))
    assert "index" not in told
    assert told["detail"] == "Unknown task 'nobody'."
