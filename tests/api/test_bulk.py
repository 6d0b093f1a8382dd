"""One action on many jobs, and one task, over REST."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.serving import API, Serving
from tests.api.test_refusals import problem

pytestmark = pytest.mark.usefixtures("worker")


def test_a_filter_is_tried_out_first_and_carried_out_then(server: Serving) -> None:
    jobs = [server.submit(queue="many", tags={"batch": "7"})["id"] for _ in range(3)]
    body: dict[str, Any] = {"action": "cancel", "filter": {"tag": "batch=7"}}
    dry = server.http.post(f"{API}/jobs/bulk", json=body | {"dry_run": True})
    assert (dry.status_code, dry.json()) == (200, {"matched": 3, "changed": 0, "skipped": {}, "next": None})
    first = server.http.post(f"{API}/jobs/bulk", json=body | {"limit": 2}).json()
    assert (first["matched"], first["changed"]) == (2, 2)
    rest = server.http.post(f"{API}/jobs/bulk", json=body | {"cursor": first["next"]}).json()
    assert rest == {"matched": 1, "changed": 1, "skipped": {}, "next": None}
    assert {server.job(job)["state"] for job in jobs} == {"cancelled"}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"filter": {"queue": "q"}}, "action"),
        ({"action": "cancel"}, "filter"),
        ({"action": "destroy", "filter": {"queue": "q"}}, "action"),
        ({"action": "cancel", "filter": {}}, "filter"),
        ({"action": "cancel", "filter": []}, "filter"),
        ({"action": "cancel", "filter": {"que": "q"}}, "filter.que"),
        ({"action": "cancel", "filter": {"since": "2026"}}, "filter.since"),
        ({"action": "cancel", "filter": {"tag": "a"}}, "filter.tag"),
        ({"action": "cancel", "filter": {"queue": 7}}, "filter.queue"),
        ({"action": "cancel", "filter": {"state": "dead"}}, "filter.state"),
        ({"action": "cancel", "filter": {"state": "nowhere"}}, "filter.state"),
        ({"action": "cancel", "filter": {"queue": "q"}, "dry": True}, "dry"),
        ({"action": "cancel", "filter": {"queue": "q"}, "limit": "all"}, "limit"),
    ],
)
def test_what_is_wrong_in_it_is_named(server: Serving, body: dict[str, Any], field: str) -> None:
    answer = server.http.post(f"{API}/jobs/bulk", json=body)
    assert (answer.status_code, problem(answer)["field"]) == (422, field)


def test_a_task_is_found_by_either_name(server: Serving) -> None:
    full = server.http.get(f"{API}/tasks/shop.echo").json()
    assert full["name"] == "shop.echo"
    assert server.http.get(f"{API}/tasks/echo").json() == full
    missing = server.http.get(f"{API}/tasks/ecko")
    assert (missing.status_code, problem(missing)["code"]) == (404, "no_such_task")
    assert "echo" in problem(missing)["remedy"]
