"""A workflow that code declares, stored with the rest of what its app reports, in the same transaction.

A version is known by the hash of its content, and is put under its name when it is first seen: old code that starts
again in a rolling deploy changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from mainspring.domain.graph import check_names, compiled
from mainspring.domain.nesting import check_nesting, nested_first
from mainspring.domain.schemas import check_schema
from mainspring.domain.steps import edges, header_of, steps
from mainspring.domain.workflow import Workflow, content_hash
from mainspring.errors import InvalidInput, InvalidWorkflow
from mainspring.store import catalog, workflows
from mainspring.store.transaction import Transaction
from mainspring.transitions.literals import check_literals, takers_of


def defined(tx: Transaction, documents: Iterable[Workflow]) -> bool:
    """Whether all of these have been seen, and stand under their names."""
    return all(_is_there(tx, document) for document in documents)


def define(tx: Transaction, documents: Iterable[Workflow]) -> list[InvalidInput]:
    """Store those that are new; why others can't be taken."""
    refused: list[InvalidInput] = []
    for document in nested_first(documents):
        if _is_there(tx, document):
            continue
        try:
            _store(tx, document)
        except InvalidInput as error:
            refused.append(InvalidWorkflow(f"workflow {document.name} is not taken: {error}".rstrip(".")))
    return refused


def _is_there(tx: Transaction, document: Workflow) -> bool:
    found = workflows.find(tx, content_hash(document))
    return found is not None and found.whole and workflows.one(tx, document.name) is not None


def _store(tx: Transaction, document: Workflow) -> None:
    tasks = catalog.callable_names(tx)
    names = {found.name for found in workflows.every(tx)}
    check_names(document, tasks, names | {document.name}, lambda: tasks)
    check_schema(document)
    check_nesting(document, partial(workflows.known, tx))
    check_literals(document, takers_of(tx, document))
    version, whole = workflows.insert(tx, content_hash(document), header_of(document), len(document.nodes))
    if not whole:  # a large one was brought before
        graph = compiled(document)
        workflows.add(tx, version, list(steps(graph)), list(edges(graph)))
        workflows.finish(tx, version)
    workflows.name(tx, document.name, version)
