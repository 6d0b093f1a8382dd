"""Workflows inside workflows: a node's run begins, ends, fails and stops with it, on every engine."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.control import jobs as control_jobs
from mainspring.control import read, workflows
from mainspring.control import runs as control_runs
from mainspring.domain.ids import JobId
from mainspring.domain.joins import RunState, Stop
from mainspring.domain.run import RunFilter, RunRequest
from mainspring.domain.states import Outcome
from mainspring.domain.workflow import Node, Workflow
from mainspring.errors import InvalidWorkflow
from mainspring.store import workflows as store_workflows
from tests.contract.run_stories import Runs, node
from tests.contract.stories import Story

FAILED = Outcome.FAILED
OPEN: dict[str, Any] = {"type": "object"}


@pytest.fixture
def runs(story: Story) -> Runs:
    """A store with an app, and a workflow to nest: two nodes, the second of which gives its result."""
    found = Runs(story)
    inner = Workflow(
        "inner",
        (node("first", params={"x": {"$param": "x"}}), node("second", "first")),
        parameters={"type": "object", "properties": {"x": {"type": "integer"}, "y": {"default": 5}}, "required": ["x"]},
        result={"got": {"$node": "second"}, "x": {"$param": "x"}, "y": {"$param": "y"}},
    )
    workflows.put(found.store, inner, actor="ann")
    return found


def nested(name: str, *needs: str, **values: Any) -> Node:
    return Node(name, workflow="inner", needs=needs, **{"params": {"x": 1}, **values})


def test_a_nested_run_is_a_node_and_its_result_the_nodes(runs: Runs) -> None:
    run = runs.start(node("A"), nested("sub", params={"x": {"$node": "A"}}), node("B", params={"x": {"$node": "sub"}}))
    runs.end("A", result=b"7")
    assert runs.states(run) == {"A": "succeeded", "sub": "active", "B": "waiting"}
    (inner,) = runs.nodes(run)["sub"].runs
    assert (runs.run(inner).parent_run, runs.run(inner).params) == (run, {"x": 7, "y": 5})
    assert runs.story.job(runs.waiting()["first"].id).params == {"x": 7}
    runs.end("first")
    runs.end("second", result=b'"done"')
    assert runs.run(inner).state is RunState.SUCCEEDED
    assert runs.nodes(run)["sub"].finished_at is not None
    assert runs.story.job(runs.waiting()["B"].id).params == {"x": {"got": "done", "x": 7, "y": 5}}
    runs.end("B")
    assert runs.run(run).state is RunState.SUCCEEDED


def test_a_map_of_nested_runs_is_bounded_and_gives_their_results_in_order(runs: Runs) -> None:
    run = runs.start(
        nested("each", map=[3, 4, 5], parallel=2, params={"x": {"$item": True}}),
        node("sum", params={"all": {"$node": "each"}}),
    )
    one, two = runs.nodes(run)["each"].runs
    runs.end("first")  # of the first: names meet, the older one counts
    assert len(control_runs.listed(runs.store, RunFilter(workflow="inner", state="live")).items) == 2
    runs.work_off()
    assert len(runs.nodes(run)["each"].runs) == 3
    assert {runs.run(one).state, runs.run(two).state} == {RunState.SUCCEEDED}
    taken = runs.story.job(runs.job(run, "sum").id).params
    assert [part["x"] for part in taken["all"]] == [3, 4, 5]
    assert runs.run(run).state is RunState.SUCCEEDED


def test_a_nested_run_that_fails_fails_its_node(runs: Runs) -> None:
    run = runs.start(nested("sub"), node("after", "sub"), node("repair", "sub", run_if="one_failed"))
    runs.work_off({"first": FAILED})
    assert runs.states(run) == {"sub": "failed", "after": "skipped: upstream_failed", "repair": "succeeded"}
    failed = runs.nodes(run)["sub"].error
    assert failed is not None
    assert failed.message == f"run {runs.nodes(run)['sub'].runs[0]} of inner is failed"
    assert runs.run(run).state is RunState.FAILED


@pytest.mark.parametrize("why", [Stop.CANCEL, Stop.TIMEOUT, Stop.FAIL_FAST])
def test_whatever_stops_a_run_reaches_into_nested_ones(runs: Runs, why: Stop) -> None:
    deep = Workflow("deep", (nested("sub"), node("clean", "sub", run_if="all_done")))
    workflows.put(runs.store, deep, actor="ann")
    run = runs.start(Node("down", workflow="deep"), node("bad"), on_failure="fail_fast", timeout="5m", parallel=2)
    runs.errands()
    assert sorted(runs.waiting()) == ["bad", "first"]
    if why is Stop.CANCEL:
        runs.cancel(run)
        runs.errands()
    elif why is Stop.TIMEOUT:
        runs.later(6 * 60_000_000)
    else:
        runs.end("bad", outcome=FAILED)
    assert list(runs.waiting()) == ["clean"], "what cleans up does so, also below"
    runs.end("clean")
    ended = runs.run(run)
    assert (ended.stop, ended.state) == (why, RunState.CANCELLED if why is Stop.CANCEL else RunState.FAILED)
    assert runs.states(run)["down"] == "cancelled"
    everything = control_runs.listed(runs.store, RunFilter()).items
    assert {one.workflow: one.state for one in everything if one.id != run} == {
        "deep": RunState.CANCELLED,
        "inner": RunState.CANCELLED,
    }


def test_to_cancel_a_job_stops_runs_that_it_has_started_also_through_others(runs: Runs) -> None:
    job = runs.story.running()
    child = runs.story.submit(parent=job)
    request = RunRequest(Workflow("started", (node("A"),)))
    started = [control_runs.start(runs.store, request, actor="job", parent=parent).id for parent in (job, child)]
    control_jobs.cancel(runs.store, job, actor="ann")
    runs.errands()
    assert {runs.run(run).state for run in started} == {RunState.CANCELLED}


@pytest.mark.parametrize("stage", ["waits", "runs", "waits for its retry", "has ended"])
def test_to_cancel_a_run_reaches_what_its_jobs_have_submitted_at_every_stage(runs: Runs, stage: str) -> None:
    """B115: whatever way a child was started in, and wherever its parent is."""
    twice = {"max_attempts": 2, "delay": "10m"}
    run = runs.start(node("A", retry=twice), node("B", "A"), nested("sub", "A"))
    job = runs.job(run, "A").id
    below: list[int] = []
    begun: list[int] = []
    if stage != "waits":
        runs.story.claim(job)
        child = runs.story.submit(parent=job)
        below = [child, runs.story.submit(parent=child), runs.story.submit(parent=job, delay="1h")]
        request = RunRequest(Workflow("started", (node("X"), node("Y", "X"))))
        begun = [control_runs.start(runs.store, request, actor="job", parent=JobId(one)).id for one in (job, child)]
    if stage == "waits for its retry":
        runs.story.end(job, FAILED)
    if stage == "has ended":
        runs.story.end(job)
        runs.errands()
    runs.cancel(run)
    runs.errands()
    if stage == "runs":
        runs.story.end(job, Outcome.CANCELLED)
        runs.errands()
    states = {str(read.job(runs.store, JobId(one)).state) for one in below}
    ended = {str(runs.run(one).state) for one in begun}
    if stage == "has ended":  # what a node has submitted and not waited for is no part of the run
        assert (states, ended) == ({"queued", "scheduled"}, {"running"})
    else:
        assert states <= {"cancelled"}
        assert ended <= {"cancelled"}
    assert runs.run(run).state is RunState.CANCELLED
    inner = control_runs.listed(runs.store, RunFilter(workflow="inner")).items
    assert {one.state for one in inner} <= {RunState.CANCELLED}


def test_parameters_that_do_not_fit_fail_the_node_and_of_a_map_the_item(runs: Runs) -> None:
    run = runs.start(
        nested("wrong", params={"x": {"$param": "text"}}),
        nested("each", map={"$param": "some"}, params={"x": {"$item": True}}, parallel=1),
        nested("none", map={"$param": "none"}, params={"x": {"$item": True}}, may_fail=True),
        params={"text": "text", "some": [1, "text", 3], "none": ["a", "b"]},
        parameters=OPEN,
    )
    went = runs.work_off()
    assert sorted(went) == ["first", "first", "second", "second"]
    assert runs.states(run) == {"wrong": "failed", "each": "failed", "none": "failed"}
    for name in ("wrong", "each", "none"):
        failed = runs.nodes(run)[name].error
        assert failed is not None
        assert failed.type == "InvalidParameters", name
    assert runs.nodes(run)["each"].items_ended == 3
    assert runs.run(run).state is RunState.FAILED


def test_an_item_that_has_not_what_its_job_needs_fails_alone(runs: Runs) -> None:
    run = runs.start(
        node("each", params={"x": {"$item": True, "path": ["a"]}}, map={"$param": "some"}, parallel=1),
        params={"some": [{"a": 1}, {}, {"a": 3}]},
        parameters=OPEN,
    )
    assert runs.work_off() == ["each[0]", "each[2]"]
    assert runs.states(run) == {"each": "failed"}
    assert runs.run(run).state is RunState.FAILED


def test_no_workflow_nests_itself_also_when_definitions_change_at_once(runs: Runs) -> None:
    with pytest.raises(InvalidWorkflow, match="nests itself"):
        workflows.put(runs.store, Workflow("inner", (nested("again"),)), actor="ann")
    workflows.put(runs.store, Workflow("outer", (nested("sub"),)), actor="ann")
    with pytest.raises(InvalidWorkflow, match="inner -> outer -> inner"):
        workflows.put(runs.store, Workflow("inner", (Node("up", workflow="outer"),)), actor="ann")
    ring = workflows.kept(runs.store, Workflow("between", (Node("up", workflow="outer"),), parameters=OPEN))
    runs.store.write(lambda tx: store_workflows.name(tx, "inner", ring))  # as if another had done so meanwhile
    run = control_runs.start(runs.store, RunRequest("outer"), actor="client").id
    runs.work_off()
    assert runs.run(run).state is RunState.FAILED
    assert "in a ring" in " ".join(str(one.error) for one in _all_nodes(runs))


def _all_nodes(runs: Runs) -> list[Any]:
    return [one for run in control_runs.listed(runs.store, RunFilter()).items for one in runs.nodes(run.id).values()]
