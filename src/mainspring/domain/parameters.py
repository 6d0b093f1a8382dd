"""JSON as the product takes it: parameters, results, details and bodies are checked here before anything is stored.

What passes can be stored and read back by both stores and any JSON reader: no NaN, no NUL, no half surrogates, no
number beyond 64 bits, no doubled keys, at most DEEPEST levels. Pure; schema checks are control's business, sizes of
whole bodies the server's.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple

import msgspec

from mainspring.clock import duration, seconds
from mainspring.domain.job import PAYLOAD_LIMIT
from mainspring.errors import (
    InvalidDuration,
    InvalidInput,
    InvalidJson,
    InvalidParameters,
    InvalidText,
    PayloadTooLarge,
    near,
)

DEEPEST = 100
"""Levels of arrays and objects in one value."""

SMALLEST_WHOLE, LARGEST_WHOLE = -(2**63), 2**64 - 1
"""The whole numbers that survive every reader on the way."""

EncodeHook = Callable[[Any], Any]
Step = str | int

_LONGEST_PATH = 200
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class _Fault(NamedTuple):
    """What is wrong, and the way to it, innermost step first."""

    error: type[InvalidInput]
    what: str
    remedy: str
    steps: list[Step]

    def below(self, step: Step) -> _Fault:
        self.steps.append(step)
        return self

    def raised(self, what: str) -> InvalidInput:
        path = what + "".join(_step_text(step) for step in reversed(self.steps))
        if len(path) > _LONGEST_PATH:
            path = f"{path[:_LONGEST_PATH]}..."
        return self.error(f"{path} {self.what}.", remedy=self.remedy, field=path)


class _Doubled(dict[str, Any]):
    """An object of the source text that named a key twice."""

    key = ""


def checked_json(value: Any, what: str, *, limit: int = PAYLOAD_LIMIT, enc_hook: EncodeHook | None = None) -> bytes:
    """The value as JSON that can be stored.

    ``what`` is the word for it in errors and the start of their paths (``params.items[3].name``); ``enc_hook`` turns
    objects that msgspec doesn't know into those it does. Raises InvalidJson, InvalidText, and PayloadTooLarge above
    ``limit`` bytes.
    """
    fault = _fault(value, DEEPEST, enc_hook)
    if fault is not None:
        raise fault.raised(what)
    try:
        data = msgspec.json.encode(value, enc_hook=enc_hook)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise InvalidJson(f"{what} can't be written as JSON: {error}.", field=what) from error
    if len(data) > limit:
        raise PayloadTooLarge(what, len(data), limit)
    return data


def loads_strict(data: bytes | str, what: str) -> Any:
    """Read a JSON text from outside; ``what`` is the word for it in errors.

    Refuses, besides what ``checked_json`` refuses, doubled keys, NaN and Infinity, numbers such as 1e999 and bytes
    that are not UTF-8. Raises InvalidJson, InvalidText.
    """
    try:
        text = data if isinstance(data, str) else str(data, "utf-8")
        try:
            value = json.loads(text, object_pairs_hook=_pairs)
        except json.JSONDecodeError:
            raise
        except ValueError:  # more digits than int() takes; whatever stands in for them is refused below, with its path
            value = json.loads(text, object_pairs_hook=_pairs, parse_int=_whole)
    except UnicodeDecodeError as error:
        raise InvalidJson(f"{what} is not UTF-8: {error.reason} at byte {error.start}.", field=what) from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InvalidJson(
            f"{what} is not JSON: {error.msg} at {place}.",
            remedy='Names and texts stand in double quotes: {"name": "text", "number": 7}.',
            field=what,
        ) from error
    except RecursionError:
        raise _too_deep([]).raised(what) from None
    fault = _fault(value, DEEPEST, None)
    if fault is not None:
        raise fault.raised(what)
    return value


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    doubled = _Doubled(found)
    keys = [key for key, _ in pairs]
    doubled.key = next(key for key in keys if keys.count(key) > 1)
    return doubled


def _whole(digits: str) -> int:
    return int(digits) if len(digits) <= 25 else LARGEST_WHOLE + 1


def _step_text(step: Step) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if _IDENTIFIER.fullmatch(step) else f"[{json.dumps(step[:80])}]"


def _fault(value: Any, room: int, hook: EncodeHook | None) -> _Fault | None:
    """The first thing in the value that can't be stored. ``room``: levels that may still follow."""
    kind = type(value)
    if kind is str:
        return _text_fault(value)
    if kind is dict:
        return _object_fault(value, room, hook)
    if kind is list or kind is tuple:
        return _array_fault(value, room, hook)
    if kind is int:
        return None if SMALLEST_WHOLE <= value <= LARGEST_WHOLE else _too_big()
    if kind is float:
        return None if math.isfinite(value) else _not_finite(value)
    if value is None or kind is bool:
        return None
    return _other_fault(value, room, hook)


def _object_fault(value: dict[Any, Any], room: int, hook: EncodeHook | None) -> _Fault | None:
    if room == 0:
        return _too_deep([])
    for key, item in value.items():
        if not isinstance(key, str):
            return _Fault(InvalidJson, f"has the key {key!r}, which is not text", "Keys of JSON objects are text.", [])
        fault = _text_fault(key)
        if fault is not None:
            return fault._replace(what=f"has the key {json.dumps(key[:80])}, which {fault.what}")
        fault = _fault(item, room - 1, hook)
        if fault is not None:
            return fault.below(key)
    return None


def _array_fault(value: Iterable[Any], room: int, hook: EncodeHook | None) -> _Fault | None:
    if room == 0:
        return _too_deep([])
    for index, item in enumerate(value):
        fault = _fault(item, room - 1, hook)
        if fault is not None:
            return fault.below(index)
    return None


