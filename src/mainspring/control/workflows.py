"""What people ask of workflows: store a definition under its name, show what a name stands for."""

from __future__ import annotations

from mainspring.domain.graph import Graph, compiled
from mainspring.domain.nesting import check_nesting
from mainspring.domain.run import WorkflowShown
from mainspring.domain.schemas import check_schema
from mainspring.domain.workflow import Workflow, content_hash
from mainspring.errors import InvalidWorkflow
from mainspring.store import Store, Transaction, catalog, trail, workflows
from mainspring.store.trail import Deed
from mainspring.store.workflows import Named
from mainspring.transitions.begun import header_of, named
from mainspring.transitions.brought import bring, there
from mainspring.transitions.literals import check_literals, takers_of


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
    return [_shown(found, _header_or_name(found)) for found in store.read(workflows.every)]


def checked(store: Store, document: Workflow) -> Graph:
    """A document against what is known here. Raises InvalidWorkflow, PayloadTooLarge."""
    tasks, names = store.read(lambda tx: (catalog.callable_names(tx), [found.name for found in workflows.every(tx)]))
    graph = compiled(document, tasks=tasks, known=lambda: tasks, workflows={*names, document.name})
    check_nesting(document, lambda name: store.read(lambda tx: workflows.known(tx, name)))
    check_literals(document, store.read(lambda tx: takers_of(tx, document)))
    return graph


def kept(store: Store, document: Workflow) -> int:
    """The number of this version, stored where it is new: a large one in several transactions, used after the last."""
    check_schema(document)  # one that is there may be of an older version, which looked at no schema
    version = there(store, content_hash(document))
    return bring(store, checked(store, document)) if version is None else version


def _header_or_name(found: Named) -> Workflow:
    """What is known of it, so that one whose row was spoiled by hand hides no other; whoever asks for it is told."""
    try:
        return header_of(found)
    except InvalidWorkflow:
        return Workflow(found.name, ())


def _shown(found: Named, document: Workflow) -> WorkflowShown:
    return WorkflowShown(found.name, found.hash, found.nodes, found.changed, document)
