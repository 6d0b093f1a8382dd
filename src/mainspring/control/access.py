"""What people ask of tokens and of the audit trail, and who it is that shows a token."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.clock import DAY, Duration, Instant, instant_text
from mainspring.domain.access import (
    PREFIX,
    Asker,
    Change,
    ChangeFilter,
    Role,
    Token,
    checked_queues,
    digest,
    owner_name,
)
from mainspring.domain.listing import checked_limit
from mainspring.errors import InvalidOption, TokenExists, Unauthenticated, UnknownToken, UserExists
from mainspring.store import Store, Transaction, access, trail, users
from mainspring.store.access import NewToken
from mainspring.store.trail import Deed

LONGEST = Duration(3_650 * DAY)
"""How long a token may be valid at most; without a stated end it is valid until it is revoked."""


def create(  # noqa: PLR0913 - what a token is
    store: Store,
    name: str,
    role: Role,
    *,
    lasts: Duration | None,
    queues: Sequence[str] | None = None,
    actor: str,
) -> tuple[Token, str]:
    """A new token and its secret, which can't be had again.

    Raises InvalidOption, InvalidTask, TokenExists, UserExists.
    """
    owner_name(name, "token")
    kept_to = checked_queues(queues)
    if lasts is not None and not 0 < lasts <= LONGEST:
        raise InvalidOption("A token is valid for more than 0 and at most 3650 days.", field="expires_in")
    secret = f"{PREFIX}{store.chance.secret()}"

    def work(tx: Transaction) -> Token:
        take_name(tx, name, actor)
        expires = None if lasts is None else Instant(tx.now + lasts)
        number = access.insert(tx, NewToken(name, role, digest(secret), expires, kept_to), actor)
        ends = None if expires is None else instant_text(expires)
        made = {"id": number, "role": role, "expires": ends, "queues": None if kept_to is None else list(kept_to)}
        trail.note(tx, actor, Deed("token.create", f"token {name}", after=made))
        return _one(tx, str(number))

    return store.write(work), secret


def revoke(store: Store, wanted: str, *, actor: str) -> Token:
    """Take a token back, by number or name; servers hear of it within seconds. Again changes nothing.

    Raises UnknownToken.
    """

    def work(tx: Transaction) -> Token:
        token = _one(tx, wanted)
        if token.revoked_at is None:
            _revoke(tx, token, actor)
        return _one(tx, str(token.id))

    return store.write(work)


def take_name(tx: Transaction, name: str, actor: str) -> None:
    """Nobody else may have the name of a new token or user. Raises TokenExists, UserExists.

    A token past its end gives it up, and is revoked with that, so that no clock that goes back makes two of a name.
    """
    token = access.named(tx, name)
    if token is not None and token.valid(tx.now):
        raise TokenExists(name)
    if users.named(tx, name) is not None:
        raise UserExists(name)
    if token is not None:
        _revoke(tx, token, actor)


def _revoke(tx: Transaction, token: Token, actor: str) -> None:
    access.revoke(tx, token.id, actor)
    gone = {"id": token.id, "role": token.role}
    trail.note(tx, actor, Deed("token.revoke", f"token {token.name}", before=gone))


def tokens(store: Store) -> list[Token]:
    """Every token, newest first."""
    return store.read(access.tokens)


def recognise(store: Store, secret: str) -> Asker:
    """Whose token it is. Raises Unauthenticated."""
    kept = digest(secret)
    token, now = store.read(lambda tx: (access.by_digest(tx, kept), tx.now))
    if token is None or not token.valid(now):
        raise Unauthenticated("This token is not valid: unknown, revoked or past its end.")
    if access.worn(token, now):
        store.write(lambda tx: access.use(tx, token.id))
    return Asker(token.name, token.role, token.queues)


def changes(store: Store, wanted: ChangeFilter | None = None) -> list[Change]:
    """Lines of the audit trail, newest first. Raises InvalidInput."""
    checked_limit((wanted or ChangeFilter()).limit)
    return store.read(lambda tx: trail.page(tx, wanted or ChangeFilter()))


def _one(tx: Transaction, wanted: str) -> Token:
    number = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) <= 18 else None
    found = None
    if number is not None:
        found = access.one(tx, number)
    elif "\0" not in wanted:  # PostgreSQL would not even look for it
        found = access.named(tx, wanted)
    if found is None:
        raise UnknownToken(wanted, [token.name for token in access.tokens(tx) if token.revoked_at is None])
    return found
