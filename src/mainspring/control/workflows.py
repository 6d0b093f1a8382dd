"""What people ask of workflows: store a definition under its name, show what a name stands for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

import msgspec

from mainspring.domain.graph import Graph, compiled
from mainspring.domain.nesting import check_nesting
from mainspring.domain.run import WorkflowShown
from mainspring.domain.steps import Step, edges, header_of, steps
from mainspring.domain.workflow import Workflow, content_hash
from mainspring.store import Store, Transaction, catalog, trail, workflows
from mainspring.store.trail import Deed
from mainspring.store.workflows import Named
from mainspring.transitions.begun import named

T = TypeVar("T")
_Piece = tuple[Sequence[Step], Sequence[tuple[int, int]]]

_AT_ONCE = 2_000
"""Rows of a definition in one transaction."""


def put(store: Store, document: Workflow, *, actor: str) -> WorkflowShown:
    """Store a definition; its name stands for it from now on. Raises InvalidWorkflow, PayloadTooLarge."""
    version = kept(store, document)

    def work(tx: Transaction) -> Named:
        old = workflows.one(tx, document.name)
        workflows.name(tx, document.name, version)
        new = named(tx, document.name)
        if old is None or old.hash != new.hash:
            before = None if old is None else {"hash": old.hash}
            trail.note(tx, actor, Deed("workflow.put", f"workflow {document.name}", before, {"hash": new.hash}))
        return new

    return _shown(store.write(work), document)


def one(store: Store, name: str) -> WorkflowShown:
    """What a name stands for, with its nodes. Raises UnknownWorkflow."""

    def look(tx: Transaction) -> tuple[Named, Workflow]:
        found = named(tx, name)
        return found, workflows.document(tx, found.version)

    return _shown(*store.read(look))


def listed(store: Store) -> list[WorkflowShown]:
    """All workflows, by name, without their nodes."""
    return [_shown(found, msgspec.json.decode(found.header, type=Workflow)) for found in store.read(workflows.every)]


def checked(store: Store, document: Workflow) -> Graph:
    """A document against what is known here. Raises InvalidWorkflow, PayloadTooLarge."""
    tasks, names = store.read(lambda tx: (catalog.callable_names(tx), [found.name for found in workflows.every(tx)]))
    graph = compiled(document, tasks=tasks, known=lambda: tasks, workflows={*names, document.name})
    check_nesting(document, lambda name: store.read(lambda tx: workflows.known(tx, name)))
    return graph


def kept(store: Store, document: Workflow) -> int:
    """The number of this version, stored where it is new: a large one in several transactions, used after the last."""
    content = content_hash(document)
    found = store.read(lambda tx: workflows.find(tx, content))
    if found is not None and found[1]:
        return found[0]
    graph = checked(store, document)
    header = header_of(document)
    pieces = _pieces(graph)
    first = next(pieces)
    rest = list(pieces)

    def begin(tx: Transaction) -> int:
        version, whole = workflows.insert(tx, content, header, len(document.nodes))
        if not whole:
            workflows.add(tx, version, *first)
            if not rest:
                workflows.finish(tx, version)
        return version

    version = store.write(begin)
    for number, piece in enumerate(rest, 1):
        store.write(lambda tx, piece=piece: workflows.add(tx, version, *piece))  # type: ignore[misc]
        if number == len(rest):
            store.write(lambda tx: workflows.finish(tx, version))
    return version


def _pieces(graph: Graph) -> Iterator[_Piece]:
    """Steps, then edges, as many as one transaction takes."""
    if len(graph.needs) + sum(map(len, graph.needs)) <= _AT_ONCE:
        yield list(steps(graph)), list(edges(graph))
        return
    for some in _batches(steps(graph), _AT_ONCE):
        yield some, ()
    for several in _batches(edges(graph), 2 * _AT_ONCE):
        yield (), several


def _batches(values: Iterator[T], size: int) -> Iterator[list[T]]:
    while some := list(islice(values, size)):
        yield some


def _shown(found: Named, document: Workflow) -> WorkflowShown:
    return WorkflowShown(found.name, found.hash, found.nodes, found.changed, document)
