"""Stopping: a run is told to stop (a person, its timeout, fail_fast), and what runs of it is cancelled.

Two steps, each of its own transaction. The first only marks the run: it waits for all who move the run on, and whoever
does so afterwards knows. The second cancels jobs and nested runs of nodes that had gone before. Nodes that clean up are
left alone: such a one does its work, whether it began just before the stop or begins after it. All others follow when
what they wait for has ended.
"""

from __future__ import annotations

from mainspring.domain.ids import RunId
from mainspring.domain.joins import AFTER_TROUBLE, Stop
from mainspring.domain.node_states import NodeCause
from mainspring.store import rows, runs
from mainspring.store.runs import Active, Errand, Happened
from mainspring.store.transaction import Transaction
from mainspring.transitions.advance import Wave
from mainspring.transitions.cancelled import cancel_tree
from mainspring.transitions.firing import node_of

_BATCH = 100
"""Nodes, or items of one map, in one transaction."""


def stop(tx: Transaction, run: RunId, why: Stop, actor: str) -> bool:
    """Mark a run as told to stop; False when it was before, or has ended."""
    told = runs.stop(tx, run, why, actor)
    if told is None:
        return False
    kinds = ["halt"] if told.parallel is None else ["halt", "room"]  # who stands in line for room leaves it
    runs.put_errands(tx, [Errand(run, kind, 0, tx.now) for kind in kinds])
    runs.note(tx, [Happened(NodeCause.STOP, "running", "running", run, None, rows.text({"reason": why.value}))], actor)
    return True


def halt(tx: Transaction, errand: Errand, actor: str) -> None:
    """Cancel the next piece of what runs of a run that was told to stop; what is left becomes an errand."""
    if errand.node:
        _halt_items(tx, errand, actor)
        return
    nodes = runs.active(tx, errand.run, errand.after, _BATCH)
    specs = runs.specs(tx, [(node.run, node.number) for node in nodes])
    halted = [node for node in nodes if node_of(specs[node.run, node.number].document).run_if not in AFTER_TROUBLE]
    wide = [node.number for node in halted if node.items is not None]
    for node in halted:
        if node.items is None:
            _cancel(tx, node, -1, actor)
        else:
            _give_up(tx, node, node.items - (node.begun or 0), actor)
    rest = [Errand(errand.run, "halt", number, tx.now, -1) for number in wide]
    if len(nodes) == _BATCH:
        rest.append(errand._replace(after=nodes[-1].number))
    runs.put_errands(tx, rest)


def _halt_items(tx: Transaction, errand: Errand, actor: str) -> None:
    """The same for the items of one map."""
    last = _cancel(tx, Active(errand.run, errand.node, None, None), errand.after, actor)
    if last is not None:
        runs.put_errands(tx, [errand._replace(after=last)])


def _give_up(tx: Transaction, node: Active, left: int, actor: str) -> None:
    """Items that have not begun never will."""
    if not left:
        return
    runs.begin_items(tx, node.run, node.number, node.items or 0)
    wave = Wave(tx, actor, {node.run})
    wave.counted(runs.count_items(tx, [(0, 0, left, node.run, node.number)]))
    wave.run()


def _cancel(tx: Transaction, node: Active, after: int, actor: str) -> int | None:
    """Cancel jobs and nested runs of a node; the last item where there may be more behind it."""
    found = runs.live_jobs(tx, node.run, node.number, after, _BATCH)
    for job, _ in found:
        cancel_tree(tx, job, actor)
    nested = runs.live_runs(tx, node.run, node.number, after, _BATCH)
    runs.put_errands(tx, [Errand(one, "stop", 0, tx.now, 0, Stop.CANCEL.value) for one, _ in nested])
    both = found if len(found) == _BATCH else nested
    return max(item for _, item in both) if len(both) == _BATCH else None
