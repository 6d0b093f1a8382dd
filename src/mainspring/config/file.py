"""mainspring.toml: reads its settings and says on which line each stands. Must not know defaults or other layers."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from mainspring.domain.setting import BY_NAME, Kind, Setting, Unfit, Value, read
from mainspring.errors import InvalidSetting, near

FILE_NAME = "mainspring.toml"
SCHEDULES = "schedules"
"""The table of what is no setting: config/schedules.py reads it."""

_KEY = re.compile(r"""\s*(?:\[\s*)?["']?([A-Za-z0-9_\-]+)["']?\s*[\].=]""")
_LARGEST = 1_048_576


def settings_of(path: Path) -> dict[str, tuple[Value, str]]:
    """The settings in this file, each with its place (``mainspring.toml line 3``).

    Raises InvalidSetting for a file that can't be read, for TOML that is malformed, for a key that is no setting (with
    the near matches) and for a value that the setting can't have.
    """
    text = _text(path)
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidSetting(
            f"{path} is not valid TOML: {error}.", remedy='Write lines such as lease = "30s".'
        ) from error
    lines = _lines(text)
    return {
        key: (_value(key, given, f"{path} line {lines.get(key, 1)}"), f"{path} line {lines.get(key, 1)}")
        for key, given in document.items()
        if key != SCHEDULES
    }


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


def _lines(text: str) -> dict[str, int]:
    """Where each top-level key or table stands first."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        key = _KEY.match(line)
        if key:
            found.setdefault(key[1], number)
    return found


def _value(key: str, given: object, place: str) -> Value:
    setting = BY_NAME.get(key)
    if setting is None:
        raise _unknown(key, given, place)
    if isinstance(given, dict) and setting.kind is not Kind.PAIRS:
        raise InvalidSetting(f"{place}: {key} is a table; it must be {setting.right}.", field=key)
    try:
        return read(setting, given)
    except Unfit:
        raise InvalidSetting(
            f"{place}: {key} is {given!r}; it must be {setting.right}.", remedy=_hint(setting, given), field=key
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
