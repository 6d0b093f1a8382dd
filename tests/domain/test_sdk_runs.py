"""Workflows of an app as runs: declared with its tasks, submitted by it, waited for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mainspring import Mainspring, Node, Workflow
from mainspring.client.direct import DirectClient
from mainspring.domain.run import RunRequest
from mainspring.domain.workflow import content_hash
from mainspring.errors import InvalidInput, InvalidParameters, RunNotSucceeded, UnknownWorkflow
from mainspring.sdk.connection import use_client
from mainspring.store import Store
from tests import blank
from tests.domain.working import Working


def shop() -> Mainspring:
    app = Mainspring("shop")

    @app.task
    def extract(day: str) -> dict[str, Any]:
        return {"rows": [1, 2, 3], "day": day}

    @app.task(retry={"max_attempts": 1})
    def scale(row: int, by: int = 10) -> int:
        if by == 0:
            raise ValueError("by nothing")
        return row * by

    @app.task
    def total(rows: Any) -> int:
        return sum(rows)

    @app.workflow
    def outer(day: str) -> Any:
        return {"total": inner(day, by=2)}

    @app.workflow
    def inner(day: str, by: int = 10) -> Any:
        return total(scale.map(extract(day)["rows"], by=by))

    return app


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(blank.lay(tmp_path / "main.db"))


@pytest.fixture
def client(store: Store) -> Iterator[DirectClient]:
    client = DirectClient(store)
    with use_client(client):
        yield client
    client.close()


def test_a_workflow_is_submitted_and_its_result_is_what_the_function_returned(
    store: Store, client: DirectClient
) -> None:
    app = shop()
    with Working(store, app):
        run = app.workflows["inner"].submit(day="monday", by=3)
        assert run.result(timeout=30) == 18
        assert [(node.name, str(node.state)) for node in run.nodes()] == [
            ("extract", "succeeded"),
            ("scale", "succeeded"),
            ("total", "succeeded"),
        ]
        assert app.run(run.id).state == "succeeded"
        assert app.workflows["inner"].submit("monday").result(timeout=30) == 60  # by its default


async def test_a_run_that_fails_says_which_nodes_did(store: Store, client: DirectClient) -> None:
    app = shop()
    with Working(store, app):
        run = await app.workflows["inner"].asubmit(day="monday", by=0)
        with pytest.raises(RunNotSucceeded, match=r"run \d+ \(shop.inner\) is failed; failed: scale") as caught:
            await run.aresult(timeout=30)
        assert caught.value.code == "run_not_succeeded"


def test_parameters_are_checked_where_the_submit_stands(client: DirectClient) -> None:
    app = shop()
    with pytest.raises(InvalidParameters, match="there is no parameter 'dya'"):
        app.workflows["inner"].submit(dya="x")


def test_workflows_are_declared_with_the_tasks_and_found_by_short_names(client: DirectClient) -> None:
    app = shop()
    client.declare(app.catalog())
    known = {one.name: one.hash for one in client.workflows()}
    assert known == {name: content_hash(app.workflows[name[5:]].document) for name in ("shop.inner", "shop.outer")}
    assert client.start_run(RunRequest("inner", {"day": "x"})).workflow == "shop.inner"
    with pytest.raises(UnknownWorkflow):
        client.start_run(RunRequest("innr", {"day": "x"}))


def test_old_code_that_declares_again_changes_nothing(client: DirectClient) -> None:
    old, new = shop(), shop()
    new.workflows["inner"].__dict__["document"] = Workflow("shop.inner", [Node("only")]).document
    client.declare(old.catalog())
    client.declare(new.catalog())
    client.declare(old.catalog())
    assert client.workflow("shop.inner").hash == content_hash(new.workflows["inner"].document)


def test_what_a_node_gives_its_task_is_checked_when_the_app_is_declared(client: DirectClient) -> None:
    app = shop()

    @app.workflow
    def flow() -> None:
        app.tasks["scale"].map([1, "two"], by=3)

    with pytest.raises(InvalidInput, match=r"nodes\[0\].params.row: node 'scale', item 1: .*\"two\" is not of type"):
        client.declare(app.catalog())


def test_a_workflow_that_names_no_known_task_is_refused_and_the_rest_is_declared(client: DirectClient) -> None:
    app = shop()
    app.add(Workflow("bad", [Node("a", task="nowhere.at_all")]))
    with pytest.raises(InvalidInput, match=r"Workflow shop.bad is not taken: nodes\[0\].task: unknown task"):
        client.declare(app.catalog())
    assert len(client.workflows()) == 2
