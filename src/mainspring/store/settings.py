"""What is configured in the store: values by key and layer, and the number that changes with them.

A value that this version can't read is left out, and told; it stops nothing.
"""

from __future__ import annotations

import logging
from typing import Any

import msgspec

from mainspring.domain.configured import Kept, Key, Scope, Stated, key_of, plain, stated_of, value_of
from mainspring.domain.setting import Layer, Value
from mainspring.errors import InvalidSetting
from mainspring.store import queues
from mainspring.store.rows import decode, text
from mainspring.store.transaction import Transaction

_log = logging.getLogger("mainspring.settings")


def kept(tx: Transaction) -> list[Kept]:
    """Everything, by key."""
    return [one for row in tx.rows("setting/all") if (one := _kept(*row)) is not None]


def version(tx: Transaction) -> int:
    """Another number with every change here, and of what is said of queues."""
    found = tx.row("setting/version")
    return 0 if found is None else int(found[0])


def stated(tx: Transaction) -> dict[str, Stated]:
    """What the store states, as the layer on top of a process's own: what people have set."""
    return stated_of(kept(tx), Layer.STORE)


def state(tx: Transaction, layer: Layer, key: Key, value: Value | None, actor: str) -> None:
    """Say this of a key from now on; None: nothing more. A queue's own row follows, as claims look there."""
    if value is None:
        tx.rows("setting/drop", name=key.text, layer=layer.value)
    else:
        tx.rows("setting/put", name=key.text, layer=layer.value, value=text(plain(key, value)), actor=actor)
    if key.scope is Scope.QUEUE:
        _limit(tx, key)


def _limit(tx: Transaction, key: Key) -> None:
    found = {one.layer: one.value for one in kept(tx) if one.key == key.text}
    most = found.get(Layer.STORE, found.get(Layer.FILE))
    rule = queues.rule_to_change(tx, key.of)
    queues.put_rule(tx, key.of, msgspec.structs.replace(rule, limit=most if isinstance(most, int) else None))


def _kept(name: str, layer: str, value: str, changed: Any, changed_by: str) -> Kept | None:
    try:
        return Kept(name, Layer(layer), value_of(key_of(name), decode(value)), changed, changed_by)
    except (InvalidSetting, ValueError, msgspec.MsgspecError) as error:
        _log.warning("The setting %s of the database is left out: %s", name, error)
        return None
