"""Sight: the little that tells the loops of a server whether there is something for them."""

from __future__ import annotations

from typing import NamedTuple

from mainspring.clock import Instant


class Sight(NamedTuple):
    """What there is at one moment.

    ``rules``: version of what is configured; ``due``, ``lease``, ``expiry`` and ``tick``: the earliest of each, None
    without any; ``waiting_ticks``, ``backfills`` and ``messages``: whether any are unfinished; ``event``: the newest
    one that is to be seen; ``counted``: up to where events are rolled up, None before the first time; ``told``: up to
    where the webhook that is furthest behind has read them, None without any; ``deliveries``: whether webhooks have
    something to send, or messages to read.
    """

    rules: int
    due: Instant | None
    lease: Instant | None
    expiry: Instant | None
    tick: Instant | None
    waiting_ticks: bool
    backfills: bool
    messages: bool
    event: int
    counted: int | None
    told: int | None
    deliveries: bool
