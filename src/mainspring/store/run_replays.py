"""What runs that replay others take from them: how its nodes ended, which results are kept, which code it ran."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from mainspring.domain.ids import RunId
from mainspring.domain.joins import NodeState, Reason
from mainspring.domain.resuming import Outcome
from mainspring.domain.run import CodeChange
from mainspring.store.run_questions import Standing
from mainspring.store.runs import Key
from mainspring.store.transaction import Transaction

__all__ = ["CodeChange", "Keep", "Standing", "code_changes", "keep", "kept", "kept_of", "outcomes"]


class Keep(NamedTuple):
    """A node that keeps its result: its number in the new run, and in the old one."""

    number: int
    before: int


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


def keep(tx: Transaction, run: RunId, old: RunId, keeps: Sequence[Keep]) -> None:
    """These nodes of a new run have the results of an old one, or of the run that it had them from."""
    tx.many("node/keep", [(run, one.number, old, one.before) for one in keeps])


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
