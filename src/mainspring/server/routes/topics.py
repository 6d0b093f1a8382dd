"""Topics over REST: publish, read and follow messages, subscribe."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.client.operating import OperatingClient
from mainspring.client.topic_wire import message_wire, subscription_wire, topic_wire
from mainspring.domain.task import checked_name
from mainspring.domain.topic import SubscriptionWanted
from mainspring.errors import InvalidInput, InvalidOption
from mainspring.server import pages
from mainspring.server.decode import body_of, no_fields, object_of
from mainspring.server.exchange import Access, Answer, Asked, Entry, Piece, Stream
from mainspring.server.operation import JSON, STREAM, Operation, Page, gives
from mainspring.server.stream import event

_TOPICS = "/api/v1/topics"
_MESSAGES = f"{_TOPICS}/{{name}}/messages"
_SUBSCRIPTIONS = "/api/v1/subscriptions"
_PAGE = 1_000


class TopicRoutes:
    """The handlers, on one client."""

    def __init__(self, client: OperatingClient) -> None:
        self._client = client

    def entries(self) -> list[Entry]:
        """The routes of these nouns."""
        read = Operation({200: Page("Message")}, media=(JSON, STREAM))
        one = f"{_SUBSCRIPTIONS}/{{name}}"
        return [
            Entry("GET", _TOPICS, Access.READ, self.topics, gives(Page("Topic")), pages.QUERY),
            Entry(
                "POST", _MESSAGES, Access.CHANGE, self.publish, gives("Published", body="PublishRequest", status=201)
            ),
            Entry("GET", _MESSAGES, Access.READ, self.messages, read, ("cursor", "limit", "follow")),
            Entry("GET", _SUBSCRIPTIONS, Access.READ, self.subscriptions, gives(Page("Subscription")), pages.QUERY),
            Entry("PUT", one, Access.CHANGE, self.subscribe, gives("Subscription", body="SubscriptionRequest")),
            Entry("DELETE", one, Access.ACT, self.unsubscribe, gives("Subscription")),
        ]

    def topics(self, asked: Asked) -> Answer:
        """All topics, by name."""
        return pages.paged(asked, self._client.topics(), topic_wire, lambda topic: (topic.name,))

    def publish(self, asked: Asked) -> Answer:
        """Messages are added to a topic, once they are durable; ``data`` is one, ``messages`` are several."""
        body = object_of(asked)
        for name in body:
            if name not in {"data", "messages"}:
                raise InvalidOption(f"A publish has no field {name[:80]!r}.", remedy="Send data.", field=name[:80])
        if len(body) != 1 or not isinstance(body.get("messages", []), list):
            raise InvalidOption("Send data, or a list of messages, one of them.", field="data")
        data: list[Any] = body.get("messages", [body.get("data")])
        last = self._client.acting(asked.actor).publish(asked.path["name"], data)
        return Answer(201, {"topic": asked.path["name"], "first": last - len(data) + 1, "last": last})

    def messages(self, asked: Asked) -> Answer:
        """Messages behind the cursor, oldest first; with follow=true as they come."""
        follow = asked.query.get("follow", "false")
        if follow not in {"true", "false"}:
            raise InvalidInput(f"follow is {follow[:80]!r}; it must be true or false.", field="follow")
        topic = checked_name(asked.path["name"], "Topic", field="topic")
        if follow == "true":
            return Answer(200, Stream(_Following(self._client, topic, asked.resumed).look))
        limit = asked.whole("limit", 100, 1, _PAGE)
        found = self._client.messages(topic, after=asked.cursor, limit=limit)
        more = str(found[-1].number) if len(found) == limit else None
        return Answer(200, {"items": [message_wire(one) for one in found], "next": more})

    def subscriptions(self, asked: Asked) -> Answer:
        """All subscriptions, by name."""
        return pages.paged(asked, self._client.subscriptions(), subscription_wire, lambda one: (one.name,))

    def subscribe(self, asked: Asked) -> Answer:
        """Each message of a topic makes a job or a run from now on, or from the message behind ``after``."""
        body = body_of(asked, _Body, "A subscription")
        wanted = SubscriptionWanted(asked.path["name"], body.topic, body.task, body.workflow, body.params, body.after)
        return Answer(200, subscription_wire(self._client.acting(asked.actor).subscribe(wanted)))

    def unsubscribe(self, asked: Asked) -> Answer:
        """Nothing is made of further messages."""
        no_fields(asked)
        return Answer(200, subscription_wire(self._client.acting(asked.actor).unsubscribe(asked.path["name"])))


class _Body(msgspec.Struct, forbid_unknown_fields=True):
    topic: str
    task: str | None = None
    workflow: str | None = None
    params: dict[str, Any] = {}
    after: int | None = None


class _Following:
    """Messages of a topic as they come."""

    def __init__(self, client: OperatingClient, topic: str, after: int) -> None:
        self._client = client
        self._topic = topic
        self._after = after

    def look(self) -> Piece:
        """What is new."""
        found = self._client.messages(self._topic, after=self._after, limit=_PAGE)
        if found:
            self._after = found[-1].number
        return Piece(
            b"".join(event("message", message_wire(one), one.number) for one in found), more=len(found) == _PAGE
        )
