"""Resume: what is good is kept, what is not is done again with all below it, and the new run is as whole as any."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.clock import HOUR
from mainspring.control import access, replays, resumption, workflows
from mainspring.control import runs as control_runs
from mainspring.control.catalog import declare
from mainspring.domain.joins import RunState
from mainspring.domain.run import CodeChange, Run, RunRequest
from mainspring.domain.states import Outcome
from mainspring.domain.workflow import Node, Workflow
from mainspring.errors import IllegalState, InvalidInput
from mainspring.store.check import Level, check
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


def faults(runs: Runs) -> list[str]:
    """What ``db check`` has against the store."""
    return [one.text for one in check(runs.store) if one.level is Level.FAULT]


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
    monkeypatch.setattr(resumption, "_AT_ONCE", 5)
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


def test_of_a_failed_map_the_good_items_are_kept(runs: Runs) -> None:
    run = begun(
        runs,
        node("A"),
        node("each", "A", map=[10, 20, 30], params={"x": {"$item": True}}),
        node("sum", params={"all": {"$node": "each"}}),
    )
    runs.end("A")
    runs.end("each[0]", result=b'"first"')
    runs.end("each[1]", outcome=FAILED)
    runs.end("each[2]", outcome=FAILED)
    second = resumed(runs, run)
    assert {name: job.params for name, job in runs.waiting().items()} == {"each[1]": {"x": 20}, "each[2]": {"x": 30}}
    runs.end("each[2]", result=b'"third"')
    runs.end("each[1]", outcome=FAILED)
    each = runs.nodes(second.id)["each"]
    assert (each.state, each.items, each.items_ended, each.items_kept) == ("failed", 3, 3, 1)
    third = resumed(runs, second.id)
    runs.end("each[1]", result=b'"second"')
    fourth = resumed(runs, third.id) if runs.run(third.id).done else None
    assert fourth is None, "there was one left to do"
    assert runs.story.job(runs.waiting()["sum"].id).params == {"all": ["first", "second", "third"]}
    runs.end("sum", outcome=FAILED)
    last = resumed(runs, third.id)
    assert last.kept == 2
    assert runs.story.job(runs.waiting()["sum"].id).params == {"all": ["first", "second", "third"]}, "all of it is kept"
    runs.end("sum")
    assert runs.run(last.id).state is RunState.SUCCEEDED
    assert faults(runs) == []


def test_items_are_done_again_where_what_they_were_made_of_is(runs: Runs) -> None:
    run = begun(runs, node("A"), node("each", "A", map=[1, 2]), node("beside", map=[1, 2]))
    runs.end("A", "beside[0]")
    runs.end("each[0]")
    runs.end("each[1]", "beside[1]", outcome=FAILED)
    resumed(runs, run, "A")
    assert list(runs.waiting()) == ["A", "beside[1]"]
    runs.end("A", "beside[1]")
    assert sorted(runs.work_off()) == ["each[0]", "each[1]"]
    resumed(runs, run, "each")
    assert sorted(runs.waiting()) == ["beside[1]", "each[0]", "each[1]"], "who names the map means all of it"
    runs.work_off()
    other = (node("A"), node("each", "A", map=[1, 2, 3]), node("beside", map=[1, 2], queue="fast"))
    workflows.put(runs.store, Workflow("flow", other), actor="ann")
    resumed(runs, run)
    assert sorted(runs.waiting()) == ["beside[1]", "each[0]", "each[1]", "each[2]"], "a changed map is another one"


def test_a_cancelled_map_goes_on_where_it_was(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also before the resume that has its good items could let it go; in pieces, within its bound."""
    monkeypatch.setattr(advance, "BUDGET", 3)
    run = begun(runs, node("each", map=list(range(20)), parallel=2))
    good = [f"each[{number}]" for number in range(9)]
    for name in good:
        runs.end(name)
    runs.cancel(run)
    runs.work_off()
    second = resumed(runs, run)
    runs.errands()
    assert list(runs.waiting()) == ["each[9]", "each[10]"]
    runs.cancel(second.id)
    third = resumed(runs, second.id)
    assert runs.nodes(third.id)["each"].items_kept == 9
    assert runs.work_off() == [f"each[{number}]" for number in range(9, 20)]
    assert runs.run(third.id).state is RunState.SUCCEEDED
    assert faults(runs) == []


def test_a_failed_nested_run_goes_on_where_it_was(runs: Runs) -> None:
    inner = Workflow(
        "inner",
        (node("in"), node("each", "in", map=[1, 2]), node("out", "each", params={"got": {"$node": "each"}})),
        parameters={"type": "object"},
        result={"$node": "out"},
    )
    workflows.put(runs.store, inner, actor="ann")
    workflows.put(
        runs.store, Workflow("middle", (Node("deep", workflow="inner"),), result={"$node": "deep"}), actor="ann"
    )
    run = begun(runs, Node("sub", workflow="middle"), node("after", params={"x": {"$node": "sub"}}))
    runs.end("in")
    runs.end("each[0]", result=b'"good"')
    runs.end("each[1]", outcome=FAILED)
    assert runs.states(run) == {"sub": "failed", "after": "skipped: upstream_failed"}
    (old_middle,) = runs.nodes(run)["sub"].runs
    (old_inner,) = runs.nodes(old_middle)["deep"].runs
    again = resumed(runs, run)
    assert list(runs.waiting()) == ["each[1]"]
    (middle,) = runs.nodes(again.id)["sub"].runs
    (deep,) = runs.nodes(middle)["deep"].runs
    assert [runs.run(one).replay_of for one in (middle, deep)] == [old_middle, old_inner]
    assert runs.run(deep).kept == 1
    runs.end("each[1]", result=b'"too"')
    assert runs.story.job(runs.waiting()["out"].id).params == {"got": ["good", "too"]}
    runs.end("out", result=b'"done"')
    assert runs.story.job(runs.waiting()["after"].id).params == {"x": "done"}
    runs.end("after")
    assert runs.run(again.id).state is RunState.SUCCEEDED
    assert faults(runs) == []


