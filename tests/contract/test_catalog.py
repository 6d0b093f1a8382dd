"""The catalog: what apps have declared, and that old code never overwrites newer."""

from __future__ import annotations

import pytest

from mainspring.control import read
from mainspring.control.catalog import declare
from mainspring.domain.job import JobFilter, JobRequest
from mainspring.errors import InvalidParameters, UnknownTask
from mainspring.store import catalog
from tests.contract.engines import Bench
from tests.contract.stories import Story, app_of, task

OLD = app_of(task("app.one", description="old"), task("app.gone"), code_hash="old")
NEW = app_of(task("app.one", description="new"), task("app.fresh"), code_hash="new")


def described(story: Story) -> dict[str, str]:
    return {one.name: one.description for one in read.tasks(story.store) if one.app == "app"}


def test_a_declared_task_is_known_as_it_was_declared(story: Story) -> None:
    declared = task("app.cut", argv=("cut", "{what}"), schema={"type": "object", "required": ["what"]}, priority=-2)
    declare(story.store, app_of(declared))
    assert declared in read.tasks(story.store)
    assert [one.name for one in read.tasks(story.store)] == sorted(one.name for one in read.tasks(story.store))


def test_the_same_declaration_again_writes_nothing(story: Story) -> None:
    declare(story.store, NEW)
    before = story.dump()
    story.clock.forward()
    declare(story.store, NEW)
    assert story.dump() == before


def test_newer_code_overwrites_older_and_older_never_newer(story: Story) -> None:
    for declared in (OLD, NEW, OLD, OLD):
        declare(story.store, declared)
    assert described(story) == {"app.one": "new", "app.gone": "", "app.fresh": ""}


def test_old_code_stays_old_when_nothing_of_it_is_left_in_the_catalog(story: Story) -> None:
    """All its tasks were declared again by newer code, so that no task row names its hash."""
    first, second, third = (app_of(task("app.one", description=name), code_hash=name) for name in ("a", "b", "c"))
    for declared in (first, second, third, first, second):
        declare(story.store, declared)
    assert described(story) == {"app.one": "c"}


def test_a_declaration_that_is_written_at_once_by_two_versions_ends_with_the_newer(story: Story) -> None:
    """Both had looked before either wrote."""
    declare(story.store, OLD)
    declare(story.store, NEW)
    story.store.write(lambda tx: catalog.declare(tx, OLD))
    assert described(story)["app.one"] == "new"


def test_code_whose_hash_stayed_may_declare_itself_anew(story: Story) -> None:
    declare(story.store, app_of(task("app.one", timeout="1s"), code_hash="same"))
    declare(story.store, app_of(task("app.one", timeout="2s"), code_hash="same"))
    (found,) = [one for one in read.tasks(story.store) if one.name == "app.one"]
    assert found.timeout == "2s"


def test_apps_have_generations_of_their_own(story: Story) -> None:
    declare(story.store, OLD)
    declare(story.store, NEW)
    declare(story.store, app_of(task("other.one", description="v1"), code_hash="old"))
    assert {one.name: one.description for one in read.tasks(story.store)}["other.one"] == "v1"


def test_a_task_goes_by_its_short_name_where_that_is_unique(story: Story) -> None:
    assert story.job(story.submit("send")).task == "shop.send"
    declare(story.store, app_of(task("app.send"), task("app.only")))
    assert story.job(story.submit("only")).task == "app.only"
    with pytest.raises(UnknownTask, match=r"app\.send or shop\.send"):
        story.submit("send")
    assert story.job(story.submit("app.send")).task == "app.send"


def test_an_unknown_task_is_refused_with_the_near_ones_everywhere(story: Story) -> None:
    for ask in (
        lambda: story.submit("shop.sned"),
        lambda: read.listed(story.store, JobFilter(task="sned")),
        lambda: read.counted(story.store, JobFilter(task="sned")),
    ):
        with pytest.raises(UnknownTask, match="send"):
            ask()


def test_a_submit_is_checked_against_the_newest_declaration(story: Story) -> None:
    strict = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    declare(story.store, app_of(task("app.one"), code_hash="old"))
    story.submit("one")
    declare(story.store, app_of(task("app.one", schema=strict), code_hash="new"))
    with pytest.raises(Exception, match="'n' is missing"):
        story.submit("one")
    story.submit_many([JobRequest("one", {"n": 1})])


def test_a_second_process_sees_the_catalog(bench: Bench) -> None:
    story = Story(bench)
    if bench.lasting:
        assert read.tasks(bench.open()) == read.tasks(story.store)


def test_a_submit_is_checked_against_what_is_declared_now_whoever_declared_it(story: Story) -> None:
    """A process that remembers a task submits to one that another process has declared anew, or moved."""
    other = story.bench.open() if story.bench.lasting else story.store
    name, wants_order = "shop.send", {"type": "object", "required": ["order"]}
    story.submit_many([JobRequest(name, {})])
    declare(other, app_of(task(name, schema=wants_order, queue="counter"), code_hash="two"))
    before = story.dump()
    with pytest.raises(InvalidParameters, match="'order' is missing"):
        story.submit_many([JobRequest(name, {})])
    assert story.dump() == before
    (number,) = story.submit_many([JobRequest(name, {"order": 1})])
    assert read.job(story.store, number).queue == "counter"
