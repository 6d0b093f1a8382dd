"""Firing: ticks are recorded, their jobs and runs begin, their schedules go on; in one transaction or not at all.

The key of a tick is the guard: of several schedulers that decided the same one, the first records it, and the others
change nothing of its schedule. Most often there is only one: then all is written, and to count at the end what was new
tells enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mainspring.clock import Instant
from mainspring.domain.ids import JobId, LaneId, RunId
from mainspring.domain.joins import Stop
from mainspring.store import catalog, jobs, schedules, ticks
from mainspring.store.catalog import Ground
from mainspring.store.schedules import Advance, Filling, Flight
from mainspring.store.ticks import Record
from mainspring.store.transaction import Told, Transaction
from mainspring.transitions.begun import begin
from mainspring.transitions.cancelled import cancel_tree
from mainspring.transitions.prepared import Prepared, birth
from mainspring.transitions.run_births import PreparedRun
from mainspring.transitions.stopping import stop

Count = tuple[Told, int]
"""How many rows were changed, and how many had to be, or what was decided is not right any more."""

Grounds = dict[Ground, tuple[LaneId, int]]
"""The lane and policy of jobs, by what they stand on."""


class Stale(Exception):
    """What was decided is not right any more, as something was said or done meanwhile. Nothing was changed."""


class Firing(NamedTuple):
    """A tick that makes a job or run. ``by``: what that is told of it; ``due``: when a job may start, None for now."""

    record: Record
    what: Prepared | PreparedRun
    by: str
    due: Instant | None = None


class Decided(NamedTuple):
    """What one scheduler has decided of one schedule.

    ``new``: ticks that are recorded now, in order: the first is the guard; ``settled``: ticks that waited until now;
    ``firings``: of those, the ones that make something; ``advance``: None where the regular ticks stay as they are;
    ``ended``: flights whose ends are noted with it; ``cancels``: what makes room; ``pause``: why it is paused with
    this; ``filling`` and ``place``: the backfill that these ticks belong to, and how far it is with them.
    """

    new: tuple[Record, ...] = ()
    settled: tuple[Record, ...] = ()
    firings: tuple[Firing, ...] = ()
    advance: Advance | None = None
    ended: tuple[Flight, ...] = ()
    cancels: tuple[Flight, ...] = ()
    pause: str | None = None
    filling: Filling | None = None
    place: Instant | None = None
    filled: bool = False


def fire(tx: Transaction, decided: Sequence[Decided], actor: str, *, apart: bool = False) -> int:
    """Do what was decided, where it is still to be done; how many jobs and runs were made.

    ``apart``: ask first what other schedulers have decided, and do the rest. Without it, Stale is raised where there is
    any; it is raised as well where something else was said meanwhile.
    """
    firings = [firing for one in decided for firing in one.firings]
    tx.expect_ids(len(firings))
    grounds = _grounds(tx, firings)
    ids = jobs.new_ids(tx, len(firings)) if firings else []
    made = {firing.record.key: number for firing, number in zip(firings, ids, strict=True)}
    begun = {firing.record.key for firing in firings if isinstance(firing.what, PreparedRun)}
    now = tx.now

    def numbered(record: Record) -> Record:
        key = record.key
        number = made.get(key)
        job, run = (None, number) if key in begun else (number, None)
        return Record(*record[:7], job, run, now, record.decided_by)  # type: ignore[arg-type]

    first = [numbered(one.new[0]) for one in decided if one.new]
    mine = _left_by_others(tx, decided, first) if apart else decided
    told = [_advance(tx, mine)]  # whoever changes a schedule locks it, then its ticks
    if not apart:
        told.append((ticks.insert(tx, first), len(first)))
    rest = [numbered(record) for one in mine for record in one.new[1:]]
    settled = [numbered(record) for one in mine for record in one.settled]
    told += [(ticks.insert(tx, rest), len(rest)), (ticks.settle(tx, settled), len(settled))]
    mine_to_fire = [(firing, made[firing.record.key]) for one in mine for firing in one.firings]
    _bear(tx, [one for one in mine_to_fire if isinstance(one[0].what, Prepared)], grounds, actor)
    _begin(tx, [one for one in mine_to_fire if isinstance(one[0].what, PreparedRun)], actor)
    if mine_to_fire:
        schedules.take_off(tx, [(number, *firing.record.key) for firing, number in mine_to_fire])
    _go_on(tx, mine)
    for one in mine:
        for flight in one.cancels:
            _make_room(tx, flight, actor)
        if one.pause is not None and one.advance is not None:
            schedules.pause(tx, one.advance.schedule, by=actor, note=one.pause)
    if any(changed() < wanted for changed, wanted in told):
        raise Stale
    return len(mine_to_fire)


def _left_by_others(tx: Transaction, decided: Sequence[Decided], first: Sequence[Record]) -> list[Decided]:
    """Record the first tick of each; those of which nobody had recorded it before."""
    keys = ticks.insert_new(tx, first)
    return [one for one in decided if not one.new or one.new[0].key in keys]


def _advance(tx: Transaction, mine: Sequence[Decided]) -> Count:
    advances = sorted((one.advance for one in mine if one.advance is not None), key=lambda one: one.schedule)
    return schedules.advance(tx, advances), len(advances)


def _make_room(tx: Transaction, flight: Flight, actor: str) -> None:
    if flight.is_run:
        stop(tx, RunId(flight.job), Stop.CANCEL, actor)
    else:
        cancel_tree(tx, flight.job, actor)


def _grounds(tx: Transaction, firings: Sequence[Firing]) -> Grounds:
    """What the jobs of these ticks stand on. Raises Stale where a task was declared anew."""
    found: Grounds = {}
    each = dict.fromkeys((one.what.ground, one.what.declaration) for one in firings if isinstance(one.what, Prepared))
    for wanted, known in each:
        declaration, lane, policy = catalog.ground(tx, wanted)
        if declaration != known:
            raise Stale
        found[wanted] = lane, policy
    return found


def _bear(tx: Transaction, firings: Sequence[tuple[Firing, JobId]], grounds: Grounds, actor: str) -> None:
    """The jobs of these ticks."""
    if not firings:
        return
    births = []
    now = tx.now
    for firing, _ in firings:
        one = firing.what
        assert isinstance(one, Prepared), "runs begin elsewhere"  # noqa: S101 - for the type checker
        due = None if firing.due is None else min(firing.due, now)
        births.append(birth(tx, one, None, *grounds[one.ground], due=due, tick=firing.by))
    jobs.insert(tx, births, actor, [number for _, number in firings])


def _begin(tx: Transaction, firings: Sequence[tuple[Firing, JobId]], actor: str) -> None:
    """The runs of these ticks."""
    begun = [
        (RunId(number), firing.what.born(tx.now)._replace(tick=firing.by))
        for firing, number in firings
        if isinstance(firing.what, PreparedRun)
    ]
    if begun:
        begin(tx, begun, actor)


def _go_on(tx: Transaction, mine: Sequence[Decided]) -> None:
    ended = [flight.job for one in mine for flight in one.ended]
    if ended:
        schedules.note_ends(tx, ended)
    for one in mine:
        if one.filling is not None:
            made = one.filling.made + len(one.firings)
            ended_at = tx.now if one.filled else None
            if not schedules.go_on_backfill(tx, one.filling, made=made, place=one.place, ended=ended_at):
                raise Stale
