"""``mainspring config``: every setting, what holds for it and why, and what is set for all processes at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import looks, show
from mainspring.cli.access import Access, option
from mainspring.client.setting_wire import edit_wire, holding_wire
from mainspring.clock import SystemClock
from mainspring.config.live import Live
from mainspring.config.schedules import schedules_of
from mainspring.domain.configured import Edit, Holding, key_of
from mainspring.errors import InvalidSetting, NoDatabase, WrongUse

Name = Annotated[str, Parameter(name="NAME", help="A setting, as `config show` lists it: lease, queue.mail.limit.")]


def show_(*, access: Access = of.DEFAULT) -> int:
    """Show every setting with its value, where that comes from, and when a change of it is heeded."""
    found = _holdings(access)
    if access.json:
        show.as_json([holding_wire(one) for one in found])
        return 0
    titles = ("SETTING", "VALUE", "CHANGES", "FROM")
    show.table(titles, [_row(one) for one in found], empty="", gives=(3, 1))
    return 0


def get(name: Name, /, *, access: Access = of.DEFAULT) -> int:
    """Say what holds for one setting."""
    key = key_of(name)
    found = next((one for one in _holdings(access) if one.key.text == key.text), None)
    if access.json:
        show.as_json(None if found is None else holding_wire(found))
    else:
        show.line(key.setting.default_text if found is None else _shown(found))
    return 0


def set_(
    *words: Annotated[str, Parameter(name="NAME=VALUE", help="Such as lease=10s, queue.mail.limit=3.")],
    dry_run: Annotated[bool, option("Only check it.")] = False,
    access: Access = of.DEFAULT,
) -> int:
    """Set settings for everybody, all of them or none. Processes that run take them within two seconds."""
    return _changed(_pairs(words), access, dry_run=dry_run)


def unset(
    *names: Annotated[str, Parameter(name="NAME", help="Such as lease, queue.mail.limit.")],
    access: Access = of.DEFAULT,
) -> int:
    """Take back what was set for everybody: file, environment, flags and defaults hold again."""
    if not names:
        raise WrongUse("Nothing was named.", remedy="Name a setting: mainspring config unset lease", field="NAME")
    return _changed(dict.fromkeys(names), access)


def history(
    *,
    limit: Annotated[int, option("At most so many, from 1 to 1,000 (default: 50).", "N")] = 50,
    cursor: Annotated[int | None, option("Go on behind a page: the number of its last line.", "ID")] = None,
    access: Access = of.DEFAULT,
) -> int:
    """List changes of the configuration, newest first: what people have set, and what a server took from its file."""
    with access.client() as client:
        found = client.setting_edits(below=cursor, limit=limit)
    if access.json:
        show.as_json([edit_wire(edit) for edit in found])
        return 0
    titles = ("ID", "WHEN", "BY", "CHANGE")
    show.table(titles, [_edit_row(edit) for edit in found], empty="Nothing was changed yet.", right=(0,), gives=(3,))
    return 0


def revert(
    to: Annotated[int, Parameter(name="ID", help="The change after which all is to be as it was (config history).")],
    /,
    *,
    access: Access = of.DEFAULT,
) -> int:
    """Set all as it was set right after a change. What a file says stays as it is."""
    with access.client(actor=of.operator()) as client:
        found = client.revert_settings(to)
    return _told(found, None, access)


def validate(
    file: Annotated[str | None, Parameter(name="FILE", help="The file (default: mainspring.toml here).")] = None,
    /,
    *,
    access: Access = of.DEFAULT,
) -> int:
    """Check a configuration file and the environment; says what is wrong, and where. Starts and changes nothing."""
    loaded = access.load(file=file)
    if Path(loaded.file).exists():
        schedules_of(Path(loaded.file))
    named = sum(len(stated) for stated in loaded.layers.values())
    if access.json:
        show.as_json({"file": loaded.file, "stated": named})
    else:
        show.line(f"{loaded.file} and the environment are right; {looks.counted(named, 'setting')} stated.")
    return 0


def _holdings(access: Access) -> list[Holding]:
    """What holds; where there is no database yet, nothing is set there."""
    try:
        with access.client() as client:
            return client.holdings()
    except NoDatabase:
        return Live(access.load()).holdings([])


def _changed(wanted: dict[str, object], access: Access, *, dry_run: bool = False) -> int:
    with access.client(actor=of.operator()) as client:
        found = client.change_settings(wanted, dry_run=dry_run)
    return _told(found, wanted, access)


def _told(found: list[Holding], wanted: dict[str, object] | None, access: Access) -> int:
    """What holds now, of what was asked for."""
    named = [one for one in found if wanted is None or one.key.text in wanted]
    if access.json:
        show.as_json([holding_wire(one) for one in named])
        return 0
    for one in named if wanted is not None else [one for one in named if one.layer.value == "store"]:
        show.line(f"{one.key.text} = {_shown(one)} ({one.place})")
    for name in sorted(set(wanted or ()) - {one.key.text for one in named}):
        show.line(f"{name}: nothing is said of it")
    return 0


def _pairs(words: tuple[str, ...]) -> dict[str, object]:
    """``NAME=VALUE ...``, or NAME and VALUE as two words."""
    if len(words) == 2 and "=" not in words[0]:
        return {words[0]: words[1]}
    wanted: dict[str, object] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise InvalidSetting(f"{word[:80]!r} gives no value.", remedy=f"Write {word[:80]}=VALUE.", field=word[:80])
        if name in wanted:
            raise InvalidSetting(f"{name} was given twice.", field=name)
        wanted[name] = value
    if not wanted:
        raise WrongUse("Nothing was named.", remedy="Name it: mainspring config set lease=10s", field="NAME=VALUE")
    return wanted


def _shown(one: Holding) -> str:
    value = holding_wire(one)["value"]
    if value in (None, "", [], {}):
        return one.key.setting.default_text or "-"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _row(one: Holding) -> tuple[str, ...]:
    setting = one.key.setting
    return (
        one.key.text,
        _shown(one),
        "at restart" if setting.restart_only else "at once",
        one.place,
    )


def _edit_row(edit: Edit) -> tuple[str, ...]:
    changes = [f"{key}: {_said(edit.before.get(key))} -> {_said(edit.after.get(key))}" for key in edit.after]
    now = SystemClock().now()
    return (str(edit.seq), looks.age(now, edit.at), edit.actor, looks.cut(", ".join(changes), 200))


def _said(value: object) -> str:
    return "-" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
