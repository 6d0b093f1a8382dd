"""Runs of drawn graphs against an oracle that reads the rules from their sentences, and edge cases from the field."""

from __future__ import annotations

import random
from typing import Any

import pytest

from campaign.cases_oracle import expected
from mainspring.clock import HOUR, MINUTE, SECOND
from mainspring.domain.joins import Rule, RunState
from mainspring.domain.states import Outcome
from mainspring.domain.workflow import Node, Workflow
from tests.contract.run_stories import Runs, node
from tests.contract.stories import Story

FAILED = Outcome.FAILED


@pytest.fixture
def runs(story: Story) -> Runs:
    """A store with an app, and runs."""
    return Runs(story)


def drawn(chance: random.Random) -> tuple[Node, ...]:
    """A graph of up to twelve nodes under all rules; what fails says so in its parameters, for the oracle."""
    nodes = []
    for number in range(chance.randint(2, 12)):
        above = range(max(0, number - 5), number)
        needs = [f"n{one}" for one in above if chance.random() < 0.5]
        rule = chance.choice([Rule.ALL_SUCCESS, *Rule])
        task = None if chance.random() < 0.15 else "send"
        params = {"failures": 1} if task and chance.random() < 0.3 else {}
        nodes.append(node(f"n{number}", *needs, run_if=rule, task=task, params=params, may_fail=chance.random() < 0.1))
    chance.shuffle(nodes)  # a node may stand before its needs
    return tuple(nodes)


@pytest.mark.parametrize("block", range(3))
def test_drawn_graphs_end_as_their_rules_say(runs: Runs, block: int) -> None:
    for seed in range(block * 8, block * 8 + 8):
        nodes = drawn(random.Random(seed))
        failing = {one.name for one in nodes if one.params}
        run = runs.start(*nodes, name=f"drawn-{seed}")
        went = runs.work_off(lambda name, failing=failing: FAILED if name in failing else Outcome.SUCCEEDED)  # type: ignore[misc]
        right = expected(Workflow("drawn", nodes), {})
        states = {name: state.rpartition(" ")[2] for name, state in runs.states(run).items()}
        assert states == {name: end.state for name, end in right.nodes.items()}, f"seed {seed}"
        assert runs.run(run).state == right.state, f"seed {seed}"
        assert sorted(went) == sorted(name for name, end in right.nodes.items() if end.jobs), f"seed {seed}"


@pytest.mark.parametrize("repeats", [25])
def test_fan_outs_over_nothing_one_behind_the_other_fail_nothing(runs: Runs, repeats: int) -> None:
    """B179: all at once, so that ends of one run and of many meet in the same turns."""
    nodes = (
        node("split"),
        node("none", map={"$node": "split"}),
        node("again", map={"$node": "none"}),
        node("join", "none", "again"),
        node("end", "join"),
    )
    begun = [runs.start(*nodes) for _ in range(repeats)]
    while waiting := runs.waiting_jobs():
        runs.end_jobs({job.id: b"[]" if job.node == "split" else b"1" for job in waiting})
    for run in begun:
        assert runs.states(run) == dict.fromkeys(("split", "none", "again", "join", "end"), "succeeded")
        assert {name: len(one.jobs) for name, one in runs.nodes(run).items()} == {
            "split": 1,
            "none": 0,
            "again": 0,
            "join": 1,
            "end": 1,
        }
        assert runs.run(run).state is RunState.SUCCEEDED


def test_rules_that_no_need_can_meet_leave_no_node_without_a_state(runs: Runs) -> None:
    run = runs.start(
        node("a"),
        node("b"),
        node("one", "a", "b", run_if="one_success"),
        node("skipped", "one", "a", run_if="all_skipped"),
        node("behind", "skipped"),
    )
    runs.work_off({"a": FAILED, "b": FAILED})
    assert runs.states(run) == {
        "a": "failed",
        "b": "failed",
        "one": "skipped: upstream_failed",
        "skipped": "skipped: rule",
        "behind": "skipped: rule",
    }
    assert runs.run(run).state is RunState.FAILED


