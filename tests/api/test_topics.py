"""Topics over REST: published from outside, followed, and made into jobs by the server."""

from __future__ import annotations

import pytest

from mainspring.clock import MINUTE
from tests.api.serving import API, Serving, eventually
from tests.api.test_events import events
from tests.api.test_refusals import problem

pytestmark = pytest.mark.usefixtures("worker")
MESSAGES = f"{API}/topics/orders.paid/messages"


def test_a_message_from_outside_becomes_a_job(server: Serving) -> None:
    wanted = {"topic": "orders.paid", "task": "receipt"}
    assert server.http.put(f"{API}/subscriptions/receipts", json=wanted).status_code == 200
    made = server.http.post(MESSAGES, json={"data": {"order_id": 7}})
    assert (made.status_code, made.json()) == (201, {"topic": "orders.paid", "first": 1, "last": 1})
    both = server.http.post(MESSAGES, json={"messages": [{"order_id": 8}, {"order": 9}]})
    assert both.json()["last"] == 3

    def told() -> dict[str, int]:
        (one,) = server.http.get(f"{API}/subscriptions").json()["items"]
        return one if one["cursor"] == 3 else {}

    one = eventually(told, within=MINUTE)
    assert (one["made"], one["refused"]) == (2, 1)
    jobs = server.http.get(f"{API}/jobs?tag=topic=orders.paid").json()["items"]
    assert [job["params"] for job in jobs] == [{"order_id": 8}, {"order_id": 7}]
    with server.http.stream("GET", f"{MESSAGES}?follow=true&cursor=2") as answer:
        name, value, cursor = next(events(answer.iter_lines()))
        assert (name, value["data"], cursor) == ("message", {"order": 9}, "3")
    assert [one["name"] for one in server.http.get(f"{API}/topics").json()["items"]] == ["orders.paid"]
    assert server.http.delete(f"{API}/subscriptions/receipts").status_code == 200
    assert server.http.delete(f"{API}/subscriptions/receipts").status_code == 404


@pytest.mark.parametrize("body", [{}, {"data": 1, "messages": []}, {"messages": []}, {"messages": 1}, {"datum": 1}])
def test_what_is_no_publish_is_refused(server: Serving, body: dict[str, object]) -> None:
    answer = server.http.post(f"{API}/topics/none/messages", json=body)
    assert answer.status_code == 422
    assert problem(answer)["code"] == "invalid_option"
    assert server.http.get(f"{API}/topics/none/messages").json()["items"] == []


@pytest.mark.parametrize("query", ["", "?follow=true"])
def test_messages_of_what_can_be_no_topic_are_refused(server: Serving, query: str) -> None:
    answer = server.http.get(f"{API}/topics/a%20b/messages{query}")
    assert (answer.status_code, problem(answer)["field"]) == (422, "topic")
