"""What one job prints, on its way to the coordinator: cleaned, masked, cut to size, in whole lines where possible.

A job is never blocked by its output: what exceeds its room is dropped from the middle, what exceeds the credit waits
here. Threads write, the event loop takes; a lock of its own per job.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator

from mainspring.clock import SECOND, Clock, Duration, Instant
from mainspring.domain.logline import LOG_LIMIT, TAIL_LIMIT, LogChunk
from mainspring.domain.secrecy import NOTHING_KNOWN, Mask

PIECE = 65_536
"""Bytes of a frame's texts, about: what is taken at once, and the most that waits for the next flush."""
_MERGED = 16_384
_PATIENCE = Duration(SECOND)
"""How long an unfinished line is held back."""


class _Piece:
    """Text of one stream that became one chunk."""

    __slots__ = ("at", "level", "parts", "size", "stream")

    def __init__(self, at: Instant, stream: str, level: str, text: str, size: int) -> None:
        self.at, self.stream, self.level, self.parts, self.size = at, stream, level, [text], size

    def chunk(self) -> LogChunk:
        return LogChunk(self.at, self.stream, "".join(self.parts), self.level)


class JobLog:
    """The output of one attempt.

    ``room``: bytes that may still be kept of this job; ``news`` is called, on whatever thread wrote, when there is
    something to take for the first time, and again when a frame's worth has gathered; ``mask`` hides secrets, also when
    they come in several writes.
    """

    def __init__(self, room: int, clock: Clock, news: Callable[[], None], mask: Mask = NOTHING_KNOWN) -> None:
        self._clock = clock
        self._news = news
        self._mask = mask
        self._lock = threading.Lock()
        self._tail_room = min(room, TAIL_LIMIT)
        self._head_room = room - self._tail_room
        self._ready: deque[_Piece] = deque()
        self._tail: deque[_Piece] = deque()
        self._tail_size = 0
        self._last: _Piece | None = None
        self._cut = 0
        self._unfinished: dict[str, tuple[Instant, str]] = {}
        self._waiting = 0
        self._told = 0
        self.closed = False

    def write(self, stream: str, text: str, level: str = "") -> None:
        """Take some output. Safe in any thread; text after the end of the attempt is dropped."""
        if "\0" in text or not text.isascii():
            text = clean(text)
        with self._lock:
            if self.closed or not text:
                return
            at = None
            if stream in self._unfinished:
                at, before = self._unfinished.pop(stream)
                text = before + text
            if text[-1] != "\n":
                text = self._hold_back(stream, text, at)
            text = self._mask(text)
            if text:
                size = len(text) if text.isascii() else len(text.encode())
                if not self._continues(stream, level, text, size):
                    self._admit(at or self._clock.now(), stream, level, text, size)
            call = self._waiting >= self._told
            if call:
                self._told = self._next_call()
        if call:
            self._news()

    def _hold_back(self, stream: str, text: str, at: Instant | None) -> str:
        """Keep the unfinished line at the end of this, if it is not very long; what is left to admit."""
        whole = text.rfind("\n") + 1
        if len(text) - whole > PIECE:
            whole = len(text) - self._mask.unsettled(text)
            if whole == len(text):
                return text
        self._unfinished[stream] = (self._clock.now() if at is None or whole else at, text[whole:])
        return text[:whole]

    def _continues(self, stream: str, level: str, text: str, size: int) -> bool:
        """Add to the piece that was written last where that is still here, of the same kind, small, and has room."""
        last = self._last
        if last is None or last.size + size > _MERGED or last.stream != stream or last.level != level:
            return False
        if self._tail:
            self._tail_size += size
        elif size <= self._head_room:
            self._head_room -= size
            self._waiting += size
        else:
            return False
        last.parts.append(text)
        last.size += size
        return True

    def _admit(self, at: Instant, stream: str, level: str, text: str, size: int) -> None:
        """Into the head while that has room, then into the tail, which forgets its oldest."""
        if size > PIECE:
            for part in _parts(text):
                self._admit(at, stream, level, part, len(part.encode()))
            return
        self._last = piece = _Piece(at, stream, level, text, size)
        if size <= self._head_room:
            self._head_room -= size
            self._waiting += size
            self._ready.append(piece)
            return
        self._head_room = 0
        self._tail_size += size
        self._tail.append(piece)
        if self._tail_size > self._tail_room + PIECE:
            self._shorten()

    def _shorten(self) -> None:
        """Cut the tail to its room."""
        while self._tail_size > self._tail_room:
            self._forget(self._tail_size - self._tail_room)

    def _forget(self, excess: int) -> None:
        """Drop the oldest of the tail: a whole piece, or its first lines."""
        piece = self._tail[0]
        kept = ""
        if piece.size > excess:
            data = "".join(piece.parts).encode()
            start = data.find(b"\n", excess) + 1 or len(data)
            kept = data[start:].decode()
        gone = piece.size - len(kept.encode())
        self._cut += gone
        self._tail_size -= gone
        if kept:
            piece.parts, piece.size = [kept], piece.size - gone
        else:
            self._tail.popleft()
            if piece is self._last:
                self._last = None

    def take(self, *, most: int = PIECE) -> list[LogChunk]:
        """What may go into the next frame: about ``most`` bytes, oldest first. An empty list: nothing is ready."""
        chunks, size = [], 0
        with self._lock:
            self._release(self._clock.now() - _PATIENCE)
            while self._ready and size < most:
                piece = self._ready.popleft()
                if piece is self._last:
                    self._last = None
                size += piece.size
                chunks.append(piece.chunk())
            self._waiting -= size
            self._told = self._next_call()
        return chunks

    def _next_call(self) -> int:
        """How much must be ready for ``news``: a frame's worth, or the first whole line after its mere beginning."""
        if self._waiting:
            return self._waiting + PIECE
        return 1 if self._unfinished else 0

    @property
    def waiting(self) -> int:
        """Bytes that are ready to be taken."""
        return self._waiting

    @property
    def unsettled(self) -> bool:
        """Whether there is more to take, now or when an unfinished line has waited long enough."""
        return bool(self._ready or self._unfinished)

    def _release(self, before: int, *, last: bool = False) -> None:
        """Unfinished lines that have waited long enough, but for an end that may be the beginning of a secret."""
        for stream, (at, text) in list(self._unfinished.items()):
            held = 0 if last else self._mask.unsettled(text)
            if at <= before and held < len(text):
                shown = self._mask(text[: len(text) - held])
                del self._unfinished[stream]
                if held:
                    self._unfinished[stream] = (at, text[-held:])
                self._admit(at, stream, "", shown, len(shown.encode()))

    def close(self) -> None:
        """The attempt has ended: all that is kept becomes ready, with a mark where something was cut."""
        with self._lock:
            self._release(self._clock.now(), last=True)
            self.closed = True
            self._shorten()
            if self._cut:
                kept = f"{LOG_LIMIT // 1_048_576} MiB are kept per job"
                mark = f"[mainspring: {self._cut:,} bytes cut here; {kept}]\n"
                self._ready.append(_Piece(self._clock.now(), "mainspring", "", mark, len(mark)))
            self._ready.extend(self._tail)
            self._tail.clear()


def clean(text: str) -> str:
    """The text without what can't be stored (NUL, halves of surrogate pairs), which is shown escaped."""
    if "\0" in text:
        text = text.replace("\0", "\\x00")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return text.encode("utf-8", "backslashreplace").decode()
    return text


def _parts(text: str) -> Iterator[str]:
    """Parts of at most PIECE bytes, cut behind a line where there is one."""
    most = PIECE if text.isascii() else PIECE // 4
    start = 0
    while start < len(text):
        stop = start + most
        if stop < len(text):
            stop = text.rfind("\n", start, stop) + 1 or stop
        yield text[start:stop]
        start = stop
