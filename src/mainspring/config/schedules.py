"""Schedules that mainspring.toml declares, one table each. Reads and checks them; must not know what is in a store.

[schedules.nightly]
cron = "0 3 * * *"
tz = "Europe/Berlin"
task = "shop.backup"
params = { dest = "/backup/a.tgz" }
"""

from __future__ import annotations

from datetime import date, time
from pathlib import Path
from typing import Any

from mainspring.config.file import SCHEDULES
from mainspring.domain import plan as plans
from mainspring.domain.plan import Plan
from mainspring.domain.task import checked_name
from mainspring.errors import InvalidSetting, MainspringError


def schedules_of(path: Path) -> dict[str, Plan] | None:
    """The schedules of this file by name; None where it says nothing of schedules, not even that there are none.

    Raises InvalidSetting naming the table, the field and what would be right.
    """
    import tomllib  # see config/file.py

    try:
        with path.open("rb") as file:
            document = tomllib.load(file)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidSetting(f"{path} can't be read: {error}.", remedy="It must be a TOML file in UTF-8.") from error
    tables = document.get(SCHEDULES)
    if tables is None:
        return None
    if not isinstance(tables, dict) or not all(isinstance(table, dict) for table in tables.values()):
        raise InvalidSetting(
            f"{path}: {SCHEDULES} must hold one table for each schedule.",
            remedy="Write [schedules.nightly].",
            field=SCHEDULES,
        )
    return {name: _plan(path, name, table) for name, table in tables.items()}


def _plan(path: Path, name: str, table: dict[str, Any]) -> Plan:
    try:
        checked_name(name, "Schedule")
        return plans.checked(plans.read(plans.known_fields(plans.plan_fields(_plain(table)))))
    except MainspringError as error:
        raise InvalidSetting(
            f"{path}, [{SCHEDULES}.{name}]: {error.message}", remedy=error.remedy, field=f"{SCHEDULES}.{name}"
        ) from error


def _plain(value: Any) -> Any:
    """Values as JSON has them: TOML knows dates and times."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, date | time) else value
