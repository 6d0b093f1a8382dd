"""Outage: what would become of the ticks of a schedule if no server ran from one instant to another. Pure.

The same decisions as in firing (catchup.py, overlap.py), made for each policy at the instant at which a server is back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from mainspring.clock import MICROSECOND, Instant, instant_text
from mainspring.domain.catchup import Span, due
from mainspring.domain.overlap import POLICIES, Fate, Policy, Unfinished, fate
from mainspring.domain.plan import Ready
from mainspring.errors import InvalidOption

CATCH_UP = ("latest", "all", "none")
_MOST = 200_000
_SHOWN = 20


class Effect(NamedTuple):
    """What one pair of policies makes of an outage, as if nothing of the schedule ran when a server is back.

    ``fires``: ticks that make something at once, in order; ``waits``: those that follow one by one; ``skipped`` and
    ``missed``: how many.
    """

    catch_up: str
    overlap: Policy
    fires: list[Instant]
    waits: list[Instant]
    skipped: int
    missed: int


class Outage(NamedTuple):
    """``ticks`` came within it, from the ``first`` to the ``last``; ``following``: the one behind it."""

    ticks: int
    first: Instant | None
    last: Instant | None
    following: Instant | None
    effects: list[Effect]


def outage(found: Ready, begin: Instant, end: Instant) -> Outage:
    """What an outage from ``begin`` to ``end`` does under each policy. Raises InvalidOption for one that can't be."""
    if end <= begin:
        raise InvalidOption(
            f"The outage ends at {instant_text(end)}, before it begins.", remedy="Turn it round.", field="to"
        )
    first = found.rule.next_after(Instant(begin - MICROSECOND))
    if first is None or first > end:
        return Outage(0, None, None, first, [])
    effects: list[Effect] = []
    spans: list[Span] = []
    following: Instant | None = None
    for catch_up in CATCH_UP:
        plan = msgspec.structs.replace(found.plan, catch_up=catch_up)
        spans, following = _spans(found._replace(plan=plan), first, end)
        effects += [_effect(catch_up, overlap, spans) for overlap in POLICIES]
    return Outage(sum(span.ticks for span in spans), first, spans[-1].last, following, effects)


def _spans(found: Ready, first: Instant, end: Instant) -> tuple[list[Span], Instant | None]:
    """All ticks with their fates, as the turns of a server that is back see them."""
    spans: list[Span] = []
    nominal: Instant | None = first
    count = 0
    while nominal is not None and nominal <= end:
        some, nominal = due(found, nominal, end)
        spans += some
        count += sum(span.ticks for span in some)
        if count > _MOST:
            raise InvalidOption(f"More than {_MOST:,} ticks come in this time.", remedy="Take less of it.", field="to")
    return spans, nominal


def _effect(catch_up: str, overlap: Policy, spans: list[Span]) -> Effect:
    fires: list[Instant] = []
    waits: list[Instant] = []
    skipped = 0
    wanted = [span for span in spans if span.why is None]
    for span, followed in _each(wanted):
        match fate(overlap, Unfinished(bool(fires), len(waits)), followed=followed):
            case Fate.FIRE:
                fires.append(span.first)
            case Fate.WAIT | Fate.MAKE_ROOM:
                waits.append(span.first)
            case _:
                skipped += 1
    return Effect(catch_up, overlap, fires, waits, skipped, sum(span.ticks for span in spans if span.why is not None))


def _each(wanted: list[Span]) -> Iterator[tuple[Span, bool]]:
    """Each tick, and whether another follows."""
    return ((span, index < len(wanted)) for index, span in enumerate(wanted, 1))


def outage_document(found: Outage, held: tuple[str, str] | None = None) -> dict[str, Any]:
    """An outage as JSON: of long lists the first. ``held``: catch_up and overlap as the schedule has them."""
    return {
        "ticks": found.ticks,
        "first": _time(found.first),
        "last": _time(found.last),
        "next": _time(found.following),
        "policies": [
            {
                "catch_up": one.catch_up,
                "overlap": one.overlap,
                "holds": held == (one.catch_up, one.overlap),
                "fired": len(one.fires),
                "waiting": len(one.waits),
                "skipped": one.skipped,
                "missed": one.missed,
                "fires": [instant_text(tick) for tick in one.fires[:_SHOWN]],
                "waits": [instant_text(tick) for tick in one.waits[:_SHOWN]],
            }
            for one in found.effects
        ],
    }


def _time(moment: Instant | None) -> str | None:
    return None if moment is None else instant_text(moment)
