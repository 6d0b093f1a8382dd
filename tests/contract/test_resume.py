"""Resume: what is good is kept, what is not is done again with all below it, and the new run is as whole as any."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.control import access, replays, workflows
from mainspring.control import runs as control_runs
from mainspring.control.catalog import declare
from mainspring.domain.joins import RunState
from mainspring.domain.run import CodeChange, Run, RunRequest
from mainspring.domain.states import Outcome
from mainspring.domain.workflow import Node, Workflow
from mainspring.errors import IllegalState, InvalidInput
from mainspring.transitions import advance
from tests.contract.run_stories import Runs, node
from tests.contract.stories import Story, app_of, task

FAILED = Outcome.FAILED


@pytest.fixture
def runs(story: Story) -> Runs:
    """A store with an app, and runs."""
    return Runs(story)


def begun(runs: Runs, *nodes: Node, name: str = "flow") -> int:
    """A run of a definition that has a name."""
    workflows.put(runs.store, Workflow(name, nodes), actor="ann")
    return control_runs.start(runs.store, RunRequest(name), actor="client").id


def resumed(runs: Runs, run: int, since: str | None = None, *, as_it_was: bool = False) -> Run:
    return replays.resume(runs.store, run, actor="ann", since=since, as_it_was=as_it_was).run


def test_a_resume_goes_on_from_what_failed_and_keeps_what_is_good(runs: Runs) -> None:
    run = begun(
        runs,
        node("A"),
        node("not", "A", when="results.A == 2"),
        node("each", "A", map=[1, 2]),
        node("bad", "A"),
        node("join", "bad", "each", params={"a": {"$node": "A"}, "all": {"$node": "each"}}),
        node("beside", "each"),
        node("clean", "join", "beside", run_if="all_done"),
    )
    with pytest.raises(IllegalState, match="has not ended"):
        resumed(runs, run)
    runs.end("A", result=b"7")
    runs.end("each[0]", "each[1]")
    runs.work_off({"bad": FAILED})
    again = resumed(runs, run)
    assert (again.replay_of, again.kept, runs.run(run).replayed_by) == (run, 4, again.id)
    assert runs.states(again.id)["not"] == "skipped: condition"
    assert {one.kept for one in runs.nodes(again.id).values()} == {run, None}
    assert list(runs.waiting()) == ["bad"]
    runs.end("bad")
    taken = runs.story.job(runs.waiting()["join"].id).params
    assert taken == {"a": 7, "all": [1, 1]}
    assert runs.work_off() == ["join", "clean"]
    assert runs.run(again.id).state is RunState.SUCCEEDED
    assert runs.run(run).state is RunState.FAILED
    lines = [(one.action, one.subject, one.after) for one in access.changes(runs.store)]
    assert ("run.resume", f"run {run}", {"run": again.id, "kept": 4}) in lines


def test_a_resume_of_a_resume_takes_results_from_where_they_are(runs: Runs) -> None:
    run = begun(runs, node("A"), node("B", "A"), node("C", "B", params={"a": {"$node": "A"}, "b": {"$node": "B"}}))
    runs.end("A", result=b'"first"')
    runs.end("B", outcome=FAILED)
    second = resumed(runs, run)
    runs.end("B", result=b'"second"')
    runs.end("C", outcome=FAILED)
    third = resumed(runs, second.id)
    assert {name: one.kept for name, one in runs.nodes(third.id).items()} == {"A": run, "B": second.id, "C": None}
    assert runs.story.job(runs.waiting()["C"].id).params == {"a": "first", "b": "second"}
    runs.end("C")
    assert runs.run(third.id).state is RunState.SUCCEEDED


def test_a_resume_from_a_node_does_it_again_with_all_below_it(runs: Runs) -> None:
    run = begun(runs, node("A"), node("B", "A"), node("C", "B"), node("D", "A"))
    runs.work_off()
    with pytest.raises(IllegalState, match="nothing of it is to be done again"):
        resumed(runs, run)
    with pytest.raises(InvalidInput, match="has no node"):
        resumed(runs, run, "E")
    again = resumed(runs, run, "B")
    assert runs.work_off() == ["B", "C"]
    assert runs.states(again.id) == dict.fromkeys("ABCD", "succeeded")
    assert runs.run(again.id).state is RunState.SUCCEEDED


def test_a_changed_definition_is_taken_where_the_kept_part_is_as_it_was(runs: Runs) -> None:
    run = begun(runs, node("A"), node("B", "A"), node("C", "B"))
    runs.work_off({"C": FAILED})
    better = (node("new"), node("A", queue="fast"), node("B", "A"), node("C", "B", "new", params={"b": {"$node": "B"}}))
    workflows.put(runs.store, Workflow("flow", better), actor="ann")
    again = resumed(runs, run)
    assert (again.hash, again.kept) == (workflows.one(runs.store, "flow").hash, 2)
    runs.end("new")
    assert runs.story.job(runs.waiting()["C"].id).params == {"b": 1}, "numbers are others now, results the same"
    runs.end("C")
    assert runs.run(again.id).state is RunState.SUCCEEDED
    workflows.put(runs.store, Workflow("flow", (node("A", params={"x": 1}), node("C", "A"))), actor="ann")
    with pytest.raises(IllegalState, match="A has other params; B is not there any more"):
        resumed(runs, run)
    assert resumed(runs, run, as_it_was=True).hash == runs.run(run).hash


def test_a_large_resume_tells_everything_below_what_was_kept(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advance, "BUDGET", 7)
    monkeypatch.setattr(advance, "KEPT", 4)
    monkeypatch.setattr(replays, "_AT_ONCE", 5)
    names = [f"n{number}" for number in range(20)]
    run = begun(
        runs,
        node("top"),
        *(node(name, "top") for name in names),
        node("bad"),
        *(node(f"after {name}", name, "bad") for name in names),
        node("some", *names, "bad", run_if="one_failed"),
        node("last", *names),
    )
    runs.work_off({"bad": FAILED, "some": FAILED})
    again = resumed(runs, run)
    assert again.kept == 22
    assert sorted(runs.work_off()) == sorted(["bad", *(f"after {name}" for name in names)])
    assert runs.states(again.id)["some"] == "skipped: rule"
    assert runs.run(again.id).state is RunState.SUCCEEDED


def recoded(runs: Runs, app: str, **own: str) -> None:
    """A worker of newer code of the app takes over; ``own``: the code of its tasks."""
    tasks = [task(f"shop.{short}", code_hash=code) for short, code in own.items()]
    declare(runs.store, app_of(*tasks, code_hash=app))
    runs.story.worker = runs.story.hello(f"worker of {app}", app)


def test_a_replay_shows_which_tasks_have_other_code_and_which_kept_nodes_that_concerns(runs: Runs) -> None:
    recoded(runs, "1", send="s1", pack="p1")
    workflows.put(runs.store, Workflow("inner", (node("in", task="pack"),)), actor="ann")
    run = begun(
        runs,
        node("A"),
        node("B", "A", task="pack"),
        node("each", "A", map=[1, 2]),
        Node("sub", workflow="inner"),
        node("bad", "A"),
    )
    runs.work_off({"bad": FAILED})
    assert replays.restart(runs.store, run, actor="ann").changed == []
    recoded(runs, "2", send="s1", pack="p1")
    assert replays.restart(runs.store, run, actor="ann").changed == [], "other code of the app, not of these tasks"
    recoded(runs, "3", send="s1", pack="p2")
    second = replays.resume(runs.store, run, actor="ann")
    assert second.changed == [CodeChange("shop.pack", "p1", "p2", ["B", "sub"])]
    runs.work_off({"bad": FAILED})
    recoded(runs, "4", send="s2", pack="p1")
    third = replays.resume(runs.store, second.run.id, actor="ann", since="each").changed
    assert third == [CodeChange("shop.send", "s1", "s2", ["A"])], "what was changed back is as it was"
    assert [one.kept for one in replays.restart(runs.store, run, actor="ann").changed] == [[]]


def test_a_restart_takes_the_newest_definition_where_that_is_asked_for(runs: Runs) -> None:
    run = begun(runs, node("A"))
    runs.work_off({"A": FAILED})
    takes: dict[str, Any] = {"type": "object", "properties": {"day": {"type": "string", "default": "monday"}}}
    workflows.put(runs.store, Workflow("flow", (node("A"), node("B", "A")), takes), actor="ann")
    assert replays.restart(runs.store, run, actor="ann").run.nodes == 1
    again = replays.restart(runs.store, run, actor="ann", newest=True).run
    assert (again.nodes, again.params, again.replay_of) == (2, {"day": "monday"}, run)
    workflows.put(runs.store, Workflow("flow", (node("A"),), takes | {"required": ["week"]}), actor="ann")
    with pytest.raises(IllegalState, match="do not fit the definition of now"):
        replays.restart(runs.store, run, actor="ann", newest=True)
    unnamed = runs.start(node("A"), name="unnamed")
    runs.work_off()
    with pytest.raises(IllegalState, match="no workflow has the name unnamed"):
        replays.restart(runs.store, unnamed, actor="ann", newest=True)
