"""Topics: numbered in the order of their commits, taken once by each subscription, whoever carries them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Raw
from msgspec.json import encode

from mainspring.client.direct import DirectClient
from mainspring.clock import DAY
from mainspring.control import access, read, runs, topics, workflows
from mainspring.domain.access import ChangeFilter
from mainspring.domain.frame import Answer, Request
from mainspring.domain.job import JobFilter
from mainspring.domain.run import RunFilter
from mainspring.domain.topic import KEPT, Subscription, SubscriptionWanted
from mainspring.domain.workflow import Workflow
from mainspring.engine.carry import BATCH, Carry
from mainspring.errors import (
    InvalidOption,
    InvalidTask,
    MainspringError,
    UnknownSubscription,
    UnknownTask,
    WorkflowNotKnown,
)
from mainspring.store import Transaction
from mainspring.store import topics as kept
from mainspring.worker.requests import RequestDesk
from tests.contract.run_stories import node
from tests.contract.stories import NOBODY, Story


def publish(story: Story, *data: Any, topic: str = "paid") -> int:
    return topics.publish(story.store, topic, data, actor="ann")


def subscribe(story: Story, name: str = "receipts", topic: str = "paid", **values: Any) -> Subscription:
    values = values if "workflow" in values else {"task": "send"} | values
    return topics.subscribe(story.store, SubscriptionWanted(name, topic, **values), actor="ann")


def carry(story: Story) -> None:
    turn = Carry(story.store, story.clock)
    for _ in range(10):
        turn.turn()


def made(story: Story) -> list[dict[str, Any]]:
    """Parameters of all jobs, oldest first."""
    return [job.params for job in reversed(read.listed(story.store, JobFilter(limit=1000)).items)]


def test_each_message_makes_a_job_for_each_subscription_in_order(story: Story) -> None:
    publish(story, {"n": 0})
    subscribe(story)
    subscribe(story, "also", params={"fixed": True})
    assert publish(story, {"n": 1}, {"n": 2}) == 3
    carry(story)
    assert sorted(map(str, made(story))) == sorted(
        map(str, [{"n": 1}, {"n": 2}, {"n": 1, "fixed": True}, {"n": 2, "fixed": True}])
    )
    job = read.listed(story.store, JobFilter(tag="message=2")).items[0]
    assert job.tags == {"topic": "paid", "message": "2"}
    assert [(one.cursor, one.made) for one in topics.subscriptions(story.store)] == [(3, 2), (3, 2)]


def test_whoever_carries_makes_each_job_once(story: Story) -> None:
    subscribe(story)
    publish(story, *({"n": n} for n in range(BATCH + 5)))
    (before,) = topics.subscriptions(story.store)
    one, two = Carry(story.store, story.clock), Carry(story.store, story.clock)
    one.turn()
    stale = story.store.write(lambda tx: kept.go_on(tx, before, 99, made=99, refused=0, refusal=None))
    assert not stale, "what another has taken cannot be taken again"
    two.turn()
    one.turn()
    assert [job["n"] for job in made(story)] == list(range(BATCH + 5))


def test_a_message_of_which_nothing_can_be_made_holds_up_none_behind_it(story: Story) -> None:
    subscribe(story)
    publish(story, {"n": 1}, "not an object", {"n": 3})
    carry(story)
    assert made(story) == [{"n": 1}, {"n": 3}]
    (one,) = topics.subscriptions(story.store)
    assert (one.made, one.refused, one.cursor) == (2, 1, 3)
    assert one.refusal is not None
    assert one.refusal.startswith("message 2: The message is str")


def test_a_message_may_start_a_run(story: Story) -> None:
    workflows.put(story.store, Workflow("flow", (node("a"),)), actor="ann")
    subscribe(story, workflow="flow")
    publish(story, {})
    carry(story)
    (run,) = runs.listed(story.store, RunFilter()).items
    assert (run.workflow, run.tags) == ("flow", {"topic": "paid", "message": "1"})
    assert read.listed(story.store, JobFilter()).items[0].run == run.id


def test_a_subscription_goes_back_where_one_says_so_and_else_stays_where_it_was(story: Story) -> None:
    subscribe(story)
    publish(story, {"n": 1}, {"n": 2})
    carry(story)
    assert subscribe(story, params={"again": True}).cursor == 2
    assert subscribe(story, params={"again": True}, after=1).cursor == 1
    carry(story)
    assert made(story) == [{"n": 1}, {"n": 2}, {"n": 2, "again": True}]
    gone = topics.unsubscribe(story.store, "receipts", actor="bob")
    assert gone.made == 3
    with pytest.raises(UnknownSubscription):
        topics.unsubscribe(story.store, "receipts", actor="bob")
    assert [change.action for change in access.changes(story.store, ChangeFilter(subject="subscription receipts"))] == [
        *("subscription.remove", "subscription.put", "subscription.put", "subscription.put"),
    ]


def test_messages_are_read_in_order_and_forgotten_when_all_have_taken_them(story: Story) -> None:
    publish(story, 1, {"two": 2}, None)
    found = topics.messages(story.store, "paid", after=1, limit=10)
    assert [(one.number, one.data, one.actor) for one in found] == [(2, {"two": 2}, "ann"), (3, None, "ann")]
    subscribe(story, after=2)
    story.clock.forward(KEPT + DAY)
    story.store.write(lambda tx: kept.forget(tx, tx.now))
    (topic,) = topics.listed(story.store)
    assert (topic.first, topic.last) == (3, 3), "somebody has not taken the third"


def test_numbers_have_the_order_of_the_commits_also_where_one_takes_long(story: Story) -> None:
    def failing(tx: Transaction) -> None:
        kept.publish(tx, "paid", ["1"], "ann")
        raise InvalidOption("no", field="x")

    with pytest.raises(InvalidOption):
        story.store.write(failing)
    assert publish(story, {}) == 1, "what was not committed has no number"


REFUSED: list[tuple[dict[str, Any], type[MainspringError]]] = [
    ({"task": "nobody"}, UnknownTask),
    ({"workflow": "nobody"}, WorkflowNotKnown),
    ({"task": "send", "workflow": "flow"}, InvalidOption),
    ({"name": "a b"}, InvalidTask),
    ({"topic": ""}, InvalidTask),
    ({"after": -1}, InvalidOption),
]


def test_a_subscription_behind_a_message_that_has_not_come_is_refused_with_the_newest_number(story: Story) -> None:
    for newest in (0, 2):
        with pytest.raises(InvalidOption, match=f"newest message of paid is number {newest}") as refused:
            subscribe(story, after=newest + 1)
        assert refused.value.field == "after"
        assert topics.subscriptions(story.store) == []
        if newest == 0:
            publish(story, {}, {})
    assert subscribe(story, after=2).cursor == 2


def test_what_can_not_be_is_refused(story: Story) -> None:
    for values, error in REFUSED:
        with pytest.raises(error):
            subscribe(story, **values)
        assert topics.subscriptions(story.store) == []


def test_what_a_job_asks_of_topics_is_done_by_its_coordinator_in_its_name(story: Story) -> None:
    job = story.running()
    desk = RequestDesk(lambda asking: DirectClient(story.store, actor=f"job:{asking}", parent=asking), story.store.debt)
    wanted = {"name": "receipts", "topic": "paid", "task": "send"}
    bodies = [("subscribe", {"wanted": wanted}), ("publish", {"topic": "paid", "data": [{"n": 1}, 2]}), ("publish", {})]
    for number, (verb, body) in enumerate(bodies):
        desk.receive(1, Request(number, job, NOBODY, verb, Raw(encode(body))))
    desk.turn()
    answers: list[Answer] = []
    desk.give(lambda _, frame: answers.append(frame))  # type: ignore[arg-type]
    assert [(one.number, one.code) for one in answers] == [(0, ""), (1, ""), (2, "invalid_input")]
    assert bytes(answers[1].body) == b"2"
    assert {one.actor for one in topics.messages(story.store, "paid", after=0, limit=5)} == {f"job:{job}"}
    carry(story)
    assert made(story)[-1] == {"n": 1}
