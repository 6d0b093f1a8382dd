"""Lists: pages by cursor, filters, tasks and workers."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.domain.states import Outcome
from mainspring.server.pages import PAGE_BYTES
from tests.api.serving import API, CATALOG, HandWorker, Serving

pytestmark = pytest.mark.usefixtures("worker")


def ids(server: Serving, **query: Any) -> list[int]:
    answer = server.http.get(f"{API}/jobs", params=query)
    assert answer.status_code == 200, answer.text
    return [job["id"] for job in answer.json()["items"]]


def test_pages_hold_every_job_once_newest_first(server: Serving) -> None:
    made = [server.submit(tags={"page": "yes"})["id"] for _ in range(7)]
    seen: list[int] = []
    query: dict[str, Any] = {"tag": "page=yes", "limit": 3}
    for pages in range(1, 5):
        page = server.http.get(f"{API}/jobs", params=query).json()
        seen += [job["id"] for job in page["items"]]
        if pages == 1:
            server.submit(tags={"page": "yes"})  # what comes while one reads doesn't shift the pages
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert seen == sorted(made, reverse=True)


def test_a_page_of_large_jobs_is_cut_short_and_goes_on(server: Serving) -> None:
    made = [server.submit(queue="large", params={"text": "x" * 900_000})["id"] for _ in range(14)]
    first = server.http.get(f"{API}/jobs?queue=large&limit=1000")
    assert len(first.content) < 2 * PAGE_BYTES
    page = first.json()
    assert 1 <= len(page["items"]) < 14
    rest = server.http.get(f"{API}/jobs", params={"queue": "large", "cursor": page["next"], "limit": 1000}).json()
    assert rest["next"] is None
    assert [job["id"] for job in page["items"] + rest["items"]] == sorted(made, reverse=True)


def test_a_long_page_of_small_jobs_is_whole(server: Serving) -> None:
    made = [server.submit(queue="small")["id"] for _ in range(130)]
    assert ids(server, queue="small", limit=1000) == sorted(made, reverse=True)
    assert ids(server, queue="small", limit=125) == sorted(made, reverse=True)[:125]


def test_filters_are_applied_together(server: Serving, worker: HandWorker) -> None:
    waiting = server.submit("receipt", params={"order_id": 1}, queue="filters")["id"]
    later = server.submit("echo", queue="filters", delay="1h")["id"]
    other = server.submit("echo", queue="filters")["id"]
    assert ids(server, queue="filters") == [other, later, waiting]
    assert ids(server, queue="filters", task="receipt") == [waiting]
    assert ids(server, queue="filters", task="shop.echo", state="scheduled") == [later]
    assert ids(server, queue="filters", state="queued") == [other, waiting]
    assert ids(server, queue="filters", state="dead") == []
    assert worker.claim("filters") == waiting
    assert ids(server, queue="filters", state="running") == [waiting]
    worker.end(waiting, Outcome.SUCCEEDED, result=b"null")
    assert ids(server, queue="filters", state="succeeded") == [waiting]
    assert ids(server, queue="nowhere") == []


def test_times_bound_a_list(server: Serving) -> None:
    first = server.submit(queue="times")
    second = server.submit(queue="times")
    assert ids(server, queue="times", since=second["created_at"]) == [second["id"]]
    assert ids(server, queue="times", until=second["created_at"]) == [first["id"]]
    at = first["created_at"].replace("Z", "+00:00")
    answer = server.http.get(f"{API}/jobs?queue=times&since={at}")  # the plus is a space by now
    assert [job["id"] for job in answer.json()["items"]] == [second["id"], first["id"]]


def test_tasks_are_those_of_the_catalog(server: Serving) -> None:
    page = server.http.get(f"{API}/tasks").json()
    assert page["next"] is None
    tasks = {task["name"]: task for task in page["items"]}
    assert set(tasks) == {task.name for task in CATALOG.tasks}
    assert tasks["shop.receipt"]["short"] == "receipt"
    assert tasks["shop.receipt"]["schema"]["required"] == ["order_id"]


def test_workers_show_who_they_are_and_what_they_run(server: Serving, worker: HandWorker) -> None:
    (shown,) = server.http.get(f"{API}/workers").json()["items"]
    assert (shown["id"], shown["name"], shown["state"], shown["slots"]) == (worker.id, "alpha", "active", 4)
    assert (shown["pid"], shown["pids"], shown["labels"]) == (1, {"runners": [2]}, {"disk": "fast"})
    assert shown["tasks"] == ["shop.echo", "shop.receipt"]
    server.submit(queue="workers")
    number = worker.claim("workers")
    (busy,) = server.http.get(f"{API}/workers").json()["items"]
    assert busy["running"] == shown["running"] + 1
    worker.end(number, Outcome.SUCCEEDED)


def test_a_look_at_the_head_has_no_body(server: Serving) -> None:
    answer = server.http.head(f"{API}/tasks")
    assert answer.status_code == 200
    assert answer.content == b""
    assert int(answer.headers["content-length"]) == len(server.http.get(f"{API}/tasks").content)


SMALL = ("tasks", "workers", "queues", "topics", "subscriptions", "workflows", "schedules", "tokens", "users")


@pytest.fixture(scope="module")
def filled(server: Serving, worker: HandWorker) -> None:
    """Two of each at least."""
    assert worker.id
    for name in ("one", "two"):
        for method, path, body in (
            ("PATCH", f"queues/{name}", {"limit": 3}),
            ("POST", f"topics/{name}/messages", {"data": 1}),
            ("PUT", f"subscriptions/{name}", {"topic": name, "task": "echo"}),
            ("PUT", f"workflows/{name}", {"nodes": [{"name": "A", "task": "shop.echo"}]}),
            ("POST", "schedules", {"name": name, "cron": "0 3 * * *", "task": "shop.echo"}),
            ("POST", "tokens", {"name": f"t-{name}", "role": "viewer"}),
            ("POST", "users", {"name": name, "password": "correct horse battery", "role": "viewer"}),
        ):
            assert server.http.request(method, f"{API}/{path}", json=body).status_code < 300, path
    server.http.delete(f"{API}/users/one")
    assert server.http.post(f"{API}/users", json={"name": "one", "password": "x" * 20, "role": "admin"}).is_success


@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("noun", SMALL)
def test_a_list_of_what_there_are_few_of_pages_too(server: Serving, noun: str) -> None:
    def named(page: dict[str, Any]) -> list[Any]:
        return [one.get("id") or one.get("name") for one in page["items"]]

    whole = named(server.http.get(f"{API}/{noun}").json())
    seen: list[Any] = []
    query: dict[str, Any] = {"limit": 1}
    while True:
        page = server.http.get(f"{API}/{noun}", params=query).json()
        seen += named(page)
        if page["next"] is None:
            break
        assert len(page["items"]) == 1
        query["cursor"] = page["next"]
    assert seen == whole
    assert len(whole) >= (1 if noun == "workers" else 2)
    for wrong in ("1", "x", "\u00e9", "W10", "WyIx"):
        answer = server.http.get(f"{API}/{noun}", params={"cursor": wrong})
        assert answer.status_code in {200, 422}
        assert answer.is_success or answer.json()["code"] == "invalid_cursor"
    assert server.http.get(f"{API}/{noun}", params={"limit": 0}).status_code == 422


def test_a_list_that_has_not_changed_is_not_sent_again(server: Serving) -> None:
    made = server.submit(queue="polled")
    path = f"{API}/jobs?queue=polled"
    first = server.http.get(path)
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "private, no-cache"
    for given in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        same = server.http.get(path, headers={"If-None-Match": given})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert server.http.get(path, headers={"If-None-Match": '"other"'}).json() == first.json()
    server.http.post(f"{API}/jobs/{made['id']}/cancel")
    changed = server.http.get(path, headers={"If-None-Match": tag})
    assert (changed.status_code, changed.json()["items"][0]["state"]) == (200, "cancelled")
    assert changed.headers["etag"] != tag
    assert "etag" not in server.http.get(f"{API}/session").headers


@pytest.mark.parametrize("path", ["jobs?tag=a%00%3Db", "jobs?queue=a%00", "runs?state=AAA", "audit?actor=%00"])
def test_a_filter_that_can_match_nothing_is_refused_and_not_asked_of_the_store(server: Serving, path: str) -> None:
    answer = server.http.get(f"{API}/{path}")
    assert (answer.status_code, answer.json()["field"]) == (422, path.partition("?")[2].partition("=")[0])
