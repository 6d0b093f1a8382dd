"""What schemas are made of: records, and values with an example, from which whole examples are put together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from mainspring.domain.ids import LARGEST
from mainspring.server.operation import Schema

ANYTHING: Schema = {}
"""Any JSON."""

FLAG: Schema = {"type": "boolean", "examples": [False]}
NUMBER: Schema = {"type": "number", "examples": [1.5]}
MOMENT: Schema = {"type": "string", "format": "date-time", "examples": ["2026-11-29T03:00:00Z"]}
OBJECT: Schema = {"type": "object"}
TAGS: Schema = {"type": "object", "additionalProperties": {"type": "string"}, "examples": [{"team": "mail"}]}
DURATION: Schema = {
    "type": ["string", "number"],
    "description": "Such as 250ms, 30s, 10m, 2h or 1d; a number is seconds.",
    "examples": ["30s"],
}


def text(example: str = "", **more: Any) -> Schema:
    """A text."""
    return {"type": "string", **more, "examples": [example]}


def whole(example: int = 0, *, least: int = 0, most: int = LARGEST) -> Schema:
    """A whole number."""
    return {"type": "integer", "minimum": least, "maximum": most, "examples": [example]}


def word(words: Iterable[str], *, example: str | None = None) -> Schema:
    """One of these words."""
    known = [str(one) for one in words]
    return {"type": "string", "enum": known, "examples": [known[0] if example is None else example]}


def listed(schema: Schema, **more: Any) -> Schema:
    """A list."""
    return {"type": "array", "items": schema, **more}


def named(name: str) -> Schema:
    """Another schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def maybe(schema: Schema) -> Schema:
    """The same, or null."""
    kind = schema.get("type")
    if kind is None or "enum" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    return schema | {"type": [*(kind if isinstance(kind, list) else [kind]), "null"]}


def record(fields: Mapping[str, Schema]) -> Schema:
    """An object of an answer: all of these are there, and nothing else."""
    return asked(fields, required=fields.keys())


def asked(fields: Mapping[str, Schema], *, required: Collection[str] = ()) -> Schema:
    """An object of a body: nothing but these may be there."""
    found: Schema = {"type": "object", "properties": dict(fields), "additionalProperties": False}
    return found | ({"required": list(required)} if required else {})
