"""Schemas of parameters: whether one can be used, and what checks values against it. Nothing is fetched for one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from mainspring.domain.parameters import is_iso_duration
from mainspring.domain.workflow import Workflow
from mainspring.errors import InvalidWorkflow


def validator_of(schema: Mapping[str, Any]) -> Any:
    """What checks values against a schema of parameters. Raises InvalidWorkflow with the place in it that can't be."""
    import jsonschema_rs  # a worker whose jobs submit nothing starts without

    try:
        return jsonschema_rs.validator_for(
            {**schema}, validate_formats=True, formats={"duration": _is_duration}, retriever=_elsewhere
        )
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise InvalidWorkflow(
            f"it is no JSON Schema that can be used: {_said(error)}",
            place=".".join(str(step) for step in ["parameters", *(getattr(error, "instance_path", None) or ())]),
            remedy="Correct it there; what it refers to stands in its own $defs, as nothing is fetched.",
        ) from error


def check_schema(document: Workflow) -> None:
    """Whether runs can be checked against what it says of their parameters. Raises InvalidWorkflow with the place."""
    if document.parameters:
        validator_of(document.parameters)


def _said(error: Exception) -> str:
    text = str(getattr(error, "message", None) or error).partition("\n")[0]
    return text.replace(" is not present in a registry and retrieving it failed: ValueError:", " is elsewhere:")


def _elsewhere(_address: str) -> Any:
    """Whoever stores a definition must not make a server ask other addresses, or read its files."""
    raise ValueError("nothing is fetched")


@cache
def _strict_duration() -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for({"format": "duration"}, validate_formats=True)


def _is_duration(text: str) -> bool:
    """What JSON Schema takes, and what a ``timedelta`` is written as: fractions of a second, and less than nothing."""
    return is_iso_duration(text) or bool(_strict_duration().is_valid(text))
