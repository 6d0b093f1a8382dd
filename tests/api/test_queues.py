"""Queues and drains over REST."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.serving import API, HandWorker, Serving
from tests.api.test_refusals import problem

pytestmark = pytest.mark.usefixtures("worker")


def change(server: Serving, name: str, **fields: Any) -> dict[str, Any]:
    """A change that must be made."""
    answer = server.http.patch(f"{API}/queues/{name}", json=fields)
    assert answer.status_code == 200, answer.text
    queue: dict[str, Any] = answer.json()
    return queue


def test_a_queue_is_paused_limited_noted_and_resumed(server: Serving) -> None:
    server.submit()
    queue = change(server, "shop", paused=True, note="deploy")
    assert (queue["paused"], queue["note"], queue["limit"]) == (True, "deploy", None)
    assert queue["paused_by"]
    assert queue["paused_at"].endswith("Z")
    assert queue["queued"] >= 1
    assert change(server, "shop", limit=3)["paused"] is True
    queue = change(server, "shop", paused=False, limit=None)
    assert [queue[name] for name in ("paused", "paused_at", "paused_by", "note", "limit")] == [
        False,
        None,
        None,
        None,
        None,
    ]
    assert server.http.get(f"{API}/queues/shop").json() == queue
    listed = server.http.get(f"{API}/queues").json()
    assert listed["next"] is None
    assert queue in listed["items"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": "3"}, "limit"),
        ({"paused": "yes"}, "paused"),
        ({"paused": None}, "paused"),
        ({"pause": True}, "pause"),
        ({"note": 3}, "note"),
    ],
)
def test_a_wrong_change_names_its_field_and_changes_nothing(server: Serving, body: dict[str, Any], field: str) -> None:
    before = server.http.get(f"{API}/queues/shop").json()
    answer = server.http.patch(f"{API}/queues/shop", json=body)
    assert (answer.status_code, problem(answer)["field"]) == (422, field)
    assert server.http.get(f"{API}/queues/shop").json() == before


def test_an_unknown_queue_is_not_found_and_a_near_name_is_told(server: Serving) -> None:
    for answer in (
        server.http.patch(f"{API}/queues/shpo", json={"paused": True}),
        server.http.get(f"{API}/queues/shpo"),
    ):
        assert (answer.status_code, problem(answer)["code"]) == (404, "unknown_queue")
        assert "shop" in problem(answer)["remedy"]


def test_a_limit_or_a_note_makes_a_queue_known(server: Serving) -> None:
    queue = change(server, "night.bulk", limit=2, note="from the first job on")
    assert (queue["name"], queue["limit"], queue["paused"], queue["queued"]) == ("night.bulk", 2, False, 0)
    assert change(server, "night.bulk", paused=True)["paused"] is True
    answer = server.http.patch(f"{API}/queues/no%20such", json={"limit": 2})
    assert (answer.status_code, problem(answer)["code"]) == (422, "invalid_task")


def test_a_worker_is_drained_by_its_id(server: Serving, worker: HandWorker) -> None:
    found = server.http.get(f"{API}/workers/{worker.id}").json()
    assert (found["id"], found["state"], found["outdated"]) == (worker.id, "active", False)
    drained = server.http.post(f"{API}/workers/{worker.id}/drain")
    assert (drained.status_code, drained.json()["state"]) == (200, "draining")
    assert server.http.get(f"{API}/workers/{worker.id}").json()["state"] == "draining"


@pytest.mark.parametrize("number", ["99", "0", "x", "9" * 30, "-1"])
def test_an_unknown_worker_is_not_found(server: Serving, number: str) -> None:
    for answer in (server.http.get(f"{API}/workers/{number}"), server.http.post(f"{API}/workers/{number}/drain")):
        assert (answer.status_code, problem(answer)["code"]) == (404, "unknown_worker")