@pytest.mark.parametrize("how", ["fails", "dead", "cancelled", "timeout", "fail_fast", "below"])
def test_a_node_that_cleans_up_runs_exactly_once(runs: Runs, how: str) -> None:
    """B185: in whichever way what it waits for ends, and with it the node that is for trouble alone."""
    work = node("work", retry={"max_attempts": 1, "max_losses": 0})
    parts = (
        node("first"),
        work,
        node("next", "work", "first"),
        node("clean", "next", run_if="all_done"),
        node("alarm", "work", "next", run_if="one_failed"),
    )
    stops: dict[str, Any] = {"timeout": {"timeout": "10m"}, "fail_fast": {"on_failure": "fail_fast"}}
    run = runs.start(*parts, **stops.get(how, {}))
    if how == "cancelled":
        runs.cancel(run)
    elif how == "timeout":
        runs.later(11 * MINUTE)
    elif how == "dead":  # its worker is gone, and it may not be lost
        runs.story.claim(runs.waiting()["work"].id)
        runs.later(HOUR)
        runs.story.lose_expired()
    bad = {"below": {"first": FAILED}}.get(how, {"work": FAILED})
    went = runs.work_off(bad)
    assert sorted(name for name in went if name in {"clean", "alarm"}) == ["alarm", "clean"], (went, runs.states(run))
    assert runs.work_off() == [], "and no more than once"
    states = runs.states(run)
    assert (states["clean"], states["alarm"]) == ("succeeded", "succeeded")
    assert {name: len(runs.nodes(run)[name].jobs) for name in ("clean", "alarm")} == {"clean": 1, "alarm": 1}
    assert runs.run(run).state is (RunState.CANCELLED if how == "cancelled" else RunState.FAILED)


def test_two_runs_with_the_same_names_go_their_own_ways(runs: Runs) -> None:
    """B187: at once, with nodes before their parents, and one task for all of them."""
    nodes = node("D", "B", "C"), node("B", "A"), node("C", "A"), node("A")
    first, second = runs.start(*nodes, name="first"), runs.start(*nodes, name="second")

    def end(run: int, *names: str, outcome: Outcome = Outcome.SUCCEEDED) -> None:
        runs.end_jobs({runs.job(run, name).id: b"1" for name in names}, outcome)

    assert [(job.run, job.node) for job in runs.waiting_jobs()] == [(first, "A"), (second, "A")]
    end(first, "A")
    assert runs.states(second) == {"D": "waiting", "B": "waiting", "C": "waiting", "A": "active"}
    end(second, "A")
    end(first, "B", "C")
    assert runs.states(second) == {"D": "waiting", "B": "active", "C": "active", "A": "succeeded"}
    end(second, "B", outcome=FAILED)
    end(second, "C")
    end(first, "D")
    assert runs.states(first) == dict.fromkeys("DBCA", "succeeded")
    assert runs.states(second)["D"] == "skipped: upstream_failed"
    assert (runs.run(first).state, runs.run(second).state) == (RunState.SUCCEEDED, RunState.FAILED)
    assert [len(one.jobs) for run in (first, second) for one in runs.nodes(run).values()] == [1] * 4 + [0] + [1] * 3


def test_a_join_waits_for_what_is_to_be_tried_again_and_takes_its_last_result(runs: Runs) -> None:
    """B177: a member that is to be tried again has not ended, whatever became of its attempt."""
    run = runs.start(
        node("A"),
        node("B", "A", retry={"max_attempts": 2, "delay": "5s", "jitter": 0}),
        node("C", "A"),
        node("D", "B", "C", params={"b": {"$node": "B"}, "c": {"$node": "C"}}),
    )
    runs.end("A")
    runs.end("B", outcome=FAILED)
    runs.end("C", result=b'"c"')
    assert runs.waiting() == {}
    assert runs.states(run) == {"A": "succeeded", "B": "active", "C": "succeeded", "D": "waiting"}
    runs.later(5 * SECOND)
    assert list(runs.waiting()) == ["B"]
    runs.end("B", result=b'"the second"')
    assert runs.job(run, "D").params == {"b": "the second", "c": "c"}
    assert runs.work_off() == ["D"]
    assert runs.run(run).state is RunState.SUCCEEDED


def test_runs_that_wait_for_retries_stand_in_nobody_s_way(runs: Runs) -> None:
    """B101: a limit is a run's own: neither another run of the same workflow nor one of another waits for it."""
    slow = {"max_attempts": 2, "delay": "10m", "jitter": 0}
    nodes = tuple(node(f"n{number}", retry=slow) for number in range(4))
    full = [runs.start(*nodes, name="A", parallel=2) for _ in range(3)]
    runs.errands()
    runs.end_jobs({job.id: b"" for job in runs.waiting_jobs()}, FAILED)
    assert runs.waiting_jobs() == [], "every run of A is at its limit, and waits for its retries"
    more = [runs.start(*nodes, name="A", parallel=2) for _ in range(20)]
    other = runs.start(node("only"), name="B")
    runs.errands()
    went = {(job.run, job.node) for job in runs.waiting_jobs()}
    assert went == {(other, "only"), *((run, name) for run in more for name in ("n0", "n1"))}
    runs.end_jobs({runs.job(other, "only").id: b"1"})
    assert runs.run(other).state is RunState.SUCCEEDED
    assert {runs.run(run).state for run in full} == {RunState.RUNNING}
