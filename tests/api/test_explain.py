"""Why a job is where it is, over REST."""

from __future__ import annotations

import pytest

from tests.api.serving import API, HandWorker, Serving
from tests.api.test_refusals import problem

pytestmark = pytest.mark.usefixtures("worker")


def test_a_job_says_why_it_waits_and_until_when(server: Serving, worker: HandWorker) -> None:
    waiting, later = server.submit(queue="calm")["id"], server.submit(delay="1h", queue="calm")["id"]
    told = server.http.get(f"{API}/jobs/{waiting}/explain").json()
    assert (told["id"], told["task"], told["state"]) == (waiting, "shop.echo", "queued")
    assert told["at"].endswith("Z")
    assert [reason["code"] for reason in told["reasons"]] == ["next"]
    assert set(told["reasons"][0]) == {"code", "text", "remedy", "until"}
    (due,) = server.http.get(f"{API}/jobs/{later}/explain").json()["reasons"]
    assert (due["code"], due["until"]) == ("not_due", server.job(later)["run_at"])
    worker.claim("calm")
    assert server.http.get(f"{API}/jobs/{waiting}/explain").json()["reasons"][0]["code"] == "running"


def test_a_job_that_is_not_there_is_not_explained(server: Serving) -> None:
    answer = server.http.get(f"{API}/jobs/999999/explain")
    assert (answer.status_code, problem(answer)["code"]) == (404, "unknown_job")
