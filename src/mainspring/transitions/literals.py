"""Literals: what nodes give their tasks and workflows is checked when a definition is stored, as far as it is known.

A parameter that takes something from another node or from the run is not known before the node goes: of it only the
name is looked at. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, NamedTuple

from mainspring.domain.parameters import duration_names, iso_durations
from mainspring.domain.references import Values, filled, found
from mainspring.domain.schemas import validator_of
from mainspring.domain.workflow import Node, Workflow
from mainspring.errors import InvalidParameters, InvalidWorkflow
from mainspring.store import catalog, workflows
from mainspring.store.transaction import Transaction
from mainspring.transitions.begun import header_of
from mainspring.transitions.firing import Item, Refused, with_item
from mainspring.transitions.prepared import Taking, check_fits, check_names, declared_of, find
from mainspring.transitions.run_births import taking_of

_OF_VALUES = ("properties", "patternProperties", "additionalProperties", "$defs", "definitions")
"""What a schema says of single parameters."""

_NO_ITEM = Item(0, None)


class Taker:
    """What a node names: the task, or the workflow with the defaults of its parameters."""

    def __init__(self, taking: Taking, header: Workflow | None = None) -> None:
        self._taking = taking
        self._header = header
        self._lengths = duration_names(taking.schema)

    def check(self, params: dict[str, Any], known_later: set[str]) -> None:
        """Raise InvalidParameters. ``known_later``: the names of those that are given as well."""
        given = iso_durations(params, self._lengths) if self._lengths else params
        given = given if self._header is None else self._header.with_defaults(given)
        if known_later:
            check_names(self._taking, [*given, *known_later])
            check_fits(self._single, given)
        else:
            check_fits(self._taking, given)

    @cached_property
    def _single(self) -> Taking:
        """What is said of each parameter by itself."""
        schema = {key: value for key, value in self._taking.schema.items() if key in _OF_VALUES}
        return self._taking._replace(schema=schema, validator=validator_of(schema))


class Takers(NamedTuple):
    """What the nodes of a document name, by name."""

    tasks: Mapping[str, Taker]
    workflows: Mapping[str, Taker]


def takers_of(tx: Transaction, document: Workflow) -> Takers:
    """What is known of the tasks and workflows that its nodes name, all of which there must be."""
    tasks = {node.task for node in document.nodes if node.task is not None}
    declared = catalog.declarations(tx, tasks)
    texts = {name: declared[name] if name in declared else find(tx, name) for name in tasks}
    nested = {node.workflow for node in document.nodes if node.workflow is not None} - {document.name}
    headers = {name: header_of(named) for name in nested if (named := workflows.one(tx, name)) is not None}
    return Takers(
        {name: _taker(text) for name, text in texts.items()},
        {name: Taker(taking_of(header), header) for name, header in headers.items()},
    )


def _taker(declaration: str) -> Taker:
    declared = declared_of(declaration)
    task = declared.task
    return Taker(Taking(task.name, task.name, task.schema, declared.validator))


def check_literals(document: Workflow, takers: Takers) -> None:
    """Whether what its nodes give fits what they name. Raises InvalidWorkflow with the node and the parameter."""
    bare: set[tuple[str | None, str | None]] = set()
    for number, node in enumerate(document.nodes):
        key = node.task, node.workflow
        taker = takers.tasks.get(node.task or "") or takers.workflows.get(node.workflow or "")
        if taker is None or node.map == [] or (not node.params and key in bare):
            continue
        _check(taker, node, f"nodes[{number}]")
        if not node.params:
            bare.add(key)


def _check(taker: Taker, node: Node, place: str) -> None:
    items = _items(node)
    later = set() if _is_plain(node.params) else _known_later(node, with_items=items is not None)
    given = {name: value for name, value in node.params.items() if name not in later} if later else node.params
    plain = _is_plain(given)
    for item in [None] if plain else _each(given, items):
        of_item = "" if item is None else f", item {item.number}"
        try:
            taker.check(given if plain else with_item(given, item or _NO_ITEM, literal=False), later)
        except InvalidParameters as error:
            what = f"{error.message[:1].lower()}{error.message[1:]}".rstrip(".")
            text = f"node {node.name!r}{of_item}: {what}"
            raise InvalidWorkflow(text, place=f"{place}.{error.field}", remedy=error.remedy) from error
        except Refused as refused:
            what = refused.failure.message.removeprefix("params: ").rstrip(".")
            text = f"node {node.name!r}{of_item}: {what}"
            raise InvalidWorkflow(text, place=f"{place}.params") from refused


def _is_plain(params: Mapping[str, Any]) -> bool:
    """Whether no value can hold a reference."""
    return not any(isinstance(value, dict | list) for value in params.values())


def _items(node: Node) -> list[Any] | None:
    """The items of its map, where all of them stand there."""
    if not isinstance(node.map, list) or any(found(node.map, "map")):
        return None
    items: list[Any] = filled(node.map, Values({}, {}))
    return items


def _each(given: Mapping[str, Any], items: list[Any] | None) -> Iterator[Item | None]:
    """The items that make a difference to what is given; None where there are none such."""
    if items is None or not any(found(given, "params")):
        yield None
    else:
        yield from (Item(number, value) for number, value in enumerate(items))


def _known_later(node: Node, *, with_items: bool) -> set[str]:
    """The parameters that take what is not there yet. ``with_items``: the items of the map are."""
    there = {"$item", "$index"} if with_items else set()
    return {
        name
        for name, value in node.params.items()
        if any(reference.kind not in there for _, reference in found(value, "params"))
    }
