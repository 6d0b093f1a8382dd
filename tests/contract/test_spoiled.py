"""Rows that somebody has spoiled by hand, one of each kind: they are told of, and all else goes on."""

from __future__ import annotations

import pytest

from mainspring.clock import MINUTE
from mainspring.control import access, queues, read, schedules, topics, users, webhooks, workflows
from mainspring.control import runs as control_runs
from mainspring.domain.access import Role
from mainspring.domain.job import JobFilter
from mainspring.domain.joins import RunState
from mainspring.domain.plan import Plan
from mainspring.domain.run import RunRequest
from mainspring.domain.steps import header_of
from mainspring.domain.timetable import Origin
from mainspring.domain.topic import SubscriptionWanted
from mainspring.domain.webhook import WebhookWanted
from mainspring.domain.workflow import Node, Workflow, content_hash
from mainspring.engine.carry import Carry
from mainspring.engine.fire import Fire
from mainspring.errors import InvalidWorkflow, Unauthenticated, UnresolvedReference
from mainspring.store import runs as store_runs
from mainspring.store import workflows as store_workflows
from mainspring.transitions.inputs import resolved
from tests.contract.run_stories import Runs, node
from tests.contract.stories import Story
from tests.contract.test_schedules import after, outcomes

WORDS = "correct horse battery"
NONSENSE = '{"x'


@pytest.mark.parametrize("column", ["queues", "labels", "tasks", "pids"])
def test_a_worker_whose_row_is_spoiled_says_so_and_hides_no_other(story: Story, column: str) -> None:
    first, second = story.hello("one"), story.hello("two")
    story.bench.alter(story.store, f"update worker set {column} = '{NONSENSE}' where id = {first}")
    found = {one.id: one for one in read.all_workers(story.store)}
    assert found[first].labels["unreadable"] == NONSENSE
    assert "unreadable" not in found[second].labels
    assert queues.listed(story.store) is not None


def test_a_task_whose_row_is_spoiled_hides_no_other(story: Story) -> None:
    known = [task.name for task in read.tasks(story.store)]
    story.bench.alter(story.store, f"update task set declaration = '{NONSENSE}' where name = '{known[0]}'")
    assert [task.name for task in read.tasks(story.store)] == known[1:]


@pytest.mark.parametrize("change", [f"queues = '{NONSENSE}'", "role = 'emperor'"])
def test_whose_rights_are_spoiled_has_none_that_count(story: Story, change: str) -> None:
    _, secret = access.create(story.store, "spoiled", Role.ADMIN, lasts=None, queues=["mail"], actor="ann")
    _, other = access.create(story.store, "sound", Role.ADMIN, lasts=None, actor="ann")
    users.create(story.store, "eve", WORDS, Role.ADMIN, queues=["mail"], actor="ann")
    session, _ = users.sign_in(story.store, "eve", WORDS, address="here")
    story.bench.alter(story.store, f"update token set {change} where name = 'spoiled'")
    story.bench.alter(story.store, f"update account set {change} where name = 'eve'")
    for asker in (access.recognise(story.store, secret), users.recognise(story.store, session)):
        assert (asker.role, asker.reaches("mail"), asker.queues is None) == (Role.VIEWER, False, False)
    assert access.recognise(story.store, other).role is Role.ADMIN
    assert {token.name for token in access.tokens(story.store)} == {"spoiled", "sound"}
    assert [user.name for user in users.listed(story.store)] == ["eve"]
    with pytest.raises(Unauthenticated):
        access.recognise(story.store, "mst_wrong")


def test_a_line_of_the_trail_that_is_spoiled_is_shown_as_it_is(story: Story) -> None:
    access.create(story.store, "one", Role.VIEWER, lasts=None, actor="ann")
    access.create(story.store, "two", Role.VIEWER, lasts=None, actor="ann")
    story.bench.alter(story.store, f"update trail set after = '{NONSENSE}' where subject = 'token one'")
    second, first = access.changes(story.store)
    assert first.after == {"unreadable": NONSENSE}
    assert second.after is not None
    assert second.after["role"] == "viewer"


# --- what schedulers, buses and runs go by ----------------------------------------------------------------------------

ANYTHING = (NONSENSE, "[]", '{"surprise": [1e999]}', "")
OBJECT = {"type": "object"}


