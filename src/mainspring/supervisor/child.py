"""The other end of the supervisor, inside server and worker: what they were handed, and what they leave behind.

What is handed over travels in the environment and is taken out of it at once, so that runners and jobs never see it.
Standard library and settings only, as this runs before anything else of the child.
"""

from __future__ import annotations

import faulthandler
import io
import os
import signal
import sys
from collections import deque
from collections.abc import MutableMapping
from contextlib import suppress
from threading import Thread
from typing import TextIO

import msgspec

from mainspring import process
from mainspring.config.layers import Loaded

PARENT = "MAINSPRING_SUPERVISOR_PID"
SETTINGS = "MAINSPRING_SUPERVISOR_SETTINGS"
TREE_LOCK = "MAINSPRING_SUPERVISOR_LOCK_FD"
LAST_WORDS = "MAINSPRING_SUPERVISOR_WORDS_FD"

_LINES_KEPT = 20
MOST_WORDS = 65_536


def handover(loaded: Loaded, *, tree_lock: int, last_words: int) -> dict[str, str]:
    """The environment variables that a child finds its place by."""
    return {
        PARENT: str(os.getpid()),
        SETTINGS: msgspec.json.encode(loaded.handed()).decode(),
        TREE_LOCK: str(tree_lock),
        LAST_WORDS: str(last_words),
    }


class Supervised:
    """This process as a child of a supervisor: its configuration, and the file for its last words."""

    def __init__(self, loaded: Loaded, parent: int, words: int) -> None:
        self.loaded = loaded
        self._parent = parent
        self._words = words
        self._heard = Overheard(sys.stderr)

    def listen(self) -> None:
        """Keep the last lines of standard error in mind, and let a crash of the interpreter leave its stacks."""
        sys.stderr = self._heard
        faulthandler.enable(self._words)

    def leave(self, text: str) -> bool:
        """Leave the reason of an end to the supervisor, or without one the last lines of standard error.

        False when nobody is there to read it: then it is for this process to say it.
        """
        with suppress(OSError):
            os.write(self._words, (text or self._heard.tail).encode(errors="replace")[-MOST_WORDS:])
            return os.getppid() == self._parent
        return False


def join(environment: MutableMapping[str, str]) -> Supervised | None:
    """Take up the place in the tree, when a supervisor started us; None when nobody did.

    Holds the tree lock until this process ends, and asks for SIGTERM when the supervisor dies.
    """
    found = {name: environment.pop(name, "") for name in (PARENT, SETTINGS, TREE_LOCK, LAST_WORDS)}
    if not all(found.values()):
        return None
    parent, words = int(found[PARENT]), int(found[LAST_WORDS])
    for descriptor in (int(found[TREE_LOCK]), words):
        os.set_inheritable(descriptor, False)
    _end_with(parent)
    return Supervised(msgspec.json.decode(found[SETTINGS], type=Loaded), parent, words)


def _end_with(parent: int) -> None:
    if sys.platform == "darwin":
        Thread(target=_watch, args=(parent,), name="mainspring-parent", daemon=True).start()
    else:
        process.die_with_parent(signal.SIGTERM, parent)


def _watch(parent: int) -> None:
    """Where the kernel sends no signal for it: wait for the end of the parent, then be told like a drain."""
    if sys.platform == "darwin":
        import select

        wish = select.kevent(parent, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
        with suppress(ProcessLookupError):
            select.kqueue().control([wish], 1)
        os.kill(os.getpid(), signal.SIGTERM)


class Overheard(io.TextIOBase):
    """Standard error that remembers its last lines."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._lines: deque[str] = deque(maxlen=_LINES_KEPT)
        self._open = ""

    def write(self, text: str) -> int:
        self._stream.write(text)
        *whole, self._open = (self._open + text)[-MOST_WORDS:].split("\n")
        self._lines.extend(whole)
        return len(text)

    def flush(self) -> None:
        self._stream.flush()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def writable(self) -> bool:
        return True

    @property
    def encoding(self) -> str:  # type: ignore[override]  # a plain attribute in the typeshed
        return self._stream.encoding

    @property
    def tail(self) -> str:
        """The last lines."""
        return "\n".join([*self._lines, self._open]).strip("\n")
