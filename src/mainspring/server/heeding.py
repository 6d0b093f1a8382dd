"""Heeding: the turn in which a server takes over what it is configured to be, from its file and from the store.

What its file says of queues holds for all workers, so it is put into the store. Nothing is taken by halves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from mainspring.clock import SECOND, Duration, Instant
from mainspring.config.live import Live
from mainspring.domain.configured import Stated
from mainspring.domain.setting import Layer, Settings
from mainspring.domain.sight import Sight

EVERY = SECOND
"""Between two looks: half of the two seconds within which a change is heeded."""

_Stating = Mapping[str, Stated]


class Shared(NamedTuple):
    """What all processes have in common: what it states, and how to tell it of our file.

    ``declare``: take over the schedules of the file, as it was read last.
    """

    stated: Callable[[], _Stating]
    publish: Callable[[_Stating], None]
    declare: Callable[[], None]
    note: Callable[[_Stating, _Stating], None]


class Heeding:
    """A look at the file each second, and at the store when another version of it has been seen.

    ``adopt`` is called with what holds, where that has changed.
    """

    def __init__(self, live: Live, shared: Shared, adopt: Callable[[Settings], None]) -> None:
        self._live = live
        self._shared = shared
        self._adopt = adopt
        self._seen = 0
        self._taken = -1
        self._published = False

    def has_work(self, sight: Sight, until: Instant) -> bool:
        """Whether the store holds another version than was taken over."""
        self._seen = sight.rules
        return self._seen != self._taken

    def turn(self) -> Duration:
        """Look once."""
        before = self._live.loaded.layers.get(Layer.FILE, {})
        changed = self._live.look()
        stated = self._live.loaded.layers.get(Layer.FILE, {})
        if self._live.sound and (changed or not self._published):
            self._shared.publish(stated)
            if self._published:
                self._shared.note(before, stated)
            self._published = True
        if self._live.sound:
            self._shared.declare()
        version = self._seen
        if version != self._taken:
            changed = self._live.store_holds(self._shared.stated()) or changed
            self._taken = version
        if changed:
            self._adopt(self._live.settings)
        return EVERY
