"""Parameters as they are typed: ``name=value`` words and ``--params``, read by the task's schema."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mainspring.domain.parameters import duration_names, iso_durations, loads_strict
from mainspring.domain.task import Task
from mainspring.domain.workflow import Workflow
from mainspring.errors import (
    InvalidInput,
    InvalidJson,
    InvalidOption,
    InvalidParameters,
    PayloadTooLarge,
    UnknownTask,
)

DOCUMENT_LIMIT = 4 * 1_048_576
"""Bytes of --params @FILE, as of a body over REST: white space and escapes may make it longer than what is stored."""

_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")


def task_named(name: str, tasks: Sequence[Task]) -> Task:
    """The task by its full name, or by its short one where that is unique. Raises UnknownTask with the near matches."""
    for task in tasks:
        if task.name == name:
            return task
    matches = [task for task in tasks if task.short == name]
    if len(matches) != 1:
        raise UnknownTask(name, [task.name for task in tasks], ambiguous=[task.name for task in matches])
    return matches[0]


def params_of(what: Task | Workflow, words: Iterable[str], document: str | None) -> dict[str, Any]:
    """All parameters: the document's, with those given as words on top. Raises InvalidParameters, InvalidJson."""
    params = _document(document) if document is not None else {}
    seen: set[str] = set()
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name:
            raise InvalidParameters(
                f"{word!r} is not name=value.", remedy="Write parameters as order_id=7.", field="params"
            )
        if name in seen:
            raise InvalidParameters(f"Parameter {name!r} is given twice.", field=f"params.{name}")
        seen.add(name)
        params[name] = _value(what, name, text)
    return params


def pairs(words: Iterable[str], option: str) -> dict[str, str]:
    """``key=value`` words of an option. Raises InvalidOption."""
    found: dict[str, str] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not key:
            raise InvalidOption(
                f"{option} {word!r} is not key=value.", remedy=f"Write {option} team=mail.", field=option
            )
        found[key] = text
    return found


def _document(text: str) -> dict[str, Any]:
    source = "--params"
    if text.startswith("@"):
        source, text = f"--params {text}", _file(text[1:])
    value = loads_strict(text, source)
    if not isinstance(value, dict):
        raise InvalidParameters(f'{source} must be a JSON object such as {{"order_id": 7}}.', field="params")
    return value


def _file(name: str) -> str:
    """What is in it; no more is read than is taken. Raises InvalidInput, PayloadTooLarge."""
    try:
        with sys.stdin.buffer if name == "-" else Path(name).open("rb") as file:
            data = file.read(DOCUMENT_LIMIT + 1)
        if len(data) > DOCUMENT_LIMIT:
            raise PayloadTooLarge(f"--params @{name}", len(data), DOCUMENT_LIMIT)
        return data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"--params @{name} can't be read: {error}.",
            remedy="Name a JSON file, or - for standard input.",
            field="params",
        ) from error


def _value(task: Task | Workflow, name: str, text: str) -> Any:
    """Text where the schema wants text; JSON otherwise; text again where both may be."""
    known = task.schema.get("properties", {})
    if name in duration_names(task.schema):
        return None if text == "null" else iso_durations({name: text}, [name])[name]
    allowed = _allowed(known[name], task.schema) if name in known else set(_TYPES)
    if allowed == {"string"}:
        return text
    try:
        value = loads_strict(text, name)
    except InvalidJson as error:
        if "string" in allowed:
            return text
        if text.removeprefix("-").isdigit():  # a whole number, and a larger one than can be kept
            error.field = f"params.{name}"
            raise
        raise InvalidParameters(
            f"Parameter {name!r} of {task.name} is {text!r}; it must be {' or '.join(sorted(allowed))}.",
            remedy=_example(allowed),
            field=f"params.{name}",
        ) from None
    # A text that happens to look like JSON of a kind that is not wanted here is still the text.
    fits = _type(value) in allowed or (_type(value) == "integer" and "number" in allowed)
    return value if fits or "string" not in allowed else text


def _allowed(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int = 0) -> set[str]:
    """The JSON types that a value of this schema may have."""
    if depth > 8:
        return set(_TYPES)
    if isinstance(reference := schema.get("$ref"), str):
        target: Any = root
        for step in reference.removeprefix("#/").split("/"):
            target = target.get(step, {}) if isinstance(target, dict) else {}
        return _allowed(target, root, depth + 1)
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return set[str]().union(*(_allowed(one, root, depth + 1) for one in schema[word]))
    if "enum" in schema or "const" in schema:
        return {_type(value) for value in schema.get("enum", [schema.get("const")])}
    kinds = schema.get("type", list(_TYPES))
    return {kinds} if isinstance(kinds, str) else set(kinds)


def kind(schema: Any, root: Mapping[str, Any]) -> str:
    """The values of a schema in few words: ``integer``, ``string or null``, ``duration``, ``any``."""
    if not isinstance(schema, dict):
        return "any"
    if (form := schema.get("format")) is not None and schema.get("type") == "string":
        return str(form)
    allowed = _allowed(schema, root)
    words = [one for one in ("string", "integer", "number", "boolean", "array", "object", "null") if one in allowed]
    return "any" if len(words) == len(_TYPES) else " or ".join(words) or "any"


def _type(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "null")


def _example(allowed: set[str]) -> str:
    examples = {
        "boolean": "true or false",
        "integer": "a whole number such as 7",
        "number": "a number such as 1.5",
        "array": "a list such as '[1, 2]'",
        "object": "an object such as '{\"a\": 1}'",
        "null": "null",
    }
    return f"Write {', or '.join(examples[kind] for kind in sorted(allowed) if kind in examples)}."
