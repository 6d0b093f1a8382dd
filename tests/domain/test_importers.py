"""Other systems' files as documents: what they mean there, they mean here."""

from __future__ import annotations

from typing import Any

import pytest

from mainspring.domain.graph import compiled
from mainspring.domain.joins import Rule
from mainspring.errors import InvalidInput, InvalidOption, InvalidWorkflow
from mainspring.importers import pipeline, wfformat
from mainspring.importers.durations import length
from mainspring.importers.found import OUTCOME, REPLAY, workflow_name
from mainspring.importers.stand_ins import app

CHAIN = {
    "name": "hello chain/1",
    "workflow": {
        "specification": {
            "tasks": [
                {"name": "say", "id": "say 1", "parents": [], "children": ["say 2"]},
                {"name": "say", "id": "say 2", "parents": ["say 1"], "children": []},
            ]
        },
        "execution": {"tasks": [{"id": "say 1", "runtimeInSeconds": 4.0, "command": {"program": "rm -rf /"}}]},
    },
}


def test_a_scientific_workflow_keeps_its_shape_and_times_and_no_command() -> None:
    found = wfformat.read(CHAIN, scale=0.5)
    first, second = found.main.nodes
    assert (found.main.name, first.name, first.task) == ("hello-chain-1", "say 1", REPLAY)
    assert (first.params, second.params) == ({"node": "say 1", "seconds": 2.0}, {"node": "say 2"})
    assert second.needs == ("say 1",)
    assert "rm -rf" not in str(found)
    assert found.notes


def test_what_is_no_scientific_workflow_is_refused_with_the_place() -> None:
    with pytest.raises(InvalidWorkflow, match="'workflow' is missing"):
        wfformat.read({"name": "x"})
    with pytest.raises(InvalidWorkflow, match=r"workflow.specification.tasks\[0\]: 'parents' is missing"):
        wfformat.read({"workflow": {"specification": {"tasks": [{"id": "a"}]}}})
    with pytest.raises(InvalidOption, match="scale is -1"):
        wfformat.read(CHAIN, scale=-1)


def read(*nodes: dict[str, Any], scale: float = 0.0, system: str = "", **rest: Any) -> dict[str, Any]:
    """A pipeline's nodes by name."""
    whole = [{"needs": [], **node} for node in nodes]
    found = pipeline.read({"name": "p", "source": {"system": system}, "nodes": whole, **rest}, scale=scale)
    for one in found.workflows:
        compiled(one)
    return {node.name: node for node in found.main.nodes} | {"": found}


def test_a_branch_skips_what_it_does_not_choose() -> None:
    nodes = read({"name": "b", "kind": "branch", "chooses": "x"}, {"name": "x", "needs": ["b"]})
    assert nodes["b"].params["result"] == "x"
    assert nodes["x"].when == 'results["b"] == "x"'


def test_groups_become_joins_and_their_members_wait_for_what_the_group_waits_for() -> None:
    nodes = read(
        {"name": "first"},
        {"name": "g", "kind": "group", "needs": ["first"], "type": "AllowFailure"},
        {"name": "m", "group": "g", "command": "always fails"},
        {"name": "e", "group": "g", "branch": "errors"},
        {"name": "last", "needs": ["g"]},
        system="Kestra",
    )
    assert (nodes["g"].task, nodes["g"].needs, nodes["g"].run_if) == (None, ("first", "m"), Rule.ALL_DONE)
    assert (nodes["m"].needs, nodes["m"].may_fail, nodes["m"].params["failures"]) == (("first",), True, 1_000_000)
    assert (nodes["e"].needs, nodes["e"].run_if) == (("m",), Rule.ONE_FAILED)
    assert nodes["last"].run_if is Rule.NONE_FAILED


def test_final_nodes_come_after_all_others() -> None:
    nodes = read({"name": "a"}, {"name": "b"}, {"name": "f", "kind": "finally"})
    assert (nodes["f"].needs, nodes["f"].run_if) == (("a", "b"), Rule.ALL_DONE)


@pytest.mark.parametrize(
    ("when", "rule", "said"),
    [
        ("needs.a.outputs.go == 'true'", Rule.ALL_SUCCESS, """results["a"]["go"] == 'true'"""),
        ("${{ always() && needs.a.result == 'success' }}", Rule.ALL_DONE, 'states["a"] == "succeeded"'),
        ("always()", Rule.ALL_DONE, None),
        ("${{ always() }}", Rule.ALL_DONE, None),
        ("{{tasks.a.outputs.result}} == heads", Rule.ALL_SUCCESS, 'results["a"] == "heads"'),
        ("startsWith(github.ref, 'refs/tags/v')", Rule.ALL_SUCCESS, None),
        ("manual", Rule.ALL_SUCCESS, "false"),
    ],
)
def test_conditions_of_other_systems_are_said_in_ours(when: str, rule: Rule, said: str | None) -> None:
    node = read({"name": "a"}, {"name": "b", "needs": ["a"], "when": when})["b"]
    assert (node.run_if, node.when) == (rule, said)