def _other_fault(value: Any, room: int, hook: EncodeHook | None) -> _Fault | None:
    """A richer object: look at what it is written as. One level at most is taken off per object, so this ends."""
    if isinstance(value, _Doubled):
        return _Fault(InvalidJson, f"has the key {json.dumps(value.key)} twice", "Give each key once.", [])
    if room == 0:
        return _too_deep([])
    try:
        plain = msgspec.to_builtins(value, enc_hook=hook)
    except RecursionError:
        return _too_deep([])
    except (TypeError, ValueError, OverflowError) as error:
        remedy = "Pass text, numbers, true/false, null, lists and objects of these, or types that msgspec can write."
        return _Fault(InvalidJson, f"is of type {type(value).__name__}, which is not JSON ({error})", remedy, [])
    return _fault(plain, room, None)


def _text_fault(text: str) -> _Fault | None:
    if "\0" in text:
        return _Fault(InvalidText, "holds a NUL character", "Take out \\u0000; encode binary data as base64.", [])
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            remedy = "Decode the bytes that it came from with their real encoding."
            return _Fault(InvalidText, f"holds half of a surrogate pair at character {error.start}", remedy, [])
    return None


def _too_deep(steps: list[Step]) -> _Fault:
    return _Fault(InvalidJson, f"is nested deeper than {DEEPEST} levels, or contains itself", "Make it flatter.", steps)


def _too_big() -> _Fault:
    return _Fault(InvalidJson, f"is a whole number beyond {SMALLEST_WHOLE} to {LARGEST_WHOLE}", "Pass it as text.", [])


def _not_finite(value: float) -> _Fault:
    name = "NaN" if math.isnan(value) else "infinite, or a number too large for JSON readers"
    return _Fault(InvalidJson, f"is {name}, which JSON does not have", "Pass null or a text instead.", [])


_FORM = re.compile(
    r'(?:is not a "|Invalid RFC3339 encoded |Invalid ISO8601 |Invalid )(date-?time|date|duration|uuid)\b', re.IGNORECASE
)
_TIME = "Write a time as 2026-11-29T03:00:00Z."
_FORMS = {
    "date": "Write a day as 2026-11-29.",
    "datetime": _TIME,
    "date-time": _TIME,
    "duration": "Write a length of time as 5s, or PT5S.",
    "uuid": "Write it as 0b0c6e38-8f0e-4a5c-9d3f-2f6f4c1d7a10.",
}


def form_hint(said: str) -> str:
    """How a text of a form is written that a checker, of types or of schemas, does not find: a sentence, or nothing."""
    found = _FORM.search(said)
    return _FORMS[found[1].lower()] if found else ""


def placeholders(argv: Sequence[str], declared: Iterable[str]) -> set[str]:
    """The parameters that a command's words name as ``{name}``.

    A placeholder is a whole word, so a value never becomes several words or a part of one. Raises InvalidParameters
    for a word that holds a declared parameter in its middle, as it would be passed on unfilled.
    """
    known, found = set(declared), set()
    for word in argv:
        whole = _PLACEHOLDER.fullmatch(word)
        if whole:
            found.add(whole[1])
            continue
        inside = [name for name in _PLACEHOLDER.findall(word) if name in known]
        if inside:
            raise InvalidParameters(
                f"The word {word!r} holds the placeholder {{{inside[0]}}} in its middle.",
                remedy=f"Make {{{inside[0]}}} a word of its own, and pass the value with what belongs before it.",
                field="argv",
            )
    return found


def filled(argv: Sequence[str], params: Mapping[str, Any]) -> list[str]:
    """A command's words with the parameters in the place of their ``{name}``.

    Text goes in as it is, numbers as JSON writes them, a list as one word per item, an object as one word of JSON.
    Nothing is split or expanded: there is no shell. Raises InvalidParameters for a missing or null parameter.
    """
    words: list[str] = []
    for word in argv:
        whole = _PLACEHOLDER.fullmatch(word)
        if not whole:
            words.append(word)
            continue
        name = whole[1]
        value = params.get(name)
        if value is None:
            remedy = near(name, params) if name not in params else "A word of a command can't be null."
            state = "null" if name in params else "missing"
            raise InvalidParameters(
                f"parameter {name!r} of the command is {state}.", remedy=remedy, field=f"params.{name}"
            )
        if isinstance(value, list):
            words += [_word(item) for item in value]
        else:
            words.append(_word(value))
    return words


def _word(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def duration_names(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The parameters of a task's schema that are lengths of time (``timedelta``), also where they may be null."""
    return tuple(name for name, one in schema.get("properties", {}).items() if _is_duration(one))


def _is_duration(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    return schema.get("format") == "duration" or any(_is_duration(one) for one in schema.get("anyOf", ()))


def iso_durations(params: Any, names: Iterable[str]) -> Any:
    """Parameters in which lengths of time as we write them (``1h30m``) are ISO 8601, as JSON Schema has it.

    What can't be read so stays as it is; the schema decides.
    """
    if not isinstance(params, dict):
        return params
    found = {}
    for name in names:
        if isinstance(params.get(name), str):
            with suppress(InvalidDuration):
                found[name] = f"PT{seconds(duration(params[name])):f}".rstrip("0").rstrip(".") + "S"
    return {**params, **found} if found else params


def is_iso_duration(text: str) -> bool:
    """Whether a ``timedelta`` can be read from it."""
    try:
        msgspec.convert(text, timedelta)
    except msgspec.ValidationError:
        return False
    return True
