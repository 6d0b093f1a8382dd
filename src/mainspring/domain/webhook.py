"""Webhooks: who is told of events or messages over HTTP, how a delivery is signed, and what becomes of each try.

Values and rules only. Whoever can read the secret can sign, so it is in no value that is shown.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from mainspring.clock import DAY, SECOND, Duration, Instant
from mainspring.domain.event import Happening
from mainspring.domain.kinds import is_one_of
from mainspring.domain.retry import Retry

MOST_WEBHOOKS = 100
MOST_PENDING = 1_000
"""Deliveries of one webhook that wait. Beyond it the history is read on later: it keeps what is not read yet."""

MOST_AT_ONCE = 4
"""Deliveries of one webhook that are under way at once, over all servers."""

PATIENCE = Duration(15 * SECOND)
"""For the whole of one try: to find the receiver, to connect, and to hear its answer."""

LONGEST_ANSWER = 1_000
"""Characters of an answer that are kept."""

OVERLAP = DAY
"""How long the secret before is good beside a new one: deliveries are signed with both."""

RETRY = Retry(max_attempts=9, delay="5s", factor=4, max_delay="4h", jitter=0.2)
"""Nine tries, 5 s to 4 h apart: about ten hours."""

TEST_TYPE = "webhook.test"
PREFIX = "whsec_"
"""How every secret begins, so that scanners of leaked secrets can find it."""

_GONE = 410


class DeliveryState(StrEnum):
    """Where a delivery is."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"  # given up


class Webhook(msgspec.Struct, frozen=True):
    """A webhook as it is kept, but for its secret.

    ``topic``: it is told of the messages of this topic, without one of events; ``kinds``, ``queue`` and ``task`` narrow
    these (nothing: all). ``cursor``: the last event or message that was read. ``paused_*`` and ``reason``: since when,
    by whom and why nothing is sent. ``delivered``, ``failed``: deliveries that came through, or were given up;
    ``pending``: that wait. ``reached_at``: when one last came through; ``trouble``: what the last try since met.
    """

    id: int
    name: str
    url: str
    topic: str | None
    kinds: tuple[str, ...]
    queue: str | None
    task: str | None
    cursor: int
    created_at: Instant
    created_by: str
    paused_at: Instant | None
    paused_by: str | None
    reason: str | None
    delivered: int
    failed: int
    pending: int
    reached_at: Instant | None
    trouble: str | None

    def wants(self, one: Happening) -> bool:
        """Whether it is to be told of this event."""
        return (
            (not self.kinds or is_one_of(one, self.kinds))
            and (self.queue is None or one.queue == self.queue)
            and (self.task is None or one.task == self.task)
        )


class WebhookWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody asks for. ``after``: the event or message behind which it begins; None: with the next one."""

    name: str
    url: str
    kinds: tuple[str, ...] = ()
    queue: str | None = None
    task: str | None = None
    topic: str | None = None
    after: int | None = None


class WebhookChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What to change; what is left out stays. ``queue`` and ``task`` None: of any."""

    url: str | UnsetType = UNSET
    kinds: tuple[str, ...] | UnsetType = UNSET
    queue: str | UnsetType | None = UNSET
    task: str | UnsetType | None = UNSET


class Try(msgspec.Struct, frozen=True):
    """One try of a delivery. ``status``: of the answer, None where there was none; ``error``: why it failed."""

    at: Instant
    lasted: Duration
    status: int | None
    error: str | None


class Delivery(msgspec.Struct, frozen=True):
    """What a webhook was, or is to be, told. ``seq``: the event or message, None for a test.

    ``tries``: all of them, oldest first; ``answer``: the beginning of the last answer; ``due_at``: the next try.
    """

    id: int
    webhook: str
    seq: int | None
    type: str
    state: DeliveryState
    created_at: Instant
    due_at: Instant | None
    ended_at: Instant | None
    tries: tuple[Try, ...]
    answer: str | None


class DeliveryPage(NamedTuple):
    """Deliveries, newest first, and the cursor of the page behind; None where there is none."""

    items: list[Delivery]
    next: str | None


class News(NamedTuple):
    """What is to be delivered: the event or message, what kind of thing it is, and the body as it is sent."""

    seq: int | None
    type: str
    body: str


class Parcel(NamedTuple):
    """A delivery that was taken to be tried, with the claim by which its end is told."""

    delivery: int
    claim: int
    url: str
    body: str
    secrets: tuple[str, ...]


class Sent(NamedTuple):
    """What a try came to. ``error``: an empty text where the receiver took it."""

    delivery: int
    claim: int
    at: Instant
    lasted: Duration
    status: int | None
    answer: str
    error: str


class Verdict(NamedTuple):
    """What follows from a try: the state, how long until the next, and why the webhook is to be paused, if it is."""

    state: DeliveryState
    wait: Duration | None = None
    pause: str | None = None


def after_try(sent: Sent, number: int, *, most: int, reached_since: bool, fraction: float) -> Verdict:
    """What follows from the try of this number, of so many at most.

    ``reached_since``: whether anything came through to this webhook since the delivery was made.
    """
    if not sent.error:
        return Verdict(DeliveryState.DELIVERED)
    if sent.status == _GONE:
        return Verdict(DeliveryState.FAILED, pause="the receiver says that it is gone (410)")
    if number < most:
        return Verdict(DeliveryState.PENDING, RETRY.computed_delay(number, fraction))
    if most == 1 or reached_since:
        return Verdict(DeliveryState.FAILED)
    return Verdict(DeliveryState.FAILED, pause=f"{number} tries of a delivery failed, and no other came through")


def new_secret(chance: str) -> str:
    """A secret made of random text."""
    return PREFIX + base64.b64encode(chance.encode()).decode()


def signed(secrets: Sequence[str], delivery: int, at: Instant, body: str) -> dict[str, str]:
    """The headers by which a receiver knows that it was us, and when: those of Standard Webhooks."""
    number, moment = f"dlv_{delivery}", str(at // SECOND)
    text = f"{number}.{moment}.{body}".encode()
    return {
        "webhook-id": number,
        "webhook-timestamp": moment,
        "webhook-signature": " ".join(f"v1,{_signature(secret, text)}" for secret in secrets),
    }


def _signature(secret: str, text: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    return base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()


LEASE = Duration(2 * PATIENCE)
"""After so long a try of which nobody has told is taken to be lost with its server, and made again."""
