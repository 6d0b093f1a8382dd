"""The layers of configuration: defaults < mainspring.toml (or --config) < environment < flags.

A bad value is refused whole, with its layer, its place and what would be right; nothing is guessed or skipped. The only
module that reads the process environment for settings. Must not open a store.
"""

from __future__ import annotations

import ipaddress
import os
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from mainspring.config.file import FILE_NAME, settings_of
from mainspring.domain.address import is_postgres
from mainspring.domain.configured import OF_ALL_WORKERS, Stated, winner
from mainspring.domain.setting import BY_NAME, DEFAULT_DATABASE, SETTINGS, Layer, Setting, Settings, Unfit, Value, read
from mainspring.errors import InvalidSetting, NotYetSupported, StoreUnreachable

__all__ = ["Loaded", "Settings", "database_url", "environment", "load", "lock_place", "settled", "sqlite_file"]

PREFIX = "MAINSPRING_"
_OTHERS = {"MAINSPRING_API_URL", "MAINSPRING_FAULTS", "MAINSPRING_TOKEN"}
_LIKE_A_TYPO = 0.8
_FILE_SCHEME = "sqlite:///"


class Loaded(msgspec.Struct, frozen=True):
    """What holds, and why.

    ``origins``: for each setting ``default``, ``mainspring.toml line 3``, ``MAINSPRING_LEASE`` or ``--lease``;
    ``layers``: all that is stated; ``file``: the file that was read or would be if it were there; ``worker``: the name
    by which a worker is spoken of in the layers.
    """

    settings: Settings
    origins: dict[str, str]
    layers: dict[Layer, dict[str, Stated]]
    file: str
    worker: str = ""

    def of_worker(self, name: str) -> Loaded:
        """What holds for the worker of this name; an empty text: for one whose name is made when it starts."""
        flags = self.layers.get(Layer.FLAG, {})
        if name and self.settings.name != name:
            flags = {**flags, "name": Stated(name, self.origins["name"])}
        return settled({**self.layers, Layer.FLAG: flags}, self.file, name)

    def handed(self) -> Loaded:
        """The same without what is said of queues and tasks: short enough for an environment variable."""
        common = tuple(f"{scope.value}." for scope in OF_ALL_WORKERS)
        file = {key: stated for key, stated in self.layers.get(Layer.FILE, {}).items() if not key.startswith(common)}
        return Loaded(self.settings, self.origins, {**self.layers, Layer.FILE: file}, self.file, self.worker)

    def restated(self, layer: Layer, stated: Mapping[str, Stated]) -> Loaded:
        """The same with another thing stated in this layer."""
        return settled({**self.layers, layer: dict(stated)}, self.file, self.worker)


def environment() -> dict[str, str]:
    """The environment of this process, as it is now."""
    return dict(os.environ)


def load(
    *,
    environment: Mapping[str, str],
    directory: Path,
    file: str | None = None,
    flags: Mapping[str, object] | None = None,
) -> Loaded:
    """The effective settings.

    ``file``: what --config named (default: mainspring.toml in ``directory``, if it is there); ``flags``: by setting,
    the texts given on the command line, None where not given. Raises InvalidSetting, NotYetSupported.
    """
    path = directory / (file or FILE_NAME)
    layers = {
        Layer.FILE: settings_of(path) if file is not None or path.exists() else {},
        Layer.ENVIRONMENT: _from_environment(environment),
        Layer.FLAG: {
            name: Stated(_checked(BY_NAME[name], given, BY_NAME[name].flag), BY_NAME[name].flag)
            for name, given in (flags or {}).items()
            if given is not None and given != ()
        },
    }
    return settled(layers, str(path))


def settled(layers: dict[Layer, dict[str, Stated]], file: str, worker: str = "") -> Loaded:
    """What these layers come to. ``worker``: the name of the worker for which it holds, if for one."""
    found = {name: winner(layers, name, worker) for name in BY_NAME}
    given = {name: one[1].value for name, one in found.items() if one is not None}
    settings = msgspec.convert(defaults(given) | given, Settings)
    origins = {name: Layer.DEFAULT.value if one is None else one[1].place for name, one in found.items()}
    return Loaded(settings, origins, layers, file, worker)


