"""Tokens in the store. Their secrets are not."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from mainspring.clock import MINUTE, Instant
from mainspring.domain.access import Role, Token
from mainspring.store.rows import text
from mainspring.store.transaction import Transaction

_names = msgspec.json.Decoder(tuple[str, ...]).decode

_NOWHERE = ("?",)

_EXACT = MINUTE
"""The last use is written at most so often, so that reading does not become writing."""


class NewToken(NamedTuple):
    """A token that is to be made. ``digest``: of its secret; ``queues``: that it is kept to, None: to none."""

    name: str
    role: Role
    digest: str
    expires: Instant | None
    queues: tuple[str, ...] | None = None


def insert(tx: Transaction, new: NewToken, actor: str) -> int:
    """A new token; its number."""
    given = new._asdict() | {"role": new.role.value, "queues": names_text(new.queues)}
    return int(tx.rows("access/insert", **given, actor=actor)[0][0])


def by_digest(tx: Transaction, digest: str) -> Token | None:
    """The token with this secret, valid or not."""
    return _token(tx.row("access/by_digest", digest=digest))


def one(tx: Transaction, number: int) -> Token | None:
    """A token by its number."""
    return _token(tx.row("access/one", token=number))


def named(tx: Transaction, name: str) -> Token | None:
    """The token that has this name and was not revoked."""
    return _token(tx.row("access/named", name=name))


def tokens(tx: Transaction) -> list[Token]:
    """Every token, newest first."""
    return [_made(row) for row in tx.rows("access/all")]


def revoke(tx: Transaction, number: int, actor: str) -> None:
    """It opens nothing any more; the row stays, for the record."""
    tx.rows("access/revoke", token=number, actor=actor)


def worn(token: Token, now: Instant) -> bool:
    """Whether its last use is to be written again."""
    return token.used_at is None or token.used_at < now - _EXACT


def use(tx: Transaction, number: int) -> None:
    """It was used now."""
    tx.rows("access/use", token=number, before=Instant(tx.now - _EXACT))


def _token(row: tuple[Any, ...] | None) -> Token | None:
    return None if row is None else _made(row)


def _made(row: tuple[Any, ...]) -> Token:
    id_, name, role, created, created_by, expires, used, revoked, revoked_by, queues = row
    may, kept_to = authority(role, queues)
    return Token(id_, name, may, created, created_by, expires, used, revoked, revoked_by, kept_to)


def names_text(queues: tuple[str, ...] | None) -> str | None:
    """Names of queues as they are kept."""
    return None if queues is None else text(list(queues))


def authority(role: str, queues: str | None) -> tuple[Role, tuple[str, ...] | None]:
    """What somebody may do, as it was kept; whoever's row was spoiled by hand may look at a queue that can't be."""
    try:
        return Role(role), None if queues is None else _names(queues)
    except (ValueError, msgspec.MsgspecError):
        return Role.VIEWER, _NOWHERE
