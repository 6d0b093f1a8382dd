"""Workflows declared in Python: what is drawn, what is written out, and what is refused where it is written."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from mainspring import Mainspring, Node, Retry, Workflow, index, item
from mainspring.domain.graph import compiled
from mainspring.domain.joins import Rule
from mainspring.domain.workflow import OnFailure
from mainspring.errors import InvalidInput, InvalidOption, InvalidParameters, InvalidTask, InvalidWorkflow


def shop() -> Mainspring:
    app = Mainspring("shop")

    @app.task
    def extract(day: str) -> dict[str, Any]:
        return {"rows": [day]}

    @app.task
    def clean(row: str, limit: int = 3) -> str:
        return row

    @app.task
    def load(parts: list[str], note: Any = None) -> int:
        return len(parts)

    app.command("sweep", ["true"])
    return app


def test_calls_add_nodes_and_results_stand_for_what_comes() -> None:
    app = shop()
    extract, clean, load = (app.tasks[name] for name in ("extract", "clean", "load"))

    @app.workflow
    def pipeline(day: str, limit: int = 5) -> Any:
        """Daily."""
        raw = extract(day)
        parts = clean.map(raw["rows"], limit=limit)
        again = clean.options(retry=Retry(max_attempts=2), timeout=timedelta(seconds=5), node="first")(raw["rows"][0])
        total = load(parts, note={"by": [again, "x"]})
        app.tasks["sweep"].options(after=total, run_if="all_done", may_fail=True)()
        return {"count": total}

    document = pipeline.document
    assert document.name == "shop.pipeline"
    assert document.description == "Daily."
    assert document.schema["properties"] == {"day": {"type": "string"}, "limit": {"type": "integer", "default": 5}}
    assert document.result == {"count": {"$node": "load"}}
    by_name = {node.name: node for node in document.nodes}
    assert list(by_name) == ["extract", "clean", "first", "load", "sweep"]
    assert by_name["extract"].params == {"day": {"$param": "day"}}
    assert by_name["clean"].map == {"$node": "extract", "path": ["rows"]}
    assert by_name["clean"].params == {"row": {"$item": True}, "limit": {"$param": "limit"}}
    assert by_name["first"].params == {"row": {"$node": "extract", "path": ["rows", 0]}}
    assert by_name["first"].timeout == "5s"
    assert (by_name["first"].retry or {})["max_attempts"] == 2
    assert by_name["load"].params == {
        "parts": {"$node": "clean"},
        "note": {"by": [{"$node": "first"}, "x"]},
    }
    assert (by_name["sweep"].needs, by_name["sweep"].run_if, by_name["sweep"].may_fail) == (
        ("load",),
        Rule.ALL_DONE,
        True,
    )
    assert compiled(document).needs == ((), (0,), (0,), (1, 2), (3,))
    assert app.catalog().workflows == (document,)


def test_a_task_that_is_called_twice_makes_two_nodes() -> None:
    app = shop()
    extract = app.tasks["extract"]

    @app.workflow(on_failure="fail_fast", timeout="1h", parallel=2, name="twice")
    def either() -> None:
        first = extract("monday")
        extract("tuesday", after=first)

    document = either.document
    assert [(node.name, node.needs) for node in document.nodes] == [("extract", ()), ("extract_2", ("extract",))]
    assert (document.on_failure, document.timeout, document.parallel) == (OnFailure.FAIL_FAST, "1h", 2)


def test_where_the_item_goes_can_be_said() -> None:
    app = shop()

    @app.workflow
    def mapped() -> None:
        app.tasks["load"].map([1, 2], parts=[item["a"], {"n": index}])

    assert mapped.document.nodes[0].params == {"parts": [{"$item": True, "path": ["a"]}, {"n": {"$index": True}}]}
    assert mapped.document.nodes[0].map == [1, 2]


def test_calling_a_workflow_in_a_workflow_nests_it() -> None:
    app = shop()

    @app.workflow
    def inner(day: str) -> Any:
        return app.tasks["extract"](day)["rows"]

    @app.workflow
    def outer() -> None:
        one = inner("monday")
        inner.options(parallel=2).map(one)

    first, second = outer.document.nodes
    assert (first.workflow, first.task, first.params) == ("shop.inner", None, {"day": "monday"})
    assert (second.map, second.parallel) == ({"$node": "inner"}, 2)


def test_workflows_that_nest_each_other_are_refused_with_the_way() -> None:
    app = shop()

    @app.workflow
    def a() -> None:
        b()

    @app.workflow
    def b() -> None:
        a()

    with pytest.raises(InvalidWorkflow, match=r"it nests itself: shop.a -> shop.b -> shop.a"):
        app.catalog()


def test_a_written_workflow_is_the_same_document() -> None:
    app = shop()
    extract = app.tasks["extract"]
    written = Workflow(
        "diamond",
        nodes=[
            Node("A", task="extract", params={"day": {"$param": "day"}}),
            Node("B", task=extract, needs=["A"], params={"day": "x"}, retry=Retry(max_attempts=1)),
            Node("C", needs="A", when='results.A.rows != [] and params.day == "x"'),
            Node("D", task="elsewhere.load", needs=["B", "C"], map=[1], params={"x": item}, run_if="none_failed"),
        ],
        parameters={"day": str},
    )
    added = app.add(written)
    assert added.name == "shop.diamond"
    assert [node.task for node in added.document.nodes] == ["shop.extract", "shop.extract", None, "elsewhere.load"]
    assert added.document.schema["required"] == ["day"]
    assert app.workflows["diamond"] is added
    assert compiled(added.document).needs == ((), (0,), (0,), (1, 2))


@pytest.mark.parametrize(
    "use",
    [
        bool,
        list,
        len,
        lambda raw: raw + 1,
        lambda raw: raw > 1,
        lambda raw: raw[1:2],
        lambda raw: raw(),
        lambda raw: raw == 1,
        lambda raw: raw != 1,
        lambda raw: f"{raw}",
        str,
    ],
)
def test_a_result_that_is_not_there_can_not_be_looked_at(use: Any) -> None:
    app = shop()

    @app.workflow
    def careless() -> None:
        use(app.tasks["extract"]("monday"))

    with pytest.raises(InvalidWorkflow, match="result of extract"):
        _ = careless.document


def test_a_part_is_taken_with_brackets_and_the_refusal_says_so() -> None:
    app = shop()

    @app.workflow
    def careless() -> None:
        _ = app.tasks["extract"]("monday").rows

    with pytest.raises(AttributeError, match=r"taken with \['rows'\]"):
        _ = careless.document


def test_what_another_workflow_has_made_is_refused() -> None:
    app = shop()
    kept: list[Any] = []

    @app.workflow
    def one(day: str) -> None:
        kept.extend([app.tasks["extract"](day), day])

    _ = one.document
    for number, said in enumerate(("result of extract", "parameter day")):
        with pytest.raises(
            InvalidWorkflow,
            match=f"workflow shop.w{number}: parameter 'day' of node 'extract' is <{said}> of another workflow",
        ):
            _ = app.workflow(name=f"w{number}")(lambda: app.tasks["extract"](kept[number])).document  # noqa: B023


async def waits(day: str) -> None: ...


def yields(day: str) -> Any:
    yield day


@pytest.mark.parametrize("function", [waits, yields])
def test_a_function_that_can_not_be_drawn_is_refused_where_it_is_declared(function: Any) -> None:
    with pytest.raises(InvalidTask, match="is async, or yields"):
        shop().workflow(function)


def test_nothing_is_submitted_while_a_workflow_is_drawn() -> None:
    app = shop()

    @app.workflow
    def inner() -> None:
        app.tasks["sweep"]()

    both: tuple[Any, ...] = app.tasks["sweep"], inner
    for number, one in enumerate(both):
        with pytest.raises(InvalidWorkflow, match=f"workflow shop.w{number}: a .* is submitted while it is drawn"):
            _ = app.workflow(name=f"w{number}")(lambda: one.submit()).document  # noqa: B023, PLW0108


def twice(extract: Any) -> None:
    extract.options(node="a")("x")
    extract.options(node="a")("x")


@pytest.mark.parametrize(
    ("draw", "kind", "said"),
    [
        (lambda extract: extract(dya="x"), InvalidParameters, "there is no parameter 'dya'"),
        (lambda extract: extract(), InvalidParameters, "'day' is missing"),
        (lambda extract: extract.options(untill=3)("x"), InvalidOption, "no option 'untill'"),
        (lambda extract: extract.options(run_if="all_good")("x"), InvalidOption, "Did you mean all_done"),
        (lambda extract: extract.options(after=7)("x"), InvalidOption, "to go after 7"),
        (lambda extract: extract.map([1], day="x"), InvalidParameters, "no parameter is left"),
        (lambda extract: extract.map("abc"), InvalidWorkflow, "mapped over 'abc'"),
        (twice, InvalidWorkflow, "two nodes named 'a'"),
        (lambda _: None, InvalidWorkflow, "it has no nodes"),
    ],
)
def test_a_wrong_call_is_refused_where_it_stands(draw: Any, kind: type[InvalidInput], said: str) -> None:
    app = shop()
    with pytest.raises(kind) as caught:
        _ = app.workflow(name="w")(lambda: draw(app.tasks["extract"])).document
    assert said in str(caught.value)


def test_outside_of_a_workflow_there_are_no_nodes() -> None:
    app = shop()
    assert app.tasks["extract"]("monday") == {"rows": ["monday"]}
    with pytest.raises(InvalidWorkflow, match="no workflow is being drawn"):
        app.tasks["extract"].map([1])
    with pytest.raises(InvalidWorkflow, match="no workflow is being drawn"):
        app.tasks["extract"].options(priority=1)("x")


def several(*days: str) -> None: ...


def test_names_are_taken_once_and_signatures_must_serve() -> None:
    app = shop()
    app.add(Workflow("w", [Node("a")]))
    with pytest.raises(InvalidTask, match="two workflows named 'w'"):
        app.add(Workflow("w", [Node("a")]))
    with pytest.raises(InvalidTask, match="parameters of a job have names"):
        app.workflow(several)
    options: dict[str, Any] = {"on_failure": "stop"}
    with pytest.raises(InvalidOption, match="on_failure is 'stop'"):
        app.workflow(name="x", **options)(lambda: None)
    options = {"retry": 3}
    with pytest.raises(InvalidOption, match="A workflow has no option 'retry'"):
        app.workflow(**options)(lambda: None)
    with pytest.raises(InvalidWorkflow, match="a cycle: a -> b -> a"):
        Workflow("w", [Node("a", needs=["b"]), Node("b", needs=["a"])])
