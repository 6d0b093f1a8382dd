"""Documents in the store: each once, by its hash, with its nodes and edges by number; names that stand for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.steps import Step, document_of
from mainspring.domain.workflow import Workflow
from mainspring.store.transaction import Transaction


class Named(NamedTuple):
    """What a name stands for; ``nodes`` without start and end."""

    name: str
    version: int
    hash: str
    header: str
    nodes: int
    changed: Instant


class Found(NamedTuple):
    """A version by its hash. ``whole``: all of it is there; ``idle``: nothing seemed to refer to it."""

    version: int
    whole: bool
    idle: bool


def find(tx: Transaction, content: str) -> Found | None:
    """A version by its hash."""
    found = tx.row("version/find", hash=content)
    return None if found is None else Found(found[0], bool(found[1]), found[2] is not None)


def use(tx: Transaction, version: int) -> bool:
    """Something is about to refer to a version; False where it has begun to go."""
    return bool(tx.rows("version/use", version=version))


def insert(tx: Transaction, content: str, header: str, nodes: int) -> tuple[int, bool]:
    """Begin a version; its number, and whether all of it was there already."""
    number, whole = tx.rows("version/insert", hash=content, header=header, nodes=nodes)[0]
    return number, bool(whole)


def add(tx: Transaction, version: int, some: Sequence[Step], edges: Sequence[tuple[int, int]]) -> None:
    """Nodes and edges of a version, as many as one transaction should take."""
    if some:
        tx.many(
            "version/add_nodes",
            [(version, s.number, s.name, s.needs, int(s.early), int(s.may_fail), s.document, s.inputs) for s in some],
        )
    if edges:
        tx.many("version/add_edges", [(version, source, target) for source, target in edges])


def finish(tx: Transaction, version: int) -> None:
    """All of it is there."""
    tx.rows("version/finish", version=version)


def name(tx: Transaction, name: str, version: int) -> None:
    """A name stands for this version from now on."""
    tx.rows("workflow/put", name=name, version=version)


def one(tx: Transaction, name: str) -> Named | None:
    """What a name stands for."""
    found = tx.row("workflow/one", name=name)
    return None if found is None else Named(*found)


def known(tx: Transaction, name: str) -> Workflow | None:
    """The document that a name stands for, whole."""
    found = one(tx, name)
    return None if found is None else document(tx, found.version)


def every(tx: Transaction) -> list[Named]:
    """All names."""
    return [Named(*row) for row in tx.rows("workflow/all")]


def header(tx: Transaction, version: int) -> tuple[str, str, int]:
    """Hash, header and number of nodes of a version."""
    content, text, nodes = tx.rows("version/one", version=version)[0]
    return content, text, nodes


def document(tx: Transaction, version: int) -> Workflow:
    """A document, whole."""
    found: list[str] = []
    after = 0
    while page := tx.rows("version/nodes", version=version, after=after, limit=5_000):
        found += [row[2] for row in page]
        after = page[-1][0]
    return document_of(header(tx, version)[1], found)
