"""Overlap: what becomes of a tick that may fire, by what of its schedule is unfinished. Pure.

Firing decides by it, and so does what looks ahead.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Literal, NamedTuple

Policy = Literal["skip", "buffer_one", "buffer_all", "cancel_other", "allow"]

POLICIES: tuple[Policy, ...] = ("skip", "buffer_one", "buffer_all", "cancel_other", "allow")

MOST_WAITING = 1_000
"""Ticks of one schedule that may wait for its jobs to end."""


class Fate(Enum):
    """What a tick does."""

    FIRE = auto()
    WAIT = auto()
    MAKE_ROOM = auto()  # what is unfinished is cancelled, and the tick waits for its end
    SKIP_BUSY = auto()
    SKIP_FULL = auto()  # no more may wait
    SKIP_FOLLOWED = auto()  # a later one is due as well, and would cancel it


class Unfinished(NamedTuple):
    """What a tick meets: whether a job or run of its schedule is unfinished, and how many ticks wait."""

    live: bool
    waiting: int


def fate(policy: Policy, met: Unfinished, *, followed: bool) -> Fate:
    """What this tick does. ``followed``: a later one that may fire is due as well."""
    if policy == "cancel_other" and followed:
        return Fate.SKIP_FOLLOWED
    if policy == "allow" or not (met.live or met.waiting):
        return Fate.FIRE
    if policy == "skip":
        return Fate.SKIP_BUSY
    if policy == "cancel_other":
        return Fate.MAKE_ROOM
    most = 1 if policy == "buffer_one" else MOST_WAITING
    return Fate.SKIP_FULL if met.waiting >= most else Fate.WAIT
