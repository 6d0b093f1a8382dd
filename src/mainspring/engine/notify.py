"""Notify: the turn that reads the history on for each webhook, hands out what is due, and keeps what came of it.

Any number of servers do it. Whoever moves the cursor of a webhook has made its deliveries, in the same transaction, and
whoever has taken a delivery is the only one who tries it. A webhook of which much waits is read on later, so that a
receiver that is dead costs a bounded number of rows. Must not wait for a receiver: that is the courier's.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple, Protocol

from mainspring.clock import MILLISECOND, MINUTE, SECOND, Clock, Duration, Instant
from mainspring.domain.event import Happening
from mainspring.domain.sight import Sight
from mainspring.domain.topic import Message
from mainspring.domain.webhook import LEASE, MOST_PENDING, News, Parcel, Sent, Webhook, after_try
from mainspring.store import Store, Transaction, events, topics, webhooks

PAGE = 500
"""Events that one webhook reads at once."""

_TIDY_EVERY = Duration(5 * MINUTE)
_TIDY_MOST = 1_000


class Courier(Protocol):
    """Who goes to the receivers, and must not keep anybody waiting."""

    def send(self, parcels: Sequence[Parcel]) -> None:
        """Try these, each on its own."""
        ...

    def returned(self) -> list[Sent]:
        """What tries came to since somebody last asked."""
        ...


class Forms(NamedTuple):
    """How events and messages are told."""

    event: Callable[[Happening], News]
    message: Callable[[Message], News]


class Notify:
    """Reads on, hands out, settles, and drops what ended long ago. ``keep``: how long that is kept."""

    def __init__(  # noqa: PLR0913 - whom it serves, and how
        self, store: Store, clock: Clock, courier: Courier, forms: Forms, *, poll: Duration = SECOND, keep: Duration
    ) -> None:
        self._store = store
        self._clock = clock
        self._courier = courier
        self._forms = forms
        self._poll = poll
        self._keep = keep
        self._unsettled: list[Sent] = []
        self._tidy_at = Duration(0)
        self._log = logging.getLogger("mainspring.webhooks")

    def adopt(self, keep: Duration) -> None:
        """Keep ended deliveries for so long from now on."""
        self._keep = keep

    def has_work(self, sight: Sight, until: Instant) -> bool:
        """Whether a webhook has not read all, or a delivery may be tried."""
        return sight.deliveries or (sight.told is not None and sight.told < sight.event)

    def end(self) -> None:
        """Keep what tries have come to since the last turn; nothing more is handed out."""
        self._settle()

    def turn(self) -> Duration:
        """One look at all webhooks; how long to wait until the next."""
        self._settle()
        known = self._store.read(webhooks.all_webhooks)
        more = self._read_on([one for one in known if one.paused_at is None and one.pending < MOST_PENDING])
        if known:
            for number in self._store.read(webhooks.waiting):
                self._courier.send(self._store.write(lambda tx, n=number: webhooks.take(tx, n, LEASE)))  # type: ignore[misc]
        more = self._tidy() or more
        return MILLISECOND if more else self._poll

    def _settle(self) -> None:
        self._unsettled += self._courier.returned()
        if self._unsettled:
            for name, why in self._store.write(lambda tx: _settled(tx, self._unsettled)):
                self._log.warning("webhook %s is paused: %s", name, why)
            self._unsettled = []

    def _read_on(self, reading: Sequence[Webhook]) -> bool:
        """Make deliveries of what is new. Whether there is more to read."""
        more = False
        of_events = sorted((one for one in reading if one.topic is None), key=lambda one: one.cursor)
        for cursor, some in groupby(of_events, key=lambda one: one.cursor):  # most are at the same place
            together = list(some)
            found = self._store.read(lambda tx, at=cursor: events.live(tx, at, limit=PAGE), latest=True)  # type: ignore[misc]
            if found:
                told = [(one, [self._forms.event(event) for event in found if one.wants(event)]) for one in together]
                self._store.write(lambda tx, told=told, last=found[-1].seq: _advance(tx, told, last))  # type: ignore[misc]
            more = more or len(found) == PAGE
        for one in reading:
            if one.topic is not None:
                messages = self._store.read(lambda tx, one=one: _messages(tx, one))  # type: ignore[misc]
                if messages:
                    told = [(one, [self._forms.message(message) for message in messages])]
                    last = messages[-1].number
                    self._store.write(lambda tx, told=told, last=last: _advance(tx, told, last))  # type: ignore[misc]
                more = more or len(messages) == PAGE
        return more

    def _tidy(self) -> bool:
        now = self._clock.monotonic()
        if now < self._tidy_at:
            return False
        before = Instant(self._store.clock.now() - self._keep)
        if self._store.write(lambda tx: webhooks.forget(tx, before, _TIDY_MOST)) == _TIDY_MOST:
            return True
        self._tidy_at = Duration(now + _TIDY_EVERY)
        return False


def _messages(tx: Transaction, one: Webhook) -> list[Message]:
    return topics.messages(tx, one.topic or "", after=one.cursor, limit=PAGE)


def _advance(tx: Transaction, told: Sequence[tuple[Webhook, Sequence[News]]], cursor: int) -> None:
    for webhook, news in told:
        webhooks.read_on(tx, webhook, cursor, news)


def _settled(tx: Transaction, returned: Sequence[Sent]) -> list[tuple[str, str]]:
    """Keep what tries came to; which webhooks were paused for it, and why."""
    paused: dict[int, str] = {}
    for sent in returned:
        held = webhooks.held(tx, sent)
        if held is None:
            continue  # it took too long, and another tries it now
        verdict = after_try(
            sent,
            held.tries,
            most=held.most,
            reached_since=held.reached is not None and held.reached >= held.made,
            fraction=tx.chance.fraction(),
        )
        webhooks.conclude(tx, held, sent, verdict)
        if verdict.pause is not None:
            why = f"{verdict.pause}; the last: {sent.error}"[:500]
            if webhooks.pause(tx, held.webhook, "webhooks", why):
                paused[held.webhook] = why
    return [(one.name, paused[one.id]) for one in webhooks.all_webhooks(tx) if one.id in paused] if paused else []
