"""Which client the SDK's calls use: the one set with ``use_client`` (runners, tests), else a direct one, opened late.

Nothing is opened at import. A process that was forked opens its own: it must never touch, nor even close, a SQLite
connection that it inherited, as closing one drops the locks of the parent.
"""

from __future__ import annotations

import atexit
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from mainspring.domain.ids import JobId
from mainspring.errors import StoreUnreachable
from mainspring.sdk.context import current

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mainspring.client import Client
    from mainspring.client.direct import DirectClient
    from mainspring.domain.job import JobRequest, Receipt
    from mainspring.domain.task import Catalog


class App(Protocol):
    """What this needs to know of a Mainspring."""

    name: str
    database_url: str | None

    def catalog(self) -> Catalog:
        """All tasks."""
        ...


@runtime_checkable
class SubmitsSoon(Protocol):
    """A client that code on the event loop submits by without a thread: that of a runner."""

    @property
    def on_loop(self) -> bool:
        """Whether the caller is on that loop."""
        ...

    async def submit_soon(self, requests: Sequence[JobRequest]) -> list[Receipt]:
        """``submit`` for code on that loop."""
        ...


class _Connections:
    """The clients of this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.used: Client | None = None
        self.used_in = 0
        self.opened: dict[str, DirectClient] = {}
        self.inherited: list[object] = []
        self.declared: dict[str, tuple[Client, str]] = {}

    def after_fork(self) -> None:
        """In the child: keep what was inherited alive and untouched, and start afresh."""
        self.lock = threading.Lock()  # another thread of the parent may have held it
        self.inherited += [self.opened, self.declared]
        self.opened, self.declared = {}, {}

    def close(self) -> None:
        opened, self.opened = self.opened, {}
        self.declared = {}
        for client in opened.values():
            client.close()


_here = _Connections()
os.register_at_fork(after_in_child=_here.after_fork)


class Using:
    """What ``use_client`` answers: as a context manager it restores what was used before."""

    def __init__(self, before: Client | None, before_in: int) -> None:
        self._before, self._before_in = before, before_in

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _here.used, _here.used_in = self._before, self._before_in


def use_client(client: Client | None) -> Using:
    """From now on every SDK call of this process uses this client; None: the database again.

    For runners and tests. ``with use_client(...)`` restores what was before.
    """
    using = Using(_here.used, _here.used_in)
    _here.used, _here.used_in = client, os.getpid()
    return using


def client_of(app: App, *, make: bool = False) -> Client:
    """The client for this app's calls, opened if need be.

    ``make``: whether a database is made where none is, as a submit does. Raises StoreError; NoDatabase for a question
    where there is none.
    """
    if _here.used is not None:
        if _here.used_in != os.getpid():
            raise StoreUnreachable(
                "This process was forked from one whose connection it can't share.",
                remedy="Submit from the job itself, or start the process with exec (multiprocessing: spawn).",
            )
        return _here.used
    return _opened(app, make=make)


def _opened(app: App, *, make: bool) -> DirectClient:
    """The client of this process for the app's database."""
    url = database_url(app)
    with _here.lock:
        client = _here.opened.get(url)
        if client is None:
            from mainspring.client.direct import connect  # SQLite and all that: only for those who submit

            client = connect(url, make=make)
            if not _here.opened:
                atexit.register(_here.close)
            _here.opened[url] = client
        return client


def declaring_client_of(app: App) -> Client:
    """The same, once the app's catalog is recorded there. For submits."""
    client = client_of(app, make=True)
    catalog = app.catalog()
    if _here.declared.get(app.name) != (client, catalog.code_hash):
        client.declare(catalog)
        _here.declared[app.name] = (client, catalog.code_hash)
    return client


def loop_client_of(app: App) -> SubmitsSoon | None:
    """The client for a submit on the event loop, where there is one, it is the caller's, and it knows the app."""
    used = _here.used
    if not isinstance(used, SubmitsSoon) or _here.used_in != os.getpid() or not used.on_loop:
        return None
    return used if _here.declared.get(app.name) == (used, app.catalog().code_hash) else None


def enlisting_client_of(app: App) -> Client:
    """The client for submits on a connection of the caller's, which needs the database itself, also inside a job."""
    from mainspring.client.direct import DirectClient

    job = current().job_id
    if _here.used is None or isinstance(_here.used, DirectClient) or not job or app.database_url is None:
        return declaring_client_of(app)
    return DirectClient(_opened(app, make=False).store, actor=f"job:{job}", parent=JobId(job))


def close() -> None:
    """Close what this process has opened. The next call opens again."""
    with _here.lock:
        _here.close()


def database_url(app: App) -> str:
    """Where the app's jobs are: its own URL, MAINSPRING_DATABASE_URL, mainspring.toml, or the default file here.

    Raises InvalidSetting for a file or variable that is wrong.
    """
    if app.database_url is not None:
        return app.database_url
    from mainspring.config.layers import database_url as configured
    from mainspring.config.layers import environment

    return configured(environment(), Path.cwd())
