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
