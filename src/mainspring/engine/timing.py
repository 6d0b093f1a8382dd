"""The lengths of time that a worker's dispatch goes by. Values only."""

from __future__ import annotations

import msgspec

from mainspring.clock import Duration


class Timing(msgspec.Struct, frozen=True):
    """The lengths that matter to dispatch."""

    lease: Duration
    sweep: Duration
    poll: Duration
    drain: Duration

    @property
    def renewal(self) -> Duration:
        """How often leases are renewed: often enough that a sweeper never sees one deadline for a whole sweep."""
        return Duration(min(self.lease // 3, self.sweep * 4 // 5))
