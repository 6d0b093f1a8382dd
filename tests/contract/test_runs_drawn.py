"""Runs of drawn graphs against an oracle that reads the rules from their sentences, and edge cases from the field."""

from __future__ import annotations

import random

import pytest

from campaign.cases_oracle import expected
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


def test_fan_outs_over_nothing_one_behind_the_other_fail_nothing(runs: Runs) -> None:
    run = runs.start(
        node("none", map=[]), node("again", map={"$node": "none"}), node("join", "none", "again"), node("end", "join")
    )
    assert runs.work_off() == ["join", "end"]
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


@pytest.mark.parametrize("how", ["fails", "cancelled", "timeout"])
def test_a_node_that_cleans_up_runs_exactly_once(runs: Runs, how: str) -> None:
    parts = node("work"), node("next", "work"), node("clean", "next", run_if="all_done")
    run = runs.start(*parts, timeout="10m" if how == "timeout" else None)
    if how == "cancelled":
        runs.cancel(run)
    elif how == "timeout":
        runs.later(11 * 60 * 1_000_000)
    assert [name for name in runs.work_off({"work": FAILED}) if name != "work"] == ["clean"]
    assert len(runs.nodes(run)["clean"].jobs) == 1
    assert runs.states(run)["clean"] == "succeeded"


def test_two_runs_with_the_same_names_go_their_own_ways(runs: Runs) -> None:
    first = runs.start(node("b", "a"), node("a"), name="first")
    runs.work_off({"a": FAILED})
    second = runs.start(node("b", "a"), node("a"), name="second")
    assert runs.work_off() == ["a", "b"]
    assert runs.run(first).state is RunState.FAILED
    assert runs.run(second).state is RunState.SUCCEEDED
