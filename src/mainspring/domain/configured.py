"""What is configured: values by key, in layers, and which of them holds.

A key is a setting (``lease``), or one of a queue, a task or a worker by name (``queue.mail.limit``,
``task.shop.receipt.timeout``, ``worker.alpha.slots``). A later layer wins; within a layer what is said of the worker
itself wins. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec

from mainspring.clock import DAY, HOUR, MILLISECOND, Instant
from mainspring.domain.queue import MOST_RUNNING
from mainspring.domain.retry import MOST_ATTEMPTS
from mainspring.domain.setting import BY_NAME, Kind, Layer, Setting, Unfit, Value, read, value_text
from mainspring.domain.task import NAME
from mainspring.errors import InvalidSetting, near


class Scope(StrEnum):
    """What a key speaks of."""

    ALL = "all"
    QUEUE = "queue"
    TASK = "task"
    WORKER = "worker"


_OF_QUEUES = (
    Setting(
        "limit",
        Kind.WHOLE,
        None,
        "How many jobs of the queue may run at once, over all workers.",
        "",
        ("server",),
        least=1,
        most=MOST_RUNNING,
        depends="any number",
        restart_only=False,
    ),
)
_OF_TASKS = (
    Setting(
        "timeout",
        Kind.LENGTH,
        None,
        "How long an attempt may run.",
        "",
        ("server",),
        least=MILLISECOND,
        most=365 * DAY,
        depends="as declared",
        restart_only=False,
    ),
    Setting(
        "grace",
        Kind.LENGTH,
        None,
        "How long an attempt that was asked to stop may take before it is killed.",
        "",
        ("server",),
        least=0,
        most=HOUR,
        depends="as declared",
        restart_only=False,
    ),
    Setting(
        "max_attempts",
        Kind.WHOLE,
        None,
        "After how many charged attempts a job is dead.",
        "",
        ("server",),
        least=1,
        most=MOST_ATTEMPTS,
        depends="as declared",
        restart_only=False,
    ),
    Setting(
        "delay",
        Kind.LENGTH,
        None,
        "How long to wait before the second attempt; the later ones follow from it as declared.",
        "",
        ("server",),
        least=0,
        most=365 * DAY,
        depends="as declared",
        restart_only=False,
    ),
)
_OF_WORKERS = ("slots", "processes", "lease", "sweep", "poll", "drain")

BY_SCOPE: Mapping[Scope, Mapping[str, Setting]] = {
    Scope.ALL: BY_NAME,
    Scope.QUEUE: {setting.name: setting for setting in _OF_QUEUES},
    Scope.TASK: {setting.name: setting for setting in _OF_TASKS},
    Scope.WORKER: {name: BY_NAME[name] for name in _OF_WORKERS},
}
"""Which settings each scope has."""

OF_ALL_WORKERS = frozenset({Scope.QUEUE, Scope.TASK})
"""Scopes that hold for all workers alike: what a server's file says of them is put into the store."""

NAMED = tuple(scope for scope in Scope if scope is not Scope.ALL)


class Key(NamedTuple):
    """A setting, of everything or of one queue or worker (``of``)."""

    scope: Scope
    of: str
    setting: Setting

    def __hash__(self) -> int:
        return hash((self.scope, self.of, self.setting.name))

    @property
    def text(self) -> str:
        """As people write it."""
        return self.setting.name if self.scope is Scope.ALL else f"{self.scope.value}.{self.of}.{self.setting.name}"


class Stated(msgspec.Struct, frozen=True):
    """A value that some layer states, and the place of it: a line of a file, a variable, a flag, who set it."""

    value: Value
    place: str


Layers = Mapping[Layer, Mapping[str, Stated]]
"""By layer and key what is stated."""


class Kept(msgspec.Struct, frozen=True):
    """A key that the store holds. ``layer``: STORE for what people have set, FILE for what a server's file says."""

    key: str
    layer: Layer
    value: Value
    changed_at: Instant
    changed_by: str


def stated_of(found: Iterable[Kept], layer: Layer) -> dict[str, Stated]:
    """One layer of what is kept, with its places."""
    return {one.key: Stated(one.value, f"store, by {one.changed_by}") for one in found if one.layer is layer}


