"""What people ask of users, and what users ask of the server: to sign in and out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from mainspring.clock import HOUR, Duration, Instant
from mainspring.control import passwords
from mainspring.control.access import take_name
from mainspring.domain.access import (
    SESSION_PREFIX,
    Asker,
    Role,
    User,
    UserChange,
    checked_password,
    checked_queues,
    digest,
    owner_name,
)
from mainspring.errors import Unauthenticated, UnknownUser, WrongPassword
from mainspring.store import Store, Transaction, trail, users
from mainspring.store.trail import Deed
from mainspring.store.users import NewUser

LASTS = Duration(12 * HOUR)
"""How long a session is good for."""

_NOBODY = "$argon2id$v=19$m=19456,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$2SSMnx3Xd9B0TQ3TyMsQ8xoqF/WiNuFd5nHTQJlGCWM"
"""The hash of no password, so that a wrong name takes as long as a wrong password."""


def create(  # noqa: PLR0913 - what a user is
    store: Store, name: str, password: str, role: Role, *, queues: Sequence[str] | None = None, actor: str
) -> User:
    """A new user. Raises InvalidOption, InvalidTask, UserExists, TokenExists."""
    owner_name(name, "user")
    kept_to = checked_queues(queues)
    kept = passwords.hashed(checked_password(password), store.chance)

    def work(tx: Transaction) -> User:
        take_name(tx, name, actor)
        users.insert(tx, NewUser(name, role, kept, kept_to), actor)
        made = _named(tx, name)
        trail.note(tx, actor, Deed("user.create", f"user {name}", after=_form(made)))
        return made

    return store.write(work)


def change(store: Store, name: str, wanted: UserChange, *, actor: str) -> User:
    """Another role, other queues, another password; the last ends all sessions. Raises as ``create``, UnknownUser."""
    kept_to = UNSET if wanted.queues is UNSET else checked_queues(wanted.queues)
    kept = UNSET if wanted.password is UNSET else passwords.hashed(checked_password(wanted.password), store.chance)

    def work(tx: Transaction) -> User:
        old = _named(tx, name)
        role = old.role if wanted.role is UNSET else wanted.role
        users.change(tx, old.id, role, old.queues if kept_to is UNSET else kept_to)
        if kept is not UNSET:
            users.set_password(tx, old.id, kept)
            users.end_all(tx, old.id)
        new = _named(tx, name)
        said = {"password": "changed"} if kept is not UNSET else {}
        trail.note(tx, actor, Deed("user.change", f"user {name}", before=_form(old), after=_form(new) | said))
        return new

    return store.write(work)


def remove(store: Store, name: str, *, actor: str) -> User:
    """They may nothing any more, at once. Raises UnknownUser."""

    def work(tx: Transaction) -> User:
        old = _named(tx, name)
        users.end_all(tx, old.id)
        users.remove(tx, old.id, actor)
        trail.note(tx, actor, Deed("user.remove", f"user {name}", before=_form(old)))
        return next(one for one in users.users(tx) if one.id == old.id)

    return store.write(work)


def listed(store: Store) -> list[User]:
    """Every user, by name, removed ones last."""
    return store.read(users.users)


def sign_in(store: Store, name: str, password: str, *, address: str) -> tuple[str, Asker]:
    """The secret of a new session, and whose it is. Raises WrongPassword."""
    found = store.read(lambda tx: users.password(tx, name))
    right = passwords.matches(_NOBODY if found is None else found[1], password)
    if found is None or not right:
        raise WrongPassword
    account, kept = found
    secret = f"{SESSION_PREFIX}{store.chance.secret()}"

    def work(tx: Transaction) -> Asker:
        if users.password(tx, name) != (account, kept):  # changed or removed meanwhile
            raise WrongPassword
        users.begin(tx, account, digest(secret), Instant(tx.now + LASTS))
        trail.note(tx, f"{name}@{address}", Deed("session.begin", f"user {name}"))
        return _session(tx, secret)

    return secret, store.write(work)


def sign_out(store: Store, secret: str, *, address: str) -> None:
    """The session is over, on every server within seconds. Raises Unauthenticated."""

    def work(tx: Transaction) -> None:
        asker = _session(tx, secret)
        users.end(tx, digest(secret))
        trail.note(tx, f"{asker.name}@{address}", Deed("session.end", f"user {asker.name}"))

    store.write(work)


def recognise(store: Store, secret: str) -> Asker:
    """Whose session it is. Raises Unauthenticated."""
    return store.read(lambda tx: _session(tx, secret))


def _session(tx: Transaction, secret: str) -> Asker:
    asker = users.session(tx, digest(secret))
    if asker is None:
        raise Unauthenticated("This session is over: its time is up, or somebody has ended it.")
    return asker


def _named(tx: Transaction, name: str) -> User:
    found = users.named(tx, name)
    if found is None:
        raise UnknownUser(name, [one.name for one in users.users(tx) if one.removed_at is None])
    return found


def _form(user: User) -> dict[str, Any]:
    return {"role": user.role, "queues": None if user.queues is None else list(user.queues)}
