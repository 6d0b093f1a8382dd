"""Where a benchmark runs on Redis: a server of its own on a socket, with the settings that Redis comes with."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Self

from benchmarks.peers import environment
from benchmarks.place import Place


class RedisPlace(Place):
    """A folder with a Redis server that keeps all in memory and writes snapshots."""

    def __enter__(self) -> Self:
        path = self.folder / "redis"
        self.url = f"unix://{path}"
        self.run(environment.redis(), "--port", "0", "--unixsocket", str(path), "--dir", str(self.folder))
        self.until("the start of Redis", lambda: _answers(str(path)), within=30)
        return super().__enter__()


def _answers(path: str) -> bool:
    with suppress(OSError), socket.socket(socket.AF_UNIX) as one:
        one.connect(path)
        return True
    return False
