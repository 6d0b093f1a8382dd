"""Which ticks of a range of the past a backfill makes, and in which order. Pure."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import msgspec

from mainspring.clock import MICROSECOND, Instant, instant_text
from mainspring.domain.recurrence import Recurrence
from mainspring.errors import InvalidOption

MOST = 10_000
"""Ticks of one backfill."""


class BackfillRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What people ask for: the ticks from ``first`` to ``last``, both included.

    ``dry``: only say which; ``limit``: so many at most; ``newest_first``: in that order; ``at_once``: so many jobs
    unfinished at a time; ``again``: also ticks that have fired already.
    """

    first: Instant
    last: Instant
    dry: bool = False
    limit: int | None = None
    newest_first: bool = False
    at_once: int = 1
    again: bool = False


def checked(wanted: BackfillRequest, now: Instant) -> BackfillRequest:
    """The request, if it can be. Raises InvalidOption."""
    if wanted.last < wanted.first:
        raise InvalidOption(
            f"The range ends at {instant_text(wanted.last)}, before it begins.", remedy="Turn it round.", field="to"
        )
    if wanted.last > now:
        raise InvalidOption(
            f"The range ends at {instant_text(wanted.last)}, which is yet to come.",
            remedy="A backfill is of the past; what is to come fires by itself.",
            field="to",
        )
    for name, value in (("limit", wanted.limit), ("at_once", wanted.at_once)):
        if value is not None and not 1 <= value <= MOST:
            raise InvalidOption(f"{name} is {value}; it must be from 1 to {MOST:,}.", field=name)
    return wanted


def ticks_in(rule: Recurrence, first: Instant, last: Instant) -> list[Instant]:
    """All ticks of a range. Raises InvalidOption where there are more than one backfill may make."""
    found: list[Instant] = []
    tick = rule.next_after(Instant(first - MICROSECOND))
    while tick is not None and tick <= last:
        found.append(tick)
        if len(found) > MOST:
            raise InvalidOption(
                f"There are more than {MOST:,} ticks in this range.", remedy="Take a part of it at a time.", field="to"
            )
        tick = rule.next_after(tick)
    return found


def to_make(  # noqa: PLR0913 - what it depends on
    rule: Recurrence,
    first: Instant,
    last: Instant,
    *,
    fired: AbstractSet[Instant],
    newest_first: bool,
    place: Instant | None = None,
    most: int | None = None,
) -> list[Instant]:
    """The ticks that are still to be made, in their order.

    ``fired``: those that are left out; ``place``: the last one that was taken.
    """
    found = [tick for tick in ticks_in(rule, first, last) if tick not in fired]
    if newest_first:
        found.reverse()
    if place is not None:
        found = [tick for tick in found if (tick < place if newest_first else tick > place)]
    return found[:most]
