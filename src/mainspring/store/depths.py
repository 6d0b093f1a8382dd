"""How many jobs of each queue and task are in each state, kept beside the event history by whoever rolls it up.

The hot path writes nothing for it. What is kept holds up to a cursor; a look adds the moves behind that in its own
snapshot, so that its answer is exact. Where too many of them are uncounted it says so, and places are counted instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.ids import LaneId
from mainspring.domain.metric import DEPTHS, Depth, Flow
from mainspring.domain.states import State
from mainspring.store.rows import Row
from mainspring.store.transaction import Transaction

MOST = 5_000
"""Uncounted moves that a look reads: some milliseconds. Behind a server they are those of the last second."""


class Where(NamedTuple):
    """What jobs are counted together."""

    queue: str
    task: str
    state: str


class Spot(NamedTuple):
    """The same as it is kept: by lane, of which a queue may have several."""

    lane: LaneId
    queue: str
    task: str
    state: str


class _Kept(NamedTuple):
    lane: LaneId
    task: str
    state: str


def now(tx: Transaction, most: int = MOST) -> Counter[Where] | None:
    """All that there are, as of this snapshot; None where more than ``most`` moves are not counted."""
    by_lane = spots(tx, most)
    if by_lane is None:
        return None
    found: Counter[Where] = Counter()
    for spot, number in by_lane.items():
        found[Where(*spot[1:])] += number
    return found


def spots(tx: Transaction, most: int) -> Counter[Spot] | None:
    """The same by lane."""
    kept, moves = tx.together(("depth/kept", {}), ("depth/uncounted", {"reader": DEPTHS, "limit": most + 1}))
    if sum(number for *_, number in moves) > most:
        return None
    found: Counter[Spot] = Counter()
    for lane, queue, task, state, number in kept:
        found[Spot(lane, queue, task, state)] += number
    for lane, queue, task, source, target, number in moves:
        if lane is not None:  # of a job, not of a run
            found[Spot(lane, queue, task, target)] += number
            found[Spot(lane, queue, task, source)] -= number
    return Counter({spot: number for spot, number in found.items() if number and spot.state != State.NEW})


def live(tx: Transaction, most: int = MOST) -> dict[tuple[str, str], int]:
    """How many jobs there are by queue and state that is not an end. ``most``: see ``now``."""
    kept = now(tx, most)
    if kept is None:
        return {(queue, state): number for queue, state, number in tx.rows("depth/scan")}
    found: Counter[tuple[str, str]] = Counter()
    for where, number in kept.items():
        if where.state in _LIVE:
            found[where.queue, where.state] += number
    return found


_LIVE = frozenset({State.QUEUED.value, State.SCHEDULED.value, State.RETRYING.value, State.RUNNING.value})


def shown(tx: Transaction) -> list[Depth]:
    """The same, with how long the oldest queued job of each queue could have gone."""
    oldest: dict[str, Instant] = dict(tx.rows("depth/oldest"))
    return [
        Depth(queue, state, number, oldest.get(queue) if state == State.QUEUED else None)
        for (queue, state), number in sorted(live(tx).items())
    ]


def add(tx: Transaction, flows: Iterable[Flow]) -> None:
    """Count these moves; whoever does moves the cursor in the same transaction."""
    found: Counter[_Kept] = Counter()
    for flow in flows:
        found[_Kept(flow.lane, flow.task, flow.target)] += flow.number
        found[_Kept(flow.lane, flow.task, flow.source)] -= flow.number
    _change(tx, found)


def hold(tx: Transaction) -> int | None:
    """How far moves are counted, which stays so until this transaction ends; None where nothing is."""
    found = tx.row("reader/hold", name=DEPTHS)
    return None if found is None else int(found[0])


def forget(tx: Transaction, held: int | None, jobs: Sequence[Row], moves: Sequence[Row]) -> None:
    """Take out what is counted of jobs that are gone. ``held``: from ``hold``, before anything of them went.

    ``jobs``: (number, lane, task); ``moves``: (seq, job, source, target), all that there was of them.
    """
    if held is None or not moves:
        return
    if max(seq for seq, *_ in moves) > held:
        # Somebody may have read these to count them. So it all begins again, and what was read by now is not taken.
        tx.rows("depth/clear")
        tx.rows("reader/reset", name=DEPTHS)
        return
    of = {job: (lane, task) for job, lane, task in jobs}
    found: Counter[_Kept] = Counter()
    for _, job, source, target in moves:
        if job in of:
            found[_Kept(*of[job], target)] -= 1
            found[_Kept(*of[job], source)] += 1
    _change(tx, found)


def correct(tx: Transaction, *, seen: int, missing: Counter[Spot]) -> bool:
    """Add what was missing (or take off what was too many) in a snapshot in which moves were counted up to ``seen``.

    Whatever is submitted, ends, is counted or goes meanwhile changes what is kept and what is there alike, so the
    difference stays. False with nothing changed where all has begun again since, which puts it right by itself.
    """
    held = hold(tx)
    if held is None or held < seen:
        return False
    _change(tx, Counter({_Kept(spot.lane, spot.task, spot.state): number for spot, number in missing.items()}))
    return True


def _change(tx: Transaction, found: Counter[_Kept]) -> None:
    changed = [(*key, number) for key, number in sorted(found.items()) if number and key.state != State.NEW]
    if changed:
        tx.many("depth/add", changed)
