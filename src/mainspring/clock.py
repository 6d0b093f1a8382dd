"""Time as values: instants and durations as integer microseconds, and the Clock that everything else is given.

The only module that may ask the operating system for the time or wait. Everything else takes a Clock as an
argument, so that the whole engine runs under a virtual one (docs/decisions/0005).
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import NewType, Protocol

from mainspring.errors import InvalidDuration, InvalidInstant

Instant = NewType("Instant", int)
"""A point in time: microseconds since 1970-01-01 UTC."""

Duration = NewType("Duration", int)
"""A length of time in microseconds."""

MICROSECOND = Duration(1)
MILLISECOND = Duration(1_000)
SECOND = Duration(1_000_000)
MINUTE = Duration(60_000_000)
HOUR = Duration(3_600_000_000)
DAY = Duration(86_400_000_000)

_UNITS = {"us": MICROSECOND, "ms": MILLISECOND, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY, "w": Duration(7 * DAY)}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s|m|h|d|w)", re.ASCII)
LONGEST = Duration(100 * 366 * DAY)
"""What ``duration`` takes at most: about 100 years."""

_LATEST = Instant(253_402_300_799_000_000)  # 9999-12-31T23:59:59Z, the last that datetime can show


class Clock(Protocol):
    """What tells the time and how to wait for it."""

    def now(self) -> Instant:
        """The wall clock; may jump. For due times and records only."""
        ...

    def monotonic(self) -> Duration:
        """A clock that never goes back. For everything that waits inside one process."""
        ...

    def wait(self, length: Duration) -> None:
        """Block the calling thread for about this long."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> Instant:
        return Instant(time.time_ns() // 1_000)

    def monotonic(self) -> Duration:
        return Duration(time.monotonic_ns() // 1_000)

    def wait(self, length: Duration) -> None:
        time.sleep(max(0, length) / 1_000_000)


def seconds(length: Duration) -> float:
    """A duration as seconds, for the standard library's timeouts."""
    return length / 1_000_000


def from_seconds(amount: float) -> Duration:
    """Seconds, as the standard library counts, to a Duration."""
    return Duration(round(amount * 1_000_000))


def duration(value: str | float) -> Duration:
    """Read a duration as people write it: ``250ms``, ``30s``, ``10m``, ``2h``, ``1d``, ``1h30m``; a number is seconds.

    Raises InvalidDuration for anything else, for a negative one and for more than 100 years.
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):  # a JSON body may hold anything
        raise InvalidDuration(value)
    if isinstance(value, int | float):
        try:
            length = from_seconds(value)
        except (OverflowError, ValueError) as error:
            raise InvalidDuration(value) from error
    else:
        length = _parse_duration(value)
    if not 0 <= length <= LONGEST:
        raise InvalidDuration(value)
    return length


def _parse_duration(text: str) -> Duration:
    compact = text.strip().lower()
    if compact in {"0", "0.0"}:
        return Duration(0)
    total, at = 0.0, 0
    for part in _PART.finditer(compact):
        if part.start() != at:
            raise InvalidDuration(text)
        total += float(part[1]) * _UNITS[part[2]]
        at = part.end()
        while at < len(compact) and compact[at] == " ":
            at += 1
    if at == 0 or at != len(compact):
        raise InvalidDuration(text)
    return Duration(round(min(total, float(LONGEST) + 1)))


def duration_text(length: Duration) -> str:
    """The shortest exact text that ``duration`` reads back: ``1h30m``, ``250ms``, ``0s``."""
    if length == 0:
        return "0s"
    text, rest = "", int(length)
    for unit in ("d", "h", "m", "s", "ms", "us"):
        count, rest = divmod(rest, _UNITS[unit])
        if count:
            text += f"{count}{unit}"
    return text


def length_text(span: Duration) -> str:
    """A length of time for people, in at most two units: ``12ms``, ``3.4s``, ``5m 12s``, ``3h 7m``, ``2d 4h``."""
    span = Duration(max(0, span))
    if span < SECOND:
        return f"{span // MILLISECOND}ms"
    if span < MINUTE:
        return f"{span * 10 // SECOND / 10}s"
    if span < HOUR:
        return f"{span // MINUTE}m {span % MINUTE // SECOND}s"
    if span < DAY:
        return f"{span // HOUR}h {span % HOUR // MINUTE}m"
    return f"{span // DAY}d {span % DAY // HOUR}h"


def instant(text: str) -> Instant:
    """Read an ISO 8601 time with offset or ``Z``: ``2026-11-29T03:00:00Z``. Raises InvalidInstant."""
    try:
        moment = datetime.fromisoformat(text.strip())
        if moment.tzinfo is None:
            raise InvalidInstant(text)
        since = moment.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    except (ValueError, OverflowError, AttributeError) as error:  # the offset may lead out of the calendar
        raise InvalidInstant(text) from error
    return Instant((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds)


def instant_text(moment: Instant) -> str:
    """ISO 8601 in UTC with microseconds, as every answer of the product writes times."""
    whole, micros = divmod(min(int(moment), int(_LATEST)), 1_000_000)
    return datetime.fromtimestamp(whole, UTC).replace(microsecond=micros).isoformat().replace("+00:00", "Z")
