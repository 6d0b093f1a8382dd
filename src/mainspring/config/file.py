"""mainspring.toml: reads its settings and says on which line each stands. Must not know defaults or other layers."""

from __future__ import annotations

from pathlib import Path

from mainspring.domain.configured import BY_SCOPE, NAMED, Key, Scope, Stated, named_key
from mainspring.domain.setting import BY_NAME, Kind, Setting, Unfit, read
from mainspring.errors import InvalidSetting, near

FILE_NAME = "mainspring.toml"
SCHEDULES = "schedules"
"""The table of what is no setting: config/schedules.py reads it."""

_LARGEST = 1_048_576


def settings_of(path: Path) -> dict[str, Stated]:
    """What this file states by key (``lease``, ``queue.mail.limit``), each with its place.

    Raises InvalidSetting for a file that can't be read, for TOML that is malformed, for a key that is no setting (with
    the near matches) and for a value that the setting can't have.
    """
    import tomllib  # by whoever reads one: not by the children of a supervisor, nor where there is none

    text = _text(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(
            f"{path} is not valid TOML: {error}.", remedy='Write lines such as lease = "30s".'
        ) from error
    reading = _Reading(path, _lines(text))
    stated: dict[str, Stated] = {}
    for name, given in document.items():
        if name in NAMED:
            stated |= reading.of_each(Scope(name), given)
        elif name != SCHEDULES:
            stated[name] = reading.plain(name, given)
    return stated


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
        if len(content) > _LARGEST:
            raise InvalidSetting(
                f"{path} is larger than {_LARGEST:,} bytes.", remedy="It holds a few lines of settings."
            )
        return content.decode()
    except FileNotFoundError:
        raise InvalidSetting(
            f"There is no configuration file {path}.", remedy="Write one (mainspring init does), or leave out --config."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"{path} can't be read: {error}.", remedy="It must be a text file in UTF-8.") from error


_Path = tuple[str, ...]


def _lines(text: str) -> dict[_Path, int]:
    """Where each key and table stands first; good enough for people, as texts of several lines are taken for keys."""
    found: dict[_Path, int] = {}
    table: _Path = ()
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if bare.startswith("["):
            table = path = _path_of(bare.partition("#")[0])
        else:
            path = (*table, *_path_of(f"{bare.partition('=')[0]} = 0")) if "=" in bare else ()
        for end in range(1, len(path) + 1):
            found.setdefault(path[:end], number)
    return found


def _path_of(line: str) -> _Path:
    """The names that a line of TOML leads through."""
    import tomllib

    path: list[str] = []
    try:
        inner: object = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    while isinstance(inner, dict | list) and inner:
        if isinstance(inner, list):
            inner = inner[0]
        else:
            name, inner = next(iter(inner.items()))
            path.append(name)
    return tuple(path)


class _Reading:
    """Values of one file, with their places."""

    def __init__(self, path: Path, lines: dict[_Path, int]) -> None:
        self._path = path
        self._lines = lines

    def plain(self, name: str, given: object) -> Stated:
        """What stands at the top of the file."""
        place = self._place(name)
        setting = BY_NAME.get(name)
        if setting is None:
            raise _unknown(name, given, place)
        if isinstance(given, dict) and setting.kind is not Kind.PAIRS:
            raise InvalidSetting(f"{place}: {name} is a table; it must be {setting.right}.", field=name)
        return _stated(Key(Scope.ALL, "", setting), given, place)

    def of_each(self, scope: Scope, tables: object) -> dict[str, Stated]:
        """What is said of queues, tasks or workers, each in a table of its own."""
        stated: dict[str, Stated] = {}
        for of, table in _named(scope, tables, self._place(scope.value)):
            if not isinstance(table, dict):
                raise _not_by_name(scope, self._place(scope.value, of))
            stated |= self._of_one(scope, (of,), table)
        return stated

    def _of_one(self, scope: Scope, path: _Path, table: dict[str, object]) -> dict[str, Stated]:
        """What a table says. A name with dots is a table in a table: [task.shop.receipt]."""
        stated: dict[str, Stated] = {}
        for name, given in table.items():
            place = self._place(scope.value, *path, name)
            if isinstance(given, dict) and name not in BY_SCOPE[scope]:
                stated |= self._of_one(scope, (*path, name), given)
                continue
            try:
                key = named_key(scope, ".".join(path), name)
            except InvalidSetting as error:
                raise InvalidSetting(f"{place}: {error.message}", remedy=error.remedy, field=error.field) from None
            stated[key.text] = _stated(key, given, place)
        return stated

    def _place(self, *path: str) -> str:
        """The line of the longest part of this path that has one."""
        known = (self._lines.get(path[:end]) for end in range(len(path), 0, -1))
        return f"{self._path} line {next((line for line in known if line), 1)}"


def _named(scope: Scope, tables: object, place: str) -> list[tuple[str, object]]:
    if not isinstance(tables, dict):
        raise _not_by_name(scope, place)
    return list(tables.items())


def _not_by_name(scope: Scope, place: str) -> InvalidSetting:
    name = {Scope.QUEUE: "mail", Scope.TASK: "shop.receipt", Scope.WORKER: "alpha"}[scope]
    return InvalidSetting(
        f"{place}: [{scope.value}] holds tables by name, such as [{scope.value}.{name}].",
        remedy=f"Settings of all {scope.value}s stand at the top of the file, without a table.",
        field=scope.value,
    )


def _stated(key: Key, given: object, place: str) -> Stated:
    try:
        return Stated(read(key.setting, given), place)
    except Unfit:
        raise InvalidSetting(
            f"{place}: {key.text} is {given!r:.80}; it must be {key.setting.right}.",
            remedy=_hint(key.setting, given),
            field=key.text,
        ) from None


def _hint(setting: Setting, given: object) -> str:
    if setting.kind is Kind.LENGTH and isinstance(given, int | float) and not isinstance(given, bool):
        return f'A number has no unit: write {setting.name} = "{given}s" if seconds are meant.'
    return ""


def _unknown(key: str, given: object, place: str) -> InvalidSetting:
    if isinstance(given, dict):
        right = ", ".join(name for name in given if name in BY_NAME)
        remedy = f"Write {right} at the top of the file, without a table." if right else near(key, BY_NAME)
        return InvalidSetting(
            f"{place}: [{key}] is not a table of mainspring.toml; settings stand at its top level.",
            remedy=remedy or f"Settings: {', '.join(sorted(BY_NAME))}.",
            field=key,
        )
    close = near(key, BY_NAME)
    return InvalidSetting(
        f"{place}: {key!r} is not a setting.", remedy=close or f"Settings: {', '.join(sorted(BY_NAME))}.", field=key
    )
