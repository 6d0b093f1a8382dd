"""What people ask of the configuration that holds for everybody: see it, change it, see what was changed, go back.

A change is made whole or not at all, in one transaction with its line of the audit trail.
"""

from __future__ import annotations

from collections.abc import Mapping

from mainspring.domain.access import Change
from mainspring.domain.configured import OF_ALL_WORKERS, Edit, Kept, Key, Scope, Stated, key_of, plain, value_of
from mainspring.domain.ids import LARGEST
from mainspring.domain.listing import checked_cursor, checked_limit
from mainspring.domain.setting import Layer, Value
from mainspring.errors import InvalidSetting, UnknownEdit
from mainspring.store import Store, Transaction, queues, settings, trail
from mainspring.store.trail import Deed

SUBJECT = "config"
_ACTIONS = {Layer.STORE: "config.set", Layer.FILE: "config.file"}
_BIGGEST = 1_000
"""Keys that one change may name."""

_Wanted = Mapping[Key, Value | None]


def kept(store: Store) -> list[Kept]:
    """All that the store holds."""
    return store.read(settings.kept)


def version(store: Store) -> int:
    """Another number with every change of what is kept, and of what is said of queues."""
    return store.read(settings.version)


def stated(store: Store) -> dict[str, Stated]:
    """What people have set, as the layer on top of a process's own."""
    return store.read(settings.stated)


def checked(wanted: Mapping[str, object]) -> dict[Key, Value | None]:
    """A change by key, None to take back what was set; read and checked. Raises InvalidSetting with the key."""
    if len(wanted) > _BIGGEST:
        raise InvalidSetting(f"A change names {len(wanted):,} settings; at most {_BIGGEST:,}.", field="config")
    found: dict[Key, Value | None] = {}
    for text, given in wanted.items():
        key = key_of(text)
        if key.setting.restart_only:
            raise InvalidSetting(
                f"{text} is read when a process starts; it can't be changed while it runs.",
                remedy=f"Set it in mainspring.toml, as {key.setting.variable} or with {key.setting.flag}, and restart.",
                field=text,
            )
        found[key] = None if given is None else value_of(key, given)
    return found


def change(store: Store, wanted: Mapping[str, object], *, actor: str) -> list[Kept]:
    """Set these keys, or take back (None) what was set; all that holds then.

    Processes take it within two seconds. Raises InvalidSetting; nothing is changed then.
    """
    keys = checked(wanted)

    def work(tx: Transaction) -> list[Kept]:
        _apply(tx, Layer.STORE, keys, actor)
        return settings.kept(tx)

    return store.write(work, rings=store.work_bell)


def publish(store: Store, stated: Mapping[str, Stated], *, actor: str) -> None:
    """Have the store hold what a server's file says for all workers alike; what it no longer says goes."""
    said = {key: one.value for text, one in stated.items() if (key := key_of(text)).scope in OF_ALL_WORKERS}
    before = {one.key: one.value for one in kept(store) if one.layer is Layer.FILE}
    if before == {key.text: value for key, value in said.items()}:
        return
    gone: dict[Key, Value | None] = {key_of(text): None for text in before}
    store.write(lambda tx: _apply(tx, Layer.FILE, gone | said, actor), rings=store.work_bell)


def note_file(store: Store, before: Mapping[str, Stated], after: Mapping[str, Stated], *, actor: str) -> None:
    """Put into the audit trail what a server has taken from its file, beside what is said of queues."""
    was, now = _of_all(before), _of_all(after)
    changed = [key for key in {**was, **now} if was.get(key) != now.get(key)]
    if changed:
        deed = Deed(_ACTIONS[Layer.FILE], SUBJECT, _some(was, changed), _some(now, changed))
        store.write(lambda tx: trail.note(tx, actor, deed))


def history(store: Store, *, below: int | None = None, limit: int = 100) -> list[Edit]:
    """Changes of the configuration below a cursor, newest first. Raises InvalidCursor, InvalidInput."""
    checked_limit(limit)
    behind = LARGEST if below is None else checked_cursor(str(below))
    found = store.read(lambda tx: trail.edits(tx, below=behind, limit=limit))
    return [edit for change in found if (edit := _edit(change)) is not None]


def revert(store: Store, seq: int, *, actor: str) -> list[Kept]:
    """Set everything to what people had set right after that change. Raises UnknownEdit."""

    def work(tx: Transaction) -> list[Kept]:
        wanted: dict[Key, Value | None] = {}
        for edit in _back_to(tx, seq):
            if edit.layer is Layer.STORE:
                wanted |= {key_of(text): _readable(text, value) for text, value in edit.before.items()}
        _apply(tx, Layer.STORE, wanted, actor)
        return settings.kept(tx)

    return store.write(work, rings=store.work_bell)


def _back_to(tx: Transaction, seq: int) -> list[Edit]:
    """What was changed since, newest first."""
    later: list[Edit] = []
    below = LARGEST
    while found := trail.edits(tx, below=below, limit=_BIGGEST):
        for one in found:
            edit = _edit(one)
            if edit is not None and edit.seq == seq:
                return later
            if one.seq < seq:
                raise UnknownEdit(seq)
            later += [] if edit is None else [edit]
        below = found[-1].seq
    raise UnknownEdit(seq)


def _apply(tx: Transaction, layer: Layer, wanted: _Wanted, actor: str) -> None:
    held = {one.key: one.value for one in settings.kept(tx) if one.layer is layer}
    new = {key: value for key, value in wanted.items() if held.get(key.text) != value}
    if not new:
        return
    queues.rules_change(tx)
    for key, value in new.items():
        settings.state(tx, layer, key, value, actor)
    before = {key.text: plain(key, held.get(key.text)) for key in new}
    after = {key.text: plain(key, value) for key, value in new.items()}
    trail.note(tx, actor, Deed(_ACTIONS[layer], SUBJECT, before, after))


def _edit(change: Change) -> Edit | None:
    """A line of the trail as a change of the configuration; None for one of a queue that left its limit."""
    before, after = change.before or {}, change.after or {}
    if change.action == "queue.change":
        key = f"{Scope.QUEUE.value}.{change.subject.partition(' ')[2]}.limit"
        before, after = {key: before.get("limit")}, {key: after.get("limit")}
        if before == after:
            return None
    layer = Layer.FILE if change.action == _ACTIONS[Layer.FILE] else Layer.STORE
    return Edit(change.seq, change.at, change.actor, layer, before, after)


def _readable(text: str, value: object) -> Value | None:
    return None if value is None else value_of(key_of(text), value)


def _of_all(stated: Mapping[str, Stated]) -> dict[str, object]:
    return {text: plain(key, one.value) for text, one in stated.items() if (key := key_of(text)).scope is Scope.ALL}


def _some(values: Mapping[str, object], keys: list[str]) -> dict[str, object]:
    return {key: values.get(key) for key in keys}
