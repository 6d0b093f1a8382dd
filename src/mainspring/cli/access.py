"""The options that every command has, and how a command gets its settings and its client.

The one way from a command to the platform is the Client; only this module says which.
"""

from __future__ import annotations

import getpass
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mainspring.client.operating import OperatingClient, ServingClient
from mainspring.config.layers import Loaded, environment, load
from mainspring.config.live import Live
from mainspring.errors import WrongUse


def option(text: str, value: str = "", *, name: tuple[str, ...] | None = None) -> Parameter:
    """An option with its help; ``value``: what its value is called there; ``name``: in place of the argument's own."""
    return Parameter(name=name, help=text, negative="", show_default=False, metavar=value or None)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Access:
    """Which platform, and how to answer."""

    db: Annotated[str | None, option("The database: sqlite:///relative or sqlite:////absolute path.", "URL")] = None
    config: Annotated[str | None, option("The configuration file (default: mainspring.toml, if there).", "FILE")] = None
    json: Annotated[bool, option("Answer in JSON, errors too.")] = False
    api: Annotated[
        str | None, option("Ask the server at this address instead of a database: http://127.0.0.1:8750.", "URL")
    ] = None
    token: Annotated[str | None, option("Who asks it (better: MAINSPRING_TOKEN).", "SECRET")] = None

    def load(self, flags: Mapping[str, object] | None = None, *, file: str | None = None) -> Loaded:
        """The effective settings, with these flags on top. ``file``: in place of --config.

        Raises InvalidSetting, and WrongUse where a server was named.
        """
        if self.api is not None:
            raise WrongUse(
                "--api names a server, and this command works on a database, or starts a process on one.",
                remedy="Leave --api out; --db names the database where it is not the default one.",
                field="api",
            )
        given = {"database_url": self.db, **(flags or {})}
        return load(environment=environment(), directory=Path.cwd(), file=file or self.config, flags=given)

    @contextmanager
    def client(self, *, make: bool = False, actor: str = "client") -> Iterator[OperatingClient]:
        """A client on the database or of the server, closed afterwards. Raises the StoreError that fits.

        ``make``: whether a database may be made where none is; a question never makes one. ``actor``: who is said to
        have done it.
        """
        remote = self._of_server()
        if remote is None:
            with self.database(make=make, actor=actor) as client:
                yield client
        else:
            try:
                yield remote
            finally:
                remote.close()

    @contextmanager
    def database(self, *, make: bool = False, actor: str = "client") -> Iterator[ServingClient]:
        """A client on the database, whatever server is named elsewhere: for what a server itself begins with."""
        from mainspring.client.direct import connect

        loaded = self.load()
        client = connect(loaded.settings.database_url, make=make, actor=actor, live=Live(loaded))
        try:
            yield client
        finally:
            client.close()

    def _of_server(self) -> OperatingClient | None:
        """A client of the server that is named, if one is; --db on the command line goes before a variable."""
        given = environment()
        url = self.api or ("" if self.db else given.get("MAINSPRING_API_URL", ""))
        if not url:
            return None
        if self.db:
            raise WrongUse("--api and --db were both given.", remedy="Give one of them.", field="api")
        from mainspring.client.remote import connect

        return connect(url, token=self.token or given.get("MAINSPRING_TOKEN", ""))


def operator() -> str:
    """Who is at this terminal, for what others want to know of: ``ann@host``."""
    try:
        name = getpass.getuser()
    except (KeyError, OSError):  # an account without a name
        name = "somebody"
    return f"{name}@{socket.gethostname()}"


DEFAULT = Access()
