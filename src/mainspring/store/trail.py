"""The audit trail: what people changed, who, before and after. Written in the transaction of the change itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from mainspring.domain.access import Change
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
    """One more line."""
    before, after = (None if value is None else text(value) for value in (deed.before, deed.after))
    tx.rows("trail/insert", actor=actor, action=deed.action, subject=deed.subject, before=before, after=after)


def page(tx: Transaction, *, below: int, subject: str | None, limit: int) -> list[Change]:
    """Lines below a cursor, newest first; of one subject, or of all."""
    return _changes(tx.rows("trail/page", below=below, subject=subject, limit=limit))


def edits(tx: Transaction, *, below: int, limit: int) -> list[Change]:
    """Changes of the configuration below a cursor, newest first, those that were made as changes of a queue too."""
    return _changes(tx.rows("trail/edits", below=below, limit=limit))


def _changes(found: Iterable[Row]) -> list[Change]:
    return [
        Change(seq, at, actor, action, about, _read(before), _read(after))
        for seq, at, actor, action, about, before, after in found
    ]


def _read(document: str | None) -> dict[str, object] | None:
    return None if document is None else _values.decode(document)
