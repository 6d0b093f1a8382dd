"""The audit trail: what people changed, who, before and after. Written in the transaction of the change itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from mainspring import request
from mainspring.domain.access import Change, ChangeFilter
from mainspring.domain.ids import LARGEST
from mainspring.store.rows import Row, text
from mainspring.store.transaction import Transaction

_values = msgspec.json.Decoder(dict[str, object])


class Deed(NamedTuple):
    """What somebody does: the verb (``queue.change``), the thing (``queue mail``), and how it was and is then."""

    action: str
    subject: str
    before: Mapping[str, Any] | None = None
    after: Mapping[str, Any] | None = None


def note(tx: Transaction, actor: str, deed: Deed) -> None:
    """One more line, with the id of the request that it was done for, if it was for one."""
    before, after = (None if value is None else text(value) for value in (deed.before, deed.after))
    tx.rows(
        "trail/insert",
        actor=actor,
        action=deed.action,
        subject=deed.subject,
        before=before,
        after=after,
        request=request.current() or None,
    )


def page(tx: Transaction, wanted: ChangeFilter) -> list[Change]:
    """Lines that fit, newest first; found by the first part of the filter that is given."""
    given = {"subject": wanted.subject, "actor": wanted.actor, "action": wanted.action}
    first = next((name for name, value in given.items() if value is not None), "all")
    below = LARGEST if wanted.below is None else wanted.below
    return _changes(tx.rows(f"trail/page_{first}", below=below, limit=wanted.limit, **given))


def edits(tx: Transaction, *, below: int, limit: int) -> list[Change]:
    """Changes of the configuration below a cursor, newest first, those that were made as changes of a queue too."""
    return _changes(tx.rows("trail/edits", below=below, limit=limit))


def _changes(found: Iterable[Row]) -> list[Change]:
    return [
        Change(seq, at, actor, action, about, _read(before), _read(after), asked)
        for seq, at, actor, action, about, before, after, asked in found
    ]


def _read(document: str | None) -> dict[str, object] | None:
    if document is None:
        return None
    try:
        return _values.decode(document)
    except msgspec.MsgspecError:  # spoiled by hand
        return {"unreadable": document}
