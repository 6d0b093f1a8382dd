"""Firing: the turn in which due ticks become jobs and runs. Any number of servers do it, and none is special.

It looks, decides by what it saw, and writes in one transaction; what another scheduler has decided meanwhile is told by
the keys of the ticks, and changes nothing twice.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from typing import NamedTuple

from mainspring import faults
from mainspring.clock import DAY, MILLISECOND, MINUTE, SECOND, Clock, Duration, Instant
from mainspring.domain.catchup import due
from mainspring.domain.ids import LARGEST
from mainspring.domain.plan import Ready, ready_text
from mainspring.domain.recorded import NOTHING, Recorded
from mainspring.domain.sight import Sight
from mainspring.domain.timetable import REGULAR, Outcome, ScheduleId
from mainspring.engine.backfilling import fill, in_turn, origin_of
from mainspring.engine.deciding import Deciding, Seen
from mainspring.engine.foresight import Foresight
from mainspring.engine.lookout import before
from mainspring.errors import MainspringError
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, schedules, ticks
from mainspring.store.schedules import Advance, Filling, Flight, Kept, Next
from mainspring.store.ticks import Record
from mainspring.transitions.fired import Decided, Stale, fire
from mainspring.transitions.past import recorded_of
from mainspring.transitions.prepared import Prepared
from mainspring.transitions.realigned import realign
from mainspring.transitions.run_births import PreparedRun
from mainspring.transitions.said import done_at
from mainspring.transitions.ticking import Known, known_or_why, prepared_of

BATCH = 1_000
"""Schedules in one transaction: about 40 ms of SQLite's lock."""

AHEAD = Duration(1_500 * MILLISECOND)
"""What comes within this time, behind the next look, is read and decided before it is due."""

KEPT = Duration(90 * DAY)
"""How long the record of a tick is kept."""

TIDY_EVERY = Duration(10 * MINUTE)
_REMEMBERED = 20_000
_APART = MINUTE
_log = logging.getLogger("mainspring.scheduler")


class _Look(NamedTuple):
    """One look at what is to be decided.

    ``found``: schedules of which ticks are due or wait, each once, with their plans where these can be read; ``full``:
    more may be due; ``known``: of each task or workflow, or why it is not; ``recorded``: ticks that don't come again.
    """

    found: list[tuple[Kept, Ready | None]]
    full: bool
    flights: dict[ScheduleId, list[Flight]]
    waits: dict[ScheduleId, list[Record]]
    known: dict[tuple[str | None, str | None], Known | MainspringError]
    fillings: list[tuple[Filling, Kept, set[Instant]]]
    recorded: dict[ScheduleId, Recorded]
    soonest: Instant | None


