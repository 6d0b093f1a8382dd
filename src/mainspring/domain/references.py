"""References: values inside a node's parameters that are filled in when the node goes.

``{"$node": "raw", "path": ["rows", 0]}``  the result of another node, or a part of it
``{"$param": "day"}``                      a parameter of the run (``path`` too)
``{"$item": true}``, ``{"$index": true}``  in a map node: the item (``path`` too) and its number from 0
``{"$literal": anything}``                 the value as it is, also where it looks like a reference

Pure: ``found`` lists them with their places, ``filled`` puts values in their stead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from mainspring.domain.parameters import DEEPEST
from mainspring.errors import InvalidWorkflow, UnresolvedReference

Path = tuple[str | int, ...]

_KINDS = ("$node", "$param", "$item", "$index", "$literal")
_SHAPES = (
    'Write {"$node": "raw", "path": ["rows"]}, {"$param": "day"}, {"$item": true}, {"$index": true}'
    ' or {"$literal": ...} around a value that only looks like one.'
)


class Reference(NamedTuple):
    """One reference: its kind (``$node``...), the node or parameter that it names, the way into the value."""

    kind: str
    name: str
    path: Path


def found(value: Any, place: str) -> Iterator[tuple[str, Reference]]:
    """All references inside a value, with the place of each. Raises InvalidWorkflow for one that can't be."""
    return _found(value, place, DEEPEST)


def _found(value: Any, place: str, room: int) -> Iterator[tuple[str, Reference]]:
    if not isinstance(value, dict | list | tuple):
        return
    if room == 0:
        raise InvalidWorkflow(f"it is nested deeper than {DEEPEST} levels", place=place[:200])
    if not isinstance(value, dict):
        for index, item in enumerate(value):
            yield from _found(item, f"{place}[{index}]", room - 1)
        return
    reference = read(value, place)
    if reference is None:
        for key, item in value.items():
            yield from _found(item, f"{place}.{key}", room - 1)
    elif reference.kind != "$literal":
        yield place, reference


def read(value: Mapping[str, Any], place: str) -> Reference | None:
    """The reference that an object is, or None for a plain one. Raises InvalidWorkflow for half of one."""
    kind = next((key for key in value if key[:1] == "$"), None)
    if kind is None:
        return None
    if kind not in _KINDS:
        raise InvalidWorkflow(f"{kind!r} is no kind of reference", place=place, remedy=_SHAPES)
    others = value.keys() - {kind, "path"}
    if others or (kind in ("$index", "$literal") and "path" in value):
        extra = min(others, default="path")
        raise InvalidWorkflow(f"a reference with {kind} can't have {extra!r}", place=place, remedy=_SHAPES)
    target = value[kind]
    if kind == "$literal":
        return Reference(kind, "", ())
    if kind in ("$item", "$index"):
        if target is not True:
            raise InvalidWorkflow(f"{kind} is {target!r}; it can only be true", place=place, remedy=_SHAPES)
        return Reference(kind, "", _path(value.get("path", ()), place))
    if not isinstance(target, str) or not target:
        raise InvalidWorkflow(f"{kind} is {target!r}; it must be a name", place=place, remedy=_SHAPES)
    return Reference(kind, target, _path(value.get("path", ()), place))


def _path(path: Any, place: str) -> Path:
    if not isinstance(path, list | tuple):
        raise InvalidWorkflow(f"path is {path!r}; it must be a list", place=place, remedy=_SHAPES)
    for step in path:
        if isinstance(step, bool) or not isinstance(step, str | int) or (isinstance(step, int) and step < 0):
            raise InvalidWorkflow(
                f"path has {step!r}", place=place, remedy="A step is a key (text) or the number of an item, from 0."
            )
    return tuple(path)


class Values(NamedTuple):
    """What references are filled from. ``results``: of the nodes that succeeded; all others are null.

    A map node's result is the list of its items' results, in their order, null where an item has none. ``item`` and
    ``number``: of the job of a map node that is filled.
    """

    params: Mapping[str, Any]
    results: Mapping[str, Any]
    item: Any = None
    number: int | None = None


def filled(value: Any, values: Values, place: str = "params") -> Any:
    """The value with what its references stand for. Raises UnresolvedReference where a path leads nowhere."""
    if isinstance(value, list | tuple):
        return [filled(item, values, f"{place}[{index}]") for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    reference = read(value, place)
    if reference is None:
        return {key: filled(item, values, f"{place}.{key}") for key, item in value.items()}
    match reference.kind:
        case "$literal":
            return value["$literal"]
        case "$node":
            return reached(values.results.get(reference.name), reference.path, f"result of {reference.name}", place)
        case "$param":
            return reached(values.params.get(reference.name), reference.path, f"parameter {reference.name}", place)
        case "$item":
            return reached(values.item, reference.path, "item", place)
        case _:
            return values.number


def reached(value: Any, path: Sequence[str | int], what: str, place: str) -> Any:
    """The part of a value that a path leads to; null below null, as a node that was skipped has no result.

    Raises UnresolvedReference: a key that an object lacks, an item that a list lacks, a step into a plain value.
    """
    for number, step in enumerate(path):
        if value is None:
            return None
        if isinstance(value, dict) and isinstance(step, str):
            if step in value:
                value = value[step]
                continue
            having = f"it has {', '.join(sorted(map(str, value))[:10]) or 'no keys'}"
        elif isinstance(value, list) and isinstance(step, int):
            if step < len(value):
                value = value[step]
                continue
            having = f"it has {len(value)} items"
        else:
            having = f"it is {kind_of(value)}"
        before = "".join(f"[{one!r}]" for one in path[:number])
        raise UnresolvedReference(f"the {what}{before} has no {step!r}: {having}", place=place)
    return value


def kind_of(value: Any) -> str:
    """What a value is, in words."""
    return {dict: "an object", list: "a list", str: "a text", bool: "true or false"}.get(type(value), "a number")
