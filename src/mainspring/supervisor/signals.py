"""Signals as data: what came in is read from a pipe by the loop that waits for it; no code runs in a handler.

Waiting costs no CPU: it ends when a signal comes, a child ends (SIGCHLD) or the time is up.
"""

from __future__ import annotations

import os
import selectors
import signal
from types import FrameType, TracebackType
from typing import Any, Self

from mainspring.clock import Duration, seconds
from mainspring.process import has_terminal

STOPPING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def is_wish_to_end(number: int) -> bool:
    """Whether a signal wants us to end: SIGHUP only as the end of a terminal; else our children read their files."""
    return number in STOPPING and (number != signal.SIGHUP or has_terminal())


class SignalInbox:
    """Collects SIGTERM, SIGINT, SIGHUP and SIGCHLD of this process while it is entered. Main thread only.

    SIGHUP stays ignored where it was ignored when we were started (``nohup``). SIGINT does not, although shells ignore
    it for what a script puts in the background: whoever sends it to us by hand means it.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._before: dict[int, Any] = {}
        self._reader, self._writer = -1, -1
        self._wakeup = -1

    def __enter__(self) -> Self:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self._selector.register(self._reader, selectors.EVENT_READ)
        self._wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in (*STOPPING, signal.SIGCHLD):
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                self._before[number] = signal.signal(number, _noted)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        self._selector.close()
        os.close(self._reader)
        os.close(self._writer)

    def wait(self, length: Duration | None) -> list[int]:
        """The signals that came, in order; an empty list when the time is up. None waits without an end."""
        self._selector.select(None if length is None else max(0.0, seconds(length)))
        try:
            return list(os.read(self._reader, 4096))
        except BlockingIOError:
            return []


def _noted(_number: int, _frame: FrameType | None) -> None:
    """Python writes the signal's number to the pipe; there is nothing else to do."""
