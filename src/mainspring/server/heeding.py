"""Heeding: the turn in which a server takes over what it is configured to be, from its file and from the store.

What its file says of queues holds for all workers, so it is put into the store. Nothing is taken by halves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from mainspring.clock import SECOND, Duration
from mainspring.config.live import Live
from mainspring.domain.configured import Stated
from mainspring.domain.setting import Layer, Settings

EVERY = SECOND
"""Between two looks: half of the two seconds within which a change is heeded."""

_Stating = Mapping[str, Stated]


class Shared(NamedTuple):
    """What all processes have in common: its version, what it states, and how to tell it of our file."""

    version: Callable[[], int]
    stated: Callable[[], _Stating]
    publish: Callable[[_Stating], None]
    note: Callable[[_Stating, _Stating], None]


class Heeding:
    """One look at the file and at the store a second. ``adopt`` is called with what holds, where that has changed."""

    def __init__(self, live: Live, shared: Shared, adopt: Callable[[Settings], None]) -> None:
        self._live = live
        self._shared = shared
        self._adopt = adopt
        self._version = -1
        self._published = False

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
        version = self._shared.version()
        if version != self._version:
            changed = self._live.store_holds(self._shared.stated()) or changed
            self._version = version
        if changed:
            self._adopt(self._live.settings)
        return EVERY