def parted(story: Story, name: str, number: int = 0) -> int:
    """A run of a workflow of this name, with what a node may have. ``number``: no two with others are one version."""
    nodes = (
        node("A", tags={"number": str(number)}),
        node("B", "A", params={"x": {"$node": "A"}}, when="results.A == 1"),
        node("C", "A", map=[1, 2, 3], parallel=1, params={"i": {"$item": True}, "d": {"$param": "d"}}),
        node("D", "B", "C"),
    )
    document = Workflow(name, nodes, parameters=OBJECT, result={"a": {"$node": "A"}})
    workflows.put(story.store, document, actor="ann")
    return control_runs.start(story.store, RunRequest(name, {"d": 1}), actor="client").id


def of(what: str) -> str:
    return f"version = (select version from workflow where name = 'one') and {what}"


SPOILED_RUNS = {
    "header": (
        "update workflow_version set header = '{}' where id = (select version from workflow where name = 'one')"
    ),
    **{
        f"{column} of {place}": f"update workflow_node set {column} = '{{}}' where {of(f'number = {place}')}"
        for column, place in (
            ("document", 1),
            ("document", 2),
            ("document", 3),
            ("inputs", 2),
            ("inputs", 3),
            ("inputs", 5),
        )
    },
}


@pytest.mark.parametrize("what", SPOILED_RUNS)
def test_a_run_whose_definition_is_spoiled_comes_to_an_end_and_holds_up_no_other(story: Story, what: str) -> None:
    """However far it is: what can't be read fails, and is told; jobs that end with others of it end as they did."""
    runs = Runs(story)
    for number, text in enumerate(ANYTHING):
        spoiled, sound = parted(story, "one", number), parted(story, "two", number)
        if number % 2:
            runs.end_jobs({job.id: b"1" for job in runs.waiting_jobs()})
        story.bench.alter(story.store, SPOILED_RUNS[what].replace("{}", text))
        assert runs.work_off() != []
        assert runs.run(spoiled).done, (what, text)
        assert runs.run(sound).state is RunState.SUCCEEDED
        assert runs.run(sound).result == {"a": 1}
        assert [one.name for one in workflows.listed(story.store)] == ["one", "two"]
        assert len(runs.nodes(spoiled)) == len(runs.nodes(sound)) == 4
        told = [one.error for one in runs.nodes(spoiled).values() if one.error is not None]
        if what.startswith("document"):
            assert "Unreadable" in {one.type for one in told}, (what, text)
        assert control_runs.events(story.store, spoiled)[-1].target in {"succeeded", "failed"}


@pytest.mark.parametrize("column", ["wants", "params"])
def test_a_job_of_a_run_whose_references_are_spoiled_fails_alone(story: Story, column: str) -> None:
    runs = Runs(story)
    for text in ANYTHING:
        spoiled, sound = parted(story, "one"), parted(story, "two")
        runs.end_jobs({job.id: b"1" for job in runs.waiting_jobs()})
        taker = runs.job(spoiled, "B").id
        story.bench.alter(story.store, f"update job set {column} = '{text}' where id = {taker}")
        assert len(read.listed(story.store, JobFilter(limit=1000)).items) >= 4
        links = {job.id: job for job in runs.waiting_jobs()}
        takers = story.store.read(lambda tx: store_runs.takers(tx, list(links)))  # noqa: B023
        told = story.store.read(lambda tx: resolved(tx, takers))  # noqa: B023
        if column == "wants" and not text.startswith('{"s'):  # of that an older or newer version might make sense
            assert isinstance(told[taker], UnresolvedReference), text
        assert told[runs.job(sound, "B").id] == {"x": 1}
        runs.work_off()
        assert runs.run(sound).state is RunState.SUCCEEDED


@pytest.mark.parametrize("column", ["declaration", "override"])
def test_a_schedule_that_is_spoiled_fires_no_more_and_others_do(story: Story, column: str) -> None:
    for number, text in enumerate(ANYTHING):
        for name in ("one", "two"):
            plan = Plan({"every": "1m"}, task="send", overlap="allow")
            schedules.put(story.store, f"{name}-{number}", plan, origin=Origin.CLI, actor="ann")
        story.bench.alter(
            story.store, f"update schedule set {column} = '{text}' where name = 'one-{number}' and removed_at is null"
        )
        fire = Fire(story.store, story.clock)
        for _ in range(3):
            story.clock.forward(MINUTE)
            fire.turn()
        assert len(schedules.listed_ticks(story.store, f"two-{number}", cursor=None, limit=10).items) == 3, text
        assert len(schedules.listed(story.store)) == 2 * (number + 1)


