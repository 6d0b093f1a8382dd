"""Rules of unique keys, checked as everything that people write is: shapes, lengths and words. Asks no store."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from mainspring.clock import duration
from mainspring.domain.job import Unique
from mainspring.domain.parameters import checked_json
from mainspring.errors import InvalidDuration, InvalidOption

LONGEST_KEY = 255
"""Characters. Databases index keys, and their indexes take no long ones."""

IDEMPOTENCY_KEY = "^[!-~]([ -~]*[!-~])?$"
"""What goes through a header as it is: printable ASCII, no space at its ends."""


def checked_idempotency_key(key: object) -> str:
    """The key of a submit as it can be sent and stored. Raises InvalidOption, InvalidText."""
    field = "Idempotency-Key"
    checked = checked_key(key, field)
    if not re.fullmatch(IDEMPOTENCY_KEY, checked):
        raise InvalidOption(
            f"{field} is {checked!r:.80}; it must be printable ASCII, without spaces at its ends.",
            remedy="A random UUID, or a digest of what is wanted, will do.",
            field=field,
        )
    return checked


def checked_key(key: object, field: str) -> str:
    """A key as it can be stored. Raises InvalidOption, InvalidText."""
    if not isinstance(key, str) or not 0 < len(key) <= LONGEST_KEY:
        length = f"has {len(key):,} characters" if isinstance(key, str) else f"is {key!r:.80}"
        raise InvalidOption(
            f"{field} {length}; it must be a text of 1 to {LONGEST_KEY}.",
            remedy="A digest of something long will do as well.",
            field=field,
        )
    checked_json(key, field)
    return key


def checked_rule(given: object) -> Unique:
    """The rule that a request names by its key alone, or in full. Raises InvalidOption and its siblings."""
    if not isinstance(given, Unique):
        return Unique(checked_key(given, "unique"))
    key = checked_key(given.key, "unique.key")
    try:
        rule: Unique = msgspec.convert(msgspec.to_builtins(given), Unique)
    except msgspec.ValidationError as error:
        said, _, where = str(error).rpartition(" - at `$.")
        name = where.rstrip("`")
        value: Any = msgspec.to_builtins(given).get(name)
        raise InvalidOption(
            f"unique.{name} is {value!r}: {said[:1].lower()}{said[1:]}.",
            remedy="while: waiting or unfinished; on_conflict: return, replace or reject.",
            field=f"unique.{name}",
        ) from error
    return msgspec.structs.replace(rule, key=key, period=_period(rule.period))


def _period(value: str | float | None) -> str | float | None:
    if value is None:
        return None
    try:
        length = duration(value)
    except InvalidDuration as error:
        raise InvalidDuration(value, field="unique.period") from error
    if not length:
        raise InvalidOption(
            "unique.period is 0; it must be longer.", remedy="Leave it out for none.", field="unique.period"
        )
    return value
