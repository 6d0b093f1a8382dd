"""Workflows and runs over REST, on a real server."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.serving import API, Serving
from tests.api.test_refusals import problem

pytestmark = pytest.mark.usefixtures("worker")

NODES: list[dict[str, Any]] = [{"name": "A", "task": "echo"}, {"name": "B", "task": "echo", "needs": ["A"]}]


def test_a_workflow_is_stored_run_and_shown(server: Serving) -> None:
    stored = server.http.put(f"{API}/workflows/pair", json={"nodes": NODES})
    assert stored.status_code == 200, stored.text
    assert [one["name"] for one in server.http.get(f"{API}/workflows").json()["items"]] == ["pair"]
    assert len(server.http.get(f"{API}/workflows/pair").json()["definition"]["nodes"]) == 2
    started = server.http.post(f"{API}/workflows/pair/runs", json={})
    assert started.status_code == 201, started.text
    run = started.headers["location"]
    found = server.http.get(run).json()
    assert (found["state"], found["progress"]["active"], found["progress"]["waiting"]) == ("running", 1, 1)
    nodes = server.http.get(f"{run}/nodes").json()["items"]
    assert [(one["name"], one["state"], one["needs"], len(one["jobs"])) for one in nodes] == [
        ("A", "active", [], 1),
        ("B", "waiting", ["A"], 0),
    ]
    job = server.http.get(f"{API}/jobs/{nodes[0]['jobs'][0]}").json()
    assert (job["run"], job["node"]) == (found["id"], "A")
    told = server.http.get(f"{run}/events").json()["items"]
    assert [(one["node"], one["cause"], one["to"]) for one in told] == [
        (None, "start", "pending"),
        ("A", "submit", "queued"),
    ]
    assert server.http.get(f"{run}/graph").json()["edges"] == [["A", "B"]]
    assert [one["id"] for one in server.http.get(f"{API}/runs?workflow=pair").json()["items"]] == [found["id"]]


def test_what_can_not_be_is_refused_with_its_place(server: Serving) -> None:
    cycle = [NODES[0] | {"needs": ["B"]}, NODES[1]]
    refused = problem(server.http.post(f"{API}/runs", json={"definition": {"name": "x", "nodes": cycle}}))
    assert (refused["code"], refused["field"]) == ("invalid_workflow", "nodes[0].needs")
    wrong = [NODES[0], NODES[1] | {"params": {"count": "x", "text": {"$node": "A"}}}]
    for answer in (
        server.http.put(f"{API}/workflows/x", json={"nodes": wrong}),
        server.http.post(f"{API}/runs", json={"definition": {"name": "x", "nodes": wrong}}),
    ):
        assert (answer.status_code, problem(answer)["field"]) == (422, "nodes[1].params.count"), answer.text
    broken = {"type": "object", "properties": {"x": {"type": "text"}}}
    for answer in (
        server.http.put(f"{API}/workflows/x", json={"nodes": NODES, "parameters": broken}),
        server.http.post(f"{API}/runs", json={"definition": {"name": "x", "nodes": NODES, "parameters": broken}}),
    ):
        told = problem(answer)
        assert (answer.status_code, told["field"]) == (422, "parameters.properties.x.type"), answer.text
    assert problem(server.http.get(f"{API}/runs/99"))["code"] == "unknown_run"
    assert problem(server.http.post(f"{API}/workflows/nobody/runs", json={}))["code"] == "unknown_workflow"


def test_a_number_of_a_run_is_no_job_and_the_other_way_round_and_both_say_so(server: Serving) -> None:
    run = server.http.post(f"{API}/runs", json={"definition": {"name": "x", "nodes": NODES}}).json()["id"]
    for method, below in (("GET", ""), ("GET", "/explain"), ("GET", "/logs"), ("POST", "/cancel"), ("POST", "/retry")):
        told = problem(server.http.request(method, f"{API}/jobs/{run}{below}"))
        assert (told["code"], told["detail"]) == ("unknown_job", f"unknown job {run}: this is the number of a run")
        assert f"mainspring run-show {run}" in told["remedy"]
    (job,) = server.http.get(f"{API}/runs/{run}/nodes").json()["items"][0]["jobs"]
    for method, below in (("GET", ""), ("GET", "/nodes"), ("POST", "/cancel"), ("POST", "/resume")):
        told = problem(server.http.request(method, f"{API}/runs/{job}{below}"))
        assert (told["code"], told["detail"]) == ("unknown_run", f"unknown run {job}: this is the number of a job")
        assert f"mainspring job {job}" in told["remedy"]


def test_a_run_of_what_comes_with_it_is_cancelled(server: Serving) -> None:
    later = [NODES[0] | {"delay": "1h"}, NODES[1]]
    run = server.http.post(f"{API}/runs", json={"definition": {"name": "x", "nodes": later}}).headers["location"]
    answer = server.http.post(f"{run}/cancel").json()
    assert (answer["state"], answer["stop"], answer["progress"]["cancelled"]) == ("cancelled", "cancel", 2)
    assert problem(server.http.post(f"{run}/cancel"))["code"] == "illegal_state"
    again = server.http.post(f"{run}/resume", json={"from": "A"})
    assert again.status_code == 201, again.text
    assert (again.json()["replay_of"], again.json()["kept"], again.json()["changed"]) == (answer["id"], 0, [])
    assert server.http.get(again.headers["location"]).json()["state"] == "running"
    assert problem(server.http.post(f"{run}/resume", json={"from": "Z"}))["field"] == "from"
    assert problem(server.http.post(f"{again.headers['location']}/resume"))["code"] == "illegal_state"
