"""The wire forms of webhooks and deliveries, and what deliveries tell. Secrets are in none of them."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.client.topic_wire import message_wire
from mainspring.client.wire import happening_wire
from mainspring.clock import MILLISECOND, Instant, instant_text
from mainspring.domain.event import Happening
from mainspring.domain.topic import Message
from mainspring.domain.webhook import TEST_TYPE, Delivery, News, Try, Webhook


def webhook_wire(one: Webhook) -> dict[str, Any]:
    """A webhook."""
    return {
        "id": one.id,
        "name": one.name,
        "url": one.url,
        "topic": one.topic,
        "kinds": list(one.kinds),
        "queue": one.queue,
        "task": one.task,
        "cursor": one.cursor,
        "created_at": instant_text(one.created_at),
        "created_by": one.created_by,
        "paused_at": _moment(one.paused_at),
        "paused_by": one.paused_by,
        "reason": one.reason,
        "delivered": one.delivered,
        "failed": one.failed,
        "pending": one.pending,
        "reached_at": _moment(one.reached_at),
        "trouble": one.trouble,
    }


def delivery_wire(one: Delivery) -> dict[str, Any]:
    """A delivery with its tries."""
    return {
        "id": one.id,
        "webhook": one.webhook,
        "seq": one.seq,
        "type": one.type,
        "state": one.state.value,
        "created_at": instant_text(one.created_at),
        "due_at": _moment(one.due_at),
        "ended_at": _moment(one.ended_at),
        "tries": [_try_wire(tried) for tried in one.tries],
        "answer": one.answer,
    }


def news_of_event(one: Happening) -> News:
    """What is told of an event: ``job.dead`` and its like."""
    return _news(one.seq, f"{one.subject}.{one.target}", one.at, happening_wire(one))


def news_of_message(one: Message) -> News:
    """What is told of a message of a topic."""
    return _news(one.number, "topic.message", one.at, message_wire(one))


def news_of_test(name: str, at: Instant) -> News:
    """What a test tells."""
    return _news(None, TEST_TYPE, at, {"webhook": name})


def _news(seq: int | None, kind: str, at: Instant, data: dict[str, Any]) -> News:
    body = {"type": kind, "timestamp": instant_text(at), "data": data}
    return News(seq, kind, msgspec.json.encode(body).decode())


def _try_wire(one: Try) -> dict[str, Any]:
    return {
        "at": instant_text(one.at),
        "duration_ms": one.lasted // MILLISECOND,
        "status": one.status,
        "error": one.error,
    }


def _moment(at: Instant | None) -> str | None:
    return None if at is None else instant_text(at)
