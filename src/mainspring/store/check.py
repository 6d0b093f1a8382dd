"""What ``db check`` finds out about a database: damage, rows out of place, what was left lying, who holds vacuum back.

It only reads, unless it is told to repair, from one snapshot where that matters, and may take its time. Needs a store
that is open: what keeps one from being opened (damage, tables of another version) is told by that.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple

import msgspec

from mainspring.clock import MINUTE, Duration, Instant, instant_text, seconds
from mainspring.domain.metric import DEPTHS
from mainspring.store import Store, audit, depths, series
from mainspring.store.depths import Spot
from mainspring.store.transaction import Engine, Transaction

_SHOWN = 20
"""Of a long list, so many are told."""

_LATE = MINUTE
"""Sweepers look every few seconds; what is late by this much has none."""

_BEHIND = 1_000_000
"""Uncounted moves that a check still reads."""

_TRIES = 3
"""How often what is wrong is put right before it is told that it is."""

_OLD_SLOT = 100_000  # transactions
_MANY_DEAD = 50_000


class Level(StrEnum):
    """How bad it is. Only a fault makes a database unsound."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"


class Finding(msgspec.Struct, frozen=True):
    """One thing that was looked at. ``details``: the first of what is wrong, one a line."""

    name: str
    level: Level
    text: str
    details: list[str] = []


def check(store: Store, *, old_snapshot: int = 60, repair: bool = False) -> list[Finding]:
    """Look at everything. Raises the StoreError that fits when the looking itself fails.

    ``old_snapshot``: seconds from which a session that holds vacuum back is told; ``repair``: kept counts that are not
    what the rows say are put right, whoever works meanwhile.
    """
    engines = {id(engine): engine for engine in (store.engine, store.logs.engine)}
    return [
        _integrity(list(engines.values())),
        *store.read(_rows),
        store.read(_runs),
        _depths(store, repair=repair),
        store.read(_late),
        _room(list(engines.values())),
        store.read(lambda tx: _holders(tx, old_snapshot)),
        _bells(store),
    ]


def _integrity(engines: list[Engine]) -> Finding:
    found = [str(problem) for engine in engines for (problem,) in engine.read(lambda tx: _asked(tx, "check/integrity"))]
    if found:
        return Finding("integrity", Level.FAULT, "The database is damaged: restore a backup.", found[:_SHOWN])
    version, oldest = engines[0].read(lambda tx: tx.rows("schema/read"))[0]
    return Finding(
        "integrity", Level.OK, f"No damage found; schema version {version}, for mainspring {oldest} or newer."
    )


def _rows(tx: Transaction) -> list[Finding]:
    """All questions of one snapshot: a move between them would look like a fault."""
    tx.rows("session/at_leisure")
    misplaced = [f"job {job} is in {places} places" for job, places in audit.misplaced(tx)]
    strays = [f"{table}: job {job}" for table, job in audit.strays(tx)]
    misfits = [
        f"schedule {number}{f' at {instant_text(tick)}' if tick else ''}: {what}"
        for what, number, tick in audit.misfits(tx)
    ]
    return [
        _counted("places", misplaced, "Each job is in exactly one place.", "jobs are not in exactly one place"),
        _counted("orphans", strays, "Every row belongs to a job.", "rows belong to no job"),
        _counted("schedules", misfits, "Schedules and their ticks fit each other.", "things don't fit of schedules"),
    ]


def _runs(tx: Transaction) -> Finding:
    """What runs have counted against their rows, of one snapshot."""
    tx.rows("session/at_leisure")
    found = [f"run {run}, node {node}: its counts are not what the rows say" for run, node in audit.miscounted(tx)]
    found += [f"run {run} has not ended, and nothing would move it on" for run in audit.stuck_runs(tx)]
    found += [f"run {run} is {state}; its nodes make it {right}" for run, state, right in audit.misstated_runs(tx)]
    found += [f"{table}: run {run}, which is not there" for table, run in audit.run_strays(tx)]
    return _counted("runs", found, "Runs have counted right.", "things about runs are not as their rows say")


