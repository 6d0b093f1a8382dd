"""Telemetry: the turn that tells an OpenTelemetry collector what happened, read from the history, and the numbers.

Nothing of it is in the way of a job. Of several servers, whoever moves the cursor tells that stretch. While the
collector takes nothing, nothing more is read: the history keeps it, and it is told later.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from mainspring.clock import MILLISECOND, MINUTE, SECOND, Clock, Duration, Instant
from mainspring.domain.sight import Sight
from mainspring.domain.span import Span, span_of_run, spans_of
from mainspring.engine.lineage import Origins
from mainspring.store import Store, Transaction, series, spans

TRACES, NUMBERS = "traces", "telemetry"
"""Names of readers: of the history, and of minutes."""

BATCH = 500
"""Events in one turn."""

MOST_TRIES = 60
"""After so many a batch is dropped, as it may be the batch that is not liked."""

PATIENCE = Duration(5 * SECOND)
"""Between two tries."""


class Collector(Protocol):
    """Who is told."""

    def tell(self, told: Sequence[Span]) -> None:
        """Take these. Raises OSError where it can't be reached or refuses."""
        ...

    def measure(self, *, whole: bool) -> None:
        """Take this server's numbers as they are now; ``whole``: and those of the platform. Raises OSError."""
        ...


class Telemetry:
    """Tells what is new, and once a minute all numbers."""

    def __init__(self, store: Store, clock: Clock, collector: Collector, *, poll: Duration = SECOND) -> None:
        self._store = store
        self._clock = clock
        self._collector = collector
        self._poll = poll
        self._untold: Sequence[Span] = ()
        self._tries = 0
        self._away = False
        self._origins = Origins()
        self._at = -1
        self._minute = -1
        self._log = logging.getLogger("mainspring.telemetry")

    def has_work(self, sight: Sight, until: Instant) -> bool:
        """Whether something has happened, or another minute has begun; not while the collector takes nothing."""
        return not self._away and (sight.event > self._at or until // MINUTE > self._minute)

    def turn(self) -> Duration:
        """Tell what is untold, or what comes behind it; how long to wait until the next turn."""
        more = False if self._untold else self._read()
        told = bool(self._untold)
        try:
            if told:
                self._collector.tell(self._untold)
                self._untold = ()
            told = self._measure() or told
        except OSError as error:
            return self._failed(error)
        if self._away and not told:
            return MILLISECOND if more else PATIENCE  # nothing was there to tell, so nothing shows that it is back
        if self._away:
            self._log.info("the collector is told again")
        self._tries, self._away = 0, False
        return MILLISECOND if more else self._poll

    def _failed(self, error: OSError) -> Duration:
        if not self._away:
            self._away = True
            self._log.warning("the collector can't be told: %s", error)
        self._tries += bool(self._untold)
        if self._tries >= MOST_TRIES:
            self._log.warning("%d spans are dropped, as the collector does not take them", len(self._untold))
            self._untold, self._tries, self._away = (), 0, False
        return PATIENCE

    def _read(self) -> bool:
        """Whether there may be more to read at once."""
        before = self._store.read(lambda tx: series.cursor(tx, TRACES))
        if before is None:
            self._begin()
            return False
        until, moves, ends, more = self._store.read(lambda tx: spans.stretch(tx, before, BATCH), latest=True)
        self._at = until
        if until <= before or not self._store.write(lambda tx: series.go_on(tx, TRACES, before, until)):
            return more
        of = self._origins.of
        self._untold = self._store.read(
            lambda tx: [
                *(span for one in moves for span in spans_of(one, of(tx, "job", one.job, one.lineage))),
                *(span for one in ends for span in span_of_run(one, of(tx, "run", one.run, one.lineage))),
            ]
        )
        return more

    def _begin(self) -> None:
        """A reader that is new begins now: what happened before it was wanted is not told."""
        newest = self._store.read(spans.newest, latest=True)

        def work(tx: Transaction) -> None:
            series.begin(tx, TRACES)
            series.go_on(tx, TRACES, 0, newest)

        self._store.write(work)
        self._at = newest

    def _measure(self) -> bool:
        """Once a minute; those of the platform by whichever server comes first. Whether it was time."""
        minute = self._store.clock.now() // MINUTE
        if minute == self._minute:
            return False
        last = self._store.read(lambda tx: series.cursor(tx, NUMBERS))
        if last is None:
            self._store.write(lambda tx: series.begin(tx, NUMBERS))
            last = 0
        first = last < minute and self._store.write(lambda tx: series.go_on(tx, NUMBERS, last, minute))
        self._minute = minute
        self._collector.measure(whole=first)
        return True
