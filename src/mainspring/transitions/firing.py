"""Firing: what a node that may go becomes: jobs for a task, one or one per item.

Collects what is to be born, and writes it with one statement of each kind when told to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from mainspring.domain.attempt import Failure
from mainspring.domain.ids import JobId, LaneId, RunId
from mainspring.domain.job import JobRequest, Link
from mainspring.domain.references import Reference, found, reached, read
from mainspring.domain.workflow import Node
from mainspring.errors import MainspringError
from mainspring.store import catalog, jobs, rows
from mainspring.store.catalog import Ground
from mainspring.store.free_slots import FreeSlots
from mainspring.store.jobs import Birth
from mainspring.store.runs import Key
from mainspring.store.transaction import Transaction
from mainspring.transitions.inputs import Wants
from mainspring.transitions.prepared import Declared, Prepared, birth, checked_params, declared_of, find, prepare


class Refused(Exception):
    """A node can't go as it is written; ``failure`` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class Item(NamedTuple):
    """One of a map."""

    number: int
    value: Any


class _Mapped(NamedTuple):
    """The map whose items are being born: they differ in their parameters alone."""

    key: Key
    wants: Wants | None
    birth: Birth


class Firing:
    """The jobs that one transaction lets go. ``declared``: what was read of tasks already, by full name.

    ``free``: slots into which they are born, as far as there are some.
    """

    def __init__(self, tx: Transaction, actor: str, declared: Mapping[str, str]) -> None:
        self._tx = tx
        self._actor = actor
        self._births: list[Birth] = []
        self._mapped: _Mapped | None = None
        self._read = declared
        self._declared: dict[str, Declared] = {}
        self._grounds: dict[Ground, tuple[LaneId, int]] = {}
        self._kinds: dict[tuple[Any, ...], Birth] = {}
        self._empty: dict[str, str] = {}
        self.free: FreeSlots | None = None

    def task(self, run: RunId, number: int, node: Node, inputs: dict[str, int]) -> None:
        """The job of a node. Raises Refused."""
        params, wants = taking(node.params, inputs)
        self._births.append(self._born(node, params, wants, Link(run, number)))

    def item(self, key: Key, node: Node, inputs: dict[str, int], item: Item) -> None:
        """The job of one item of a map. Raises Refused."""
        if self._mapped is None or self._mapped.key != key:
            _, wants = taking(node.params, inputs)
            params = with_item(node.params, item, literal=wants is not None)
            self._mapped = _Mapped(key, wants, self._born(node, params, wants, Link(*key), whole=False))
        params = with_item(node.params, item, literal=self._mapped.wants is not None)
        link = Link(*key, item.number)
        born = self._mapped.birth
        self._births.append(born.of_node(rows.text(params), link, born.wants))

    def _born(self, node: Node, params: Any, wants: Wants | None, link: Link, *, whole: bool = True) -> Birth:
        whole = whole and wants is None
        try:
            declared = self._declaration(node.task or "")
            alike = self._alike(node, declared)
            if not params and whole:
                return alike.of_node(self._nothing(declared), link)
            text = checked_params(params, declared, whole=whole)
        except MainspringError as error:
            raise Refused(Failure(type(error).__name__, error.message)) from error
        return alike.of_node(text, link, None if wants is None else rows.text(wants))

    def _nothing(self, declared: Declared) -> str:
        """No parameters, as they are stored; looked at once for each task."""
        name = declared.task.name
        if name not in self._empty:
            self._empty[name] = checked_params({}, declared)
        return self._empty[name]

    def _alike(self, node: Node, declared: Declared) -> Birth:
        """What the job of a node has in common with those of all nodes with the same options."""
        kind = (node.task, node.queue, node.priority, node.delay, node.timeout, node.expires)
        plain = node.retry is None and not node.tags
        if plain and kind in self._kinds:
            return self._kinds[kind]
        one = _plain(declared.text, *kind) if plain else prepare(_request(node), declared, whole=False)
        if one.ground not in self._grounds:
            self._grounds[one.ground] = catalog.interned(self._tx, one.ground)
        made = birth(self._tx, one, None, *self._grounds[one.ground])
        if plain:
            self._kinds[kind] = made
        return made

    def _declaration(self, task: str) -> Declared:
        if task not in self._declared:
            self._declared[task] = declared_of(self._read[task] if task in self._read else find(self._tx, task))
        return self._declared[task]

    def write(self) -> dict[JobId, Birth]:
        """Store what was collected; the jobs that are born."""
        births, self._births = self._births, []
        if not births:
            return {}
        catalog.note_fired(self._tx, self._declared)
        return dict(zip(jobs.insert(self._tx, births, self._actor, free=self.free), births, strict=True))

    @property
    def size(self) -> int:
        """How many jobs are collected."""
        return len(self._births)


