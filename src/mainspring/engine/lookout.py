"""Lookout: the turn that looks for all the loops of a server, in one question, and rings those that have work.

Without it each loop would ask for itself, and an idle server would ask the database many times a second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from mainspring.clock import Duration, Instant
from mainspring.domain.sight import Sight
from mainspring.engine.turn import Turn
from mainspring.store import Store
from mainspring.store.sight import see


class Watched(Turn, Protocol):
    """A turn that can tell by a sight whether it has something to do."""

    def has_work(self, sight: Sight, until: Instant) -> bool:
        """Whether there is, or will be before ``until``, when the next look comes."""
        ...


class Lookout:
    """One look each ``poll``. ``watched``: the turns, each with what wakes its loop."""

    def __init__(self, store: Store, watched: Sequence[tuple[Watched, Callable[[], None]]], poll: Duration) -> None:
        self._store = store
        self._watched = watched
        self._poll = poll

    def adopt(self, poll: Duration) -> None:
        """Look so often from now on."""
        self._poll = poll

    def turn(self) -> Duration:
        """Look once."""
        sight = self._store.read(see)
        until = Instant(self._store.clock.now() + self._poll)
        for turn, ring in self._watched:
            if turn.has_work(sight, until):
                ring()
        return self._poll


def before(until: Instant, *instants: Instant | None) -> bool:
    """Whether any of these comes before."""
    return any(at is not None and at <= until for at in instants)