def test_dependencies_by_expression_look_at_states() -> None:
    nodes = read(
        {"name": "A"},
        {"name": "C", "command": ["sh", "-c", "exit 1"]},
        {"name": "x", "needs": ["A", "C"], "depends_expr": "A && (C.Succeeded || C.Failed)"},
        system="Argo Workflows",
    )
    assert nodes["C"].params["failures"] == 1_000_000
    assert nodes["x"].run_if is Rule.ALL_DONE
    assert nodes["x"].when == (
        'states["A"] in ["succeeded", "skipped"] and ( states["C"] in ["succeeded"] or states["C"] in ["failed"] )'
    )
    with pytest.raises(InvalidWorkflow, match="names no state"):
        read({"name": "A"}, {"name": "x", "needs": ["A"], "depends_expr": "A.Happy"})


def test_items_retries_and_times_are_taken_over() -> None:
    nodes = read(
        {"name": "split"},
        {"name": "m", "needs": ["split"], "withParam": "{{tasks.split.outputs.result}}"},
        {"name": "w", "withItems": ["a", "b"], "command": ["sleep", "15s"], "timeout": "20s"},
        {"name": "x", "matrix": {"os": ["l", "m"], "py": [1, 2]}, "retries": 5},
        {"name": "r", "retries": 5, "retries_counts": "attempts in all", "backoff": {"interval": "PT0.25S"}},
        {"name": "t", "command": "fails until the retry count equals 5, then", "timeout_minutes": 2},
        scale=0.1,
        params={"numParts": "4"},
    )
    assert nodes["m"].map == {"$node": "split"}
    assert nodes["split"].params["result"] == [0, 1, 2, 3]
    assert (nodes["w"].map, nodes["w"].params["seconds"], nodes["w"].timeout) == (["a", "b"], 1.5, 2.0)
    assert len(nodes["x"].map) == 4
    assert nodes["x"].retry["max_attempts"] == 6
    assert (nodes["r"].retry["max_attempts"], nodes["r"].retry["delay"]) == (5, 0.025)
    assert (nodes["t"].params["failures"], nodes["t"].timeout, nodes["t"].task) == (5, 12.0, OUTCOME)


def test_sub_graphs_are_nested_and_targets_prune() -> None:
    inner = {"nodes": [{"name": "i", "needs": []}]}
    nodes = read(
        {"name": "a", "calls": "sub", "params": {"m": "A"}},
        {"name": "b", "needs": ["a"]},
        subgraphs={"sub": inner},
        target="{{workflow.parameters.target}}",
        params={"target": "a"},
        max_parallel=2,
    )
    assert [one.name for one in nodes[""].workflows] == ["p.sub", "p"]
    assert (nodes["a"].workflow, nodes["a"].params) == ("p.sub", {"m": "A"})
    assert "b" not in nodes
    assert nodes[""].main.parallel == 2


def test_a_name_that_comes_twice_is_found() -> None:
    with pytest.raises(InvalidInput, match="two nodes named 'a'"):
        read({"name": "a"}, {"name": "g", "kind": "group"}, {"name": "a", "group": "g"})


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15s", 15),
        ("1d", 86400),
        ("PT0.25S", 0.25),
        ("1m", 60),
        (30, 30),
        ({"seconds": 3}, 3),
        ("1h30m", 5400),
        ("5", 5),
    ],
)
def test_lengths_of_time_in_many_spellings(text: Any, seconds: float) -> None:
    assert length(text) == seconds


@pytest.mark.parametrize("text", ["soon", "", True, None, "5 parsecs"])
def test_what_is_no_length_of_time_is_none(text: Any) -> None:
    assert length(text) is None


def test_the_stand_ins_are_the_tasks_that_importers_name() -> None:
    assert {task.name for task in app.catalog().tasks} == {REPLAY, OUTCOME}


def test_names_of_files_become_names_of_workflows() -> None:
    assert workflow_name("Publish to NPM / v1..2") == "Publish-to-NPM-v1.2"
    assert workflow_name("") == "w"