@lru_cache(maxsize=1_000)
def _plain(declaration: str, *kind: Any) -> Prepared:
    """What jobs of this kind have in common, whoever lets them go."""
    task, queue, priority, delay, timeout, expires = kind
    node = Node("", task, queue=queue, priority=priority, delay=delay, timeout=timeout, expires=expires)
    return prepare(_request(node), declared_of(declaration), whole=False)


def _request(node: Node) -> JobRequest:
    """What a node says of its jobs, but for their parameters."""
    return JobRequest(
        task=node.task or "",
        queue=node.queue,
        priority=node.priority,
        delay=node.delay,
        retry=node.retry,
        timeout=node.timeout,
        expires=node.expires,
        tags=node.tags,
    )


def taking(value: Any, inputs: dict[str, int]) -> tuple[Any, Wants | None]:
    """A value as it is stored, and what it takes from its run; None where it is plain."""
    if not value:
        return value, None
    kinds = [one for _, one in found(value, "params")]
    names = {one.name for one in kinds if one.kind == "$node"}
    params = any(one.kind == "$param" for one in kinds)
    if not kinds or not (names or params):
        return _without_literals(value), None
    return value, Wants(params=params, nodes=named(names, inputs))


def named(names: Iterable[str], inputs: Mapping[str, int]) -> dict[str, int]:
    """The numbers of these nodes. Raises Refused where the row that should have them was spoiled by hand."""
    try:
        return {name: inputs[name] for name in sorted(names)}
    except KeyError as error:
        raise Refused(UNREADABLE) from error


def _without_literals(value: Any) -> Any:
    """``{"$literal": x}`` in parameters that take nothing is x."""
    return _replaced(value, lambda one, given: given["$literal"] if one.kind == "$literal" else given)


def with_item(value: Any, item: Item, *, literal: bool) -> Any:
    """A value with the item and its number in their places. ``literal``: other references are filled in later."""

    def put(one: Reference, given: Any) -> Any:
        if one.kind not in {"$item", "$index"}:
            return given["$literal"] if one.kind == "$literal" and not literal else given
        told = item.number if one.kind == "$index" else _reached(item.value, one)
        return {"$literal": told} if literal else told

    return _replaced(value, put)


def _reached(value: Any, one: Reference) -> Any:
    try:
        return reached(value, one.path, "item", "params")
    except MainspringError as error:
        raise Refused(Failure(type(error).__name__, error.message)) from error


def _replaced(value: Any, put: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_replaced(one, put) for one in value]
    if not isinstance(value, dict):
        return value
    reference = read(value, "params")
    if reference is not None:
        return put(reference, value)
    return {key: _replaced(one, put) for key, one in value.items()}


def node_of(document: str) -> Node:
    """A node from the store; SPOILED where its row was spoiled by hand."""
    try:
        return _NODE.decode(document)
    except msgspec.MsgspecError:
        return SPOILED


def numbers_of(inputs: str) -> dict[str, int]:
    """The nodes that one reads, by name. Raises Refused where its row was spoiled by hand."""
    try:
        return {} if inputs == "{}" else _NUMBERS.decode(inputs)
    except msgspec.MsgspecError as error:
        raise Refused(UNREADABLE) from error


SPOILED = Node("")
"""Stands for a node that can't be read: it fails when it may go, so that one bad row holds up no others."""

UNREADABLE = Failure("Unreadable", "its definition in the database can't be read; the row was changed by hand")

_NODE = msgspec.json.Decoder(Node)
_NUMBERS = msgspec.json.Decoder(dict[str, int])
