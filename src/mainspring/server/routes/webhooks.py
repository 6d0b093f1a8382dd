"""Webhooks over REST: made and changed by admins, as they send outside what happens; operators see the deliveries."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.client.operating import OperatingClient
from mainspring.client.webhook_wire import delivery_wire, webhook_wire
from mainspring.domain.access import Role
from mainspring.domain.webhook import DeliveryState, WebhookChange, WebhookWanted
from mainspring.errors import UnknownDelivery
from mainspring.server import pages
from mainspring.server.decode import body_of, no_fields
from mainspring.server.exchange import Access, Answer, Asked, Entry
from mainspring.server.operation import Operation, Page, gives
from mainspring.server.schemas.values import word

_ALL = "/api/v1/webhooks"
_ONE = f"{_ALL}/{{name}}"
_DELIVERIES = f"{_ONE}/deliveries"


class _Pause(msgspec.Struct, forbid_unknown_fields=True):
    reason: str | None = None


class _Resume(msgspec.Struct, forbid_unknown_fields=True):
    skip: bool = False


class WebhookRoutes:
    """The handlers, on one client."""

    def __init__(self, client: OperatingClient) -> None:
        self._client = client

    def entries(self) -> list[Entry]:
        """The routes of these nouns."""
        page = Operation({200: Page("Delivery")}, values={"state": word(DeliveryState)})
        seen, owned = Role.OPERATOR, Role.ADMIN
        made = gives("NewWebhook", body="WebhookRequest", status=201)
        return [
            Entry("GET", _ALL, Access.READ, self.webhooks, gives(Page("Webhook")), pages.QUERY, role=seen),
            Entry("POST", _ALL, Access.CHANGE, self.create, made, role=owned),
            Entry("GET", _ONE, Access.READ, self.webhook, gives("Webhook"), role=seen),
            Entry("PATCH", _ONE, Access.CHANGE, self.change, gives("Webhook", body="WebhookChange"), role=owned),
            Entry("DELETE", _ONE, Access.ACT, self.remove, gives("Webhook"), role=owned),
            Entry("POST", f"{_ONE}/secret", Access.ACT, self.renew, gives("NewWebhook"), role=owned),
            Entry("POST", f"{_ONE}/pause", Access.ACT, self.pause, gives("Webhook", body="WebhookPause")),
            Entry("POST", f"{_ONE}/resume", Access.ACT, self.resume, gives("Webhook", body="WebhookResume")),
            Entry("POST", f"{_ONE}/test", Access.ACT, self.test, gives("Delivery", status=201)),
            Entry("GET", _DELIVERIES, Access.READ, self.deliveries, page, ("state", "cursor", "limit"), role=seen),
            Entry("POST", f"{_DELIVERIES}/{{id}}/redeliver", Access.ACT, self.redeliver, gives("Delivery")),
        ]

    def webhooks(self, asked: Asked) -> Answer:
        """All webhooks, by name, without their secrets."""
        return pages.paged(asked, self._client.webhooks(), webhook_wire, lambda webhook: (webhook.name,))

    def webhook(self, asked: Asked) -> Answer:
        """One webhook."""
        return Answer(200, webhook_wire(self._client.webhook(asked.path["name"])))

    def create(self, asked: Asked) -> Answer:
        """A new webhook; ``secret`` in the answer signs its deliveries, and is shown this once."""
        made, secret = self._acting(asked).create_webhook(body_of(asked, WebhookWanted, "A webhook"))
        return Answer(201, webhook_wire(made) | {"secret": secret}, {"location": f"{_ALL}/{made.name}"})

    def change(self, asked: Asked) -> Answer:
        """It sends somewhere else, or is told of something else, from now on."""
        wanted = body_of(asked, WebhookChange, "A change of a webhook")
        return Answer(200, webhook_wire(self._acting(asked).change_webhook(asked.path["name"], wanted)))

    def remove(self, asked: Asked) -> Answer:
        """It is no more, nor are its deliveries."""
        no_fields(asked)
        return Answer(200, webhook_wire(self._acting(asked).remove_webhook(asked.path["name"])))

    def renew(self, asked: Asked) -> Answer:
        """A new secret, shown this once; for a day deliveries are signed with the one before too."""
        no_fields(asked)
        one, secret = self._acting(asked).renew_webhook_secret(asked.path["name"])
        return Answer(200, webhook_wire(one) | {"secret": secret})

    def pause(self, asked: Asked) -> Answer:
        """Nothing is sent until it is resumed."""
        reason = body_of(asked, _Pause, "A pause").reason if asked.body else None
        return Answer(200, webhook_wire(self._acting(asked).pause_webhook(asked.path["name"], reason)))

    def resume(self, asked: Asked) -> Answer:
        """It is told again, also of what came meanwhile unless ``skip`` is true."""
        skip = body_of(asked, _Resume, "A resume").skip if asked.body else False
        return Answer(200, webhook_wire(self._acting(asked).resume_webhook(asked.path["name"], skip=skip)))

    def test(self, asked: Asked) -> Answer:
        """A delivery that tells of nothing is made, and tried once; its list says what came of it."""
        no_fields(asked)
        return Answer(201, delivery_wire(self._acting(asked).check_webhook(asked.path["name"])))

    def deliveries(self, asked: Asked) -> Answer:
        """Its deliveries with their tries, newest first."""
        query: dict[str, Any] = {"cursor": asked.query.get("cursor"), "state": asked.query.get("state")}
        limit = asked.whole("limit", 50, 1, 1_000)
        found = self._client.deliveries(asked.path["name"], **query, limit=limit)
        return Answer(200, {"items": [delivery_wire(one) for one in found.items], "next": found.next})

    def redeliver(self, asked: Asked) -> Answer:
        """A delivery that has ended is made once more."""
        no_fields(asked)
        name, text = asked.path["name"], asked.path["id"]
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise UnknownDelivery(name, text[:40])
        return Answer(200, delivery_wire(self._acting(asked).redeliver(name, int(text))))

    def _acting(self, asked: Asked) -> OperatingClient:
        return self._client.acting(asked.actor)
