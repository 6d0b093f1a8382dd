"""Users and their sessions in the store. Of passwords and of cookies it holds only what can't be turned back."""

from __future__ import annotations

from typing import Any, NamedTuple

from mainspring.clock import Instant
from mainspring.domain.access import Asker, Role, User
from mainspring.store.access import authority, names_text
from mainspring.store.transaction import Transaction


class NewUser(NamedTuple):
    """A user that is to be made. ``password``: its Argon2 hash; ``queues``: that they are kept to, None: to none."""

    name: str
    role: Role
    password: str
    queues: tuple[str, ...] | None = None


def users(tx: Transaction) -> list[User]:
    """Every user, by name, removed ones last."""
    return [_made(row) for row in tx.rows("account/all")]


def named(tx: Transaction, name: str) -> User | None:
    """The user that has this name now."""
    row = tx.row("account/named", name=name)
    return None if row is None else _made(row)


def insert(tx: Transaction, new: NewUser, actor: str) -> None:
    """A new user."""
    given = new._asdict() | {"role": new.role.value, "queues": names_text(new.queues)}
    tx.rows("account/insert", **given, actor=actor)


def change(tx: Transaction, account: int, role: Role, queues: tuple[str, ...] | None) -> None:
    """They may something else."""
    tx.rows("account/change", account=account, role=role.value, queues=names_text(queues))


def set_password(tx: Transaction, account: int, password: str) -> None:
    """They have another password (its hash)."""
    tx.rows("account/set_password", account=account, password=password)


def password(tx: Transaction, name: str) -> tuple[int, str] | None:
    """Number and password hash of the user that has this name."""
    row = tx.row("account/password", name=name)
    return None if row is None else (row[0], row[1])


def remove(tx: Transaction, account: int, actor: str) -> None:
    """They may nothing any more; the row stays, for the record."""
    tx.rows("account/remove", account=account, actor=actor)


def begin(tx: Transaction, account: int, digest: str, expires: Instant) -> None:
    """A session; those that have run out are forgotten."""
    tx.rows("signin/expire")
    tx.rows("signin/insert", digest=digest, account=account, expires=expires)
    tx.rows("account/use", account=account)


def session(tx: Transaction, digest: str) -> Asker | None:
    """Whose session this is, if it is one."""
    row = tx.row("signin/find", digest=digest)
    return None if row is None else Asker(row[0], *authority(row[1], row[2]), row[3])


def end(tx: Transaction, digest: str) -> None:
    """A session is over."""
    tx.rows("signin/end", digest=digest)


def end_all(tx: Transaction, account: int) -> None:
    """All sessions of a user are over."""
    tx.rows("signin/end_all", account=account)


def _made(row: tuple[Any, ...]) -> User:
    id_, name, role, queues, created, created_by, used, removed, removed_by = row
    return User(id_, name, *authority(role, queues), created, created_by, used, removed, removed_by)
