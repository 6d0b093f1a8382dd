"""Which ticks of a schedule are due, and which of them came too long ago. Pure; what really runs is not known here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from mainspring.clock import SECOND, Duration, Instant, duration_text
from mainspring.domain.plan import Ready
from mainspring.domain.recorded import NOTHING, Recorded
from mainspring.domain.recurrence import Recurrence

ON_TIME = Duration(10 * SECOND)
"""A tick that is decided within this time has not been missed, whatever is said of catching up."""

MOST_AT_ONCE = 5_000
"""Ticks that are told of in one go, beside those that may still fire; the rest follows."""


class Span(NamedTuple):
    """Due ticks in a row with one fate.

    ``why`` None: each of them is to fire. ``apart``: before it stand ticks that were recorded earlier.
    """

    first: Instant
    last: Instant
    ticks: int
    why: str | None
    apart: bool = False


class Due(NamedTuple):
    """Ticks with their fates, in order, and the first one behind them: None where no more come."""

    spans: tuple[Span, ...]
    following: Instant | None


def due(found: Ready, nominal: Instant, now: Instant, *, most: int = MOST_AT_ONCE, recorded: Recorded = NOTHING) -> Due:
    """The ticks from ``nominal`` up to now: those that are to fire one by one, the others in rows of one kind.

    ``nominal`` is not among those that are ``recorded``, which have their place in the count and are left out.
    """
    seen, following = [nominal], _behind(found.rule, nominal)
    wanted = _wanted(found)
    while following is not None and following <= now and len(seen) < most + wanted:
        seen.append(following)
        following = found.rule.next_after(recorded.until(following) or following)
    if following is not None and following <= now:
        # More than can be looked at: what could still be among the last ones is left for the next look.
        if wanted:
            seen, following = seen[:-wanted], seen[-wanted]
        fates = [(tick, _why(found, tick, now, last=False)) for tick in seen]
        return Due(_rows(fates, recorded), recorded.passed(found.rule, following))
    first = len(seen) - wanted
    whys = [(tick, _why(found, tick, now, last=index >= first)) for index, tick in enumerate(seen)]
    return Due(_rows(whys, recorded), recorded.passed(found.rule, following))


@lru_cache(maxsize=1_000)
def _behind(rule: Recurrence, tick: Instant) -> Instant | None:
    """The tick behind this one: found once for all schedules of one rule, which come in the same look."""
    return rule.next_after(tick)


def _wanted(found: Ready) -> int:
    """How many late ticks fire at most."""
    return {"latest": 1, "all": found.plan.cap, "none": 0}[found.plan.catch_up]


def _why(found: Ready, tick: Instant, now: Instant, *, last: bool) -> str | None:
    """Why a tick is missed; None where it fires. ``last``: it is among the last ones that may."""
    if tick >= now - ON_TIME - found.jitter:
        return None
    if found.plan.catch_up == "none":
        return "no scheduler ran when it was due, and catch_up is none"
    return _old(found, tick, now) or (None if last else "later ticks were due as well")


def _old(found: Ready, tick: Instant, now: Instant) -> str | None:
    if tick >= now - found.window:
        return None
    return f"no scheduler ran when it was due, nor within {duration_text(found.window)}"


def _rows(fates: Sequence[tuple[Instant, str | None]], recorded: Recorded) -> tuple[Span, ...]:
    """Ticks in a row that are missed for one reason become one span."""
    spans: list[Span] = []
    apart = False
    for tick, why in fates:
        if recorded and recorded.until(tick) is not None:
            apart = True
        elif spans and why is not None and spans[-1].why == why and not apart:
            spans[-1] = spans[-1]._replace(last=tick, ticks=spans[-1].ticks + 1)
        else:
            spans.append(Span(tick, tick, 1, why, apart))
            apart = False
    return tuple(spans)
