"""Roll-up: the turn that reads the event history on and keeps what it says in numbers, each event once.

Any number of servers do it: whoever moves the cursor has counted, and what another counted meanwhile is thrown away.
Under load it takes a bounded share of one core, and catches up when there is room.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from mainspring.clock import MILLISECOND, MINUTE, SECOND, Clock, Duration, Instant
from mainspring.domain.metric import DEPTHS, KEPT, READER, Key, level, points_of
from mainspring.domain.sight import Sight
from mainspring.domain.worker import WorkerState
from mainspring.store import Store, Transaction, depths, series, workers

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
        self._uncounted = True  # there may be, until a look has said otherwise
        self._tidy_at = Duration(0)
        self.read = 0

    def has_work(self, sight: Sight, until: Instant) -> bool:
        """Whether there are events that nobody has counted."""
        self._uncounted = sight.event > (sight.counted or 0)
        return self._uncounted

    def turn(self) -> Duration:
        """Count a batch of events; how long to wait until the next."""
        began = self._clock.monotonic()
        self._sample()
        if self._uncounted:
            unread = self._store.read(_unread, latest=True)
            if unread is None:
                self._store.write(_begin)
                return MILLISECOND
            if any(one.until > one.before for one in unread):
                self.read += self._store.write(lambda tx: _counted(tx, unread))
            if any(one.full for one in unread):
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


class _Unread(NamedTuple):
    """What is read for the numbers, and for how many jobs are where: the same, unless these have begun again."""

    numbers: series.Stretch
    depths: series.Stretch


def _begin(tx: Transaction) -> None:
    for reader in (READER, DEPTHS):
        series.begin(tx, reader)


def _unread(tx: Transaction) -> _Unread | None:
    before, kept = series.cursor(tx, READER), series.cursor(tx, DEPTHS)
    if before is None or kept is None:
        return None
    numbers = series.unread(tx, before, BATCH)
    return _Unread(numbers, numbers if kept == before else series.unread(tx, kept, BATCH))


def _counted(tx: Transaction, unread: _Unread) -> int:
    """How many events it was us who counted."""
    found = 0
    numbers, moved = unread
    if series.go_on(tx, READER, numbers.before, numbers.until):
        points = points_of(numbers.flows)
        series.add(tx, points)
        series.add_totals(tx, points)
        found = numbers.until - numbers.before
    if series.go_on(tx, DEPTHS, moved.before, moved.until):
        depths.add(tx, moved.flows)
    return found


def _levels(tx: Transaction) -> dict[Key, int]:
    """What is looked at."""
    found: dict[Key, int] = {}
    for depth in depths.shown(tx):
        found[Key("jobs", depth.queue, "", depth.state)] = depth.jobs
        if depth.oldest is not None:
            found[Key("oldest", depth.queue)] = max(0, tx.now - depth.oldest)
    known = workers.all_workers(tx)
    for state, number in Counter(one.state for one in known).items():
        found[Key("workers", "", "", state.value)] = number
    found[Key("slots", "", "", "all")] = sum(one.slots for one in known if one.state in _LIVE)
    found[Key("slots", "", "", "used")] = sum(one.running for one in known if one.state in _LIVE)
    return found
