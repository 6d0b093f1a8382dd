"""Webhooks in the store: who is told of what, how far each has read, and deliveries. Secrets leave only in a parcel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from mainspring.clock import Duration, Instant
from mainspring.domain.webhook import (
    MOST_AT_ONCE,
    RETRY,
    Delivery,
    DeliveryState,
    News,
    Parcel,
    Sent,
    Try,
    Verdict,
    Webhook,
    WebhookWanted,
)
from mainspring.store import rows, trail
from mainspring.store.trail import Deed
from mainspring.store.transaction import Transaction

_LOGGED = 20
"""Tries that a delivery tells of; older ones are forgotten."""

UNREADABLE = "unreadable"
"""Stands for kinds that were spoiled by hand: no event is of this one."""

_log = msgspec.json.Decoder(tuple[Try, ...])


class Held(NamedTuple):
    """A delivery that is being tried. ``reached``: when one last came through to its webhook."""

    webhook: int
    tries: int
    most: int
    made: Instant
    log: str
    reached: Instant | None


def all_webhooks(tx: Transaction) -> list[Webhook]:
    """Every webhook, by name."""
    return [_webhook(row) for row in tx.rows("webhook/all")]


def one(tx: Transaction, name: str) -> Webhook | None:
    """A webhook by its name."""
    found = tx.row("webhook/one", name=name)
    return None if found is None else _webhook(found)


def insert(tx: Transaction, wanted: WebhookWanted, secret: str, cursor: int, actor: str) -> bool:
    """A new webhook. False where there is one of this name."""
    values = {"queue": wanted.queue, "task": wanted.task, "cursor": cursor, "actor": actor, "secret": secret}
    kinds = rows.text(wanted.kinds)
    return bool(tx.rows("webhook/insert", name=wanted.name, url=wanted.url, topic=wanted.topic, kinds=kinds, **values))


def put(tx: Transaction, webhook: Webhook) -> None:
    """Where it sends to, and what it is told of, are as said here from now on."""
    kinds = rows.text(webhook.kinds)
    tx.rows("webhook/put", webhook=webhook.id, url=webhook.url, kinds=kinds, queue=webhook.queue, task=webhook.task)


def change_secret(tx: Transaction, webhook: int, secret: str, overlap: Duration) -> None:
    """A new secret; the one before is good for so long yet."""
    tx.rows("webhook/change_secret", webhook=webhook, secret=secret, until=tx.now + overlap)


def pause(tx: Transaction, webhook: int, actor: str, reason: str | None) -> bool:
    """Nothing is sent any more, which the audit trail says too. False where it is paused already."""
    found = tx.row("webhook/pause", webhook=webhook, actor=actor, reason=reason)
    if found is not None:
        trail.note(tx, actor, Deed("webhook.pause", f"webhook {found[0]}", after={"reason": reason}))
    return found is not None


def resume(tx: Transaction, webhook: int, cursor: int) -> None:
    """It goes on behind this event or message."""
    tx.rows("webhook/resume", webhook=webhook, cursor=cursor)


def remove(tx: Transaction, webhook: int) -> None:
    """A webhook goes."""
    tx.rows("webhook/remove", webhook=webhook)


# --- deliveries ---------------------------------------------------------------------------------------------------


def read_on(tx: Transaction, webhook: Webhook, cursor: int, news: Sequence[News]) -> bool:
    """It has read up to here, and this is to be delivered. False where another process has read on for it."""
    if not tx.rows("webhook/advance", webhook=webhook.id, before=webhook.cursor, cursor=cursor):
        return False
    if news:
        made = [(webhook.id, one.seq, one.type, one.body, tx.now, RETRY.max_attempts) for one in news]
        tx.many("delivery/insert", made)
    return True


def waiting(tx: Transaction) -> list[int]:
    """Webhooks with deliveries that may be tried now."""
    return [number for (number,) in tx.rows("webhook/waiting")]


def take(tx: Transaction, webhook: int, lease: Duration) -> list[Parcel]:
    """Deliveries that are tried now by whoever asks, as many as may be under way at once."""
    held = tx.row("webhook/hold", webhook=webhook)
    if held is None:
        return []
    url, secret, old_secret, paused = held
    ((busy,),) = tx.rows("delivery/busy", webhook=webhook)
    claim = tx.chance.claim_id()
    room = max(0, MOST_AT_ONCE - busy)
    taken = tx.rows(
        "delivery/take",
        webhook=webhook,
        paused=0 if paused is None else 1,
        claim=claim,
        until=tx.now + lease,
        room=room,
    )
    secrets = tuple(one for one in (secret, old_secret) if one is not None)
    return [Parcel(number, claim, url, body, secrets) for number, body in sorted(taken)]


def held(tx: Transaction, sent: Sent) -> Held | None:
    """The delivery of which a try is over. None where another has it, or nobody."""
    found = tx.row("delivery/held", delivery=sent.delivery, claim=sent.claim)
    return None if found is None else Held(*found)


def conclude(tx: Transaction, before: Held, sent: Sent, verdict: Verdict) -> None:
    """A try is over, with what follows from it."""
    over = verdict.state is not DeliveryState.PENDING
    log = [*_tries(before.log), Try(sent.at, sent.lasted, sent.status, sent.error or None)][-_LOGGED:]
    tx.rows(
        "delivery/conclude",
        delivery=sent.delivery,
        claim=sent.claim,
        due=tx.now + (verdict.wait or 0),
        log=rows.text(log),
        answer=sent.answer or None,
        state=verdict.state.value,
        ended=tx.now if over else None,
    )
    came = verdict.state is DeliveryState.DELIVERED
    tx.rows(
        "webhook/told",
        webhook=before.webhook,
        delivered=int(came),
        failed=int(over and not came),
        trouble=sent.error or None,
    )


def page(tx: Transaction, webhook: int, *, below: int, state: DeliveryState | None, limit: int) -> list[Delivery]:
    """Deliveries below a cursor, newest first."""
    wanted = None if state is None else state.value
    found = tx.rows("delivery/page", webhook=webhook, below=below, state=wanted, limit=limit)
    return [_delivery(row) for row in found]


def delivery(tx: Transaction, webhook: int, number: int) -> Delivery | None:
    """One delivery."""
    found = tx.row("delivery/one", webhook=webhook, delivery=number)
    return None if found is None else _delivery(found)


def again(tx: Transaction, webhook: int, number: int) -> bool:
    """Deliver once more what has ended. False where it has not."""
    return bool(tx.rows("delivery/again", webhook=webhook, delivery=number, most=RETRY.max_attempts))


def test(tx: Transaction, webhook: int, news: News) -> int:
    """A delivery that is tried once; its number."""
    return int(tx.rows("delivery/test", webhook=webhook, kind=news.type, body=news.body)[0][0])


def forget(tx: Transaction, before: Instant, most: int) -> int:
    """Drop deliveries that ended before an instant, and those of webhooks that are gone; how many."""
    gone = len(tx.rows("delivery/forget", before=before, limit=most))
    tx.rows("webhook/forget")
    return gone


def _webhook(row: rows.Row) -> Webhook:
    number, name, url, topic, kinds, *rest = row
    return Webhook(number, name, url, topic, _kinds(kinds), *rest)


def _kinds(column: str) -> tuple[str, ...]:
    """The kinds of a webhook; of those that were spoiled by hand no event is, where none would mean all."""
    found = rows.shown(column)
    sound = isinstance(found, list) and all(isinstance(one, str) for one in found)
    return tuple(found) if sound else (UNREADABLE,)


def _delivery(row: rows.Row) -> Delivery:
    number, name, seq, kind, state, made, due, ended, log, answer = row
    waits = due if ended is None else None
    return Delivery(number, name, seq, kind, DeliveryState(state), made, waits, ended, _tries(log), answer)


def _tries(log: object) -> tuple[Try, ...]:
    """The tries of a delivery; a text that was spoiled by hand tells of none."""
    try:
        return _log.decode(str(log))
    except msgspec.MsgspecError:
        return ()
