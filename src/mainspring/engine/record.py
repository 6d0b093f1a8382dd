"""Recorder: the turn that keeps what this process says of itself, in bites, and drops what is too much or too old.

Whoever says something never waits: it goes into memory, and is written with the next turn. What comes faster than it
may is counted, and the count kept in its place. Nothing that goes wrong here is said, as that would be kept here again.
"""

from __future__ import annotations

import logging
import os
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from mainspring.clock import MINUTE, SECOND, Clock, Duration, Instant, from_seconds
from mainspring.domain.record import LONGEST, Entry, of_record
from mainspring.domain.secrecy import masked
from mainspring.errors import StoreError
from mainspring.store import Store, records

MOST_WAITING = 1_000
"""Entries in memory; further ones are counted and dropped."""

MOST_AT_ONCE = 200
"""Entries that are written in one turn, so in one second."""

MOST_KEPT = 1_000_000
"""Records; older ones go, however young they are."""

_TIDY_EVERY = Duration(10 * MINUTE)
_TIDY_MOST = 2_000


class Recorder:
    """Keeps what it is handed.

    ``keep``: how long records are kept, None where another process sees to that; ``hide``: what hides secrets in
    them; ``always``: what all records of this process are about; ``current``: what a record is about that is made now.
    """

    def __init__(  # noqa: PLR0913 - what is kept, how, and about what
        self,
        store: Store,
        clock: Clock,
        process: str,
        *,
        keep: Duration | None = None,
        hide: Callable[[str], str] = masked,
        current: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._store = store
        self._clock = clock
        self._process = process
        self._keep = keep
        self.hide = hide
        self._waiting: deque[Entry] = deque()
        self._dropped = 0
        self._tidy_at = Duration(0)
        self.always: dict[str, int] = {}
        self.current = current

    def adopt(self, keep: Duration) -> None:
        """Keep records for so long from now on."""
        self._keep = keep

    def take(self, entry: Entry) -> None:
        """Have this kept. Never waits."""
        if len(self._waiting) >= MOST_WAITING:
            self._dropped += 1
        else:
            self._waiting.append(entry)

    def turn(self) -> Duration:
        """Write what waits; how long to wait until the next turn."""
        batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_AT_ONCE))]
        dropped, self._dropped = self._dropped, 0
        if dropped:
            batch.append(self._mark(dropped))
        try:
            if batch:
                self._store.write(lambda tx: records.add(tx, batch))
            self._tidy()
        except StoreError:  # health says so; what could not be written is tried again as long as there is room
            self._dropped += dropped
            self._waiting.extendleft(reversed(batch[: len(batch) - bool(dropped)]))
        return SECOND

    def said(self, record: logging.LogRecord) -> Entry:
        """What the logging module has, as it is kept."""
        text = record.getMessage()
        if record.exc_info and record.exc_info[0] is not None:
            text += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip()
        source = record.name.removeprefix("mainspring.")
        at = from_seconds(record.created)
        return Entry(
            Instant(at), self._process, os.getpid(), record.levelno, source, _cut(self.hide(text)), of_record(record)
        )

    def _mark(self, dropped: int) -> Entry:
        text = f"{dropped} entries of this log were dropped, as more came than are kept in a second"
        return Entry(self._store.clock.now(), self._process, os.getpid(), logging.WARNING, "record", text)

    def _tidy(self) -> None:
        now = self._clock.monotonic()
        if self._keep is None or now < self._tidy_at:
            return
        before = Instant(self._store.clock.now() - self._keep)
        if self._store.write(lambda tx: records.forget(tx, before, MOST_KEPT, _TIDY_MOST)) < _TIDY_MOST:
            self._tidy_at = Duration(now + _TIDY_EVERY)


class _Handler(logging.Handler):
    """Hands on what the logging module is told."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def emit(self, record: logging.LogRecord) -> None:
        self._recorder.take(self._recorder.said(record))


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Hand it all that this process says meanwhile; what is left at the end is written then."""
    root, handler = logging.getLogger(), _Handler(recorder)
    others = list(root.handlers)

    def bind(record: logging.LogRecord) -> bool:
        for name, value in {**recorder.always, **recorder.current()}.items():
            if not hasattr(record, name):
                setattr(record, name, value)
        return True

    for one in (*others, handler):
        one.addFilter(bind)
    root.addHandler(handler)
    try:
        yield recorder
    finally:
        root.removeHandler(handler)
        for one in others:
            one.removeFilter(bind)
        recorder.turn()


def _cut(text: str) -> str:
    """As much of a message as is kept, and what any database takes."""
    shown = text.replace("\0", "\\x00").encode(errors="backslashreplace").decode()
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}... (cut)"