def database_url(environment: Mapping[str, str], directory: Path) -> str:
    """Which database a program without a command line speaks to: environment, else mainspring.toml, else the default.

    Raises InvalidSetting when the file or the variable is wrong, NotYetSupported when an API address is asked for.
    """
    if environment.get("MAINSPRING_API_URL"):
        raise NotYetSupported("MAINSPRING_API_URL in a program")
    return load(environment=environment, directory=directory).settings.database_url


def sqlite_file(url: str) -> Path | None:
    """The file of a ``sqlite:///`` URL; None for any other (in memory, another engine, not a URL)."""
    path = url.removeprefix(_FILE_SCHEME) if url.startswith(_FILE_SCHEME) else ""
    return None if path in {"", ":memory:"} else Path(path)


def lock_place(url: str) -> Path:
    """Where ``up`` keeps its locks: beside the file; for a database elsewhere, in the working directory.

    Raises StoreUnreachable for what is no database that several processes can share.
    """
    file = sqlite_file(url)
    if file is not None and os.path.isdir(file):  # noqa: PTH112 - unlike Path.is_dir it answers no where we may not look
        raise StoreUnreachable(f"{file} is a directory.", remedy=f"Name a file: sqlite:///{file}/mainspring.db")
    if file is not None:
        return file
    if not is_postgres(url):
        raise StoreUnreachable(
            f"`mainspring up` can't use {url!r}.",
            remedy="Name a SQLite file or a server: --db sqlite:///relative/path.db, --db postgresql://user@host/name",
        )
    return Path(DEFAULT_DATABASE.removeprefix(_FILE_SCHEME)).parent / f"postgres-{zlib.crc32(url.encode()):08x}"


def _from_environment(environment: Mapping[str, str]) -> dict[str, Stated]:
    found: dict[str, Stated] = {}
    known = {setting.variable: setting for setting in SETTINGS}
    for variable in sorted(environment):
        text = environment[variable]
        if not variable.startswith(PREFIX) or not text:  # an empty variable is how shells spell "not set"
            continue
        setting = known.get(variable)
        if setting is not None:
            found[setting.name] = Stated(_checked(setting, text, variable), variable)
        elif variable not in _OTHERS:
            _refuse_typo(variable, known)
    return found


def _refuse_typo(variable: str, known: Mapping[str, Setting]) -> None:
    """Other variables may be somebody else's; one that is nearly ours is a slip that would be ignored silently."""
    import difflib  # for those who have made a mistake alone

    names = {name.removeprefix(PREFIX): name for name in known}
    close = difflib.get_close_matches(variable.removeprefix(PREFIX), names, n=1, cutoff=_LIKE_A_TYPO)
    if close:
        raise InvalidSetting(
            f"Environment: {variable} is not a setting.", remedy=f"Did you mean {names[close[0]]}?", field=variable
        )


_RATE_FOR_OTHERS = 1_000
"""Requests a second of one asker, where other machines can reach the server."""


def _checked(setting: Setting, given: object, place: str) -> Value:
    try:
        return read(setting, given)
    except Unfit:
        layer = "Flag" if place.startswith("--") else "Environment"
        shown = ", ".join(map(str, given)) if isinstance(given, list | tuple) else given
        raise InvalidSetting(
            f"{layer}: {place} is {shown!r}; it must be {setting.right}.", field=setting.name
        ) from None


def defaults(given: Mapping[str, Value]) -> dict[str, Value]:
    """Those defaults that depend on the machine or on another setting."""
    slots = given.get("slots", BY_NAME["slots"].default)
    return {
        "processes": min(slots, 32) if isinstance(slots, int) else 32,
        "runners": max(1, min(4, _cores() - 1)),
        "auth": "",
        "transport": "",
        "request_rate": 0 if _is_loopback(str(given.get("host", BY_NAME["host"].default))) else _RATE_FOR_OTHERS,
        "log_format": "pretty" if sys.stderr is not None and sys.stderr.isatty() else "json",
    }


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address("127.0.0.1" if host == "localhost" else host.strip("[]")).is_loopback
    except ValueError:
        return False


def _cores() -> int:
    """The cores that this process may use, which in a container are fewer than the machine has."""
    if sys.platform.startswith("linux"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
