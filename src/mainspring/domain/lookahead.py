"""Looking ahead: the next ticks with what the clocks do to them, and the load of many schedules by the minute.

The same ``next_after`` that fires; nothing here decides anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mainspring.clock import DAY, MINUTE, Duration, Instant, duration_text, instant_text
from mainspring.domain import plan as plans
from mainspring.domain.recurrence import Recurrence
from mainspring.domain.timetable import Schedule, Standing
from mainspring.domain.zone import MICROS, Zone
from mainspring.errors import InvalidOption

MOST_AHEAD = 10_000
MOST_LOADED = Duration(31 * DAY)
_MOST_COUNTED = 2_000_000


class Foreseen(NamedTuple):
    """A tick to come: the instant, local ISO 8601 text, and what a clock change has to do with it, or nothing."""

    at: Instant
    local: str
    mark: str


def preview(rule: Recurrence, after: Instant, count: int, *, inclusive: bool = False) -> list[Foreseen]:
    """The next ``count`` ticks after an instant, or from it on. Fewer where no more come.

    Raises InvalidOption for a count that can't be.
    """
    if not 1 <= count <= MOST_AHEAD:
        raise InvalidOption(f"n is {count}; it must be from 1 to {MOST_AHEAD:,}.", field="n")
    found: list[Foreseen] = []
    moment: Instant | None = Instant(after - 1) if inclusive else after
    while moment is not None and len(found) < count:
        earlier, moment = moment, rule.next_after(moment)
        if moment is not None:
            found.append(Foreseen(moment, rule.place.text(moment), _mark(rule.place, earlier, moment)))
    return found


def _mark(place: Zone, earlier: Instant, moment: Instant) -> str:
    second = moment // MICROS
    span = place.span(second)
    if second == span.start and span.offset > span.before:
        return "first instant after the clocks went forward"
    passes = place.instants(second + span.offset)
    if len(passes) > 1:
        return f"the clocks show this time twice: {'first' if second == passes[0] else 'second'} pass"
    moved = span.offset - place.span(earlier // MICROS).offset
    if moved:
        return f"the clocks have gone {'forward' if moved > 0 else 'back'} by {abs(moved) // 60} min"
    return ""


class Load(NamedTuple):
    """Ticks by the minute. ``minutes``: one number for each; ``peaks``: the fullest minutes, with names of schedules.

    ``whole`` is False where there were too many ticks to count them all.
    """

    start: Instant
    minutes: list[int]
    peaks: list[tuple[Instant, int, list[str]]]
    whole: bool


def load(
    rules: Iterable[tuple[str, Recurrence]],
    start: Instant,
    *,
    length: Duration = DAY,
    peaks: int = 5,
    names: int = 10,
) -> Load:
    """How many ticks of all these fall into each minute from ``start`` on, so that pile-ups are seen in time.

    Jitter is not counted in. Raises InvalidOption for a length that can't be.
    """
    if not MINUTE <= length <= MOST_LOADED:
        raise InvalidOption(
            f"A load of {duration_text(length)} was asked for; it is of one minute to {duration_text(MOST_LOADED)}.",
            field="for",
        )
    start = Instant(start - start % MINUTE)
    alike: dict[Recurrence, list[str]] = {}
    for name, rule in rules:
        alike.setdefault(rule, []).append(name)
    minutes = [0] * (length // MINUTE)
    who: dict[int, list[Sequence[str]]] = {}
    left = _MOST_COUNTED
    for rule, of in alike.items():
        hits, left = _hits(rule, start, Instant(start + length), left)
        for minute, count in hits.items():
            minutes[minute] += count * len(of)
            who.setdefault(minute, []).append(of)
    fullest = sorted((minute for minute, count in enumerate(minutes) if count), key=lambda minute: -minutes[minute])
    return Load(
        start,
        minutes,
        [
            (
                Instant(start + minute * MINUTE),
                minutes[minute],
                sorted(name for of in who[minute] for name in of)[:names],
            )
            for minute in fullest[:peaks]
        ],
        left > 0,
    )


def _hits(rule: Recurrence, start: Instant, end: Instant, left: int) -> tuple[Counter[int], int]:
    hits: Counter[int] = Counter()
    moment = rule.next_after(Instant(start - 1))
    while moment is not None and moment < end and left > 0:
        hits[(moment - start) // MINUTE] += 1
        left -= 1
        moment = rule.next_after(moment)
    return hits, left


def rules_of(schedules: Iterable[Schedule]) -> list[tuple[str, Recurrence]]:
    """The rules of those that fire, by name."""
    return [
        (one.name, plans.ready(one.plan, one.created_at).rule)
        for one in schedules
        if one.standing is Standing.ACTIVE and one.fault is None
    ]


def load_document(found: Load) -> dict[str, Any]:
    """A load as JSON: ``minutes`` from ``start`` on, the fullest as ``peaks`` with the names of some schedules."""
    return {
        "start": instant_text(found.start),
        "ticks": sum(found.minutes),
        "minutes": found.minutes,
        "peaks": [{"at": instant_text(at), "ticks": count, "schedules": names} for at, count, names in found.peaks],
        "whole": found.whole,
    }


def preview_document(rule: Recurrence, after: Instant, count: int, *, inclusive: bool = False) -> dict[str, Any]:
    """A preview as JSON: ``ticks`` in local time with offset, the rule in ``words``, and ``notes`` at clock changes."""
    found = preview(rule, after, count, inclusive=inclusive)
    return {
        "words": rule.words(),
        "tz": rule.place.name,
        "ticks": [tick.local for tick in found],
        "notes": [{"tick": tick.local, "note": tick.mark} for tick in found if tick.mark],
    }
