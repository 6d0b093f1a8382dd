"""Where the database of a chaos run is: a PostgreSQL server of its own, the same behind a pooler, or a SQLite file.

A ground says how a process reaches the database, how often which fault befalls it, and answers questions for the judge.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, ClassVar

import apsw
import psycopg

from mainspring.clock import Duration
from tests import pooler, postgres
from tests.proxy import Proxy

_DATABASE = "chaos"
_PROCESSES = {"kill": 5, "kill runner": 3, "stop": 5}
_NETWORK = {"cut": 6, "lose answer": 6, "lose commit": 3, "swallow": 3, "delay": 3, "refuse": 2}
_SERVER = {"fast restart": 1, "immediate restart": 2}


class Ground(ABC):
    """``weights``: the kinds of faults, and how often each comes; ``url``: the undisturbed way to the database."""

    weights: ClassVar[dict[str, int]]
    url: str

    def __init__(self) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="ms-chaos-"))
        self.place.chmod(0o755)
        self.proxies: list[Proxy] = []

    @abstractmethod
    def way(self) -> tuple[str, Proxy | None]:
        """A way of its own for one process, and what disturbs it."""

    @abstractmethod
    def ask(self, text: str) -> list[tuple[Any, ...]]:
        """What the database answers."""

    def restart(self, mode: str) -> None:
        """End the server, ``fast`` or ``immediate``, and start it again."""
        raise NotImplementedError

    def mend(self) -> None:
        """No fault is left."""
        for proxy in self.proxies:
            clear(proxy)

    def close(self, *, keep: bool) -> None:
        """End what belongs to it."""
        for proxy in self.proxies:
            proxy.__exit__()
        if not keep:
            shutil.rmtree(self.place)


class SqliteGround(Ground):
    """A file: nothing stands between, so processes alone suffer."""

    weights: ClassVar[dict[str, int]] = _PROCESSES

    def __init__(self) -> None:
        super().__init__()
        self.url = f"sqlite:///{self.place / 'm.db'}"

    def way(self) -> tuple[str, Proxy | None]:
        return self.url, None

    def ask(self, text: str) -> list[tuple[Any, ...]]:
        # By the library that the clients of this process use: a second one would break the locks of the first.
        connection = apsw.Connection(str(self.place / "m.db"), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return list(connection.execute(text))
        finally:
            connection.close()


class PostgresGround(Ground):
    """A server that goes down now and then, with a proxy before it for each process."""

    weights: ClassVar[dict[str, int]] = _PROCESSES | _NETWORK | _SERVER

    def __init__(self) -> None:
        super().__init__()
        (self.place / "server").mkdir()
        self.server = postgres.start(self.place / "server", fsync="on", log_line_prefix="%m [%p] ")
        self._log = str(self.server.folder / "log")
        self.server.ask(f"create database {_DATABASE}")
        self.url = self.server.url(_DATABASE)

    @property
    def port(self) -> int:
        """Where proxies lead to."""
        return self.server.port

    def way(self) -> tuple[str, Proxy | None]:
        proxy = Proxy(self.port)
        self.proxies.append(proxy)
        return self.server.tcp_url(_DATABASE, port=proxy.port) + "?connect_timeout=2", proxy

    def ask(self, text: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(f"{self.url}&options=-csearch_path%3Dmainspring") as connection:
            return connection.execute(text.encode()).fetchall()

    def restart(self, mode: str) -> None:
        with suppress(subprocess.CalledProcessError):  # it may take longer; mend() looks
            self.server.control("-m", mode, "-l", self._log, "restart")

    def mend(self) -> None:
        super().mend()
        try:
            self.server.control("status")
        except subprocess.CalledProcessError:  # a restart was cut short
            self.server.control("-l", self._log, "start")

    def close(self, *, keep: bool) -> None:
        postgres.stop(self.server)
        super().close(keep=keep)


class PooledGround(PostgresGround):
    """The same, with pgbouncer between the proxies and the server: each transaction has another session."""

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        self._pooler = self._stack.enter_context(pooler.started(self.server))

    @property
    def port(self) -> int:
        return self._pooler.port

    def close(self, *, keep: bool) -> None:
        self._stack.close()
        super().close(keep=keep)


GROUNDS: dict[str, Callable[[], Ground]] = {
    "postgres": PostgresGround,
    "pooled": PooledGround,
    "sqlite": SqliteGround,
}


def clear(proxy: Proxy) -> None:
    """It does nothing wrong any more; what was said into the void is cut, as nobody would answer it."""
    proxy.refuse, proxy.swallow, proxy.delay, proxy.at_commit = 0, "", Duration(0), ""
    proxy.cut()
