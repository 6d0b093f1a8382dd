"""Unique keys and idempotency keys over REST, on a real server process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from tests.api.serving import API, Serving

pytestmark = pytest.mark.usefixtures("worker")


def post(server: Serving, key: str = "", **fields: Any) -> httpx2.Response:
    headers = {"Idempotency-Key": key} if key else {}
    return server.http.post(f"{API}/jobs", json={"task": "echo", **fields}, headers=headers)


def test_a_submit_that_finds_the_key_held_answers_200_with_the_job_that_has_it(server: Serving) -> None:
    first = post(server, unique="order-1", params={"text": 1})
    second = post(server, unique="order-1", params={"text": 2})
    assert (first.status_code, second.status_code) == (201, 200)
    assert second.json() == first.json()
    assert second.headers["location"] == f"{API}/jobs/{first.json()['id']}"


def test_a_rule_may_reject_or_replace(server: Serving) -> None:
    first = post(server, unique={"key": "order-2", "while": "waiting", "period": "1h"}).json()
    refused = post(server, unique={"key": "order-2", "on_conflict": "reject"})
    problem = refused.json()
    assert refused.status_code == 409
    assert (problem["code"], problem["field"], problem["job"]) == ("key_held", "unique", first["id"])
    second = post(server, unique={"key": "order-2", "on_conflict": "replace"})
    assert second.status_code == 201
    assert server.job(first["id"])["state"] == "cancelled"


def test_the_same_submit_with_the_same_key_gets_the_same_answer(server: Serving) -> None:
    first = post(server, "key-1", params={"text": "a", "count": 1})
    again = post(server, "key-1", params={"count": 1, "text": "a"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    held = [post(server, "key-2", unique="order-3"), post(server, "key-3", unique="order-3")]
    again = post(server, "key-3", unique="order-3")
    assert [one.status_code for one in (*held, again)] == [201, 200, 200]
    assert again.json()["id"] == held[0].json()["id"]


def test_another_submit_with_the_same_key_is_refused(server: Serving) -> None:
    post(server, "key-4", params={"count": 1})
    refused = post(server, "key-4", params={"count": 2})
    assert refused.status_code == 422
    assert (refused.json()["code"], refused.json()["field"]) == ("idempotency_key_reused", "Idempotency-Key")


def test_many_clients_at_once_make_one_job_for_each_key(server: Serving) -> None:
    def one(number: int) -> tuple[int, int]:
        key = f"crowd-{number % 20}"
        answer = post(server, unique=key) if number % 2 else post(server, key)
        assert answer.status_code in {200, 201}, answer.text
        return number % 20, answer.json()["id"]

    with ThreadPoolExecutor(16) as pool:
        told = set(pool.map(one, range(400)))
    assert len(told) == 20
    assert len({job for _, job in told}) == 20