def test_of_a_map_of_nested_runs_the_good_are_kept_and_the_others_go_on(runs: Runs) -> None:
    inner = Workflow("inner", (node("in"), node("out", "in")), parameters={"type": "object"}, result={"$node": "out"})
    workflows.put(runs.store, inner, actor="ann")
    run = begun(
        runs,
        Node("each", workflow="inner", map=[1, 2, 3], parallel=1),
        node("bad"),
        node("sum", params={"all": {"$node": "each"}}),
    )
    runs.end("bad", outcome=FAILED)
    runs.end("in")
    runs.end("out", result=b'"first"')
    runs.end("in")
    runs.end("out", outcome=FAILED)
    runs.end("in", outcome=FAILED)
    assert runs.states(run)["each"] == "failed"
    again = resumed(runs, run)
    assert runs.nodes(again.id)["each"].items_kept == 1
    assert runs.work_off() == ["bad", "out", "in", "out", "sum"]
    assert [runs.run(one).kept for one in runs.nodes(again.id)["each"].runs] == [1, 0]
    taken = runs.story.job(runs.job(again.id, "sum").id).params
    assert taken == {"all": ["first", 1, 1]}
    assert runs.run(again.id).state is RunState.SUCCEEDED


def test_a_changed_nested_definition_is_taken_where_the_kept_part_of_it_is_as_it_was(runs: Runs) -> None:
    def put(*nodes: Node) -> None:
        workflows.put(runs.store, Workflow("inner", nodes), actor="ann")

    put(node("in"), node("out", "in"))
    run = begun(runs, Node("sub", workflow="inner"))
    runs.work_off({"out": FAILED})
    put(node("in"), node("better", "in"))
    resumed(runs, run)
    assert runs.work_off() == ["better"]
    put(node("in", params={"x": 1}), node("out", "in"))
    with pytest.raises(IllegalState, match="changed where it is good: in has other params"):
        resumed(runs, run)
    resumed(runs, run, as_it_was=True)
    assert runs.work_off() == ["out"]
    resumed(runs, run, "sub")
    assert runs.work_off() == ["in", "out"], "begun above it, all of it is new"


def test_what_a_resume_that_never_began_had_stored_goes_away(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resumption, "_AT_ONCE", 2)
    workflows.put(runs.store, Workflow("inner", (node("in"), node("other", "in"), node("out", "other"))), actor="ann")
    run = begun(runs, node("A"), node("B", "A"), node("each", map=[1, 2]), Node("sub", workflow="inner"))
    runs.work_off({"out": FAILED, "each[1]": FAILED})
    before = runs.story.dump()
    plan = resumption.Planner(runs.store, as_it_was=False).plan(run, None)
    kept = resumption.store_kept(runs.store, plan)
    assert faults(runs) == []
    runs.later(2 * HOUR)
    with pytest.raises(IllegalState, match="took too long"):
        runs.store.write(lambda tx: kept.take(tx, run))
    after = runs.story.dump()
    for table in ("node", "node_part", "errand"):
        assert after[table] == before[table], table
    again = resumed(runs, run)
    runs.later(2 * HOUR)
    assert again.kept == 2
    runs.work_off()
    assert runs.run(again.id).state is RunState.SUCCEEDED
    assert faults(runs) == []


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


def test_a_run_that_came_with_its_definition_is_replayed_under_it_whatever_has_its_name(runs: Runs) -> None:
    own = node("A"), node("B", "A", params={"a": {"$node": "A"}})
    run = runs.start(*own)
    runs.work_off({"B": FAILED})
    workflows.put(runs.store, Workflow("flow", (node("A", params={"x": 1}), node("other"))), actor="ann")
    with pytest.raises(IllegalState, match="it came with its definition, which no workflow flow stands for"):
        replays.restart(runs.store, run, actor="ann", newest=True)
    content = runs.run(run).hash
    first = resumed(runs, run)
    assert (first.hash, first.kept) == (content, 1)
    runs.work_off({"B": FAILED})
    second = resumed(runs, first.id)
    assert (second.hash, second.kept) == (content, 1), "a resume of it is as it is"
    third = replays.restart(runs.store, run, actor="ann").run
    runs.work_off({"B": FAILED})
    assert resumed(runs, third.id).hash == content


def test_a_run_that_came_with_what_its_name_stands_for_is_one_of_that_workflow(runs: Runs) -> None:
    workflows.put(runs.store, Workflow("flow", (node("A"), node("B", "A"))), actor="ann")
    run = runs.start(node("A"), node("B", "A"))
    runs.work_off({"B": FAILED})
    workflows.put(runs.store, Workflow("flow", (node("A"), node("B", "A", params={"x": 1}))), actor="ann")
    assert resumed(runs, run).hash == workflows.one(runs.store, "flow").hash