class Fire:
    """The turn of a scheduler. ``keep``: how long it keeps records of ticks; ``made``: jobs and runs so far."""

    def __init__(
        self, store: Store, clock: Clock, *, poll: Duration = SECOND, actor: str = "scheduler", keep: Duration = KEPT
    ) -> None:
        self._store = store
        self._clock = clock
        self._poll = poll
        self._actor = actor
        self.made = 0
        self._keep = keep
        self._tidy_at = Duration(clock.monotonic() + TIDY_EVERY)
        self._prepared: dict[tuple[str, str | None, Instant, Known], Prepared | PreparedRun | str] = {}
        self._foreseen = Instant(0), ScheduleId(0)
        self._foresight = Foresight()
        self._apart_until = clock.monotonic()
        self._until: Instant | None = None
        self._latest: Instant | None = None  # None: the clock may have gone back since

    def adopt(self, keep: Duration) -> None:
        """Keep records of ticks so long from now on, and look at once which are older."""
        if keep != self._keep:
            self._keep, self._tidy_at = keep, self._clock.monotonic()

    def has_work(self, sight: Sight, until: Instant) -> bool:
        """Whether a tick is to be decided, or one that waits may be."""
        if self._until is not None and until < self._until:
            self._latest = None
        self._until = until
        if self._latest is None or before(until, sight.tick) or sight.waiting_ticks or sight.backfills:
            return True
        return sight.tick is not None and self._foreseen[0] < sight.tick <= until + AHEAD

    def turn(self) -> Duration:
        """One look, and a transaction where something is due; how long to wait at most until the next turn."""
        self._heed_clock()
        look = self._store.read(self._look)
        faults.hit(FaultPoint.FIRE_AFTER_READ)
        now = self._clock.now()
        found = [self._decide(kept, ready, look, now) for kept, ready in look.found]
        found += [self._fill(*filling, look=look, now=now) for filling in look.fillings]
        decided = [one for one in found if one is not None]
        if not decided:
            self._store.debt.settle()
            return self._foresee(look.soonest, now) or self._tidy(now) or self._rest(look.soonest, now)
        try:
            made = self._fire(decided, more=look.full)
        except Stale:
            self._met()
            return MILLISECOND
        self.made += made
        if made:
            self._store.news_bell.ring()
        return Duration(0) if look.full else MILLISECOND

    def _fire(self, decided: Sequence[Decided], *, more: bool) -> int:
        """Do what was decided. ``more``: the wait for the disk is left to the turn that follows at once.

        What is lost with a machine in between is due again; and no job of it can have started, as a claim is on the
        disk only behind it. Only an end must be there before anybody sees it. Raises Stale.
        """
        apart = self._clock.monotonic() < self._apart_until
        debt = self._store.debt
        more = more and not any(one.cancels for one in decided)
        with debt.put_off() if more else nullcontext():
            made = self._store.write(
                lambda tx: fire(tx, decided, self._actor, apart=apart),
                before=FaultPoint.FIRE_BEFORE_COMMIT,
                after=FaultPoint.FIRE_AFTER_COMMIT,
                rings=self._store.work_bell,
                early=more,
            )
        if not more:
            debt.paid()
        if made < sum(len(one.firings) for one in decided):
            self._met()
        return made

    def _met(self) -> None:
        """Other schedulers do the same: for a while they are asked first what they have decided."""
        self._apart_until = Duration(self._clock.monotonic() + _APART)

    def _heed_clock(self) -> None:
        """At the start, and where the clock has gone back: what is ahead of it is set right."""
        latest, self._latest = self._latest, self._clock.now()
        if latest is not None and self._latest >= latest:
            return
        if self._store.read(schedules.ahead) and (names := self._store.write(lambda tx: realign(tx, self._actor))):
            _log.warning(
                "The clock has gone back; %d schedules go on at an earlier tick: %s.", len(names), ", ".join(names[:10])
            )

    # --- looking ----------------------------------------------------------------------------------------------

    def _look(self, tx: Transaction) -> _Look:
        coming, waiting, open_, soonest = schedules.pending(tx, BATCH)
        ids = sorted({one.schedule for one in coming} | {one.schedule for one in open_} | {kept.id for kept in waiting})
        if not ids:
            return _Look([], False, {}, {}, {}, [], {}, soonest)
        found = self._kept(tx, coming)
        flights = _flights(tx, ids)
        waits: dict[ScheduleId, list[Record]] = {}
        for record in ticks.waiting(tx, ids) if waiting else ():
            waits.setdefault(record.schedule, []).append(record)
        fillings = self._fillings(tx, open_) if open_ else []
        each = {kept.id: kept for kept in (*waiting, *found)}
        read = [(kept, _ready(kept)) for kept in each.values()]
        known = _known(tx, [ready for _, ready in read] + [_ready(kept) for _, kept, _ in fillings])
        recorded = {kept.id: recorded_of(tx, kept, kept.nominal) for kept in found if kept.nominal is not None}
        return _Look(read, len(coming) == BATCH, flights, waits, known, fillings, recorded, soonest)

    def _kept(self, tx: Transaction, coming: Sequence[Next]) -> list[Kept]:
        """These schedules, in their order; those that were foreseen and are the same are not read again."""
        each = {one.schedule: self._foresight.same(one) for one in coming}
        if new := [schedule for schedule, kept in each.items() if kept is None]:
            each |= {kept.id: kept for kept in schedules.of_ids(tx, new)}
        return [kept for kept in each.values() if kept is not None]

    def _fillings(self, tx: Transaction, open_: Sequence[Filling]) -> list[tuple[Filling, Kept, set[Instant]]]:
        """Open backfills whose turn it is, with their schedules, and what is left out of them."""
        of = {kept.id: kept for kept in schedules.of_ids(tx, sorted({one.schedule for one in open_}))}
        return [
            (one, of[one.schedule], set() if one.again else ticks.taken(tx, one.schedule, one.first, one.last))
            for one in in_turn(open_, {number: kept.nominal for number, kept in of.items()})
        ]

    def _foresee(self, soonest: Instant | None, now: Instant) -> Duration | None:
        """Read and decide one batch of what comes soon, before its time; None when there is nothing new."""
        until = Instant(max(now, self._until or now + self._poll) + AHEAD)
        if self._foreseen[0] > until:  # the clock has gone back
            self._foreseen = now, ScheduleId(0)
        if soonest is None or soonest > until or (soonest, LARGEST) <= self._foreseen:
            return None

        def look(tx: Transaction) -> _Look:
            found = schedules.coming(tx, self._foreseen, until, BATCH)
            read = [(kept, _ready(kept)) for kept in found]
            known = _known(tx, [ready for _, ready in read])
            flights = _flights(tx, [kept.id for kept in found])
            return _Look(read, len(found) == BATCH, flights, {}, known, [], {}, soonest)

        seen = self._store.read(look)
        for kept, ready in seen.found:
            if ready is not None:
                self._foresee_one(kept, ready, seen)
        if not seen.full:
            self._foreseen = until, ScheduleId(LARGEST)
            return None
        last = seen.found[-1][0]
        self._foreseen = last.at or until, last.id
        return MILLISECOND

    def _foresee_one(self, kept: Kept, ready: Ready, look: _Look) -> None:
        """Decide what comes, as if it were time. What may go otherwise by then is left until then."""
        known = look.known[ready.plan.task, ready.plan.workflow]
        ahead = kept.last is not None and kept.nominal is not None and kept.last > kept.nominal
        if kept.at is None or ahead or ready.plan.limit is not None or isinstance(known, MainspringError):
            return
        flights = look.flights.get(kept.id, [])
        if not all(flight.over for flight in flights):
            return
        decided = self._decided(Seen(kept, ready, _own(flights), ()), look, NOTHING, kept.at)
        if decided is not None:
            self._foresight.note(kept, known, flights, decided)

    # --- deciding ---------------------------------------------------------------------------------------------

    def _decide(self, kept: Kept, ready: Ready | None, look: _Look, now: Instant) -> Decided | None:
        if ready is None:
            return self._spoiled(kept, now)
        flights = look.flights.get(kept.id, [])
        waits = look.waits.get(kept.id, ())
        known = look.known[ready.plan.task, ready.plan.workflow]
        if not (waits or isinstance(known, MainspringError)):
            foreseen = self._foresight.take(kept, known, flights, now)
            if foreseen is not None:
                return foreseen
        return self._decided(Seen(kept, ready, _own(flights), waits), look, look.recorded.get(kept.id, NOTHING), now)

    def _decided(self, seen: Seen, look: _Look, recorded: Recorded, now: Instant) -> Decided | None:
        kept, ready = seen.kept, seen.ready
        deciding = Deciding(seen, self._prepare(kept, ready, look), now, self._actor)
        deciding.release()
        nominal, at = kept.nominal, kept.at
        if nominal is not None and at is not None and at <= now:
            spans, following = due(ready, nominal, now, recorded=recorded)
            deciding.take(spans)
            nominal = None if deciding.spent else following
            at = done_at(ready, nominal, self._store.chance)
        return deciding.decided(nominal, at)

    def _fill(self, filling: Filling, kept: Kept, fired: set[Instant], *, look: _Look, now: Instant) -> Decided | None:
        ready = _ready(kept)
        if ready is None:
            return None
        flights = [one for one in look.flights.get(kept.id, ()) if one.origin == origin_of(filling)]
        prepared = self._prepare(kept, ready, look)
        return fill(filling, kept, ready, prepared, flights=flights, fired=fired, now=now, actor=self._actor)

    def _spoiled(self, kept: Kept, now: Instant) -> Decided | None:
        """What can't be read any more stops, and questions say why."""
        if kept.nominal is None:
            return None
        why = "what is said of the schedule can't be read; it was changed by hand"
        record = Record(
            kept.id, kept.nominal, REGULAR, 1, kept.nominal, Outcome.MISSED, why, None, None, now, self._actor
        )
        advance = Advance(
            None,
            None,
            kept.nominal,
            kept.last_fired,
            kept.last_succeeded,
            kept.fired,
            kept.failures,
            kept.id,
            kept.version,
        )
        return Decided(new=(record,), advance=advance)

    def _prepare(self, kept: Kept, ready: Ready, look: _Look) -> Prepared | PreparedRun | str:
        """What a tick makes, checked; or why nothing can be made."""
        known = look.known[ready.plan.task, ready.plan.workflow]
        if isinstance(known, MainspringError):
            return str(known)
        key = (kept.declaration, kept.override, kept.created, known)
        found = self._prepared.get(key)
        if found is None:
            if len(self._prepared) >= _REMEMBERED:
                self._prepared.clear()
            try:
                found = prepared_of(ready.plan, known)
            except MainspringError as error:
                found = str(error)
            self._prepared[key] = found
        return found

    def _tidy(self, now: Instant) -> Duration | None:
        """Where nothing else is to be done and it is time, forget one batch of old ticks; None when there are none."""
        if self._clock.monotonic() < self._tidy_at:
            return None
        gone = self._store.write(lambda tx: ticks.forget(tx, Instant(now - self._keep), BATCH))
        if gone == BATCH:
            return Duration(10 * MILLISECOND)
        self._tidy_at = Duration(self._clock.monotonic() + TIDY_EVERY)
        return None

    def _rest(self, soonest: Instant | None, now: Instant) -> Duration:
        """Until the earliest tick, at most the polling interval."""
        if soonest is None:
            return self._poll
        return Duration(max(MILLISECOND, min(self._poll, soonest - now)))


def _known(
    tx: Transaction, needed: Sequence[Ready | None]
) -> dict[tuple[str | None, str | None], Known | MainspringError]:
    """What is known of the tasks and workflows that may be needed."""
    known: dict[tuple[str | None, str | None], Known | MainspringError] = {}
    for ready in needed:
        if ready is not None and (key := (ready.plan.task, ready.plan.workflow)) not in known:
            known[key] = known_or_why(tx, ready.plan)
    return known


def _flights(tx: Transaction, ids: Sequence[ScheduleId]) -> dict[ScheduleId, list[Flight]]:
    found: dict[ScheduleId, list[Flight]] = {}
    for flight in schedules.flights(tx, ids):
        found.setdefault(flight.schedule, []).append(flight)
    return found


def _own(flights: Sequence[Flight]) -> list[Flight]:
    """Those of regular ticks and triggers."""
    return [one for one in flights if not one.origin.startswith("backfill")]


def _ready(kept: Kept) -> Ready | None:
    try:
        return ready_text(kept.declaration, kept.override, kept.created)
    except (MainspringError, ValueError):
        return None
