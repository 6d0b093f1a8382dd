"""Webhooks and their deliveries over REST."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import to_builtins

from mainspring.client.http import Steps, get, items, part, send
from mainspring.clock import MILLISECOND, instant
from mainspring.domain.webhook import Delivery, DeliveryPage, Webhook, WebhookChange, WebhookWanted

T = TypeVar("T")


def webhooks() -> Steps[list[Webhook]]:
    """Every webhook."""
    return [_webhook_of(one) for one in (yield from items("/webhooks"))]


def webhook(name: str) -> Steps[Webhook]:
    """One webhook."""
    return _webhook_of((yield get(_path(name))))


def create_webhook(wanted: WebhookWanted) -> Steps[tuple[Webhook, str]]:
    """A new webhook and its secret."""
    made = yield send("POST", "/webhooks", to_builtins(wanted))
    return _webhook_of(made), made["secret"]


def change_webhook(name: str, wanted: WebhookChange) -> Steps[Webhook]:
    """Send somewhere else, or be told of something else."""
    return _webhook_of((yield send("PATCH", _path(name), to_builtins(wanted))))


def renew_webhook_secret(name: str) -> Steps[tuple[Webhook, str]]:
    """A new secret."""
    made = yield send("POST", _path(name, "secret"))
    return _webhook_of(made), made["secret"]


def pause_webhook(name: str, reason: str | None = None) -> Steps[Webhook]:
    """Send nothing until it is resumed."""
    return _webhook_of((yield send("POST", _path(name, "pause"), {"reason": reason})))


def resume_webhook(name: str, *, skip: bool = False) -> Steps[Webhook]:
    """Send again."""
    return _webhook_of((yield send("POST", _path(name, "resume"), {"skip": skip})))


def remove_webhook(name: str) -> Steps[Webhook]:
    """Take it away."""
    return _webhook_of((yield send("DELETE", _path(name))))


def check_webhook(name: str) -> Steps[Delivery]:
    """Deliver something that tells of nothing."""
    return _delivery_of((yield send("POST", _path(name, "test"))))


def deliveries(
    name: str, *, cursor: str | None = None, state: str | None = None, limit: int = 50
) -> Steps[DeliveryPage]:
    """Deliveries of a webhook, newest first."""
    page = yield get(_path(name, "deliveries"), cursor=cursor, state=state, limit=limit)
    return DeliveryPage([_delivery_of(one) for one in page["items"]], page["next"])


def redeliver(name: str, delivery: int) -> Steps[Delivery]:
    """Deliver once more what has ended."""
    return _delivery_of((yield send("POST", _path(name, "deliveries", str(delivery), "redeliver"))))


def _path(name: str, *more: str) -> str:
    return "/".join(["/webhooks", part(name), *more])


def _webhook_of(wire: dict[str, Any]) -> Webhook:
    return _read(wire, Webhook, "created_at", "paused_at", "reached_at")


def _delivery_of(wire: dict[str, Any]) -> Delivery:
    tries = [one | {"at": instant(one["at"]), "lasted": one["duration_ms"] * MILLISECOND} for one in wire["tries"]]
    return _read(wire | {"tries": tries}, Delivery, "created_at", "due_at", "ended_at")


def _read(wire: dict[str, Any], kind: type[T], *times: str) -> T:
    moments = {name: instant(wire[name]) for name in times if wire[name] is not None}
    return msgspec.convert(wire | moments, kind)
