"""Pipe: the reading end of a job's standard output or error. Read in chunks, never by the line."""

from __future__ import annotations

import codecs
import os
from contextlib import suppress

from mainspring.runner.running import Running

CHUNK = 65_536
LAST_WORDS = 2_048
"""Bytes remembered for the evidence of a failure."""


class Pipe:
    """Bytes in, text to the job's log; remembers the last of it."""

    def __init__(self, running: Running, stream: str, descriptor: int) -> None:
        self.descriptor = descriptor
        self.closed = False
        self.last = b""
        self._running = running
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    @classmethod
    def make(cls, running: Running, stream: str) -> tuple[Pipe, int]:
        """A pipe, and the descriptor of its other end."""
        ours, theirs = os.pipe()
        os.set_blocking(ours, False)
        return cls(running, stream, ours), theirs

    def read(self) -> bool:
        """Take a chunk that is there; False at the end."""
        try:
            data = os.read(self.descriptor, CHUNK)
        except (BlockingIOError, InterruptedError):
            return True
        text = self._decoder.decode(data, final=not data)
        if text:
            self._running.write(self._stream, text)
        self.last = (self.last + data)[-LAST_WORDS:]
        return bool(data)

    def close(self) -> None:
        """Let go of it; half a character at the end is shown escaped."""
        self.closed = True
        text = self._decoder.decode(b"", final=True)
        if text:
            self._running.write(self._stream, text)
        with suppress(OSError):
            os.close(self.descriptor)
