"""Records: what servers and workers say of themselves, as it is kept in the store."""

from __future__ import annotations

import msgspec

from mainspring.clock import Instant
from mainspring.errors import InvalidInput, near

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "critical": 50}
"""Levels by name, as the logging module counts them."""

LONGEST = 10_000
"""Characters of a message that are kept."""


class Bound(msgspec.Struct, frozen=True):
    """What a record is about, where it is about something."""

    job: int | None = None
    attempt: int | None = None
    run: int | None = None
    worker: int | None = None
    trace: str | None = None
    request: str | None = None


NOTHING = Bound()


def of_record(record: object) -> Bound:
    """What a record of the logging module is about, as its ``extra`` says."""
    return Bound(**{name: getattr(record, name) for name in Bound.__struct_fields__ if hasattr(record, name)})


class Entry(msgspec.Struct, frozen=True):
    """Something that a process said.

    ``process``: server or worker; ``source``: which part of it; ``level``: 10 to 50.
    """

    at: Instant
    process: str
    pid: int
    level: int
    source: str
    message: str
    bound: Bound = NOTHING


class Record(msgspec.Struct, frozen=True):
    """An entry that is kept; ``seq`` is the cursor."""

    seq: int
    entry: Entry


class RecordFilter(msgspec.Struct, frozen=True):
    """Which records are wanted: all that fit each part that is given.

    ``level``: this one and worse; ``after``: behind this ``seq``; without it the newest. Always oldest first.
    """

    level: str | None = None
    process: str | None = None
    job: int | None = None
    run: int | None = None
    worker: int | None = None
    since: Instant | None = None
    until: Instant | None = None
    after: int | None = None
    limit: int = 200


def level_of(name: str | None) -> int:
    """A level by its name; 0 for none. Raises InvalidInput."""
    if name is None:
        return 0
    if name not in LEVELS:
        remedy = near(name, LEVELS) or f"Levels: {', '.join(LEVELS)}."
        raise InvalidInput(f"There is no level {name[:80]!r}.", remedy=remedy, field="level")
    return LEVELS[name]


def level_name(level: int) -> str:
    """What a level is called: the worst name that it reaches."""
    return next((name for name, rank in reversed(LEVELS.items()) if level >= rank), "debug")
