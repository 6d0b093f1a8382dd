"""/metrics and /series: read by Prometheus's own parser, equal to what lists say; all that the dashboard asks for."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from mainspring.clock import MINUTE
from mainspring.domain.states import Outcome
from mainspring.server.exposition import Family, Sample, text
from tests.api.serving import API, HandWorker, Serving, eventually
from tests.api.test_refusals import problem
from tests.house.tree import ROOT

DASHBOARD = ROOT / "docs" / "operations" / "grafana-dashboard.json"
Numbers = dict[tuple[str, frozenset[tuple[str, str]]], float]


def numbers(answer: httpx2.Response) -> Numbers:
    """Every sample, by name and labels."""
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found: Numbers = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            place = sample.name, frozenset(sample.labels.items())
            assert place not in found, f"twice: {place}"
            found[place] = sample.value
    return found


def of(found: Numbers, name: str, **labels: str) -> float:
    return found.get((name, frozenset(labels.items())), 0)


@pytest.fixture(scope="module")
def counted(server: Serving, worker: HandWorker) -> Numbers:
    """What is exported when one job has succeeded, one has failed, and one waits."""
    for outcome in (Outcome.SUCCEEDED, Outcome.FAILED):
        job = server.submit(queue="counted", retry={"max_attempts": 1})["id"]
        worker.claim("counted")
        worker.end(job, outcome)
    server.submit(queue="counted")

    def read() -> Numbers:
        found = numbers(server.http.get("/metrics"))
        return found if not of(found, "mainspring_events_unread") else {}

    return eventually(read, within=MINUTE)


def test_what_happened_to_jobs_is_counted(counted: Numbers) -> None:
    job = {"queue": "counted", "task": "shop.echo"}
    assert of(counted, "mainspring_jobs_submitted_total", **job) == 3
    for state, number in (("queued", 3), ("running", 2), ("succeeded", 1), ("dead", 1)):
        assert of(counted, "mainspring_jobs_moved_total", **job, state=state) == number
    for outcome in ("succeeded", "failed"):
        assert of(counted, "mainspring_attempt_duration_seconds_count", **job, outcome=outcome) == 1
        assert of(counted, "mainspring_attempt_duration_seconds_bucket", **job, outcome=outcome, le="+Inf") == 1
    assert of(counted, "mainspring_job_wait_seconds_count", **job) == 2
    assert of(counted, "mainspring_jobs", queue="counted", state="queued") == 1
    assert of(counted, "mainspring_queue_oldest_seconds", queue="counted") > 0


def test_server_workers_and_machine_are_told_of(counted: Numbers, server: Serving) -> None:
    assert of(counted, "mainspring_healthy") == 1
    assert of(counted, "mainspring_workers", state="active") == 1
    assert of(counted, "mainspring_slots") == 4
    loops = {dict(labels)["loop"] for name, labels in counted if name == "mainspring_loop_late_seconds"}
    assert loops >= {"sweeper", "scheduler", "retention", "roll-up"}
    for name in (
        *(
            "process_resident_memory_bytes",
            "process_cpu_seconds_total",
            "process_open_fds",
            "mainspring_host_disk_bytes",
        ),
        *("mainspring_host_memory_bytes", "mainspring_store_read_seconds", "mainspring_store_write_seconds"),
    ):
        assert of(counted, name) > 0, name


def test_every_metric_of_the_dashboard_is_exported(counted: Numbers) -> None:
    exported = {name for name, _ in counted}
    panels: list[dict[str, Any]] = json.loads(DASHBOARD.read_text())["panels"]
    asked = [target["expr"] for panel in panels for target in panel.get("targets", [])]
    assert len(asked) >= 10
    families = exported | {"mainspring_leases_lost_total", "mainspring_schedule_lateness_seconds_bucket"}  # none yet
    for expression in asked:
        names = re.findall(r"\b(?:mainspring|process)_\w+", expression)
        assert names, expression
        assert set(names) <= families, expression


def test_series_tell_the_same_over_time(counted: Numbers, server: Serving) -> None:
    asked = server.http.get(f"{API}/series?metric=moved&queue=counted&by=label").json()
    told: dict[str, int] = {}
    for point in asked["items"]:
        told[point["label"]] = told.get(point["label"], 0) + point["count"]
    assert told == {"queued": 3, "running": 2, "succeeded": 1, "dead": 1}
    assert (asked["metric"], asked["step"]) == ("moved", 60)
    (day,) = server.http.get(f"{API}/series?metric=duration&step=1d&queue=counted").json()["items"]
    assert day["count"] == 2
    assert 0 <= day["p50"] <= day["p99"] <= day["max"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "metric"),
        ("?metric=moves", "metric"),
        ("?metric=moved&step=5m", "step"),
        ("?metric=moved&step=soon", "step"),
        ("?metric=moved&from=yesterday", "from"),
        ("?metric=moved&by=colour", "by"),
    ],
)
def test_what_is_wrong_with_a_question_names_the_field(server: Serving, query: str, field: str) -> None:
    answer = server.http.get(f"{API}/series{query}")
    assert answer.status_code == 422
    assert problem(answer).get("field", "") == field


def test_labels_may_hold_anything() -> None:
    odd = 'a"b\\c\nd'
    (family,) = text_string_to_metric_families(text([Family("x", "gauge", "s", [Sample(1.5, {"l": odd})])]).decode())
    assert (family.samples[0].labels, family.samples[0].value) == ({"l": odd}, 1.5)
