"""Tokens, users, the audit trail and settings over REST."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import to_builtins

from mainspring.client import unwire
from mainspring.client.http import Steps, items, pages, part, send
from mainspring.clock import Duration, duration_text
from mainspring.domain.access import Change, ChangeFilter, Role, Token, User, UserChange
from mainspring.domain.configured import Edit, Holding


def create_token(
    name: str, role: Role, *, lasts: Duration | None = None, queues: Sequence[str] | None = None
) -> Steps[tuple[Token, str]]:
    """A new token and its secret, which can't be had again."""
    body = {"name": name, "role": role.value, "queues": None if queues is None else list(queues)}
    expires = {} if lasts is None else {"expires_in": duration_text(lasts)}
    made = yield send("POST", "/tokens", body | expires)
    return unwire.token_of(made), made["token"]


def revoke_token(wanted: str) -> Steps[Token]:
    """Take a token back, by number or name."""
    return unwire.token_of((yield send("DELETE", f"/tokens/{part(wanted)}")))


def tokens() -> Steps[list[Token]]:
    """All tokens, newest first."""
    return [unwire.token_of(one) for one in (yield from pages("/tokens"))]


def create_user(name: str, password: str, role: Role, *, queues: Sequence[str] | None = None) -> Steps[User]:
    """Somebody who may sign in."""
    kept_to = None if queues is None else list(queues)
    body = {"name": name, "password": password, "role": role.value, "queues": kept_to}
    return unwire.user_of((yield send("POST", "/users", body)))


def change_user(name: str, wanted: UserChange) -> Steps[User]:
    """Another role, other queues, another password."""
    return unwire.user_of((yield send("PATCH", f"/users/{part(name)}", to_builtins(wanted))))


def remove_user(name: str) -> Steps[User]:
    """They may nothing any more."""
    return unwire.user_of((yield send("DELETE", f"/users/{part(name)}")))


def users() -> Steps[list[User]]:
    """All users, by name, removed ones last."""
    return [unwire.user_of(one) for one in (yield from pages("/users"))]


def changes(wanted: ChangeFilter) -> Steps[list[Change]]:
    """Lines of the audit trail, newest first."""
    query = {"subject": wanted.subject, "actor": wanted.actor, "action": wanted.action}
    found = yield from items("/audit", cursor=wanted.below, limit=wanted.limit, **query)
    return [unwire.change_of(one) for one in found]


def holdings() -> Steps[list[Holding]]:
    """Every setting with what holds in the server, and why."""
    return [unwire.holding_of(one) for one in (yield from items("/config"))]


def change_settings(wanted: Mapping[str, object], *, dry_run: bool = False) -> Steps[list[Holding]]:
    """Set these keys in the store, or take back what was set."""
    found = yield send("PATCH", "/config", dict(wanted), dry_run="true" if dry_run else None)
    return [unwire.holding_of(one) for one in found["items"]]


def setting_edits(*, below: int | None = None, limit: int = 100) -> Steps[list[Edit]]:
    """Changes of the configuration below a cursor, newest first."""
    return [unwire.edit_of(one) for one in (yield from items("/config/history", cursor=below, limit=limit))]


def revert_settings(seq: int) -> Steps[list[Holding]]:
    """Set everything to what people had set right after that change."""
    found = yield send("POST", f"/config/history/{seq}/revert")
    return [unwire.holding_of(one) for one in found["items"]]
