"""The two channels to the coordinator, on the runner's event loop.

What goes out is gathered for one iteration of the loop and sent at once. Only the thread of the loop may touch it.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable

from mainspring.domain.frame import Frame, ToRunner
from mainspring.errors import ProtocolViolation, StoreUnreachable
from mainspring.worker.frames import Channel

EARLY = 2048
"""Bytes that are not kept back for the end of the loop's iteration: about 25 small ends."""

Receive = Callable[[ToRunner], None]


class Link:
    """Frames in by callback, frames out in batches. ``lost`` is called once when the coordinator is gone or raves."""

    def __init__(
        self, control: Channel[ToRunner], bulk: Channel[ToRunner], receive: Receive, lost: Callable[[str], None]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._control = control
        self._bulk = bulk
        self._receive = receive
        self._lost = lost
        self._due = False
        self._writing: set[int] = set()
        for channel in (control, bulk):
            self._loop.add_reader(channel.fileno(), self._read, channel)

    def urgent(self, frame: Frame) -> None:
        """Send by control: small and soon."""
        self._control.put(frame)
        if not self._due:
            self._due = True
            self._loop.call_soon(self.flush)

    def send(self, frame: Frame) -> None:
        """Send by bulk, in order."""
        self._bulk.put(frame)
        if self._bulk.pending >= EARLY:
            self.flush()  # the coordinator commits these ends while we run the rest of the iteration
        elif not self._due:
            self._due = True
            self._loop.call_soon(self.flush)

    @property
    def idle(self) -> bool:
        """Whether all that was queued has been sent."""
        return not self._control.pending and not self._bulk.pending

    def _read(self, channel: Channel[ToRunner]) -> None:
        try:
            for frame in channel.read():
                self._receive(frame)
        except ProtocolViolation as error:
            self._close(str(error))
            return
        if channel.closed:
            self._close("The coordinator has closed the connection.")

    def _close(self, reason: str) -> None:
        for channel in (self._control, self._bulk):
            self._loop.remove_reader(channel.fileno())
            channel.closed = True
        self._lost(reason)

    def flush(self) -> None:
        """Send what the sockets take now; the rest when they are writable."""
        self._due = False
        for channel in (self._control, self._bulk):
            if not channel.pending:
                continue
            fd = channel.fileno()
            if not channel.flush():
                if fd not in self._writing:
                    self._writing.add(fd)
                    self._loop.add_writer(fd, self.flush)
            elif fd in self._writing:
                self._writing.remove(fd)
                self._loop.remove_writer(fd)

    def wait_in_place(self, done: Callable[[], bool]) -> None:
        """Serve both channels from inside a callback of the loop until ``done()``: for SDK calls made there.

        Frames are received as ever; what they start runs when the loop turns again. Raises StoreUnreachable when the
        coordinator is gone.
        """
        poll = select.poll()
        while not done():
            self.flush()
            for channel in (self._control, self._bulk):
                poll.register(channel, select.POLLIN | (select.POLLOUT if channel.pending else 0))
            ready = {fd for fd, mask in poll.poll() if mask & ~select.POLLOUT}
            for channel in (self._control, self._bulk):
                if channel.fileno() in ready:
                    self._read(channel)
            if self._bulk.closed and not done():
                raise StoreUnreachable("The coordinator of this runner is gone.")
