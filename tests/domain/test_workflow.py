from __future__ import annotations

from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mainspring.domain.graph import Graph, compiled
from mainspring.domain.joins import Rule
from mainspring.domain.nesting import check_nesting
from mainspring.domain.workflow import MOST_NODES, Node, Workflow, canonical, content_hash, from_json, from_plain
from mainspring.errors import InvalidInput, InvalidWorkflow, PayloadTooLarge


def workflow(*nodes: Node, name: str = "w", **rest: Any) -> Workflow:
    return Workflow(name, nodes, **rest)


def refused(document: Workflow, **known: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        compiled(document, **known)
    return caught.value


DIAMOND = workflow(
    Node("D", task="t", needs=("B", "C"), params={"left": {"$node": "B"}}),
    Node("A", task="t"),
    Node("B", task="t", params={"rows": [{"$node": "A", "path": ["rows", 0]}, {"$param": "day"}]}),
    Node("C", needs=("A",)),
    parameters={"type": "object", "properties": {"day": {"type": "string"}}, "additionalProperties": False},
    result={"all": {"$node": "D"}},
)


def test_a_graph_knows_needs_children_and_an_order() -> None:
    graph = compiled(DIAMOND)
    assert graph.numbers == {"D": 0, "A": 1, "B": 2, "C": 3}
    assert graph.needs == ((2, 3), (), (1,), (1,))
    assert graph.children == ((), (2, 3), (0,), (0,))
    assert graph.order == (1, 2, 3, 0)
    assert graph.result_needs(0) == {"B"}


@pytest.mark.parametrize(
    ("nodes", "place", "said"),
    [
        ([Node("a", needs=("b",)), Node("b", needs=("a",))], "nodes[0].needs", "a cycle: a -> b -> a."),
        ([Node("x"), Node("a", needs=("a",))], "nodes[1].needs[0]", "a cycle: a -> a."),
        ([Node("a"), Node("b", needs=("aa",))], "nodes[1].needs[0]", "needs 'aa', and there is no such node"),
        ([Node("a"), Node("b", needs=("a", "a"))], "nodes[1].needs[1]", "needs 'a' twice"),
        ([Node("a"), Node("b"), Node("a")], "nodes[2].name", "two nodes named 'a': nodes[0] and nodes[2]"),
        ([Node("a\n")], "nodes[0].name", "is no name of a node"),
        ([Node("")], "nodes[0].name", "is no name of a node"),
        ([Node("a", task="t", workflow="v")], "nodes[0].workflow", "has a task and a workflow"),
        ([Node("a", params={"x": 1})], "nodes[0].params", "neither a task nor a workflow"),
        ([Node("a", workflow="v", queue="q")], "nodes[0].queue", "has no task, so it can't have queue"),
        ([Node("a", workflow="w")], "nodes[0].workflow", "it nests itself: w -> w"),
        ([Node("a", task="t", parallel=2)], "nodes[0].parallel", "is for a node with map"),
        ([Node("a", task="t", map=[1], parallel=0)], "nodes[0].parallel", "parallel is 0"),
        ([Node("a", task="t", map={"rows": 1})], "nodes[0].map", "must be a list, or a reference"),
        ([Node("a", task="t", map={"$item": True})], "nodes[0].map", "there is no $item here"),
        ([Node("a", task="t", params={"x": {"$item": True}})], "nodes[0].params.x", "there is no $item here"),
        ([Node("a", task="t", params={"x": [{"$nod": "a"}]})], "nodes[0].params.x[0]", "no kind of reference"),
        ([Node("a", task="t", params={"x": {"$node": "a"}})], "nodes[0].params.x", "takes its own result"),
        ([Node("a", task="t", params={"x": {"$node": "b"}})], "nodes[0].params.x", "there is no such node"),
        ([Node("a", task="t", params={"x": {"$param": "day"}})], "nodes[0].params.x", "has no parameter 'day'"),
        ([Node("a", task="t", params={"x": {"$node": "b", "rows": 1}})], "nodes[0].params.x", "can't have 'rows'"),
        ([Node("a", task="t", params={"x": {"$node": "b", "path": "rows"}})], "nodes[0].params.x", "must be a list"),
        ([Node("a", task="t", params={"x": {"$node": "b", "path": [-1]}})], "nodes[0].params.x", "path has -1"),
        ([Node("a", when="params.day == 1")], "nodes[0].when", "has no parameter 'day'"),
        ([Node("a", when="results.b == 1"), Node("b")], "nodes[0].when", "not above this node"),
        ([Node("a", when="results.b")], "nodes[0].when", "there is no such node"),
        ([Node("a", when="1 =")], "nodes[0].when", "'=' at character 3"),
        ([Node("a", task="t", timeout="soon")], "nodes[0].timeout", "'soon' is not a duration"),
        ([Node("a", task="t", timeout="0s")], "nodes[0].timeout", "it is 0; it must be longer"),
        ([Node("a", task="t", priority=5000)], "nodes[0].priority", "priority is 5000"),
        ([Node("a", task="t", retry={"max_attempts": 0})], "nodes[0].retry.max_attempts", "must be a whole number"),
        ([Node("a", task="t", queue="a b")], "nodes[0].queue", "no name of a queue"),
        ([], "nodes", "it has no nodes"),
    ],
)
def test_a_document_is_refused_with_the_exact_place(nodes: list[Node], place: str, said: str) -> None:
    error = refused(workflow(*nodes))
    assert (error.code, error.field) == ("invalid_workflow", place)
    assert said in str(error)


def test_an_unknown_task_or_workflow_is_refused_with_what_was_meant() -> None:
    error = refused(workflow(Node("a", task="shop.sned")), tasks={"shop.send"}, known=lambda: ["shop.send"])
    assert error.field == "nodes[0].task"
    assert "unknown task 'shop.sned'. Did you mean shop.send?" in str(error)
    assert refused(workflow(Node("a", workflow="v")), workflows={"u"}).field == "nodes[0].workflow"


def test_a_node_that_goes_early_says_itself_whether_a_reference_is_a_need() -> None:
    nodes = [Node("a", task="t"), Node("b", task="t")]
    early = Node("c", task="t", needs=("b",), run_if=Rule.ONE_SUCCESS, params={"x": {"$node": "a"}})
    assert refused(workflow(*nodes, early)).field == "nodes[2].params.x"
    said = Node("c", task="t", needs=("b", "a"), run_if=Rule.ONE_SUCCESS, params={"x": {"$node": "a"}})
    assert compiled(workflow(*nodes, said)).needs[2] == (1, 0)


def test_a_condition_may_look_at_any_node_above() -> None:
    nodes = [Node("a", task="t"), Node("b", needs=("a",)), Node("c", needs=("b",), when="results.a.x > 1")]
    assert compiled(workflow(*nodes)).result_needs(2) == {"a"}


def test_what_can_not_be_stored_is_refused_with_its_place() -> None:
    assert refused(workflow(Node("a", task="t", params={"x": [float("nan")]}))).field == "nodes[0].params.x[0]"
    assert refused(workflow(Node("a", task="t", params={"x": "a\0"}))).code == "invalid_text"
    assert refused(workflow(Node("a", task="t", params={"x": 2**70}))).code == "invalid_json"
    compiled(workflow(Node("a", task="t", params={"x": "\\u0000"})))


def test_limits_are_told() -> None:
    assert "at most 100,000" in str(refused(workflow(*(Node(str(n)) for n in range(MOST_NODES + 1)))))
    big = workflow(*(Node(str(n), task="t", params={"x": "y" * 1_000_000}) for n in range(68)))
    assert refused(big).code == PayloadTooLarge.code


def test_a_long_cycle_is_cut_where_it_is_shown() -> None:
    nodes = [Node(f"n{n}", needs=(f"n{(n + 1) % 50}",)) for n in range(50)]
    text = str(refused(workflow(*nodes)))
    assert text.startswith("nodes[0].needs: a cycle: n0 -> n49 -> n48")
    assert "(30 more) -> n0" in text


def test_workflows_do_not_nest_themselves_through_others() -> None:
    documents = {name: workflow(Node("x", workflow=inner), name=name) for name, inner in ("bc", "ca", "de")}
    first = workflow(Node("y"), Node("x", workflow="b"), name="a")
    with pytest.raises(InvalidWorkflow, match=r"workflow c, nodes\[0\].workflow: it nests itself: a -> b -> c -> a"):
        check_nesting(first, documents.get)
    check_nesting(workflow(Node("x", workflow="d")), documents.get)
    check_nesting(workflow(Node("x", workflow="a"), Node("y", workflow="a")), {"a": DIAMOND}.get)
    deep = {str(n): workflow(Node("x", workflow=str(n + 1)), name=str(n)) for n in range(40)}
    with pytest.raises(InvalidWorkflow, match="deeper than 20"):
        check_nesting(deep["0"], deep.get)


def test_a_document_survives_its_json_and_its_hash_knows_no_spelling() -> None:
    assert from_json(canonical(DIAMOND)) == DIAMOND
    plain = {"nodes": [{"task": "t", "name": "a", "params": {"y": 1, "x": 2}}], "name": "w"}
    other = {"name": "w", "nodes": [{"name": "a", "task": "t", "params": {"x": 2, "y": 1}, "needs": []}]}
    assert content_hash(from_plain(plain)) == content_hash(from_plain(other))
    assert content_hash(from_plain(plain)) != content_hash(DIAMOND)


@pytest.mark.parametrize(
    ("plain", "place", "said"),
    [
        ({"name": "w", "nodes": [{"name": 3}]}, "nodes[0].name", "expected 'str', got 'int'"),
        ({"name": "w", "nodes": [{"name": "a", "taks": "t"}]}, "nodes[0]", "Did you mean task"),
        ({"name": "w", "nodes": [], "node": 1}, "", "Did you mean nodes"),
        ({"name": "w", "nodes": [{"name": "a", "run_if": "all_good"}]}, "nodes[0].run_if", "'all_good'"),
        ({"nodes": []}, "name", "it is missing"),
        ({"name": "w", "nodes": [{"task": "t"}]}, "nodes[0].name", "it is missing"),
        ({"name": "w", "nodes": [{"name": "a", "tags": {"a": 1}}]}, "nodes[0].tags", "expected 'str', got 'int'"),
        ([], "", "Expected 'object'"),
    ],
)
def test_a_document_of_another_shape_is_refused_with_the_place(plain: Any, place: str, said: str) -> None:
    with pytest.raises(InvalidWorkflow) as caught:
        from_plain(plain)
    assert caught.value.field == place
    assert said in str(caught.value)


@st.composite
def digraphs(draw: st.DrawFn) -> Workflow:
    count = draw(st.integers(1, 9))
    nodes = []
    for number in range(count):
        others = sorted({*range(count)} - {number})
        needs = draw(st.sets(st.sampled_from(others), max_size=3)) if others else set()
        nodes.append(Node(str(number), needs=tuple(map(str, sorted(needs)))))
    return workflow(*nodes)


@given(digraphs())
@settings(max_examples=200)
def test_cycles_and_orders_are_what_another_library_says(document: Workflow) -> None:
    other: nx.DiGraph[str] = nx.DiGraph((need, node.name) for node in document.nodes for need in node.needs)
    other.add_nodes_from(node.name for node in document.nodes)
    if nx.is_directed_acyclic_graph(other):
        check_order(compiled(document))
        return
    error = refused(document)
    way = error.what.removeprefix("a cycle: ").split(" -> ") if isinstance(error, InvalidWorkflow) else []
    assert len(way) > 1
    assert way[0] == way[-1]
    assert nx.is_simple_path(other, way[:-1])
    assert other.has_edge(way[-2], way[-1])


def check_order(graph: Graph) -> None:
    place = {number: at for at, number in enumerate(graph.order)}
    assert sorted(place) == list(range(len(graph.document.nodes)))
    assert all(place[need] < place[number] for number, needs in enumerate(graph.needs) for need in needs)
    assert {(need, child) for need, all_ in enumerate(graph.children) for child in all_} == {
        (need, child) for child, needs in enumerate(graph.needs) for need in needs
    }
