"""Brought: documents of workflows are stored by their hash, a large one in pieces, before anything refers to them.

A version is used when all of it is there; what was begun and never finished is finished by whoever brings it again, or
goes as all versions go that nothing refers to. Several may bring the same one at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TypeVar

from mainspring.domain.graph import Graph, compiled
from mainspring.domain.steps import Step, edges, header_of, steps
from mainspring.domain.workflow import Workflow, content_hash
from mainspring.errors import InvalidInput
from mainspring.store import Store, Transaction, workflows

T = TypeVar("T")
_Piece = tuple[Sequence[Step], Sequence[tuple[int, int]]]

AT_ONCE = 2_000
"""Rows of a definition in one transaction."""


def there(store: Store, content: str) -> int | None:
    """The number of a version that is there, for somebody who is about to refer to it."""
    found = store.read(lambda tx: workflows.find(tx, content))
    if found is None or not found.whole:
        return None
    if found.idle and not store.write(lambda tx: workflows.use(tx, found.version)):
        return None
    return found.version


def bring(store: Store, graph: Graph) -> int:
    """Store a checked document; its number."""
    document = graph.document
    content, header = content_hash(document), header_of(document)
    small = _is_small(graph)
    pieces = _pieces(graph)  # made when it is their turn, as all of a large one at once would be much
    first = next(pieces)

    def begin(tx: Transaction) -> tuple[int, bool]:
        version, whole = workflows.insert(tx, content, header, len(document.nodes))
        if not whole:
            workflows.add(tx, version, *first)
            if small:
                workflows.finish(tx, version)
        return version, whole

    version, whole = store.write(begin)
    if whole or small:
        return version
    for piece in pieces:
        store.write(partial(_add, version=version, piece=piece))
    store.write(partial(workflows.finish, version=version))
    return version


def bring_large(store: Store, documents: Iterable[Workflow]) -> None:
    """Store those that are too large for one transaction, so that what declares them has only to name them.

    What can't be is refused by who declares it.
    """
    for document in documents:
        if len(document.nodes) * 2 <= AT_ONCE or there(store, content_hash(document)) is not None:
            continue
        try:
            graph = compiled(document)
        except InvalidInput:
            continue
        bring(store, graph)


def _add(tx: Transaction, version: int, piece: _Piece) -> None:
    workflows.add(tx, version, *piece)


def _pieces(graph: Graph) -> Iterator[_Piece]:
    """Steps, then edges, as many as one transaction takes."""
    if _is_small(graph):
        yield list(steps(graph)), list(edges(graph))
        return
    for some in _batches(steps(graph), AT_ONCE):
        yield some, ()
    for several in _batches(edges(graph), 2 * AT_ONCE):
        yield (), several


def _is_small(graph: Graph) -> bool:
    return len(graph.needs) + sum(map(len, graph.needs)) <= AT_ONCE


def _batches(values: Iterator[T], size: int) -> Iterator[list[T]]:
    while some := list(islice(values, size)):
        yield some
