"""The wire forms of topics, messages and subscriptions, as REST answers and ``--json`` prints them."""

from __future__ import annotations

from typing import Any

from mainspring.clock import instant_text
from mainspring.domain.topic import Message, Subscription, Topic


def topic_wire(topic: Topic) -> dict[str, Any]:
    """A topic; ``first`` is the oldest message that is kept."""
    at = None if topic.at is None else instant_text(topic.at)
    return {"name": topic.name, "first": topic.first, "last": topic.last, "last_at": at}


def message_wire(message: Message) -> dict[str, Any]:
    """A message; ``number`` is the cursor."""
    return {
        "topic": message.topic,
        "number": message.number,
        "at": instant_text(message.at),
        "actor": message.actor,
        "data": message.data,
    }


def subscription_wire(one: Subscription) -> dict[str, Any]:
    """A subscription."""
    return {
        "name": one.name,
        "topic": one.topic,
        "task": one.task,
        "workflow": one.workflow,
        "params": one.params,
        "cursor": one.cursor,
        "made": one.made,
        "refused": one.refused,
        "refusal": one.refusal,
        "created_at": instant_text(one.created_at),
        "created_by": one.created_by,
    }
