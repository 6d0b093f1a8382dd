"""When something is done, as users write it: ``cron(...)``, ``every(...)`` and so on. All give a Recurrence."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Any, Literal

from mainspring.domain.recurrence import Recurrence, read

Time = str | date | datetime
"""ISO 8601 or Python's own; without an offset it is local in the zone of the recurrence."""


def cron(  # noqa: PLR0913 - each is a documented option
    expression: str,
    *,
    tz: str = "UTC",
    gap: Literal["shift", "skip"] = "shift",
    repeat: Literal["first", "last", "both"] = "first",
    days: Literal["or", "and"] = "or",
    start: Time | None = None,
    end: Time | None = None,
    exclude: Iterable[str | dict[str, Any]] = (),
) -> Recurrence:
    """A cron expression of five fields, six with seconds first, or a macro such as ``@daily``.

    Parameters
    ----------
    expression: such as ``"0 3 * * mon-fri"``; docs/reference/cron.md tells all of it.
    tz: IANA name of the zone in which it is read (default ``UTC``).
    gap: a fixed local time that the clocks skip fires once right after (``shift``, default) or not (``skip``).
    repeat: a fixed local time that comes twice fires at the ``first`` (default), the ``last`` or ``both``.
    days: with both day fields restricted one is enough (``or``, default, as cron has it) or both are needed (``and``).
    start, end: no tick before or after; both ends included.
    exclude: days that are left out: ``"2026-12-24/2027-01-01"``, ``"12-25"`` (every year), or
        ``{"name": "closed", "dates": [...], "weekdays": ["sun"]}``.

    Raises InvalidCron, NeverFires, UnknownZone, InvalidSchedule.

    """
    return read(
        {"cron": expression, "tz": tz, "gap": gap, "repeat": repeat, "days": days} | _bounds(start, end, exclude)
    )


def every(
    interval: str | float | timedelta,
    *,
    start: Time | None = None,
    end: Time | None = None,
    exclude: Iterable[str | dict[str, Any]] = (),
    tz: str = "UTC",
) -> Recurrence:
    """An interval of elapsed time, counted from ``start`` without drift: ``every("30s")``. A number is seconds.

    Without a start it is counted from when the schedule is first declared. ``end``, ``exclude``, ``tz``: see ``cron``.
    Raises InvalidDuration, InvalidSchedule.
    """
    length = interval.total_seconds() if isinstance(interval, timedelta) else interval
    return read({"every": length, "tz": tz} | _bounds(start, end, exclude))


def at(time: Time, *, tz: str = "UTC") -> Recurrence:
    """One instant: ``at("2026-12-01T03:00", tz="Europe/Berlin")``. Raises InvalidInstant, UnknownZone."""
    return read({"at": _text(time), "tz": tz})


def rrule(  # noqa: PLR0913 - each is a documented option
    rule: str,
    *,
    start: Time | None = None,
    end: Time | None = None,
    tz: str = "UTC",
    gap: Literal["shift", "skip"] = "shift",
    repeat: Literal["first", "last", "both"] = "first",
    exclude: Iterable[str | dict[str, Any]] = (),
) -> Recurrence:
    """A rule of RFC 5545, daily or coarser: ``rrule("FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0;BYSECOND=0")``.

    ``start`` is its DTSTART (default: when the schedule is first declared); the rest as for ``cron``. Raises
    InvalidSchedule, NeverFires, UnknownZone.
    """
    return read({"rrule": rule, "tz": tz, "gap": gap, "repeat": repeat} | _bounds(start, end, exclude))


def _bounds(start: Time | None, end: Time | None, exclude: Iterable[str | dict[str, Any]]) -> dict[str, Any]:
    bounds: dict[str, Any] = {"start": _text(start), "end": _text(end)}
    without = [exclude] if isinstance(exclude, str | dict) else list(exclude)
    return {name: value for name, value in bounds.items() if value is not None} | (
        {"except": without} if without else {}
    )


def _text(time: Time | None) -> str | None:
    return time.isoformat() if isinstance(time, date) else time
