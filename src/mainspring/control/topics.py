"""What people ask of topics: publish, look, subscribe, go back to an earlier message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mainspring.domain.listing import checked_cursor, checked_limit
from mainspring.domain.parameters import checked_json
from mainspring.domain.task import checked_name
from mainspring.domain.topic import MOST_MESSAGES, Message, Subscription, SubscriptionWanted, Topic
from mainspring.errors import InvalidOption, UnknownSubscription
from mainspring.store import Store, Transaction, topics, trail
from mainspring.store.trail import Deed
from mainspring.transitions.begun import stated
from mainspring.transitions.prepared import find


def publish(store: Store, topic: str, data: Sequence[Any], *, actor: str) -> int:
    """Add messages to a topic, all or none; the number of the last, once they are durable.

    A topic comes into being with its first message. Raises InvalidTask for a name that can't be, InvalidOption,
    InvalidJson, PayloadTooLarge.
    """
    checked_name(topic, "Topic", field="topic")
    if not 1 <= len(data) <= MOST_MESSAGES:
        raise InvalidOption(f"There are {len(data)} messages; 1 to {MOST_MESSAGES} go at once.", field="messages")
    texts = [checked_json(one, "data").decode() for one in data]
    return store.write(lambda tx: topics.publish(tx, topic, texts, actor), rings=store.news_bell)


def listed(store: Store) -> list[Topic]:
    """Every topic, by name."""
    return store.read(topics.topics)


def messages(store: Store, topic: str, *, after: int, limit: int) -> list[Message]:
    """Messages of a topic behind a number, in order; none of one that there is not.

    Raises InvalidTask for a name, InvalidInput.
    """
    checked_name(topic, "Topic", field="topic")
    checked_limit(limit)
    checked_cursor(str(after))
    return store.read(lambda tx: topics.messages(tx, topic, after=after, limit=limit))


def subscriptions(store: Store) -> list[Subscription]:
    """Every subscription, by name."""
    return store.read(topics.subscriptions)


def subscribe(store: Store, wanted: SubscriptionWanted, *, actor: str) -> Subscription:
    """Make a job or a run of each message from now on, or from the one behind ``after``.

    One of this name that there is goes on where it was, unless ``after`` says where. Raises InvalidTask for a name,
    InvalidOption, UnknownTask, WorkflowNotKnown.
    """
    checked_name(wanted.name, "Subscription", field="name")
    checked_name(wanted.topic, "Topic", field="topic")
    if (wanted.task is None) == (wanted.workflow is None):
        raise InvalidOption("A subscription names a task or a workflow, one of them.", field="task")
    checked_json(wanted.params, "params")

    def work(tx: Transaction) -> Subscription:
        find(tx, wanted.task) if wanted.task is not None else stated(tx, wanted.workflow or "")
        last = {one.name: one.last for one in topics.topics(tx)}.get(wanted.topic, 0)
        if wanted.after is not None and not 0 <= wanted.after <= last:
            raise InvalidOption(
                f"after is {wanted.after}; the newest message of {wanted.topic} is number {last}.",
                remedy=f"Say a number from 0 (all that are kept) to {last} (only what comes).",
                field="after",
            )
        before = _found(tx, wanted.name)
        topics.put(tx, wanted, last if wanted.after is None else wanted.after, actor)
        if wanted.after is not None:
            topics.move(tx, wanted.name, wanted.after)
        made = _found(tx, wanted.name)
        assert made is not None, "it was put in this transaction"  # noqa: S101 - for the type checker
        deed = Deed("subscription.put", f"subscription {wanted.name}", _told(before), _told(made))
        trail.note(tx, actor, deed)
        return made

    return store.write(work, rings=store.news_bell)


def unsubscribe(store: Store, name: str, *, actor: str) -> Subscription:
    """Make nothing of further messages. Raises UnknownSubscription."""

    def work(tx: Transaction) -> Subscription:
        before = _found(tx, name)
        if before is None:
            raise UnknownSubscription(name, [one.name for one in topics.subscriptions(tx)])
        topics.remove(tx, name)
        trail.note(tx, actor, Deed("subscription.remove", f"subscription {name}", before=_told(before)))
        return before

    return store.write(work)


def _found(tx: Transaction, name: str) -> Subscription | None:
    return next((one for one in topics.subscriptions(tx) if one.name == name), None)


def _told(one: Subscription | None) -> dict[str, Any] | None:
    """What the audit trail says of it."""
    if one is None:
        return None
    made = {"task": one.task} if one.task is not None else {"workflow": one.workflow}
    return {"topic": one.topic, **made, "params": one.params, "cursor": one.cursor}
