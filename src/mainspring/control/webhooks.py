"""What people ask of webhooks: make, change, pause, test and remove them, look at deliveries, deliver once more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType, structs

from mainspring.domain.ids import LARGEST
from mainspring.domain.kinds import checked_kinds
from mainspring.domain.listing import checked_cursor, checked_limit
from mainspring.domain.outward import Network, destination, permit
from mainspring.domain.task import checked_name
from mainspring.domain.webhook import (
    MOST_WEBHOOKS,
    OVERLAP,
    Delivery,
    DeliveryPage,
    DeliveryState,
    News,
    Webhook,
    WebhookChange,
    WebhookWanted,
    new_secret,
)
from mainspring.errors import (
    InvalidInput,
    InvalidOption,
    NotEnded,
    UnknownDelivery,
    UnknownWebhook,
    WebhookExists,
)
from mainspring.store import Store, Transaction, events, topics, trail, webhooks
from mainspring.store.trail import Deed


def listed(store: Store) -> list[Webhook]:
    """Every webhook, by name."""
    return store.read(webhooks.all_webhooks)


def one(store: Store, name: str) -> Webhook:
    """One webhook. Raises UnknownWebhook."""
    return store.read(lambda tx: _one(tx, name))


def create(store: Store, wanted: WebhookWanted, *, inside: Sequence[Network], actor: str) -> tuple[Webhook, str]:
    """A new webhook and its secret, which can't be had again. ``inside``: networks that may be reached anyhow.

    Raises DestinationRefused, InvalidInput and its kinds, WebhookExists.
    """
    checked_name(wanted.name, "Webhook")
    _check_url(wanted.url, inside)
    kinds = checked_kinds(wanted.kinds, "kinds")
    _check_narrowed(wanted.queue, wanted.task)
    if wanted.topic is not None:
        checked_name(wanted.topic, "Topic", field="topic")
        if kinds or wanted.queue is not None or wanted.task is not None:
            raise InvalidOption("Messages of a topic have no kind, queue or task.", field="topic")
    if wanted.after is not None and not 0 <= wanted.after <= LARGEST:
        raise InvalidOption(f"after is {wanted.after}; it must be the number of an event or message.", field="after")
    secret = new_secret(store.chance.secret())
    # Read before the transaction: what happens meanwhile is behind it, and told.
    newest = store.read(lambda tx: _newest(tx, wanted.topic), latest=True)

    def work(tx: Transaction) -> Webhook:
        if len(webhooks.all_webhooks(tx)) >= MOST_WEBHOOKS:
            raise InvalidOption(f"There are {MOST_WEBHOOKS} webhooks, and no more may be.", field="name")
        cursor = newest if wanted.after is None else wanted.after
        if not webhooks.insert(tx, structs.replace(wanted, kinds=kinds), secret, cursor, actor):
            raise WebhookExists(wanted.name)
        made = _one(tx, wanted.name)
        trail.note(tx, actor, Deed("webhook.create", _subject(made), after=_told(made)))
        return made

    return store.write(work), secret


def change(store: Store, name: str, wanted: WebhookChange, *, inside: Sequence[Network], actor: str) -> Webhook:
    """Send somewhere else, or be told of something else, from now on. Raises as ``create``, and UnknownWebhook."""
    if wanted.url is not UNSET:
        _check_url(wanted.url, inside)
    if wanted.kinds is not UNSET:
        checked_kinds(wanted.kinds, "kinds")
    _check_narrowed(wanted.queue, wanted.task)

    def work(tx: Transaction) -> Webhook:
        before = _one(tx, name)
        fields = {field: value for field in wanted.__struct_fields__ if (value := getattr(wanted, field)) is not UNSET}
        if before.topic is not None and fields.keys() - {"url"}:
            raise InvalidOption("Messages of a topic have no kind, queue or task.", field=min(fields.keys() - {"url"}))
        after = structs.replace(before, **fields)
        if after != before:
            webhooks.put(tx, after)
            trail.note(tx, actor, Deed("webhook.change", _subject(before), _told(before), _told(after)))
        return after

    return store.write(work)


def renew_secret(store: Store, name: str, *, actor: str) -> tuple[Webhook, str]:
    """A new secret, shown this once; for a day deliveries are signed with the one before too. Raises UnknownWebhook."""
    secret = new_secret(store.chance.secret())

    def work(tx: Transaction) -> Webhook:
        found = _one(tx, name)
        webhooks.change_secret(tx, found.id, secret, OVERLAP)
        trail.note(tx, actor, Deed("webhook.secret", _subject(found)))
        return found

    return store.write(work), secret


def pause(store: Store, name: str, *, reason: str | None, actor: str) -> Webhook:
    """Send nothing until it is resumed; again changes nothing. Raises UnknownWebhook, InvalidOption."""
    if reason is not None and (len(reason) > 500 or "\0" in reason):
        raise InvalidOption("reason must be a text of at most 500 characters.", field="reason")

    def work(tx: Transaction) -> Webhook:
        found = _one(tx, name)
        webhooks.pause(tx, found.id, actor, reason)
        return _one(tx, name)

    return store.write(work)


def resume(store: Store, name: str, *, skip: bool, actor: str) -> Webhook:
    """Send again: what came meanwhile too, unless ``skip``. Raises UnknownWebhook."""
    newest = store.read(lambda tx: _newest(tx, _one(tx, name).topic), latest=True) if skip else 0

    def work(tx: Transaction) -> Webhook:
        found = _one(tx, name)
        if found.paused_at is not None:
            webhooks.resume(tx, found.id, max(newest, found.cursor))
            before = {"reason": found.reason, "paused_by": found.paused_by}
            trail.note(tx, actor, Deed("webhook.resume", _subject(found), before, {"skip": skip}))
        return _one(tx, name)

    return store.write(work)


def remove(store: Store, name: str, *, actor: str) -> Webhook:
    """Take it away, with its deliveries. Raises UnknownWebhook."""

    def work(tx: Transaction) -> Webhook:
        found = _one(tx, name)
        webhooks.remove(tx, found.id)
        trail.note(tx, actor, Deed("webhook.remove", _subject(found), before=_told(found)))
        return found

    return store.write(work)


def test(store: Store, name: str, news: News, *, actor: str) -> Delivery:
    """Deliver something that tells of nothing, once, even while it is paused. Raises UnknownWebhook."""

    def work(tx: Transaction) -> Delivery:
        found = _one(tx, name)
        number = webhooks.test(tx, found.id, news)
        trail.note(tx, actor, Deed("webhook.test", _subject(found), after={"delivery": number}))
        return _delivery(tx, found, number)

    return store.write(work)


def deliveries(store: Store, name: str, *, cursor: str | None, state: str | None, limit: int) -> DeliveryPage:
    """Deliveries of a webhook, newest first. Raises UnknownWebhook, InvalidInput."""
    checked_limit(limit)
    below = LARGEST if cursor is None else checked_cursor(cursor)
    wanted = None if state is None else _state(state)
    found = store.read(lambda tx: webhooks.page(tx, _one(tx, name).id, below=below, state=wanted, limit=limit))
    return DeliveryPage(found, str(found[-1].id) if len(found) == limit else None)


def redeliver(store: Store, name: str, delivery: int, *, actor: str) -> Delivery:
    """Deliver once more what has ended, with all its tries. Raises UnknownWebhook, UnknownDelivery, NotEnded."""

    def work(tx: Transaction) -> Delivery:
        found = _one(tx, name)
        before = _delivery(tx, found, delivery)
        if not webhooks.again(tx, found.id, delivery):
            raise NotEnded(delivery)
        trail.note(
            tx, actor, Deed("webhook.redeliver", _subject(found), {"state": before.state}, {"delivery": delivery})
        )
        return _delivery(tx, found, delivery)

    return store.write(work)


def _check_narrowed(queue: str | UnsetType | None, task: str | UnsetType | None) -> None:
    """Raise InvalidTask for what can't be the name of a queue or a task: it would never be told of anything."""
    if isinstance(queue, str):
        checked_name(queue, "Queue", field="queue")
    if isinstance(task, str):
        checked_name(task, "Task", field="task")


