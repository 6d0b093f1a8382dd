"""What runs that replay others take from them: how its nodes ended, which results are kept, which code it ran."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from mainspring.domain.ids import RunId
from mainspring.domain.joins import NodeState, Reason
from mainspring.domain.resuming import Outcome
from mainspring.domain.run import CodeChange
from mainspring.store.runs import Key
from mainspring.store.transaction import Transaction


class Keep(NamedTuple):
    """A node of a new run that keeps the result of one of an old run."""

    run: RunId
    number: int
    old: RunId
    before: int


class Part(NamedTuple):
    """What need not be done again of a node that is.

    ``item``: of a map; NO_ITEM: the node itself. ``source``: the job or nested run, of the run ``origin``, that has its
    result; with ``again`` a nested run that goes on as the run of that number, of a ``version``, with ``kept`` nodes.
    """

    run: RunId
    number: int
    item: int
    source: int
    origin: RunId
    again: RunId | None = None
    version: int | None = None
    kept: int | None = None


def is_done(part: Part | None) -> bool:
    """Whether an older run has the result."""
    return part is not None and part.again is None


NO_ITEM = -1


class Taken(NamedTuple):
    """Something of an older run: a job or nested run (of which item of a map), and the run that it is of."""

    item: int
    source: int
    origin: RunId


class Kept(NamedTuple):
    """A node that a run began with."""

    number: int
    state: NodeState
    reason: Reason | None


def outcomes(tx: Transaction, run: RunId) -> dict[str, Outcome]:
    """How the nodes of a run ended, by name."""
    return {
        name: Outcome(NodeState(state), None if reason is None else Reason(reason))
        for name, state, reason in tx.rows("node/outcomes", run=run)
    }


def keep(tx: Transaction, rows: Sequence[Keep | Part]) -> None:
    """These nodes, and parts of nodes, of new runs have results of old ones, or of those that these had them from."""
    keeps = [one for one in rows if isinstance(one, Keep)]
    parts = [one for one in rows if isinstance(one, Part)]
    if keeps:
        tx.many("node/keep", keeps)
    if parts:
        tx.many("node/add_parts", parts)


def good_items(tx: Transaction, run: RunId, number: int) -> list[Taken]:
    """Items of a map that have succeeded."""
    return [Taken(*row) for row in tx.rows("node/good_items", run=run, number=number)]


def open_runs(tx: Transaction, run: RunId, number: int) -> list[Taken]:
    """Nested runs of a node that ended without success, or could not begin to go on."""
    return [Taken(*row) for row in tx.rows("node/open_runs", run=run, number=number)]


def parts(tx: Transaction, key: Key, first: int = NO_ITEM, last: int = NO_ITEM) -> dict[int, Part]:
    """What need not be done again of a node, by item, from the first to the last."""
    run, number = key
    return {
        row[0]: Part(run, number, *row) for row in tx.rows("node/parts", run=run, number=number, first=first, last=last)
    }


def take_unborn(tx: Transaction, run: RunId) -> bool:
    """What was stored of a run before it begins is its own now; False where it is being cleared away."""
    return bool(tx.rows("errand/take_unborn", run=run))


def kept_of(tx: Transaction, run: RunId, after: int, limit: int) -> list[Kept]:
    """Nodes that a run began with, behind a number."""
    return [
        Kept(number, NodeState(state), None if reason is None else Reason(reason))
        for number, state, reason in tx.rows("node/kept_of", run=run, after=after, limit=limit)
    ]


def kept(tx: Transaction, keys: Sequence[Key]) -> set[Key]:
    """Which of these nodes their runs began with."""
    return {(row[0], row[1]) for row in tx.many("node/kept", keys)}


def code_changes(tx: Transaction, run: RunId, kept: Container[str] = ()) -> list[CodeChange]:
    """Tasks of a run that have other code now than when its jobs were last tried. ``kept``: nodes of it that stay."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for task, before, now, _, node in tx.rows("run/code_changes", run=run):
        nodes = found.setdefault((task, before, now), [])
        if node in kept:
            nodes.append(node)
    return [CodeChange(*key, kept=nodes) for key, nodes in found.items()]
