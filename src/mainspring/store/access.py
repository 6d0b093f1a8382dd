"""Tokens in the store. Their secrets are not."""

from __future__ import annotations

from typing import Any, NamedTuple

from mainspring.clock import MINUTE, Instant
from mainspring.domain.access import Role, Token
from mainspring.store.transaction import Transaction

_EXACT = MINUTE
"""The last use is written at most so often, so that reading does not become writing."""


class NewToken(NamedTuple):
    """A token that is to be made. ``digest``: of its secret."""

    name: str
    role: Role
    digest: str
    expires: Instant | None


def insert(tx: Transaction, new: NewToken, actor: str) -> int:
    """A new token; its number."""
    return int(tx.rows("access/insert", **(new._asdict() | {"role": new.role.value}), actor=actor)[0][0])


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
    id_, name, role, created, created_by, expires, used, revoked, revoked_by = row
    return Token(id_, name, Role(role), created, created_by, expires, used, revoked, revoked_by)
