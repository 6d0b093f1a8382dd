"""Signals of a worker as bytes in its selector: the handler itself does nothing, and no code runs in it."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from contextlib import suppress

from mainspring.process import has_terminal

_HEARD = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def catch() -> tuple[socket.socket, Callable[[], None]]:
    """From now on signals come out of this socket; the function puts things back. Main thread only."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    kept_fd = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    kept = {number: signal.signal(number, lambda *_: None) for number in _HEARD}

    def restore() -> None:
        signal.set_wakeup_fd(kept_fd)
        for number, handler in kept.items():
            signal.signal(number, handler)
        ours.close()
        theirs.close()

    return ours, restore


def wishes(end: socket.socket) -> tuple[int, bool]:
    """How often we were told to end since the last time, and whether to read the configuration again.

    SIGHUP is the end of a terminal where there is one, and elsewhere asks for the configuration.
    """
    heard: list[int] = []
    with suppress(BlockingIOError):
        heard = [number for number in end.recv(64) if number in _HEARD]
    reads = signal.SIGHUP in heard and not has_terminal()
    return len([number for number in heard if not (reads and number == signal.SIGHUP)]), reads
