"""The runner's side of its spawner: started when it is first needed, and again when it has died."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections import deque
from contextlib import suppress

from mainspring.runner.orders import Spawn
from mainspring.worker.frames import encoder


class SpawnerLink:
    """Orders with descriptors, over a socket."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._loop = asyncio.get_running_loop()
        self._where = os.getcwd()  # noqa: PTH109 - a text; before user code may move us
        self._socket: socket.socket | None = None
        self._spawner: subprocess.Popen[bytes] | None = None
        self._unsent: deque[tuple[bytes, list[int]]] = deque()

    def send(self, order: Spawn, descriptors: list[int]) -> None:
        """Send an order. The descriptors are the spawner's from now on."""
        if self._socket is None:
            self._socket = self._start()
        self._unsent.append((encoder.encode(order) + b"\n", descriptors))
        self._flush(self._socket)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self._spawner = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, "-P", "-m", "mainspring.runner.spawner", str(theirs.fileno()), self._target],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                cwd=self._where,
                start_new_session=True,
            )
        ours.setblocking(False)
        self._loop.add_reader(ours, self._look, ours)
        return ours

    def _look(self, ours: socket.socket) -> None:
        """It says nothing; what can be read is its end."""
        with suppress(BlockingIOError, InterruptedError):
            try:
                data = ours.recv(1)
            except ConnectionError:
                data = b""
            if not data:
                self._lost(ours)

    def _flush(self, ours: socket.socket) -> None:
        while self._unsent:
            data, descriptors = self._unsent[0]
            try:
                sent = socket.send_fds(ours, [data], descriptors)
            except (BlockingIOError, InterruptedError):
                self._loop.add_writer(ours, self._flush, ours)
                return
            except OSError:
                self._lost(ours)
                return
            _close(descriptors)
            if sent < len(data):
                self._unsent[0] = (data[sent:], [])
            else:
                self._unsent.popleft()
        self._loop.remove_writer(ours)

    def _lost(self, ours: socket.socket) -> None:
        """It died. Jobs whose orders it had not carried out see the end of their lines; others go on."""
        if ours is not self._socket:
            return
        self._loop.remove_reader(ours)
        self._loop.remove_writer(ours)
        ours.close()
        self._socket = None
        for _, descriptors in self._unsent:
            _close(descriptors)
        self._unsent.clear()
        if self._spawner is not None:
            self._spawner.wait()
            self._spawner = None


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
