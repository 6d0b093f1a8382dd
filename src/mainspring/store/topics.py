"""Topics in the store: messages that are numbered in the order of their commits, and how far each subscription is."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.clock import Instant
from mainspring.domain.topic import Message, Subscription, SubscriptionWanted, Topic
from mainspring.store import rows
from mainspring.store.transaction import Transaction


def publish(tx: Transaction, topic: str, data: Sequence[str], actor: str) -> int:
    """Add messages (as JSON) to a topic; the number of the last one."""
    ((last,),) = tx.rows("topic/take", topic=topic, count=len(data))
    first = last - len(data) + 1
    tx.many("message/insert", [(topic, first + at, tx.now, actor, one) for at, one in enumerate(data)])
    return int(last)


def topics(tx: Transaction) -> list[Topic]:
    """Every topic, by name."""
    return [Topic(*row) for row in tx.rows("topic/all")]


def messages(tx: Transaction, topic: str, *, after: int, limit: int) -> list[Message]:
    """Messages behind a number, in order."""
    found = tx.rows("message/after", topic=topic, after=after, limit=limit)
    return [Message(topic, number, at, actor, rows.shown(data)) for number, at, actor, data in found]


def forget(tx: Transaction, before: Instant) -> None:
    """Drop messages from before an instant, but for those that somebody has not taken yet."""
    tx.rows("message/forget", before=before)


def subscriptions(tx: Transaction) -> list[Subscription]:
    """Every subscription, by name."""
    return [_subscription(row) for row in tx.rows("subscription/all")]


def behind(tx: Transaction, limit: int) -> list[Subscription]:
    """Subscriptions with messages that they have not taken."""
    return [_subscription(row) for row in tx.rows("subscription/behind", limit=limit)]


def put(tx: Transaction, wanted: SubscriptionWanted, cursor: int, actor: str) -> None:
    """A subscription that begins behind a message; one that there is of this name goes on where it was."""
    tx.rows(
        "subscription/put",
        name=wanted.name,
        topic=wanted.topic,
        task=wanted.task,
        workflow=wanted.workflow,
        params=rows.text(wanted.params),
        cursor=cursor,
        actor=actor,
    )


def go_on(  # noqa: PLR0913 - how far, and with what
    tx: Transaction, one: Subscription, cursor: int, *, made: int, refused: int, refusal: str | None
) -> bool:
    """Messages were taken, in the transaction of what was made of them. False where another process has done it."""
    found = tx.rows(
        "subscription/go_on",
        name=one.name,
        before=one.cursor,
        cursor=cursor,
        made=made,
        refused=refused,
        refusal=refusal,
    )
    return bool(found)


def move(tx: Transaction, name: str, cursor: int) -> bool:
    """A subscription goes on behind another message. False where there is none of this name."""
    return bool(tx.rows("subscription/move", name=name, cursor=cursor))


def remove(tx: Transaction, name: str) -> bool:
    """A subscription goes. False where there is none of this name."""
    return bool(tx.rows("subscription/remove", name=name))


def _subscription(row: tuple[object, ...]) -> Subscription:
    name, topic, task, workflow, params, *rest = row
    return Subscription(name, topic, task, workflow, rows.shown(params), *rest)  # type: ignore[arg-type]
