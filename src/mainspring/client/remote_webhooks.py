"""The verbs of webhooks over REST; a part of the client that asks a server."""

from __future__ import annotations

from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
from msgspec import to_builtins

from mainspring.client.http import Rest
from mainspring.clock import MILLISECOND, instant
from mainspring.domain.webhook import Delivery, DeliveryPage, Webhook, WebhookChange, WebhookWanted

T = TypeVar("T")


class WebhookVerbs:
    """Webhooks of one server."""

    _rest: Rest

    def webhooks(self) -> list[Webhook]:
        """Every webhook."""
        return [_webhook_of(one) for one in self._rest.items("/webhooks")]

    def webhook(self, name: str) -> Webhook:
        """One webhook."""
        return _webhook_of(self._rest.get(_path(name)))

    def create_webhook(self, wanted: WebhookWanted) -> tuple[Webhook, str]:
        """A new webhook and its secret."""
        made = self._rest.change("POST", "/webhooks", to_builtins(wanted))
        return _webhook_of(made), made["secret"]

    def change_webhook(self, name: str, wanted: WebhookChange) -> Webhook:
        """Send somewhere else, or be told of something else."""
        return _webhook_of(self._rest.change("PATCH", _path(name), to_builtins(wanted)))

    def renew_webhook_secret(self, name: str) -> tuple[Webhook, str]:
        """A new secret."""
        made = self._rest.change("POST", _path(name, "secret"))
        return _webhook_of(made), made["secret"]

    def pause_webhook(self, name: str, reason: str | None = None) -> Webhook:
        """Send nothing until it is resumed."""
        return _webhook_of(self._rest.change("POST", _path(name, "pause"), {"reason": reason}))

    def resume_webhook(self, name: str, *, skip: bool = False) -> Webhook:
        """Send again."""
        return _webhook_of(self._rest.change("POST", _path(name, "resume"), {"skip": skip}))

    def remove_webhook(self, name: str) -> Webhook:
        """Take it away."""
        return _webhook_of(self._rest.change("DELETE", _path(name)))

    def check_webhook(self, name: str) -> Delivery:
        """Deliver something that tells of nothing."""
        return _delivery_of(self._rest.change("POST", _path(name, "test")))

    def deliveries(
        self, name: str, *, cursor: str | None = None, state: str | None = None, limit: int = 50
    ) -> DeliveryPage:
        """Deliveries of a webhook, newest first."""
        page = self._rest.get(_path(name, "deliveries"), cursor=cursor, state=state, limit=limit)
        return DeliveryPage([_delivery_of(one) for one in page["items"]], page["next"])

    def redeliver(self, name: str, delivery: int) -> Delivery:
        """Deliver once more what has ended."""
        return _delivery_of(self._rest.change("POST", _path(name, "deliveries", str(delivery), "redeliver")))


def _path(name: str, *more: str) -> str:
    return "/".join(["/webhooks", quote(name, safe=""), *more])


def _webhook_of(wire: dict[str, Any]) -> Webhook:
    return _read(wire, Webhook, "created_at", "paused_at", "reached_at")


def _delivery_of(wire: dict[str, Any]) -> Delivery:
    tries = [one | {"at": instant(one["at"]), "lasted": one["duration_ms"] * MILLISECOND} for one in wire["tries"]]
    return _read(wire | {"tries": tries}, Delivery, "created_at", "due_at", "ended_at")


def _read(wire: dict[str, Any], kind: type[T], *times: str) -> T:
    moments = {name: instant(wire[name]) for name in times if wire[name] is not None}
    return msgspec.convert(wire | moments, kind)
