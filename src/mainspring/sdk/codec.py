"""Between the values of user code and JSON: what msgspec does not know by itself.

Supported beyond msgspec's own types: pydantic models (recognized by their methods, never imported from here), paths,
and subclasses and look-alikes of text and numbers (numpy scalars). Everything else is refused with its name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Any

import msgspec

REF_TEMPLATE = "#/$defs/{name}"


def is_model(kind: object) -> bool:
    """Whether this is a pydantic model class, judged by what it can do."""
    return isinstance(kind, type) and all(
        callable(getattr(kind, name, None)) for name in ("model_validate", "model_dump", "model_json_schema")
    )


def is_path(kind: object) -> bool:
    """Whether values of this type are file system paths."""
    return isinstance(kind, type) and issubclass(kind, PurePath)


def encode_other(value: Any) -> Any:
    """The ``enc_hook`` of msgspec: the nearest thing it can write. Raises TypeError for what has no JSON form."""
    kind = type(value)
    if is_model(kind):
        return value.model_dump(mode="json")
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return float(value)
    if hasattr(kind, "__index__"):
        return operator.index(value)
    raise TypeError(f"objects of type {kind.__qualname__} have no JSON form")


def decode_other(kind: type, value: Any) -> Any:
    """The ``dec_hook`` of msgspec: an instance of ``kind`` from plain values. Raises ValueError or TypeError."""
    if is_model(kind):
        return kind.model_validate(value)  # type: ignore[attr-defined]
    if is_path(kind):
        if not isinstance(value, str):
            raise TypeError(f"Expected `str` for a path, got `{type(value).__name__}`")
        return Path(value) if kind in (Path, PurePath) else kind(value)
    raise TypeError(f"values of type {kind.__qualname__} can't be read from JSON")


class Schemas:
    """JSON Schemas of types that share one set of definitions."""

    def __init__(self) -> None:
        self._models: dict[str, dict[str, Any]] = {}

    def of(self, types: dict[str, Any]) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
        """The schema of each type by its key, and the definitions that they refer to. Raises TypeError."""
        schemas, definitions = msgspec.json.schema_components(
            list(types.values()), schema_hook=self._other, ref_template=REF_TEMPLATE
        )
        return dict(zip(types, schemas, strict=True)), {**self._models, **definitions}

    def _other(self, kind: type) -> dict[str, Any]:
        if is_model(kind):
            schema: dict[str, Any] = kind.model_json_schema(ref_template="#/$defs/{model}")  # type: ignore[attr-defined]
            for name, definition in schema.pop("$defs", {}).items():
                if self._models.setdefault(name, definition) != definition:
                    raise TypeError(f"two different models are named {name}")
            return schema
        if is_path(kind):
            return {"type": "string", "description": "a path"}
        raise NotImplementedError


def reader(kind: Any) -> Callable[[Any], Any] | None:
    """A function from plain values to ``kind``, or None for a type that can't be read from JSON."""
    if kind is Any or kind is object:
        return None
    try:
        Schemas().of({"": kind})
    except (TypeError, NameError, RecursionError):
        return None
    return lambda value: msgspec.convert(value, kind, dec_hook=decode_other)
