"""The sweep: lost leases, due jobs, expiries. Every worker and server does it; none is needed for it.

A lease is declared lost only when it is expired by the database's clock and this sweeper has itself seen the same
deadline for one full sweep by its monotonic clock, so that a clock step or a resumed laptop takes nothing away.
"""

from __future__ import annotations

from collections.abc import Sequence

from mainspring import faults
from mainspring.clock import MILLISECOND, MINUTE, SECOND, Clock, Duration, Instant
from mainspring.domain.ids import JobId
from mainspring.domain.sight import Sight
from mainspring.engine.lookout import before
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, keys, workers
from mainspring.store.workers import SeenLease
from mainspring.transitions.due import come
from mainspring.transitions.ended import lose
from mainspring.transitions.waiting import BATCH, expire

TIDY_EVERY = MINUTE
TIDY_BATCH = 1000
"""Rows at a time of what need no longer be kept."""


class LeaseWatch:
    """What one sweeper has seen of leases: which deadlines have stood unchanged, and since when."""

    def __init__(self, sweep_length: Duration) -> None:
        self.sweep_length = sweep_length
        self._since: dict[SeenLease, Duration] = {}

    def horizon(self, now: Instant) -> Instant:
        """Leases that end before this are worth watching."""
        return Instant(now + self.sweep_length)

    def overdue(self, seen: Sequence[SeenLease], now: Instant, monotonic: Duration) -> list[SeenLease]:
        """The leases that are to be swept now; remembers the others."""
        self._since = {lease: self._since.get(lease, monotonic) for lease in seen}
        return [
            lease
            for lease, since in self._since.items()
            if lease.until < now and monotonic - since >= self.sweep_length
        ]


class Sweep:
    """The turn of a server: promote, sweep, expire; now and then forget keys that nobody needs any more."""

    def __init__(
        self, store: Store, clock: Clock, sweep_length: Duration, *, poll: Duration = SECOND, actor: str = "sweeper"
    ) -> None:
        self._store = store
        self._clock = clock
        self._poll = poll
        self._actor = actor
        self._watch = LeaseWatch(sweep_length)
        self._tidy_at = Duration(clock.monotonic() + TIDY_EVERY)
        self._tidied_to = 0

    def adopt(self, sweep_length: Duration) -> None:
        """Go by this length from now on."""
        self._watch.sweep_length = sweep_length

    def has_work(self, sight: Sight, until: Instant) -> bool:
        """Whether something is due, or a lease near its end."""
        horizon = self._watch.horizon(self._clock.now())
        return before(until, sight.due, sight.expiry) or before(horizon, sight.lease)

    def turn(self) -> Duration:
        """One look, and a transaction where there is something to move."""
        now = self._clock.now()
        due, seen, expiry = self._store.read(lambda tx: workers.sweep_look(tx, self._watch.horizon(now)))
        overdue = self._watch.overdue(seen, now, self._clock.monotonic())
        faults.hit(FaultPoint.SWEEP_AFTER_READ)
        due_now = due is not None and due <= now
        late = expiry is not None and expiry <= now
        if not (overdue or due_now or late):
            return self._tidy() or self._rest(due, expiry, now)

        def work(tx: Transaction) -> tuple[list[JobId], int]:
            lost = lose(tx, overdue, self._actor)
            promoted = come(tx, self._actor) if due_now else 0
            if late:
                expire(tx, self._actor)
            return lost, promoted

        lost, promoted = self._store.write(
            work, before=FaultPoint.SWEEP_BEFORE_COMMIT, after=FaultPoint.SWEEP_AFTER_COMMIT
        )
        if lost or promoted:
            self._store.work_bell.ring()
        self._store.news_bell.ring()
        return Duration(0) if promoted == BATCH else Duration(10 * MILLISECOND)

    def _tidy(self) -> Duration | None:
        """Where nothing else is to be done and it is time, forget one batch; how soon to go on, None when at once."""
        if self._clock.monotonic() < self._tidy_at:
            return None
        old = self._store.read(lambda tx: keys.stale(tx, self._tidied_to, TIDY_BATCH))
        if old.jobs or old.answers:
            self._store.write(lambda tx: keys.forget(tx, old))
        self._tidied_to = old.last
        if old.last or len(old.answers) == TIDY_BATCH:
            return Duration(10 * MILLISECOND)
        self._tidy_at = Duration(self._clock.monotonic() + TIDY_EVERY)
        return None

    def _rest(self, due: Instant | None, expiry: Instant | None, now: Instant) -> Duration:
        """Until the earliest due instant, at most the polling interval."""
        soonest = min((at for at in (due, expiry) if at is not None), default=Instant(now + self._poll))
        return Duration(max(MILLISECOND, min(self._poll, soonest - now)))
