"""Runs: who may go when, on every engine. Each node leaves its place once, and a run ends when all of it has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from mainspring.clock import HOUR, MINUTE
from mainspring.control import jobs as control_jobs
from mainspring.control import read, replays, workflows
from mainspring.control import runs as control_runs
from mainspring.control.catalog import declare
from mainspring.domain.ids import RunId
from mainspring.domain.job import JobFilter, Link
from mainspring.domain.joins import Needs, RunState, Stop
from mainspring.domain.run import RunFilter, RunRequest
from mainspring.domain.states import Outcome, State
from mainspring.domain.task import Catalog
from mainspring.domain.workflow import Node, Workflow
from mainspring.errors import IllegalState, InvalidParameters, InvalidWorkflow, UnknownRun, UnknownWorkflow
from mainspring.store import Transaction, export, walk
from mainspring.store import runs as store_runs
from mainspring.store.runs import Key, Taker, count_needs
from mainspring.transitions import advance, inputs
from mainspring.transitions.inputs import resolved
from tests.contract.run_stories import Runs, node
from tests.contract.stories import SHOP, Story, app_of, task

FAILED = Outcome.FAILED


@pytest.fixture
def runs(story: Story) -> Runs:
    """A store with an app, and runs."""
    return Runs(story)


def test_a_diamond_goes_from_top_to_bottom_and_each_node_once(runs: Runs) -> None:
    run = runs.start(node("D", "B", "C"), node("A"), node("B", "A"), node("C", "A"))
    assert list(runs.waiting()) == ["A"]
    runs.end("A")
    assert sorted(runs.waiting()) == ["B", "C"]
    runs.end("C")
    assert list(runs.waiting()) == ["B"], "D waits for both"
    assert runs.run(run).state is RunState.RUNNING
    runs.end("B")
    runs.end("D")
    ended = runs.run(run)
    assert ended.state is RunState.SUCCEEDED
    assert ended.finished_at is not None
    assert {len(one.jobs) for one in runs.nodes(run).values()} == {1}


def test_what_stands_behind_large_maps_has_its_jobs_and_its_start_in_a_list_of_nodes(runs: Runs) -> None:
    large = [node(name, "top", map=list(range(50))) for name in ("many", "more")]
    run = runs.start(node("top"), *large, node("last", "many", "more"))
    runs.work_off()
    seen = runs.nodes(run)
    assert {name: len(one.jobs) for name, one in seen.items()} == {"top": 1, "many": 20, "more": 20, "last": 1}
    assert [job.item for job in seen["more"].jobs] == list(range(20))
    assert all(one.jobs[0].finished_at for one in seen.values())


def test_many_parents_that_end_together_count_one_by_one(runs: Runs) -> None:
    names = [f"n{number}" for number in range(30)]
    run = runs.start(node("top"), *(node(name, "top") for name in names), node("last", *names))
    runs.end("top")
    runs.end(*names[:13])
    runs.end(*names[13:29])
    assert list(runs.waiting()) == ["n29"]
    runs.end("n29")
    assert list(runs.waiting()) == ["last"]
    runs.end("last")
    assert runs.run(run).state is RunState.SUCCEEDED


def test_the_rows_of_nodes_are_locked_in_the_order_of_their_keys_and_ends_of_runs_last(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked: list[tuple[Transaction, list[Key]]] = []

    def count(tx: Transaction, changes: Iterable[tuple[RunId, int, int, int, int, int]]) -> dict[Key, Needs]:
        changes = list(changes)
        locked.append((tx, [(run, number) for run, number, *_ in changes]))
        return count_needs(tx, changes)

    monkeypatch.setattr(store_runs, "count_needs", count)
    run = runs.start(
        node("deep", "low", "slow"), node("low", "A"), node("high", "A", "slow"), node("A"), node("B"), node("slow")
    )
    runs.end("A", "B", outcome=FAILED)
    runs.end("slow")
    assert runs.run(run).state is RunState.FAILED
    assert runs.states(run)["deep"] == runs.states(run)["high"] == "skipped: upstream_failed"
    assert {number for _, keys in locked for _, number in keys} == {1, 3, 7}, "the test does what it says"
    for tx in {id(tx): tx for tx, _ in locked}.values():
        whole = [key for one, keys in locked if one is tx for key in keys]
        assert whole == sorted(whole)


def test_rules_conditions_and_reasons(runs: Runs) -> None:
    run = runs.start(
        node("A"),
        node("bad", "A"),
        node("after", "bad"),
        node("below", "after"),
        node("repair", "bad", run_if="one_failed"),
        node("never", "A", when="params.day == 'monday'"),
        node("beside", "A", when="params.day == 'sunday' and results.A == 1"),
        node("unneeded", "never"),
        node("clean", "below", "unneeded", run_if="all_done"),
        node("join", "repair", "beside", task=None),
        params={"day": "sunday"},
        parameters={"type": "object", "properties": {"day": {"type": "string"}}},
    )
    runs.work_off({"bad": FAILED})
    assert runs.states(run) == {
        "A": "succeeded",
        "bad": "failed",
        "after": "skipped: upstream_failed",
        "below": "skipped: upstream_failed",
        "repair": "succeeded",
        "never": "skipped: condition",
        "beside": "succeeded",
        "unneeded": "skipped: rule",
        "clean": "succeeded",
        "join": "succeeded",
    }
    assert runs.run(run).state is RunState.FAILED


def test_a_run_goes_on_while_anything_of_it_runs(runs: Runs) -> None:
    run = runs.start(
        node("fast"), node("slow"), node("both", "fast", "slow"), node("first", "fast", "slow", run_if="one_success")
    )
    runs.end("fast")
    runs.end("first")
    assert runs.run(run).state is RunState.RUNNING
    runs.end("slow", outcome=FAILED)
    assert runs.states(run)["both"] == "skipped: upstream_failed"
    assert runs.run(run).state is RunState.FAILED
    assert not runs.waiting(), "first went once"


@pytest.mark.parametrize("parallel", [None, 1])
def test_an_early_node_that_is_reached_twice_at_once_goes_once(runs: Runs, parallel: int | None) -> None:
    join = node("join", "A", task=None)
    run = runs.start(node("A"), join, node("first", "A", "join", run_if="one_done"), parallel=parallel)
    assert runs.work_off() == ["A", "first"]
    assert runs.states(run) == {"A": "succeeded", "join": "succeeded", "first": "succeeded"}
    assert runs.run(run).state is RunState.SUCCEEDED


def test_a_failure_that_is_allowed_does_not_fail_the_run(runs: Runs) -> None:
    run = runs.start(node("A", may_fail=True), node("B"))
    runs.work_off({"A": FAILED})
    assert runs.run(run).state is RunState.SUCCEEDED


def test_a_map_makes_one_job_for_each_item_and_gives_a_list(runs: Runs) -> None:
    run = runs.start(
        node("split"),
        node("each", params={"x": {"$item": True}, "n": {"$index": True}}, map={"$node": "split"}, parallel=2),
        node("sum", params={"all": {"$node": "each"}, "whole": {"$node": "split"}}),
    )
    runs.end("split", result=b'["a","b","c"]')
    assert {name: job.params for name, job in runs.waiting().items()} == {
        "each[0]": {"x": "a", "n": 0},
        "each[1]": {"x": "b", "n": 1},
    }
    runs.end("each[1]", result=b'"B"')
    assert sorted(runs.waiting()) == ["each[0]", "each[2]"]
    runs.end("each[2]", result=b'"C"')
    runs.end("each[0]", result=b'"A"')
    job = runs.waiting()["sum"]
    link = Link(RunId(run), 3)
    taker = Taker(link, '{"all":{"$node":"each"},"whole":{"$node":"split"}}', '{"nodes":{"each":2,"split":1}}')
    found = runs.store.read(lambda tx: resolved(tx, {job.id: taker}))
    assert found == {job.id: {"all": ["A", "B", "C"], "whole": ["a", "b", "c"]}}
    assert runs.story.job(job.id).params == found[job.id], "as it is shown"
    runs.end("sum")
    assert runs.run(run).state is RunState.SUCCEEDED


def test_a_map_over_a_list_takes_what_stands_in_it(runs: Runs) -> None:
    some = [{"$node": "A"}, 5, {"$param": "day"}, {"deep": [{"$node": "A", "path": [0]}]}, {"$literal": {"$node": "A"}}]
    run = runs.start(
        node("A"),
        node("each", map=some, params={"x": {"$item": True}}),
        params={"day": "monday"},
        parameters={"type": "object"},
    )
    assert list(runs.waiting()) == ["A"]
    runs.end("A", result=b"[7]")
    taken = {name: job.params["x"] for name, job in runs.waiting().items()}
    assert list(taken.values()) == [[7], 5, "monday", {"deep": [7]}, {"$node": "A"}]
    runs.work_off()
    assert runs.run(run).state is RunState.SUCCEEDED


def test_a_run_counts_the_items_of_its_maps(runs: Runs) -> None:
    run = runs.start(node("A"), node("each", map=[1, 2, 3], parallel=2), node("more", "A", map=[1, 2]))
    assert (runs.run(run).items, runs.run(run).items_ended) == (3, 0)
    runs.end("A", "each[1]")
    assert (runs.run(run).items, runs.run(run).items_ended) == (5, 1)
    runs.work_off()
    assert (runs.run(run).items, runs.run(run).items_ended) == (5, 5)


def test_what_nodes_give_is_checked_before_anything_is_stored(runs: Runs) -> None:
    strict = {"properties": {"x": {"type": "integer"}}, "required": ["x"], "additionalProperties": False}
    declare(runs.store, app_of(*SHOP.tasks, task("shop.add", schema={"type": "object"} | strict), code_hash="two"))
    inner = Workflow("inner", (node("A"),), parameters={"type": "object"} | strict)
    workflows.put(runs.store, inner, actor="ann")
    for wrong, field in (
        (node("B", task="add", params={"x": "text"}), "nodes[1].params.x"),
        (node("B", task="shop.add", params={"y": {"$node": "A"}, "x": 1}), "nodes[1].params.y"),
        (Node("B", workflow="inner"), "nodes[1].params.x"),
    ):
        with pytest.raises(InvalidWorkflow, match="node 'B': parameters of") as put:
            workflows.put(runs.store, Workflow("flow", (node("A"), wrong)), actor="ann")
        with pytest.raises(InvalidWorkflow) as started:
            runs.start(node("A"), wrong)
        with pytest.raises(InvalidWorkflow, match=re.escape(f"flow is not taken: {field}: node 'B'")):
            declare(runs.store, Catalog("shop", field, SHOP.tasks, (Workflow("shop.flow", (node("A"), wrong)),)))
        assert (put.value.field, started.value.field) == (field, field)
    assert [one.name for one in workflows.listed(runs.store)] == ["inner"]
    assert not control_runs.listed(runs.store, RunFilter()).items


def test_an_empty_map_succeeds_at_once_and_one_that_is_no_list_fails(runs: Runs) -> None:
    run = runs.start(node("A"), node("none", map={"$node": "A"}), node("B", "none"))
    runs.end("A", result=b"[]")
    runs.end("B")
    assert runs.run(run).state is RunState.SUCCEEDED
    other = runs.start(node("A"), node("no", map={"$node": "A"}), node("B", "no"))
    runs.end("A", result=b"7")
    assert runs.states(other) == {"A": "succeeded", "no": "failed", "B": "skipped: upstream_failed"}
    failed = runs.nodes(other)["no"].error
    assert failed is not None
    assert failed.type == "NotAList"


def test_cancel_reaches_every_node_once(runs: Runs) -> None:
    run = runs.start(
        node("waits"),
        node("runs"),
        node("later", delay="1h"),
        node("behind", "waits", "runs", "later"),
        node("each", map=[1, 2, 3], parallel=1),
        node("clean", "behind", run_if="all_done"),
    )
    running = runs.waiting()["runs"].id
    runs.story.claim(running)
    told = runs.cancel(run)
    assert told.state is RunState.RUNNING
    assert told.stop is Stop.CANCEL
    assert not runs.waiting()
    assert runs.job(run, "runs").cancel_requested
    runs.story.end(running, Outcome.CANCELLED)
    runs.errands()
    assert list(runs.waiting()) == ["clean"], "what cleans up goes when the others have ended"
    runs.end("clean")
    assert runs.states(run) == dict.fromkeys(["waits", "runs", "later", "behind", "each"], "cancelled") | {
        "clean": "succeeded"
    }
    assert runs.run(run).state is RunState.CANCELLED
    with pytest.raises(IllegalState):
        runs.cancel(run)


def test_a_timeout_stops_a_run_and_an_ended_one_does_not_notice(runs: Runs) -> None:
    done = runs.start(node("A"), timeout="1h")
    runs.end("A")
    late = runs.start(node("A"), node("B", "A"), timeout="10m")
    runs.later(HOUR)
    assert runs.run(done).state is RunState.SUCCEEDED
    assert runs.run(done).stop is None
    assert runs.run(late).state is RunState.FAILED
    assert runs.run(late).stop is Stop.TIMEOUT


def test_fail_fast_stops_what_does_not_depend_on_the_failure(runs: Runs) -> None:
    run = runs.start(node("A"), node("bad"), node("long", "A"), node("B", "long"), on_failure="fail_fast")
    runs.end("A")
    runs.end("bad", outcome=FAILED)
    assert not runs.waiting()
    assert runs.states(run) == {"A": "succeeded", "bad": "failed", "long": "cancelled", "B": "cancelled"}
    assert runs.run(run).state is RunState.FAILED


@pytest.mark.parametrize("why", list(Stop))
def test_what_cleans_up_is_left_alone_by_a_stop_although_it_runs(runs: Runs, why: Stop) -> None:
    """The failure that stops a run is the one that its cleaning nodes are there for: they go in the same turn."""
    stops: dict[Stop, dict[str, Any]] = {
        Stop.FAIL_FAST: {"on_failure": "fail_fast"},
        Stop.TIMEOUT: {"timeout": "10m"},
        Stop.CANCEL: {},
    }
    run = runs.start(
        node("bad"),
        node("long"),
        node("alarm", "bad", run_if="one_failed"),
        node("clean", "bad", run_if="all_done", map=[1, 2], parallel=1),
        node("joined", "bad", run_if="all_done", task=None),
        **stops[why],
    )
    runs.end("bad", outcome=FAILED)
    if why is Stop.CANCEL:
        runs.cancel(run)
    elif why is Stop.TIMEOUT:
        runs.later(11 * MINUTE)
    runs.errands()
    assert runs.run(run).stop is why
    assert runs.states(run)["long"] == "cancelled"
    assert sorted(runs.work_off()) == ["alarm", "clean[0]", "clean[1]"]
    assert [runs.states(run)[name] for name in ("alarm", "clean", "joined")] == ["succeeded"] * 3
    assert runs.run(run).state is (RunState.CANCELLED if why is Stop.CANCEL else RunState.FAILED)


@pytest.mark.parametrize("how", ["cancelled", "expired", "lost"])
def test_however_a_job_ends_its_node_hears_of_it(runs: Runs, how: str) -> None:
    run = runs.start(node("A", expires="1m" if how == "expired" else None), node("B", "A"))
    job = runs.waiting()["A"].id
    if how == "cancelled":
        control_jobs.cancel(runs.store, job, actor="ann")
    elif how == "expired":
        runs.story.clock.forward(2 * MINUTE)
        runs.story.expire()
    else:
        runs.story.claim(job)
        runs.story.clock.forward(HOUR)
        runs.story.lose_expired()
    state = "cancelled" if how == "cancelled" else "failed"
    assert runs.states(run) == {"A": state, "B": "skipped: upstream_failed"}
    assert runs.run(run).state is (RunState.CANCELLED if how == "cancelled" else RunState.FAILED)


def test_what_is_wide_goes_in_pieces_and_nothing_is_left_out(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advance, "BUDGET", 7)
    names = [f"n{number}" for number in range(40)]
    run = runs.start(
        node("top"),
        *(node(name, "top") for name in names),
        node("each", "top", map=list(range(25))),
        node("last", "each", *names),
        node("bad", "top"),
        *(node(f"x{number}", "bad") for number in range(20)),
    )
    went = runs.work_off({"bad": FAILED})
    assert sorted(went) == sorted(["top", *names, *(f"each[{n}]" for n in range(25)), "bad", "last"])
    assert runs.run(run).progress.skipped == 20
    assert runs.run(run).state is RunState.FAILED


def test_no_more_nodes_are_active_at_a_time_than_the_run_may_have(runs: Runs) -> None:
    names = [f"n{number}" for number in range(7)]
    run = runs.start(
        node("top"),
        *(node(name, "top") for name in names),
        node("not", "top", when="results.top == 2"),
        node("each", "top", map=[1, 2, 3]),
        node("none", "top", map=[]),
        node("join", *names, "each", "none", task=None),
        node("last", "join"),
        parallel=2,
    )
    runs.errands()
    runs.end("top")
    assert list(runs.waiting()) == ["n0", "n1"], "in the order of the document"
    assert runs.states(run)["not"] == "skipped: condition", "what needs no room does not wait for it"
    runs.end("n1")
    assert sorted(runs.waiting()) == ["n0", "n2"]
    runs.end("n0", "n2", outcome=FAILED)
    went = []
    while waiting := runs.waiting():
        assert runs.run(run).progress.active <= 2
        assert {job.node for job in waiting.values()} <= {*names, "each"}
        went.append(min(waiting))
        runs.end(min(waiting))
    assert sorted(went) == ["each[0]", "each[1]", "each[2]", "n3", "n4", "n5", "n6"]
    assert runs.run(run).state is RunState.FAILED


def test_a_stop_reaches_those_that_stand_in_line_for_room(runs: Runs) -> None:
    run = runs.start(node("A"), node("B"), node("C"), node("clean", run_if="always"), parallel=1)
    runs.errands()
    assert list(runs.waiting()) == ["A"]
    runs.cancel(run)
    runs.errands()
    assert list(runs.waiting()) == ["clean"]
    runs.end("clean")
    assert runs.states(run) == {"A": "cancelled", "B": "cancelled", "C": "cancelled", "clean": "succeeded"}
    assert runs.run(run).state is RunState.CANCELLED


def test_a_definition_is_stored_once_and_a_run_keeps_the_one_it_began_with(runs: Runs) -> None:
    first, second = Workflow("w", (node("A"),)), Workflow("w", (node("A"), node("B", "A")))
    assert workflows.put(runs.store, first, actor="ann").nodes == 1
    run = control_runs.start(runs.store, RunRequest("w"), actor="client")
    workflows.put(runs.store, second, actor="ann")
    assert runs.run(run.id).hash != workflows.one(runs.store, "w").hash
    assert control_runs.document(runs.store, run.id) == first
    assert [one.name for one in workflows.listed(runs.store)] == ["w"]
    assert workflows.put(runs.store, first, actor="ann").hash == runs.run(run.id).hash
    assert len(control_runs.listed(runs.store, RunFilter(workflow="w", state="live")).items) == 1


def test_lists_of_runs_have_those_that_match_however_few_one_answer_passes(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("w", "v", "w", "v", "w", "v")
    begun = [runs.start(node("A"), name=name) for name in names]
    control_runs.cancel(runs.store, begun[0], actor="ann")
    control_runs.cancel(runs.store, begun[1], actor="ann")
    runs.errands()

    def listed(workflow: str | None, state: str | None, limit: int) -> list[int]:
        page = control_runs.listed(runs.store, RunFilter(workflow, state, None, limit))
        found = [int(one.id) for one in page.items]
        while page.next is not None:
            assert len(page.items) <= limit
            page = control_runs.listed(runs.store, RunFilter(workflow, state, page.next, limit))
            found += [one.id for one in page.items]
        return found

    kinds = {one: (runs.run(one).workflow, runs.run(one).state.value) for one in begun}
    assert {state for _, state in kinds.values()} == {"running", "cancelled"}
    for strides in (walk.STRIDES, (1, 2)):
        monkeypatch.setattr(walk, "STRIDES", strides)
        for workflow in (None, "w", "v", "x"):
            for state in (None, "live", "pending", "running", "cancelled", "failed"):
                expected = [
                    one
                    for one, (name, stands) in reversed(kinds.items())
                    if workflow in {None, name}
                    and (state in {None, stands} or (state == "live" and stands in {"pending", "running"}))
                ]
                for limit in (1, 2, 50):
                    assert listed(workflow, state, limit) == expected, (workflow, state, limit)


def test_what_can_not_be_is_refused_and_nothing_is_stored(runs: Runs) -> None:
    with pytest.raises(InvalidWorkflow):
        runs.start(node("A", "B"), node("B", "A"))
    with pytest.raises(InvalidWorkflow):
        runs.start(node("A", task="nobody"))
    with pytest.raises(InvalidParameters):
        runs.start(node("A"), params={"x": 1})
    with pytest.raises(UnknownWorkflow):
        control_runs.start(runs.store, RunRequest("nobody"), actor="client")
    with pytest.raises(UnknownRun):
        runs.run(4)
    assert not control_runs.listed(runs.store, RunFilter()).items


def test_a_restart_is_a_new_run_of_the_same_definition(runs: Runs) -> None:
    run = runs.start(node("A"), timeout="1h")
    with pytest.raises(IllegalState):
        replays.restart(runs.store, run, actor="ann")
    runs.end("A", outcome=FAILED)
    again = replays.restart(runs.store, run, actor="ann").run
    assert (again.replay_of, again.hash) == (run, runs.run(run).hash)
    assert runs.run(run).replayed_by == again.id
    runs.end("A")
    assert (runs.run(run).state, runs.run(again.id).state) == (RunState.FAILED, RunState.SUCCEEDED)


def test_a_job_of_a_run_is_not_retried_by_hand(runs: Runs) -> None:
    runs.start(node("A"))
    job = runs.waiting()["A"].id
    runs.end("A", outcome=FAILED)
    assert runs.story.state(job) is State.DEAD
    with pytest.raises(IllegalState, match="resume"):
        runs.story.retry(job)


def test_lists_show_what_jobs_take_from_their_run_and_mark_what_is_not_known(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.start(
        node("A"),
        node("B", "A", params={"x": {"$node": "A", "path": ["n"]}, "day": {"$param": "day"}}),
        node("each", map={"$node": "A", "path": ["list"]}, params={"item": {"$item": True}, "whole": {"$node": "A"}}),
        node("wrong", "A", params={"x": {"$node": "A", "path": ["no"]}}),
        parameters={"type": "object"},
        params={"day": "monday"},
    )
    plain = runs.story.submit(params={"x": {"$node": "A"}})
    result = {"n": 7, "list": [1]}
    runs.end("A", result=msgspec.json.encode(result))

    def shown() -> dict[str | int, tuple[Any, bool]]:
        found = read.listed(runs.store, JobFilter()).items
        return {job.node or job.id: (job.params, job.params_open) for job in found if job.node != "A"}

    known = {
        "B": ({"x": 7, "day": "monday"}, False),
        "each": ({"item": 1, "whole": result}, False),
        "wrong": ({"x": {"$node": "A", "path": ["no"]}}, True),
        plain: ({"x": {"$node": "A"}}, False),
    }
    assert shown() == known
    assert runs.job(run, "wrong").params_open
    monkeypatch.setattr(inputs, "MOST_SHOWN", 20)
    assert [name for name, (_, is_open) in shown().items() if is_open] == ["wrong", "each", "B"], "too much for a list"
    exported: dict[str | None, bool] = {}
    export.jobs(runs.store, lambda job, _: exported.update({job.node: job.params_open}))
    assert exported == {"A": False, "B": True, "each": True, "wrong": True, None: False}


def test_a_run_without_the_result_that_its_definition_says_tells_why(runs: Runs) -> None:
    lost = runs.start(node("A"), result={"$node": "A", "path": ["rows"]})
    runs.end("A", result=b'{"lines":1}')
    large = runs.start(node("A"), node("B"), result=[{"$node": "A"}, {"$node": "B"}])
    runs.end("A", "B", result=b'"' + 600_000 * b"x" + b'"')
    for run, why in ((lost, "has no 'rows'"), (large, "the run's result")):
        assert (runs.run(run).state, runs.run(run).result) == (RunState.SUCCEEDED, None)
        told = control_runs.events(runs.store, run)[-1].detail
        assert told is not None
        assert why in told["no_result"]


def test_a_node_that_waits_for_its_retry_keeps_its_place(runs: Runs) -> None:
    """B103: as documented: a limit is one of what is begun and not ended, so a retry never waits for room."""
    twice = {"max_attempts": 2, "delay": "1m", "jitter": 0}
    run = runs.start(
        node("each", map=list(range(9)), parallel=3, retry=twice),
        *(node(f"n{number}", retry=twice) for number in range(3)),
        parallel=2,
    )
    runs.errands()
    runs.end("each[0]", "each[1]", "each[2]", "n0", outcome=Outcome.FAILED)
    assert runs.waiting() == {}, "nothing else goes in their place"
    runs.later(MINUTE)
    assert sorted(runs.waiting()) == ["each[0]", "each[1]", "each[2]", "n0"]
    assert len(runs.work_off()) == 9 + 3
    assert runs.run(run).state is RunState.SUCCEEDED


def test_a_job_that_is_tried_again_finds_what_it_had_submitted(runs: Runs) -> None:
    """B183: as documented: its code runs again from the start, and a child with a key is there already."""
    run = runs.start(node("A", retry={"max_attempts": 2, "delay": "1m"}))
    job = runs.job(run, "A").id
    runs.story.claim(job)
    first = runs.story.submit(parent=job, unique=f"of {job}")
    runs.story.end(job, Outcome.FAILED)
    runs.later(2 * MINUTE)
    runs.story.claim(job)
    assert runs.story.submit(parent=job, unique=f"of {job}") == first
    runs.story.end(job)
    runs.errands()
    assert runs.run(run).state is RunState.SUCCEEDED
