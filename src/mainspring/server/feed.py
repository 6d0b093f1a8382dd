"""The newest events in memory, read once for all who listen; whoever is further behind reads from the store himself.

Nobody who listens is remembered here, so none of them can hold up another, or the jobs.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Sequence

from mainspring.client.operating import ServingClient
from mainspring.client.wire import happening_wire
from mainspring.clock import MILLISECOND, SECOND, Clock, Duration
from mainspring.domain.event import Happening
from mainspring.server.stream import event

PAGE = 500
"""Events of one answer."""

_FRESH = Duration(100 * MILLISECOND)
"""So long what is here is new enough: the store is asked no more often, however many listen."""

_FORGOTTEN = Duration(5 * SECOND)
"""When nobody has listened for so long, what happened meanwhile is left in the store."""

_KEPT = 10_000


class Told:
    """Something that happened, and how it is told: written once, however many listen."""

    __slots__ = ("_data", "happening")

    def __init__(self, happening: Happening) -> None:
        self.happening = happening
        self._data = b""

    @property
    def data(self) -> bytes:
        """The event as a stream has it."""
        if not self._data:
            one = self.happening
            self._data = event(one.subject, happening_wire(one), one.seq)
        return self._data


class Feed:
    """Answers what happened behind a cursor. Safe from many threads."""

    def __init__(self, client: ServingClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        self._kept: list[Told] = []
        self._start = self._end = -1
        self._looked_at: Duration | None = None
        self._refreshing = threading.Lock()
        self._changing = threading.Lock()

    def newest(self) -> int:
        """The newest cursor."""
        return self._client.last_event()

    def after(self, cursor: int) -> Sequence[Told]:
        """Events behind the cursor, oldest first, at most PAGE; fewer than that when there are no more."""
        # One asks the store; the others take what is there rather than wait for a store that may be stuck.
        if self._refreshing.acquire(blocking=False):
            try:
                self._refresh()
            finally:
                self._refreshing.release()
        known = self._known(cursor)
        return [Told(one) for one in self._client.happenings(after=cursor, limit=PAGE)] if known is None else known

    def held(self, cursor: int) -> Sequence[Told] | None:
        """The same from memory alone, never waiting; None where that is not new enough, or begins later."""
        if self._is_due(self._clock.monotonic()) and not self._refreshing.locked():
            return None
        return self._known(cursor)

    def _known(self, cursor: int) -> Sequence[Told] | None:
        with self._changing:
            if not 0 <= self._start <= cursor:
                return None
            first = bisect_right(self._kept, cursor, key=_seq)
            return self._kept[first : first + PAGE]

    def _refresh(self) -> None:
        now = self._clock.monotonic()
        if not self._is_due(now):
            return
        if self._looked_at is None or now - self._looked_at >= _FORGOTTEN:
            newest = self._client.last_event()
            with self._changing:
                self._kept, self._start, self._end = [], newest, newest
        else:
            found = self._client.happenings(after=self._end, limit=_KEPT // 2)
            with self._changing:
                self._kept += map(Told, found)
                self._end = found[-1].seq if found else self._end
                surplus = len(self._kept) - _KEPT
                if surplus > 0:
                    self._start = _seq(self._kept[surplus - 1])
                    del self._kept[:surplus]
        self._looked_at = now

    def _is_due(self, now: Duration) -> bool:
        """Whether the store is to be asked again."""
        return self._looked_at is None or now - self._looked_at >= _FRESH


def _seq(one: Told) -> int:
    return one.happening.seq
