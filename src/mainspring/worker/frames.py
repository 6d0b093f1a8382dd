"""Frames on the wire: one JSON text per line over a stream socket. docs/architecture/runner-protocol.md is the page.

A Channel is one end of one socket pair: non-blocking, with buffers of its own on both sides, so that neither process
ever waits for the other.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Generic, TypeVar

import msgspec

from mainspring.domain.frame import Frame, FromRunner, ToRunner
from mainspring.errors import ProtocolViolation

LONGEST_LINE = 8 * 1_048_576
_READ = 262_144

In = TypeVar("In")

encoder = msgspec.json.Encoder()
from_runner: msgspec.json.Decoder[FromRunner] = msgspec.json.Decoder(FromRunner)
to_runner: msgspec.json.Decoder[ToRunner] = msgspec.json.Decoder(ToRunner)


class Channel(Generic[In]):
    """One end of a socket pair that carries frames; ``decoder`` fits what the other end sends."""

    def __init__(self, end: socket.socket, decoder: msgspec.json.Decoder[In]) -> None:
        end.setblocking(False)
        self.socket = end
        self.closed = False
        self._decoder = decoder
        self._partial = b""
        self._out = bytearray()

    def fileno(self) -> int:
        """For selectors."""
        return self.socket.fileno()

    def read(self) -> list[In]:
        """All frames that have arrived; sets ``closed`` when the other end is gone. Raises ProtocolViolation."""
        pieces = []
        while True:
            try:
                piece = self.socket.recv(_READ)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                piece = b""
            if not piece:
                self.closed = True
                break
            pieces.append(piece)
            if len(piece) < _READ:
                break
        return self.decode(b"".join(pieces))

    def decode(self, data: bytes) -> list[In]:
        """Split what was read into frames; an unfinished line waits for its rest."""
        data = self._partial + data
        end = data.rfind(b"\n") + 1
        self._partial = data[end:]
        if len(self._partial) > LONGEST_LINE:
            raise ProtocolViolation(f"A frame is longer than {LONGEST_LINE:,} bytes.")
        try:
            return self._decoder.decode_lines(data[:end]) if end else []
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise ProtocolViolation(f"A frame can't be read: {error}") from error

    def put(self, frame: Frame) -> None:
        """Queue a frame; ``flush`` sends it."""
        self._out += encoder.encode(frame)
        self._out += b"\n"

    def put_all(self, frames: Iterable[Frame]) -> None:
        """Queue several."""
        self._out += encoder.encode_lines(frames)

    @property
    def pending(self) -> int:
        """Bytes queued and not yet sent."""
        return len(self._out)

    def flush(self) -> bool:
        """Send what the socket takes now. True when nothing is left; watch for writability otherwise."""
        while self._out:
            try:
                sent = self.socket.send(self._out)
            except (BlockingIOError, InterruptedError):
                return False
            except OSError:
                self.closed = True
                self._out.clear()
                return True
            del self._out[:sent]
        return True

    def close(self) -> None:
        """Close this end."""
        self.closed = True
        self.socket.close()
