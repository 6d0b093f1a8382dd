"""Heeding: a worker's configuration while it runs.

Looks at its file now and then, and at the store when a turn has seen that something else holds there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from mainspring.clock import SECOND, Clock, Duration
from mainspring.config.live import Live
from mainspring.domain.configured import Kept, stated_of
from mainspring.domain.overriding import Override, overrides
from mainspring.domain.setting import Layer, Settings
from mainspring.engine.dispatch import Dispatch
from mainspring.engine.held import Limits
from mainspring.engine.timing import Timing
from mainspring.errors import StoreError
from mainspring.worker.options import WorkerOptions

EVERY = SECOND
"""Between two looks at the file."""


class Heeding:
    """What a worker is told to be. ``live``: its configuration; None: its options hold for ever.

    ``kept``: reads what the store holds; ``resized`` is told of another number of slots.
    """

    def __init__(
        self,
        options: WorkerOptions,
        live: Live | None,
        clock: Clock,
        kept: Callable[[], list[Kept]],
        resized: Callable[[int], None],
    ) -> None:
        self.options = options
        self.wait = EVERY if live is not None else Duration(60 * SECOND)
        self._live = live
        self._kept = kept
        self._resized = resized
        self._clock = clock
        self._look_at = clock.monotonic()
        self._rules: str | None = None
        self._overrides: Mapping[str, Override] = {}

    @property
    def limits(self) -> Limits:
        """Room for jobs."""
        options = self.options
        return Limits(options.slots, min(options.processes, options.slots), max(4, os.cpu_count() or 1))

    @property
    def timing(self) -> Timing:
        """The lengths to go by."""
        return Timing(self.options.lease, self.options.sweep, self.options.poll, self.options.drain)

    def hear(self) -> None:
        """Somebody wants the file to be read again now (SIGHUP)."""
        if self._live is not None:
            self._live.hear()
            self._look_at = self._clock.monotonic()

    def heed(self, dispatch: Dispatch) -> None:
        """Take over what holds now, where it is another thing."""
        if self._live is None:
            return
        changed = False
        now = self._clock.monotonic()
        if now >= self._look_at:
            self._look_at = Duration(now + EVERY)
            changed = self._live.look()
        if dispatch.rules != self._rules:
            try:
                kept = self._kept()
            except StoreError:
                return  # the turn has said it; the next one asks again
            self._rules = dispatch.rules
            changed = self._live.store_holds(stated_of(kept, Layer.STORE)) or changed
            before, self._overrides = self._overrides, overrides(kept)
            changed = changed or before != self._overrides
        if changed:
            self._adopt(self._live.settings, dispatch)

    def _adopt(self, wanted: Settings, dispatch: Dispatch) -> None:
        before, self.options = self.options, self.options.configured(wanted)
        dispatch.adopt(self.limits, self.timing, self._overrides)
        if self.options.slots != before.slots:
            with suppress(StoreError):
                self._resized(self.options.slots)
