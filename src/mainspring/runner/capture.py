"""What user code prints and logs in this process, led to the log of the job whose code it is.

Told apart by a context variable, which async tasks and ``asyncio.to_thread`` inherit; what is printed outside any job
(at import, in threads started by hand) goes where it always went.
"""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from mainspring.runner.running import here

Emit = Callable[[str, str], None]
"""Takes a level's name and a text of whole lines."""


class JobStream(io.TextIOBase):
    """Stands for ``sys.stdout`` or ``sys.stderr``; ``name`` is the stream of the log."""

    encoding = "utf-8"
    errors = "backslashreplace"
    newlines = None

    def __init__(self, name: str, real: TextIO) -> None:
        super().__init__()
        self.name = f"<{name}>"
        self._stream = name
        self._real = real
        self._bytes = _JobBytes(self)

    @property
    def buffer(self) -> io.RawIOBase:
        """For those who write bytes."""
        return self._bytes

    def write(self, text: str, /) -> int:
        running = here.get()
        if running is None:
            return self._real.write(text)
        running.write(self._stream, text)
        return len(text)

    def writelines(self, lines: Iterable[Any], /) -> None:
        self.write("".join(lines))

    def flush(self) -> None:
        if here.get() is None:
            self._real.flush()

    def fileno(self) -> int:
        return self._real.fileno()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def close(self) -> None:
        """Stays open: it belongs to all jobs."""

    def reconfigure(self, **changes: object) -> None:
        """Accepted, as programs say it to the real one; nothing here depends on it."""


class _JobBytes(io.RawIOBase):
    """``sys.stdout.buffer``: bytes as text, what is not UTF-8 visibly escaped."""

    def __init__(self, text: JobStream) -> None:
        super().__init__()
        self._text = text

    def write(self, data: Any, /) -> int:
        taken = bytes(data)
        self._text.write(taken.decode("utf-8", "backslashreplace"))
        return len(taken)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._text.fileno()

    def close(self) -> None:
        """Stays open, too."""


def capture_streams() -> None:
    """Put JobStreams in the place of the standard ones. Before the app is imported, as imports keep references."""
    sys.stdout = JobStream("stdout", sys.stdout)
    sys.stderr = JobStream("stderr", sys.stderr)


def emit_here(level: str, text: str) -> None:
    """Into the log of the job whose code runs, else to standard error."""
    running = here.get()
    if running is None:
        sys.stderr.write(text)
    else:
        running.write("log", text, level)


class JobHandler(logging.Handler):
    """Log records as lines of the job's log."""

    def __init__(self, emit: Emit) -> None:
        super().__init__()
        self._emit = emit

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._emit(record.levelname, f"{self.format(record)}\n")
        except Exception:  # noqa: BLE001 - a record that can't be formatted must not fail the job
            self.handleError(record)


def capture_logging(app: str, emit: Emit) -> None:
    """After the app was imported: take the place of root handlers that write to a terminal, with their formats.

    Loggers of the app's tasks (``ctx.log``) speak from INFO on, unless the app has chosen otherwise.
    """
    root = logging.getLogger()
    terminals = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    handler = JobHandler(emit)
    for there in list(root.handlers):
        if type(there) is logging.StreamHandler and there.stream in terminals:
            root.removeHandler(there)
            handler.setFormatter(there.formatter)
            handler.setLevel(there.level)
    root.addHandler(handler)
    ours = logging.getLogger(app)
    if ours.level == logging.NOTSET:
        ours.setLevel(min(logging.INFO, root.level))