class Holding(msgspec.Struct, frozen=True):
    """A key, what holds for it, and why: as `config show` has it. ``value`` None: nothing is said."""

    key: Key
    value: Value | None
    layer: Layer
    place: str


class Edit(msgspec.Struct, frozen=True):
    """A change of the configuration that was made. ``before`` and ``after`` by key; None where nothing was said."""

    seq: int
    at: Instant
    actor: str
    layer: Layer
    before: Mapping[str, object]
    after: Mapping[str, object]


def key_of(text: str) -> Key:
    """The key that is written so. Raises InvalidSetting, with near matches."""
    scope, dot, rest = text.partition(".")
    if not dot:
        return Key(Scope.ALL, "", _setting(Scope.ALL, text, text))
    if scope not in NAMED:
        kinds = ", ".join(f"{one.value}.NAME.SETTING" for one in NAMED)
        raise InvalidSetting(
            f"{text[:80]!r} is not a setting.", remedy=f"Beside the plain ones there are: {kinds}.", field=text[:80]
        )
    of, dot, name = rest.rpartition(".")
    return named_key(Scope(scope), of if dot else rest, name if dot else "", text)


def named_key(scope: Scope, of: str, name: str, text: str = "") -> Key:
    """The key of a named thing. ``text``: what was written. Raises InvalidSetting."""
    text = text or f"{scope.value}.{of}.{name}"
    if not NAME.fullmatch(of):
        raise InvalidSetting(
            f"{text[:80]!r} names no {scope.value}.",
            remedy=f"Write {scope.value}.NAME.SETTING; names are letters, digits, dot, dash and underscore.",
            field=text[:80],
        )
    if scope is Scope.TASK and "." not in of:
        raise InvalidSetting(
            f"{text[:80]!r} names a task without its app.",
            remedy="Write its full name: task.APP.NAME.SETTING.",
            field=text[:80],
        )
    return Key(scope, of, _setting(scope, name, text))


def _setting(scope: Scope, name: str, text: str) -> Setting:
    known = BY_SCOPE[scope]
    setting = known.get(name)
    if setting is None:
        whose = "a setting" if scope is Scope.ALL else f"a setting of a {scope.value}"
        remedy = near(name, known) or f"Settings: {', '.join(sorted(known))}."
        raise InvalidSetting(f"{text[:80]!r} is not {whose}.", remedy=remedy, field=text[:80])
    return setting


def value_of(key: Key, given: object) -> Value:
    """The value, as it may stand in the store or come from people. Raises InvalidSetting."""
    try:
        return read(key.setting, given)
    except Unfit:
        raise InvalidSetting(f"{key.text} is {given!r:.80}; it must be {key.setting.right}.", field=key.text) from None


def plain(key: Key, value: Value | None) -> object:
    """A value as JSON has it: numbers and lists as they are, durations as text."""
    if value is None or isinstance(value, dict):
        return value
    if isinstance(value, tuple):
        return list(value)
    return value_text(key.setting, value) if key.setting.kind is Kind.LENGTH else value


def winner(layers: Layers, name: str, worker: str) -> tuple[Layer, Stated] | None:
    """What holds for a plain setting in a process, that of a worker with this name (an empty text: of no worker)."""
    own = f"{Scope.WORKER.value}.{worker}.{name}"
    for layer in reversed(Layer):
        stated = layers.get(layer, {})
        if worker and own in stated:
            return layer, stated[own]
        if name in stated:
            return layer, stated[name]
    return None


def holding(layers: Layers, defaults: Mapping[str, Value]) -> Iterator[Holding]:
    """Every plain setting, and every key of a named thing that some layer states, with what holds."""
    for name, setting in BY_NAME.items():
        found = winner(layers, name, "")
        value = defaults.get(name, setting.default) if found is None else found[1].value
        layer, place = (Layer.DEFAULT, Layer.DEFAULT.value) if found is None else (found[0], found[1].place)
        yield Holding(Key(Scope.ALL, "", setting), value, layer, place)
    named = {text for stated in layers.values() for text in stated if text not in BY_NAME}
    for text in sorted(named):
        found = winner(layers, text, "")
        if found is not None:
            yield Holding(key_of(text), found[1].value, found[0], found[1].place)
