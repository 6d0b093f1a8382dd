"""Workflow documents from YAML and JSON files. What is wrong is told with the line of the file.

YAML is read as its version 1.2 means it: ``yes``, ``on`` and ``2026-11-29`` are texts. Keys may not come twice, and no
tag makes an object.
"""

from __future__ import annotations

from typing import Any

from mainspring.domain.graph import compiled
from mainspring.domain.parameters import DEEPEST, loads_strict
from mainspring.domain.schemas import check_schema
from mainspring.domain.workflow import MOST_BYTES, Workflow, from_plain
from mainspring.errors import InvalidInput, InvalidWorkflow, PayloadTooLarge

_MOST_REPEATED = 200_000
"""Values that aliases repeat, of one file."""

_TOO_DEEP = "it is nested too deep, or aliases make it too large"
_PLAIN = {"sequence": "tag:yaml.org,2002:seq", "mapping": "tag:yaml.org,2002:map"}
"""The tags that lists and objects have by themselves."""


def read(text: str, file: str) -> Workflow:
    """The document in a text. ``file``: its name; ``.json`` is read as JSON, all else as YAML.

    A document without ``name`` is named like the file. Raises InvalidWorkflow with line and place, InvalidJson,
    InvalidText, PayloadTooLarge.
    """
    if len(text) > MOST_BYTES:
        raise PayloadTooLarge(file, len(text), MOST_BYTES)
    lines: dict[str, int] = {}
    if file.lower().endswith(".json"):
        value = loads_strict(text, file)
    else:
        value, lines = _yaml(text, file)
    stem = file.rpartition("/")[2].partition(".")[0]
    if isinstance(value, dict) and "name" not in value:
        value = {"name": stem, **value}
    try:
        document = from_plain(value)
        compiled(document)
        check_schema(document)
    except InvalidWorkflow as error:
        raise InvalidWorkflow(error.what, place=_told(file, lines, error.field), remedy=error.remedy) from error
    except InvalidInput as error:
        error.message = f"{_told(file, lines, error.field)}: {error.message}"
        raise
    return document


def placed(error: InvalidWorkflow, text: str, file: str) -> InvalidWorkflow:
    """What the platform says of the document in a text, with the line."""
    lines = {} if file.lower().endswith(".json") else _yaml(text, file)[1]
    what = error.message.removeprefix(f"{error.field}: ").removesuffix(".")
    return InvalidWorkflow(what, place=_told(file, lines, error.field), remedy=error.remedy)


def _told(file: str, lines: dict[str, int], place: str) -> str:
    """The place with its line: of the nearest value around it that has one."""
    around = place
    while around and around not in lines:
        around = around[: max(around.rfind("."), around.rfind("["), 0)]
    line = lines.get(around)
    return ", ".join(part for part in (file if line is None else f"{file} line {line}", place) if part)


def _yaml(text: str, file: str) -> tuple[Any, dict[str, int]]:
    import yaml  # loads a compiled library; who submits jobs needs none

    class Loader(yaml.SafeLoader):
        """The scalars of YAML 1.2."""

        yaml_implicit_resolvers = {  # noqa: RUF012 - the shape that the library wants
            first: [(tag, pattern) for tag, pattern in found if not tag.endswith((":timestamp", ":bool", ":merge"))]
            for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
        }

    try:
        root = yaml.compose(text, Loader=Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"{file} line {mark.line + 1}, column {mark.column + 1}" if mark else file
        raise InvalidWorkflow(str(error.problem or error.context or "it is not YAML"), place=where) from error
    except yaml.YAMLError as error:
        raise InvalidWorkflow(str(error).partition("\n")[0], place=file) from error
    except RecursionError as error:
        raise InvalidWorkflow(_TOO_DEEP, place=file) from error
    plain = _Plain(file, Loader(""), len(text) + _MOST_REPEATED)  # no value is written in less than a character
    return (None if root is None else plain.value(root, "", DEEPEST)), plain.lines


class _Plain:
    """Nodes of YAML as plain values, with the line of each by its place."""

    def __init__(self, file: str, loader: Any, most: int) -> None:
        self.lines: dict[str, int] = {}
        self._file = file
        self._loader = loader
        self._left = most

    def value(self, node: Any, place: str, room: int) -> Any:
        line = node.start_mark.line + 1
        self.lines[place] = line
        self._left -= 1
        if room == 0 or self._left < 0:
            raise InvalidWorkflow(_TOO_DEEP, place=f"{self._file} line {line}")
        if node.tag != _PLAIN.get(node.id, node.tag):
            raise self._not_taken(node, line)
        if node.id == "sequence":
            return [self.value(one, f"{place}[{number}]", room - 1) for number, one in enumerate(node.value)]
        if node.id == "mapping":
            return self._object(node, place, room)
        return self._scalar(node, line)

    def _object(self, node: Any, place: str, room: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = key_node.value
            if key_node.id != "scalar" or key in found:
                what = f"the key {key!r} comes twice" if key_node.id == "scalar" else "a key must be a text"
                raise InvalidWorkflow(what, place=f"{self._file} line {line}")
            below = f"{place}.{key}" if place else key
            found[key] = self.value(value_node, below, room - 1)
            self.lines[below] = line
        return found

    def _scalar(self, node: Any, line: int) -> Any:
        kind = node.tag.rpartition(":")[2]
        text: str = node.value
        if kind == "str" and node.style is None and text in ("true", "True", "TRUE", "false", "False", "FALSE"):
            return text.lower() == "true"
        if kind in ("str", "null"):
            return text if kind == "str" else None
        if kind not in ("int", "float"):
            raise self._not_taken(node, line)
        try:
            return self._loader.construct_object(node)
        except ValueError as error:
            raise InvalidWorkflow(f"{text!r} is no number", place=f"{self._file} line {line}") from error

    def _not_taken(self, node: Any, line: int) -> InvalidWorkflow:
        return InvalidWorkflow(f"the tag {node.tag!r} is not taken", place=f"{self._file} line {line}")
