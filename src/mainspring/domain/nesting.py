"""Workflows inside workflows: no document may nest itself, however many others lie between."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mainspring.domain.workflow import Workflow
from mainspring.errors import InvalidWorkflow

DEEPEST = 20
"""Levels of nested workflows."""


def nested_first(documents: Iterable[Workflow]) -> list[Workflow]:
    """The documents, each behind those of them that it nests; what nests itself comes last, for checks to find."""
    left = {document.name: document for document in documents}
    ordered: list[Workflow] = []
    while left:
        free = [one for one in left.values() if not any(node.workflow in left for node in one.nodes)]
        ordered += free or left.values()
        left = {name: one for name, one in left.items() if free and one not in free}
    return ordered


def check_nesting(document: Workflow, lookup: Callable[[str], Workflow | None]) -> None:
    """Follow nested workflows down. Raises InvalidWorkflow where one nests one that it is in.

    ``lookup`` finds a workflow by name, and answers None for one that is not known: whether it must be is asked by
    ``graph.compiled``. The document itself is found without it, as it may be new.
    """
    clean: set[str] = set()
    _descend(document, (document.name,), lookup, clean)


def _descend(
    document: Workflow, way: tuple[str, ...], lookup: Callable[[str], Workflow | None], clean: set[str]
) -> None:
    for number, node in enumerate(document.nodes):
        name = node.workflow
        if name is None or name in clean:
            continue
        place = f"nodes[{number}].workflow" if len(way) == 1 else f"workflow {document.name}, nodes[{number}].workflow"
        if name in way:
            cycle = " -> ".join([*way[way.index(name) :], name])
            raise InvalidWorkflow(f"it nests itself: {cycle}", place=place, remedy="Take out one of these.")
        if len(way) >= DEEPEST:
            raise InvalidWorkflow(f"workflows are nested deeper than {DEEPEST} levels", place=place)
        inner = lookup(name)
        if inner is None:
            continue
        _descend(inner, (*way, name), lookup, clean)
        clean.add(name)
