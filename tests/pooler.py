"""pgbouncer in transaction mode before a server of the tests: as many clients as like on few sessions.

Debian has it as a package; where there is none, tests/conftest.py says which part of the suite was left out.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from mainspring.clock import MILLISECOND, SECOND, Duration, SystemClock
from tests import postgres

SESSIONS = 10
"""With the server, for each database."""

_NOBODY = 65534
_SETTINGS = """
[databases]
* = host={host} port={port} user=mainspring

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 100
default_pool_size = {sessions}
server_idle_timeout = 5
query_wait_timeout = 20
ignore_startup_parameters = extra_float_digits
log_connections = 0
log_disconnections = 0
logfile = {folder}/log
pidfile = {folder}/pid
"""


class Pooler(NamedTuple):
    """One that runs."""

    port: int
    server: postgres.Server

    def url(self, database: str) -> str:
        """The URL of a database behind it."""
        return self.server.tcp_url(database, port=self.port)


def binary() -> str | None:
    """The program, where it is installed."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")


@contextlib.contextmanager
def started(server: postgres.Server) -> Iterator[Pooler]:
    """A pooler before a server, as an ordinary user."""
    program = binary()
    assert program is not None, "pgbouncer is not installed: apt-get install pgbouncer"
    folder = Path(tempfile.mkdtemp(prefix="ms-pool-"))
    user: dict[str, Any] = {}
    if os.geteuid() == 0:
        os.chown(folder, _NOBODY, _NOBODY)
        user = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    values = {"host": server.folder, "port": server.port, "listen": port, "sessions": SESSIONS, "folder": folder}
    settings = folder / "pgbouncer.ini"
    settings.write_text(_SETTINGS.format(**values))
    with subprocess.Popen(
        [program, "-q", str(settings)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        **user,
    ) as process:
        try:
            _wait_until_open(port, process)
            yield Pooler(port, server)
        finally:
            process.terminate()
    shutil.rmtree(folder)


def _wait_until_open(port: int, process: subprocess.Popen[bytes]) -> None:
    clock = SystemClock()
    deadline = clock.monotonic() + 10 * SECOND
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        assert process.poll() is None, "pgbouncer ended at once"
        assert clock.monotonic() < deadline, "pgbouncer takes no connections"
        clock.wait(Duration(10 * MILLISECOND))
