"""Free slots: room of a worker for jobs that are born in its own transaction, so that they are leased at once.

It counts what is taken, and knows nothing of why the slots are free.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mainspring.clock import Duration
from mainspring.domain.ids import WorkerId
from mainspring.store.lanes import Lane

if TYPE_CHECKING:
    from mainspring.store.jobs import Birth, Grant


class FreeSlots:
    """Slots for jobs of one lane in which nothing else waits.

    ``rules``: those of queues that they are free under; ``grants``: the jobs that were born into them, until ``lasts``
    from then.
    """

    def __init__(self, lane: Lane, count: int, worker: WorkerId, lasts: Duration, rules: int) -> None:
        self.lane, self.worker, self.lasts = lane, worker, lasts
        self.grants: list[Grant] = []
        self._count, self._rules = count, rules

    def heed(self, rules: int) -> None:
        """None is free under other rules."""
        if rules != self._rules:
            self._count = 0

    def take(self, birth: Birth) -> bool:
        """Whether one is for this job; it is taken then. What may expire waits, as whoever claims it looks at that."""
        fits = self._count > 0 and birth.lane == self.lane.id and birth.expires is None
        self._count -= fits
        return fits
