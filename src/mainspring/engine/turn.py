"""Turn: one bounded step of a loop. A loop is an object with state and one method; only drive.py waits."""

from __future__ import annotations

from typing import Protocol

from mainspring.clock import Duration


class Turn(Protocol):
    """What can be driven."""

    def turn(self) -> Duration:
        """Do bounded work; how long to wait at most until the next turn (0: more work is at hand)."""
        ...
