"""What runs, and in which order it ends: starts the children, starts them again when they die, drains them when told.

One loop that waits for signals; nothing is polled. Knows commands and exit statuses, never what a child does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import IO

import msgspec

from mainspring.clock import MILLISECOND, SECOND, Clock, Duration, duration_text
from mainspring.config.layers import Loaded
from mainspring.domain.setting import Settings
from mainspring.supervisor.child import MOST_WORDS, handover
from mainspring.supervisor.restart import Restarts
from mainspring.supervisor.signals import SignalInbox, is_wish_to_end

_ROOM = Duration(5 * SECOND)
_AT_START = Duration(30 * SECOND)
_SAME_WISH = Duration(5 * MILLISECOND)
NO_USE = frozenset({2, 4, 5})
"""Exit statuses (wrong use, refused, store unusable) that a second start would only repeat."""


class Role(msgspec.Struct, frozen=True):
    """A process to keep running: its name in messages, the words behind ``mainspring``, and its configuration."""

    name: str
    words: tuple[str, ...]
    loaded: Loaded


class End(msgspec.Struct, frozen=True):
    """How the tree ended: the exit status, and the reason where it is not 0."""

    status: int
    reason: str = ""


class _Child:
    """One role and its present process."""

    def __init__(self, role: Role, restarts: Restarts) -> None:
        self.role = role
        self.restarts = restarts
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = Duration(0)
        self.starts = 0
        self.due: Duration | None = Duration(0)
        self.words: IO[bytes] | None = None

    def last_words(self) -> str:
        """What the process left when it ended."""
        if self.words is None:
            return ""
        self.words.seek(0)
        return self.words.read(MOST_WORDS).decode(errors="replace").strip()


class Tree:
    """The supervised processes. ``say`` is told what happens, one line each."""

    def __init__(
        self, roles: Sequence[Role], settings: Settings, *, tree_lock: int, clock: Clock, say: Callable[[str], None]
    ) -> None:
        self._children = [_Child(role, Restarts(settings.restart_limit, settings.restart_window)) for role in roles]
        self._patience = Duration(settings.drain + settings.grace + _ROOM)
        self._tree_lock = tree_lock
        self._clock = clock
        self._say = say
        self._told = 0
        self._kill_at: Duration | None = None
        self._end = End(0)

    def run(self) -> End:
        """Keep the children running until we are told to end, or until one is given up; then end them all."""
        with SignalInbox() as inbox:
            while True:
                self._reap()
                if not self._stopping:
                    self._start_due()
                elif not self._alive():
                    return self._end
                wishes = [number for number in inbox.wait(self._pause()) if is_wish_to_end(number)]
                if wishes:
                    # timeout(1), shells and terminals may each pass on one and the same wish: to us, and to our group
                    self._settle(inbox)
                    self._told_to_stop(signal.Signals(wishes[0]))
                self._kill_late()

    def _settle(self, inbox: SignalInbox) -> None:
        until = self._clock.monotonic() + _SAME_WISH
        while (left := until - self._clock.monotonic()) > 0:
            inbox.wait(Duration(left))

    @property
    def _stopping(self) -> bool:
        return self._kill_at is not None

    def _alive(self) -> list[tuple[_Child, subprocess.Popen[bytes]]]:
        return [(child, child.process) for child in self._children if child.process is not None]

    def _pause(self) -> Duration | None:
        """How long nothing can become due; None: until a signal."""
        dues = [self._kill_at] if self._stopping else [child.due for child in self._children if child.process is None]
        known = [due for due in dues if due is not None]
        return Duration(max(0, min(known) - self._clock.monotonic())) if known else None

    # --- starting -------------------------------------------------------------------------------------------------

    def _start_due(self) -> None:
        now = self._clock.monotonic()
        for child in self._children:
            if child.process is None and child.due is not None and child.due <= now and not self._stopping:
                self._start(child, now)

    def _start(self, child: _Child, now: Duration) -> None:
        if child.words is not None:
            child.words.close()
        child.words = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it is read when the process has ended
        words = child.words.fileno()
        child.started_at, child.due = now, None
        child.starts += 1
        try:
            child.process = subprocess.Popen(  # noqa: S603 - our own interpreter and package
                # -P: a file in the user's directory must not stand in for a module of ours or of the standard library
                (sys.executable, "-P", "-m", "mainspring", *child.role.words),
                stdin=subprocess.DEVNULL,
                pass_fds=(self._tree_lock, words),
                env=os.environ | handover(child.role.loaded, tree_lock=self._tree_lock, last_words=words),
                process_group=0,  # Ctrl-C reaches it only through us
            )
        except OSError as error:
            self._died(child, f"could not be started: {error}", status=1)

    # --- ends of children -----------------------------------------------------------------------------------------

    def _reap(self) -> None:
        for child, process in self._alive():
            status = process.poll()
            if status is None:
                continue
            child.process = None
            if not (self._stopping or status) and child.last_words():
                self._say(f"{child.role.name} {child.last_words()}; it is not started again.")
            elif not self._stopping:
                self._died(child, _spoken(status), status=status)
            elif status not in {0, -signal.SIGTERM} and not self._end.status:
                self._end = End(1, f"{child.role.name} {_spoken(status)} while it was ending.{_quoted(child)}")

    def _died(self, child: _Child, how: str, *, status: int) -> None:
        name, now = child.role.name, self._clock.monotonic()
        if status in NO_USE and child.starts == 1 and now - child.started_at < _AT_START:
            self._give_up(End(status, f"{name} could not start.{_quoted(child)}"))
            return
        pause = child.restarts.died(now)
        if pause is None:
            often = f"{child.restarts.lately} times within {duration_text(child.restarts.window)}"
            self._give_up(End(1, f"{name} ended {often} and is given up; the last time it {how}.{_quoted(child)}"))
            return
        child.due = Duration(now + pause)
        self._say(f"{name} {how}; it starts again in {duration_text(pause)}.{_quoted(child)}")

    def _give_up(self, end: End) -> None:
        if not self._end.status:
            self._end = end
        self._stop()

    # --- stopping -------------------------------------------------------------------------------------------------

    def _told_to_stop(self, number: signal.Signals) -> None:
        self._told += 1
        if self._told == 1 and not self._stopping:
            self._say(f"{number.name}: draining; running jobs may finish. Once more to hurry.")
            self._stop()
        elif self._told <= 2:
            self._say(f"{number.name} again: hurrying; running jobs are given back.")
            self._send(signal.SIGTERM)
        else:
            self._say(f"{number.name} once more: killing what is left.")
            self._send(signal.SIGKILL)

    def _stop(self) -> None:
        if not self._stopping:
            self._kill_at = Duration(self._clock.monotonic() + self._patience)
            self._send(signal.SIGTERM)

    def _kill_late(self) -> None:
        if self._kill_at is not None and self._clock.monotonic() >= self._kill_at and self._alive():
            names = ", ".join(child.role.name for child, _ in self._alive())
            self._say(f"{names} did not end within {duration_text(self._patience)}; killing.")
            self._send(signal.SIGKILL)
            self._kill_at = Duration(self._kill_at + _ROOM)

    def _send(self, number: signal.Signals) -> None:
        for _, process in self._alive():
            process.send_signal(number)


def _spoken(status: int) -> str:
    """An exit status in words: ``was killed by SIGKILL``, ``ended with status 1``."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"was killed by signal {-status}"


def _quoted(child: _Child) -> str:
    words = child.last_words()
    return "".join(f"\n  {line}" for line in words.splitlines()) if words else ""
