"""Need: what one turn of a worker has to do besides writing ends."""

from __future__ import annotations

from typing import NamedTuple

from mainspring.store.workers import SeenLease


class Need(NamedTuple):
    """``overdue``: leases that are taken from their owners; ``renew``: one's own; the rest is what it says."""

    overdue: list[SeenLease]
    renew: bool
    promote: bool
    expire: bool
    claim: bool

    @property
    def only_claim(self) -> bool:
        """Whether it claims, and does nothing else."""
        return self.claim and not any(self[:-1])