def _check_url(url: str, inside: Sequence[Network]) -> None:
    """Raise DestinationRefused for what can be seen before the name is resolved; the rest is seen at each delivery."""
    where = destination(url)
    if where.literal is not None:
        permit(where, where.literal, inside)
    elif where.scheme != "https" and not inside:
        raise InvalidOption(
            f"{where.origin} is not encrypted.",
            remedy="Use https; http goes only to networks of the setting webhook_networks.",
            field="url",
        )


def _newest(tx: Transaction, topic: str | None) -> int:
    if topic is None:
        return events.last(tx)
    return next((one.last for one in topics.topics(tx) if one.name == topic), 0)


def _one(tx: Transaction, name: str) -> Webhook:
    found = webhooks.one(tx, name)
    if found is None:
        raise UnknownWebhook(name, [one.name for one in webhooks.all_webhooks(tx)])
    return found


def _delivery(tx: Transaction, webhook: Webhook, number: int) -> Delivery:
    found = webhooks.delivery(tx, webhook.id, number) if 0 < number <= LARGEST else None
    if found is None:
        raise UnknownDelivery(webhook.name, number)
    return found


def _state(text: str) -> DeliveryState:
    try:
        return DeliveryState(text)
    except ValueError:
        raise InvalidInput(
            f"There is no state {text[:80]!r}.", remedy=f"States: {', '.join(DeliveryState)}.", field="state"
        ) from None


def _subject(webhook: Webhook) -> str:
    return f"webhook {webhook.name}"


def _told(webhook: Webhook) -> dict[str, Any]:
    """What the audit trail says of it: of its address not more than where it leads, as the rest is often a secret."""
    return {
        "to": destination(webhook.url).origin,
        "topic": webhook.topic,
        "kinds": list(webhook.kinds),
        "queue": webhook.queue,
        "task": webhook.task,
    }
