"""How much of a list is asked for at once: the same limits and the same words, however it is asked for. Pure."""

from __future__ import annotations

from mainspring.domain.ids import LARGEST
from mainspring.errors import InvalidCursor, InvalidInput

MOST = 1_000
"""Items on one page."""

MOST_LINES = 10_000
"""Events or log lines in one answer."""

MOST_ATTEMPTS = 2**31
"""The highest number that an attempt may be asked for by."""

_LONGEST_SHOWN = 80


def checked_limit(limit: int, most: int = MOST) -> int:
    """The same, if so many may be asked for at once. Raises InvalidInput."""
    if not 1 <= limit <= most:
        raise out_of_range("limit", str(limit), 1, most)
    return limit


def out_of_range(name: str, given: str, least: int, most: int) -> InvalidInput:
    """What is said of a text that is no whole number from ``least`` to ``most``."""
    is_number = given.isascii() and given.removeprefix("-").isdigit()
    shown = given[:_LONGEST_SHOWN] if is_number else repr(given[:_LONGEST_SHOWN])
    return InvalidInput(f"{name} is {shown}; it must be a whole number from {least} to {most}.", field=name)


def checked_cursor(text: str) -> int:
    """The number that a cursor is. Raises InvalidCursor."""
    if not text.isascii() or not text.isdigit() or int(text[:20]) > LARGEST:
        raise InvalidCursor(
            f"{text[:_LONGEST_SHOWN]!r} is not a cursor of this list.",
            remedy="Pass back what 'next' said.",
            field="cursor",
        )
    return int(text)