def _counted(name: str, found: list[str], fine: str, wrong: str) -> Finding:
    if not found:
        return Finding(name, Level.OK, fine)
    return Finding(name, Level.FAULT, f"{len(found)} {wrong}.", found[:_SHOWN])


class _Misjudged(NamedTuple):
    """Where other numbers of jobs are than are kept, in a snapshot in which moves were counted ``up_to`` there."""

    up_to: int
    spots: list[tuple[Spot, int, int]]

    def told(self) -> list[str]:
        """One line each."""
        return [
            f"queue {spot.queue}, task {spot.task}: {kept} {spot.state}, and {there} are there"
            for spot, there, kept in self.spots
        ]

    def missing(self) -> Counter[Spot]:
        """How many are to be added to what is kept."""
        return Counter({spot: there - kept for spot, there, kept in self.spots})


def _misjudged(tx: Transaction) -> _Misjudged | None:
    """What is kept of how many jobs are where against their rows, of one snapshot; None where that can't be told."""
    tx.rows("session/at_leisure")
    up_to, kept = series.cursor(tx, DEPTHS), depths.spots(tx, _BEHIND)
    return None if up_to is None or kept is None else _Misjudged(up_to, audit.misjudged(tx, kept))


def _depths(store: Store, *, repair: bool) -> Finding:
    """``repair``: what is wrong is put right and looked at again, as others may have counted anew meanwhile."""
    seen = store.read(_misjudged)
    wrong = [] if seen is None else seen.told()
    tries = _TRIES if repair else 0
    while seen is not None and seen.spots and tries:
        tries -= 1
        store.write(partial(depths.correct, seen=seen.up_to, missing=seen.missing()))
        seen = store.read(_misjudged)
    if seen is None:
        text = "How many jobs are where is not counted up to now; a server that runs goes on with it."
        return Finding("counts", Level.OK, text)
    if wrong and not seen.spots:
        return Finding("counts", Level.OK, f"{len(wrong)} kept counts were put right.", wrong[:_SHOWN])
    fine, unfit = "Kept counts are what the rows say.", "kept counts are not what the rows say"
    return _counted("counts", seen.told(), fine, unfit)


def _late(tx: Transaction) -> Finding:
    names = {"lease": "leases are past their end", "due": "jobs have been due"}
    late = [
        f"{count} {names[place]}, the oldest for {seconds(Duration(tx.now - since)):.0f} s"
        for place, count, since in tx.rows("check/late", before=Instant(tx.now - _LATE))
        if count
    ]
    if late:
        text = "Nobody has swept for a minute: start mainspring up, a server or a worker."
        return Finding("sweep", Level.WARNING, text, late)
    return Finding("sweep", Level.OK, "Nothing waits to be swept.")


def _room(engines: list[Engine]) -> Finding:
    wasted = [
        f"{what}: {dead:,} dead beside {live:,} in use"
        for engine in engines
        for what, live, dead in engine.read(lambda tx: tx.rows("check/room"))
        if dead > _MANY_DEAD and dead > live
    ]
    if wasted:
        return Finding("room", Level.WARNING, "More is dead than in use: vacuum it in a quiet hour.", wasted)
    return Finding("room", Level.OK, "Little room is wasted.")


def _holders(tx: Transaction, old_snapshot: int) -> Finding:
    held = [
        f"{kind} {name}: {transactions:,} transactions" + ("" if age is None else f", {age} s")
        for kind, name, transactions, age in tx.rows("check/holders")
        if (transactions > _OLD_SLOT if age is None else age >= old_snapshot)
    ]
    if held:
        text = "Old rows can't be cleared, as these may still look at them. End them, the oldest first."
        return Finding("snapshots", Level.WARNING, text, held[:_SHOWN])
    return Finding("snapshots", Level.OK, "Nobody holds an old snapshot, as far as this role may see.")


def _bells(store: Store) -> Finding:
    fault = store.work_bell.fault()
    if fault:
        return Finding("wake-ups", Level.WARNING, f"Processes don't wake each other, so they poll: {fault}")
    return Finding("wake-ups", Level.OK, "Processes wake each other.")


def _asked(tx: Transaction, name: str) -> list[tuple[Any, ...]]:
    tx.rows("session/at_leisure")
    return tx.rows(name)
