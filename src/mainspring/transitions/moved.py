"""Moved: jobs enter their next place, and what their ends mean to the runs that they are of follows in the same breath.

Every job that ends goes through here, so that no run ever misses an end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mainspring.domain.ids import JobId
from mainspring.domain.job import Link
from mainspring.domain.joins import NodeState
from mainspring.domain.states import FINAL, State, next_state
from mainspring.store import jobs, runs
from mainspring.store.free_slots import FreeSlots
from mainspring.store.jobs import Move
from mainspring.store.runs import Glance
from mainspring.store.transaction import Transaction
from mainspring.transitions.advance import NOWHERE, Advanced, End, advance

_NODE_STATE = {
    State.SUCCEEDED: NodeState.SUCCEEDED,
    State.DEAD: NodeState.FAILED,
    State.CANCELLED: NodeState.CANCELLED,
}


class Known(NamedTuple):
    """What the holder of jobs knows: which of them are of runs, and what was seen of these runs already.

    ``succeeded``: those of them that have ended so, and entered their place, before the moves that are to be made;
    ``free``: slots of his for jobs that these ends let go.
    """

    links: Mapping[JobId, Link]
    seen: Glance | None = None
    succeeded: Sequence[JobId] = ()
    free: FreeSlots | None = None


def enter(tx: Transaction, moves: Sequence[Move], actor: str, known: Known | None = None) -> Advanced:
    """Put jobs into their next place, and let go what the ends among them let go.

    ``known``: of these jobs; else their runs are looked up for those that end.
    """
    jobs.enter(tx, moves)
    ended = {
        move.left.job: state
        for move in moves
        if (known is None or move.left.job in known.links)
        and (state := next_state(move.left.state, move.cause)) in FINAL
    }
    if known is not None:
        ended |= dict.fromkeys(known.succeeded, State.SUCCEEDED)
    if not ended:
        return NOWHERE
    links, seen, _, free = Known(runs.links(tx, list(ended))) if known is None else known
    ends = [End(links[job], _NODE_STATE[state]) for job, state in ended.items() if job in links]
    return advance(tx, ends, actor, seen, free)
