"""Doorbells: wake-up hints between the processes of one host. A lost ring costs at most the polling interval.

Each listener owns a FIFO in a directory beside the database; a ringer writes one byte to each, and keeps them open as
long as the directory stays as it is. Two bells: ``work`` (something may be claimed or must be stopped) and ``news``
(something was recorded).
"""

from __future__ import annotations

import errno
import os
import select
import threading
from contextlib import suppress
from pathlib import Path

from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock, seconds

_ALL = 65_536
"""What a FIFO holds at most."""

_TICK = Duration(50 * MILLISECOND)
"""Longer than the steps in which file systems note when a directory was changed."""

_UNHEARD = "."
"""How the name of a FIFO begins that is still being made."""


class Doorbell:
    """One kind of bell of one database. Without a directory (in memory) it works inside the process only."""

    def __init__(self, directory: Path | None, kind: str) -> None:
        self._directory = directory / kind if directory is not None else None
        self._inside: set[threading.Event] = set()
        self._clock = SystemClock()
        self._lock = threading.Lock()
        self._pipes: dict[str, int] = {}
        self._changed = 0
        self.own = ""

    def behind(self, also: object = None) -> None:
        """The database file tells nobody."""

    def ring(self, *, besides: str = "", told: bool = False) -> None:
        """Wake all listeners, but for the one of this name. Never blocks and never fails."""
        for event in list(self._inside):
            event.set()
        if self._directory is None:
            return
        with self._lock:
            self._look()
            for name, pipe in list(self._pipes.items()):
                if name not in {besides, self.own}:
                    self._ring_one(name, pipe)

    def _look(self) -> None:
        """Open the FIFOs of all listeners, where the directory has changed since that was done last.

        The time of a change is kept in ticks of some ms, so it tells of later changes only when it is older than that.
        """
        directory = str(self._directory)
        try:
            changed = os.stat(directory).st_mtime_ns  # noqa: PTH116 - a Path costs as much again
            if changed == self._changed:
                return
            self._let_go()
            fresh = changed // 1_000 + _TICK > self._clock.now()
            names = os.listdir(directory)
        except OSError:
            return
        for name in names:
            if not name.startswith(_UNHEARD):
                self._open(name)
        self._changed = 0 if fresh else changed

    def _open(self, name: str) -> None:
        fifo = f"{self._directory}/{name}"
        try:
            self._pipes[name] = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            if error.errno == errno.ENXIO:  # its listener is gone
                with suppress(OSError):
                    Path(fifo).unlink()

    def _ring_one(self, name: str, pipe: int) -> None:
        try:
            os.write(pipe, b"!")
        except BrokenPipeError:  # its listener is gone; another may have its name by now, so look again
            os.close(self._pipes.pop(name))
            self._changed = 0
        except OSError:
            pass  # a full pipe has rung already

    def close(self) -> None:
        """Let go of every FIFO; a later ring opens them again."""
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        for pipe in self._pipes.values():
            os.close(pipe)
        self._pipes.clear()
        self._changed = 0

    def listen(self, name: str) -> Listener:
        """A new listener; ``name`` is unique (an incarnation)."""
        return Listener(self, name)

    def fault(self) -> str:
        """Why rings of other processes don't come in here; an empty text where they do. Tries it."""
        if self._directory is None:
            return ""
        listener = self.listen(f"check-{os.getpid()}")
        try:
            self.ring()
            rung = listener.fileno() >= 0 and listener.wait(SECOND)
        finally:
            listener.close()
        return "" if rung else f"no FIFO can be made and heard in {self._directory}."

    @property
    def directory(self) -> Path | None:
        """Where the FIFOs are."""
        return self._directory

    def enroll(self, event: threading.Event) -> None:
        """For listeners inside this process."""
        self._inside.add(event)

    def dismiss(self, event: threading.Event) -> None:
        """The listener is gone."""
        self._inside.discard(event)


class Listener:
    """One end that waits for rings."""

    def __init__(self, bell: Doorbell, name: str) -> None:
        self._bell = bell
        self._fifo = None if bell.directory is None else bell.directory / name
        self._event = threading.Event()
        self._pipe = -1
        self._make()
        if self._pipe < 0:  # no hints from other processes; polling finds everything within its bound
            self._fifo = None
            bell.enroll(self._event)

    def _make(self) -> None:
        if self._fifo is None:
            return
        # It appears under its name once it is open: a ringer removes FIFOs that nobody listens at.
        unheard = self._fifo.with_name(f"{_UNHEARD}{self._fifo.name}")
        with suppress(OSError):
            unheard.parent.mkdir(parents=True, exist_ok=True)
            unheard.unlink(missing_ok=True)
            os.mkfifo(unheard, 0o600)
            # Read and write, so that it never reports an end when a ringer closes.
            self._pipe = os.open(unheard, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
            unheard.replace(self._fifo)

    @property
    def gone(self) -> bool:
        """Whether somebody has removed the FIFO, so that no ring comes in any more."""
        return self._pipe >= 0 and self._fifo is not None and not self._fifo.exists()

    def make_again(self) -> None:
        """Put a new FIFO in the place of one that is gone; ``fileno`` is another one then."""
        kept, self._pipe = self._pipe, -1
        self._make()
        if self._pipe < 0:
            self._pipe = kept  # to be tried again
        else:
            os.close(kept)

    def fileno(self) -> int:
        """For selectors; -1 when there is no FIFO."""
        return self._pipe

    def wait(self, timeout: Duration) -> bool:
        """Block until a ring or the time-out. True for a ring."""
        limit = max(0.0, seconds(timeout))
        if self._pipe < 0:
            rung = self._event.wait(limit)
            self._event.clear()
            return rung
        if self.gone:
            self.make_again()
        poller = select.poll()
        poller.register(self._pipe, select.POLLIN)
        if not poller.poll(limit * 1000):
            return False
        self.drain()
        return True

    def drain(self) -> None:
        """Forget the rings so far."""
        if self._pipe >= 0:
            with suppress(OSError):
                os.read(self._pipe, _ALL)

    def close(self) -> None:
        """Stop listening and remove the FIFO.

        The name goes first: a ringer that found it without a listener would clear it away, perhaps its successor's.
        """
        self._bell.dismiss(self._event)
        if self._fifo is not None:
            with suppress(OSError):
                self._fifo.unlink()
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
