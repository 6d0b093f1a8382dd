"""Who may do what over REST: roles, the tokens that carry them, and whoever asks.

Pure values. A token's secret is random enough that one round of SHA-256 keeps it; only that digest is ever stored.
"""

from __future__ import annotations

import hashlib
from enum import StrEnum

import msgspec

from mainspring.clock import Instant
from mainspring.domain.task import NAME
from mainspring.errors import InvalidOption

PREFIX = "mst_"
"""How every secret begins, so that scanners of leaked secrets can find it."""


class Role(StrEnum):
    """What one may do; each may all that the ones before it may."""

    VIEWER = "viewer"  # look
    OPERATOR = "operator"  # submit, cancel, retry, pause, drain
    ADMIN = "admin"  # tokens

    def covers(self, needed: Role) -> bool:
        """Whether this role may do what ``needed`` may."""
        return _RANK[self] >= _RANK[needed]


_RANK = {role: rank for rank, role in enumerate(Role)}


class Token(msgspec.Struct, frozen=True):
    """A token as it is kept: all but its secret. ``used_at`` is exact to a minute; None: never used."""

    id: int
    name: str
    role: Role
    created_at: Instant
    created_by: str
    expires_at: Instant | None = None
    used_at: Instant | None = None
    revoked_at: Instant | None = None
    revoked_by: str | None = None

    def valid(self, now: Instant) -> bool:
        """Whether it opens anything now."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class Asker(msgspec.Struct, frozen=True):
    """Who asks, and with what role."""

    name: str
    role: Role


ANYBODY = Asker("client", Role.ADMIN)
"""Whoever asks a server that does not ask who they are: programs of this machine."""


class Change(msgspec.Struct, frozen=True):
    """One line of the audit trail. ``before`` and ``after``: JSON objects; None where there was or is nothing."""

    seq: int
    at: Instant
    actor: str
    action: str
    subject: str
    before: dict[str, object] | None = None
    after: dict[str, object] | None = None


def digest(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def token_name(text: str) -> str:
    """A name that a token may have. Raises InvalidOption."""
    if not NAME.fullmatch(text):
        raise InvalidOption(
            f"{text[:80]!r} can't be the name of a token.",
            remedy="Use letters, digits, dot, dash and underscore (at most 200), such as deploy or ci.",
            field="name",
        )
    return text


def role_of(text: str) -> Role:
    """A role by its name. Raises InvalidOption."""
    try:
        return Role(text)
    except ValueError:
        raise InvalidOption(
            f"There is no role {text[:80]!r}.", remedy=f"Roles: {', '.join(Role)}.", field="role"
        ) from None
