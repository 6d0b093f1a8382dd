"""Topics, their messages and who takes them, over REST."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins

from mainspring.client import unwire
from mainspring.client.http import Steps, items, pages, part, send
from mainspring.domain.topic import Message, Subscription, SubscriptionWanted, Topic


def publish(topic: str, data: Sequence[Any]) -> Steps[int]:
    """Add messages to a topic, all or none; the number of the last one."""
    answer = yield send("POST", f"/topics/{part(topic)}/messages", {"messages": to_builtins(list(data))})
    return int(answer["last"])


def topics() -> Steps[list[Topic]]:
    """Every topic, by name."""
    return [unwire.topic_of(one) for one in (yield from pages("/topics"))]


def messages(topic: str, *, after: int = 0, limit: int = 100) -> Steps[list[Message]]:
    """Messages of a topic behind a number, in order."""
    found = yield from items(f"/topics/{part(topic)}/messages", cursor=after, limit=limit)
    return [unwire.message_of(one) for one in found]


def subscriptions() -> Steps[list[Subscription]]:
    """Every subscription, by name."""
    return [unwire.subscription_of(one) for one in (yield from pages("/subscriptions"))]


def subscribe(wanted: SubscriptionWanted) -> Steps[Subscription]:
    """Make a job or a run of each message."""
    body = to_builtins(wanted)
    return unwire.subscription_of((yield send("PUT", f"/subscriptions/{part(body.pop('name'))}", body)))


def unsubscribe(name: str) -> Steps[Subscription]:
    """Make nothing of further messages."""
    return unwire.subscription_of((yield send("DELETE", f"/subscriptions/{part(name)}")))
