"""The spawner: a single-threaded process that forks what the runner, full of threads, can't. One per runner, made late.

For each job it forks a minder (minder.py) and forgets it. For the first Python task it imports the app, so that later
ones start from memory. Started as ``python -m mainspring.runner.spawner FD TARGET``; ends with the runner.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import warnings
from typing import TYPE_CHECKING

from mainspring import process
from mainspring.errors import InvalidTask, MainspringError
from mainspring.runner import minder
from mainspring.runner.client import FrameClient, refuse_outside
from mainspring.runner.orders import Refused, Spawn, spawns
from mainspring.worker.frames import encoder

if TYPE_CHECKING:
    from mainspring.runner.running import Registered

_READ = 262_144


class Spawner:
    """The loop: one order after the other."""

    def __init__(self, orders: socket.socket, target: str) -> None:
        self._orders = orders
        self._target = target
        self._tasks: dict[str, Registered] | None = None
        self._descriptors: list[int] = []
        self._minders: set[int] = set()

    def run(self) -> None:
        """Carry out orders until the runner is gone."""
        wake, wake_us = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(wake_us, False)
        # The handler does nothing: one that buries would be interrupted by itself, and would run in fresh forks.
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_us, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._orders, select.POLLIN)
        poll.register(wake, select.POLLIN)
        partial = b""
        while True:
            ready = [descriptor for descriptor, _ in poll.poll()]
            if wake in ready:
                os.read(wake, 4096)
                self._bury()
            if self._orders.fileno() not in ready:
                continue
            data, descriptors, _, _ = socket.recv_fds(self._orders, _READ, 64)
            if not data:
                return
            self._descriptors += descriptors
            *lines, partial = (partial + data).split(b"\n")
            for line in lines:
                self._spawn(spawns.decode(line))

    def _spawn(self, order: Spawn) -> None:
        descriptors = self._descriptors[: order.descriptors]
        del self._descriptors[: order.descriptors]
        try:
            task = None if order.argv is not None else self._task(order.task)
            self._fork(order, descriptors, task)
        except (MainspringError, OSError) as error:
            os.write(descriptors[2], encoder.encode(Refused(str(error))) + b"\n")
        for descriptor in descriptors:
            os.close(descriptor)

    def _task(self, name: str) -> Registered:
        """A task of the app, which is imported now if it was not yet."""
        if self._tasks is None:
            from mainspring.runner import child  # noqa: F401 - so that forks have it
            from mainspring.sdk import connection
            from mainspring.sdk.loading import load_app

            connection.use_client(FrameClient(refuse_outside))
            self._tasks = {task.name: task for task in load_app(self._target).tasks.values()}
            gc.collect()
            gc.freeze()  # so that collections in the children don't copy every page of the app
        if name not in self._tasks:
            raise InvalidTask(f"The app has no task {name!r} any more.", remedy="Restart the worker.", field="task")
        return self._tasks[name]

    def _fork(self, order: Spawn, descriptors: list[int], task: Registered | None) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads that the app's import has started
            pid = os.fork()
        if pid == 0:
            self._orders.close()
            minder.mind(order, descriptors, task)
        self._minders.add(pid)

    def _bury(self) -> None:
        """Minders that have ended, and none else: the app may have started processes while it was imported."""
        for pid in list(self._minders):
            if os.waitpid(pid, os.WNOHANG)[0]:
                self._minders.discard(pid)


def main(argv: list[str]) -> int:
    """Be the spawner of the runner at the other end of the socket with this number."""
    parent = os.getppid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: None)  # a handler, as what we start would inherit that it is ignored
    process.die_with_parent(signal.SIGKILL, parent)
    with socket.socket(fileno=int(argv[0])) as orders:
        Spawner(orders, argv[1]).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
