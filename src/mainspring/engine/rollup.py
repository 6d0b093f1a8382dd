"""Roll-up: the turn that reads the event history on and keeps what it says in numbers, each event once.

Any number of servers do it: whoever moves the cursor has counted, and what another counted meanwhile is thrown away.
Under load it takes a bounded share of one core, and catches up when there is room.
"""

from __future__ import annotations

from collections import Counter

from mainspring.clock import MILLISECOND, MINUTE, SECOND, Clock, Duration, Instant
from mainspring.domain.metric import KEPT, READER, Key, Points, level, points_of
from mainspring.domain.sight import Sight
from mainspring.domain.states import State
from mainspring.domain.worker import WorkerState
from mainspring.store import Store, Transaction, series, workers

SAMPLER = "sampler"

BATCH = 5_000
"""Events in one turn: some tens of milliseconds."""

_SHARE = 4
"""The pause behind a full turn is so many times as long as the turn."""

_TIDY_EVERY = Duration(10 * MINUTE)
_LIVE = frozenset({WorkerState.ACTIVE, WorkerState.DRAINING, WorkerState.IMPAIRED})


class RollUp:
    """Reads on, looks at levels once a minute, and drops what is too old. ``read``: events that it has counted."""

    def __init__(self, store: Store, clock: Clock, *, poll: Duration = Duration(2 * SECOND)) -> None:
        self._store = store
        self._clock = clock
        self._poll = poll
        self._sampled = -1
        self._tidy_at = Duration(0)
        self.read = 0

    def has_work(self, sight: Sight, until: Instant) -> bool:
        """Whether there are events that nobody has counted."""
        return sight.event > (sight.counted or 0)

    def turn(self) -> Duration:
        """Count a batch of events; how long to wait until the next."""
        began = self._clock.monotonic()
        self._sample()
        stretch = self._store.read(_unread, latest=True)
        if stretch is None:
            self._store.write(lambda tx: series.begin(tx, READER))
            return MILLISECOND
        if stretch.until > stretch.before:
            points = points_of(stretch.flows)
            if self._store.write(lambda tx: _counted(tx, stretch, points)):
                self.read += stretch.until - stretch.before
        if stretch.full:
            return Duration(max(MILLISECOND, _SHARE * (self._clock.monotonic() - began)))
        self._tidy(began)
        return Duration(min(self._poll, MINUTE - self._store.clock.now() % MINUTE))

    def _sample(self) -> None:
        """Once in each minute, by whichever server comes first."""
        minute = self._store.clock.now() // MINUTE
        if minute == self._sampled:
            return
        last = self._store.read(lambda tx: series.cursor(tx, SAMPLER))
        if last is None:
            self._store.write(lambda tx: series.begin(tx, SAMPLER))
            last = 0
        if last < minute:
            levels = self._store.read(_levels)
            points = {(Instant(minute * MINUTE), key): level(value) for key, value in levels.items()}

            def keep(tx: Transaction) -> None:
                if series.go_on(tx, SAMPLER, last, minute):
                    series.add(tx, points)

            self._store.write(keep)
        self._sampled = minute

    def _tidy(self, now: Duration) -> None:
        if now < self._tidy_at:
            return
        self._tidy_at = Duration(now + _TIDY_EVERY)
        for step, kept in KEPT.items():
            before = Instant(self._store.clock.now() - kept)
            self._store.write(lambda tx, step=step, before=before: series.forget(tx, step, before))  # type: ignore[misc]


def _unread(tx: Transaction) -> series.Stretch | None:
    before = series.cursor(tx, READER)
    return None if before is None else series.unread(tx, before, BATCH)


def _counted(tx: Transaction, stretch: series.Stretch, points: Points) -> bool:
    """Whether it was us who counted this stretch."""
    if not series.go_on(tx, READER, stretch.before, stretch.until):
        return False
    series.add(tx, points)
    series.add_totals(tx, points)
    return True


def _levels(tx: Transaction) -> dict[Key, int]:
    """What is looked at."""
    found: dict[Key, int] = {}
    for depth in series.depths(tx):
        found[Key("jobs", depth.queue, "", depth.state)] = depth.jobs
        if depth.state == State.QUEUED:
            found[Key("oldest", depth.queue)] = max(0, tx.now - depth.oldest)
    known = workers.all_workers(tx)
    for state, number in Counter(one.state for one in known).items():
        found[Key("workers", "", "", state.value)] = number
    found[Key("slots", "", "", "all")] = sum(one.slots for one in known if one.state in _LIVE)
    found[Key("slots", "", "", "used")] = sum(one.running for one in known if one.state in _LIVE)
    return found