def test_a_subscription_that_is_spoiled_says_why_it_makes_nothing_and_others_do(story: Story) -> None:
    for number, text in enumerate(ANYTHING):
        for name in ("one", "two"):
            wanted = SubscriptionWanted(f"{name}-{number}", f"topic-{number}", task="send", params={"a": 1})
            topics.subscribe(story.store, wanted, actor="ann")
        story.bench.alter(story.store, f"update subscription set params = '{text}' where name = 'one-{number}'")
        topics.publish(story.store, f"topic-{number}", [{"b": 2}], actor="ann")
        for _ in range(3):
            Carry(story.store, story.clock).turn()
        found = {one.name: one for one in topics.subscriptions(story.store)}
        assert (found[f"two-{number}"].made, found[f"two-{number}"].refused) == (1, 0), text
        spoiled = found[f"one-{number}"]
        if spoiled.made == 0:
            assert spoiled.refused == 1
            assert "can't be read" in (spoiled.refusal or "")


def test_a_webhook_whose_kinds_are_spoiled_tells_nothing_and_hides_no_other(story: Story) -> None:
    for number, text in enumerate(ANYTHING):
        for name in ("one", "two"):
            wanted = WebhookWanted(f"{name}-{number}", "https://hooks.example.com/x", kinds=("dead",))
            webhooks.create(story.store, wanted, inside=(), actor="ann")
        story.bench.alter(story.store, f"update webhook set kinds = '{text}' where name = 'one-{number}'")
        found = {one.name: one.kinds for one in webhooks.listed(story.store)}
        assert found[f"two-{number}"] == ("dead",)
        assert found[f"one-{number}"] == (() if text == "[]" else ("unreadable",)), text


def test_an_event_whose_detail_is_spoiled_is_shown_as_it_is(story: Story) -> None:
    job = story.submit()
    story.cancel(job)
    for text in (NONSENSE, "7", "[]"):
        story.bench.alter(story.store, f"update event set detail = '{text}' where job = {job}")
        history = read.history(story.store, after=0, job=job, kinds=(), limit=10)
        assert [event.detail for event in history] == [{"unreadable": text}] * 2


@pytest.mark.parametrize("header", [NONSENSE, '{"name": "inner", "nodes": [], "parameters": {"properties": {"x": 5}}}'])
def test_a_definition_that_is_spoiled_fails_what_names_it_and_all_else_goes_on(story: Story, header: str) -> None:
    flow = Runs(story)
    inner = Workflow("inner", (node("a"),))
    workflows.put(story.store, inner, actor="ann")
    workflows.put(story.store, Workflow("sound", (node("b"),)), actor="ann")
    run = flow.start(node("A"), Node("sub", workflow="inner", needs=("A",)))
    for name in ("inner", "sound"):
        plan = Plan({"every": "1m"}, workflow=name)
        schedules.put(story.store, name, plan, origin=Origin.CLI, actor="ann")
    story.bench.alter(
        story.store, f"update workflow_version set header = '{header}' where hash = '{content_hash(inner)}'"
    )
    flow.end("A")
    assert flow.states(run) == {"A": "succeeded", "sub": "failed"}
    after(story, MINUTE)
    assert outcomes(story, "inner") == [("missed", 1)]
    assert outcomes(story, "sound") == [("fired", 1)]
    assert "sound" in [one.name for one in workflows.listed(story.store)]


def test_a_definition_that_an_older_version_took_is_not_taken_again(story: Story) -> None:
    broken = Workflow("broken", (node("a"),), parameters={"type": "object", "properties": {"x": {"type": "text"}}})
    story.store.write(lambda tx: store_workflows.insert(tx, content_hash(broken), header_of(broken), 1))
    story.bench.alter(story.store, "update workflow_version set whole = 1")
    with pytest.raises(InvalidWorkflow, match="no JSON Schema"):
        workflows.put(story.store, broken, actor="ann")
    with pytest.raises(InvalidWorkflow, match="no JSON Schema"):
        control_runs.start(story.store, RunRequest(broken), actor="ann")
