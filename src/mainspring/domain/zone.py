"""Time zones as spans of constant offset: between two clock changes local time is plain arithmetic.

Everything that repeats by local time (cron, RRULE) walks these spans, so that gaps and repeats are handled in one
place (``next_tick``). Offsets come from zoneinfo (the system's data or the tzdata package). Times in here are whole
seconds since 1970, "wall" seconds being what a wall clock shows, counted as if it were UTC. Must not ask for the time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from mainspring.clock import Instant
from mainspring.errors import InvalidSchedule, UnknownZone

Gap = Literal["shift", "skip"]
Repeat = Literal["first", "last", "both"]

LAST_SECOND = 7_258_118_400  # 2200-01-01: zone data further on is fiction, and searching must end somewhere
NEVER = LAST_SECOND * 2
"""What a search answers when nothing comes before the end of the calendar."""

_STEP = 8 * 86_400  # no zone has changed its clocks and back within less since 1970 (tests/domain/test_zone.py looks)
_FARTHEST = 26 * 3600  # no clock is further from UTC
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROS = 1_000_000


class Span(NamedTuple):
    """From ``start`` up to ``end`` (UTC seconds) the clocks show UTC plus ``offset``.

    ``before`` and ``after`` are the offsets of the neighbours.
    """

    start: int
    end: int
    offset: int
    before: int
    after: int


class Zone:
    """A named zone. Use ``zone``, which keeps them."""

    def __init__(self, name: str, info: ZoneInfo) -> None:
        self.name = name
        self.info = info
        self._starts, self._offsets = _changes(info)

    def span(self, second: int) -> Span:
        """The span that holds this second. What was before 1970 counts as the first."""
        at = max(bisect_right(self._starts, second) - 1, 0)
        last = len(self._starts) - 1
        offset = self._offsets[at]
        return Span(
            self._starts[at],
            self._starts[at + 1] if at < last else NEVER,
            offset,
            self._offsets[at - 1] if at else offset,
            self._offsets[at + 1] if at < last else offset,
        )

    def wall(self, moment: Instant) -> int:
        """What the clocks show at this instant, in wall seconds."""
        second = moment // MICROS
        return second + self.span(second).offset

    def instants(self, wall: int) -> list[int]:
        """The UTC seconds at which the clocks show this: none in a gap, two in a repeated hour."""
        found, span = [], self.span(wall - _FARTHEST)
        while True:
            if span.start <= wall - span.offset < span.end or not span.start:
                found.append(wall - span.offset)
            if span.end > wall + _FARTHEST:
                return found
            span = self.span(span.end)

    def first_instant(self, wall: int) -> int:
        """The first UTC second at which the clocks show this or, where that is skipped, the end of the gap."""
        span = self.span(wall - _FARTHEST)
        while span.end <= wall - span.offset:
            span = self.span(span.end)
        return max(span.start, wall - span.offset) if span.start else wall - span.offset

    def text(self, moment: Instant) -> str:
        """ISO 8601 in this zone, with its offset."""
        return (_EPOCH + timedelta(microseconds=moment)).astimezone(self.info).isoformat()


def _changes(info: ZoneInfo) -> tuple[list[int], list[int]]:
    def offset_at(second: int) -> int:
        away = (_EPOCH + timedelta(seconds=second)).astimezone(info).utcoffset()
        return int((away or timedelta()).total_seconds())

    low, known = 0, offset_at(0)
    starts, offsets = [low], [known]
    while low < LAST_SECOND:
        high = low + _STEP
        there = offset_at(high)
        if there == known:
            low = high
            continue
        while high - low > 1:
            middle = (low + high) // 2
            if offset_at(middle) == known:
                low = middle
            else:
                high = middle
        known = offset_at(high)
        starts.append(high)
        offsets.append(known)
        low = high
    return starts, offsets


def zone(name: str) -> Zone:
    """The zone of this IANA name, for instance ``Europe/Berlin``. Raises UnknownZone with near names."""
    if not isinstance(name, str):  # a document may hold anything, also what no cache takes
        raise UnknownZone(name, ())
    return _zone(name)


@lru_cache(maxsize=1024)
def _zone(name: str) -> Zone:
    try:
        return Zone(name, ZoneInfo(name))
    except (KeyError, ValueError, OSError, TypeError, AttributeError) as error:  # what a name can do to a file path
        raise UnknownZone(name, available_timezones()) from error


def one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise InvalidSchedule for a policy that is none of these words."""
    if value not in allowed:
        raise InvalidSchedule(f"{name} is {value!r:.80}; it must be one of {', '.join(allowed)}.", field=name)


GAPS = ("shift", "skip")
REPEATS = ("first", "last", "both")


def next_tick(  # noqa: PLR0913 - what a rule is, and the two policies
    place: Zone, first_from: Callable[[int], int], moment: Instant, *, fixed: bool, gap: Gap, repeat: Repeat
) -> Instant | None:
    """The first instant after ``moment`` at which a rule about the wall clock fires; None after the year 2199.

    ``first_from`` answers the first wall second at or after a given one that the rule matches. A rule that is not
    ``fixed`` follows elapsed time: it fires whenever the clocks show a match, twice in a repeated hour, not in a gap.
    A fixed one fires in a gap once right after it (``shift``) or not (``skip``), and in a repeated hour by ``repeat``.
    """
    second = moment // MICROS + 1
    span = place.span(second)
    while second < LAST_SECOND:
        gained = span.offset - span.before
        if second == span.start and gained > 0 and fixed and gap == "shift":
            missed = second + span.before
            if first_from(missed) < missed + gained:
                return Instant(second * MICROS)
        if (
            second < span.start - gained and fixed and repeat == "first"
        ):  # the clocks went back: these were shown before
            second = span.start - gained
        found = first_from(second + span.offset) - span.offset
        if fixed and repeat == "last" and span.end + span.after - span.offset <= found < span.end:
            second = span.end  # will be shown once more
            span = place.span(second)
            continue
        if found < span.end:
            return Instant(found * MICROS) if found < LAST_SECOND else None
        second = span.end
        span = place.span(second)
    return None
