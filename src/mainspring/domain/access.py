"""Who may do what over REST: roles, the tokens and users that have them, and whoever asks.

Pure values. A token's secret is random enough that one round of SHA-256 keeps it; only that digest is ever stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum

import msgspec
from msgspec import UNSET, UnsetType

from mainspring.clock import Instant
from mainspring.domain.task import NAME, checked_name
from mainspring.errors import InvalidOption

PREFIX = "mst_"
"""How every secret begins, so that scanners of leaked secrets can find it."""

SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 1_000
MOST_QUEUES = 100

SESSION_PREFIX = "mss_"
"""How the secret of every session begins."""


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
    """A token as it is kept: all but its secret. ``used_at`` is exact to a minute; None: never used.

    ``queues``: those that it is kept to; None: to none.
    """

    id: int
    name: str
    role: Role
    created_at: Instant
    created_by: str
    expires_at: Instant | None = None
    used_at: Instant | None = None
    revoked_at: Instant | None = None
    revoked_by: str | None = None
    queues: tuple[str, ...] | None = None

    def valid(self, now: Instant) -> bool:
        """Whether it opens anything now."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class User(msgspec.Struct, frozen=True):
    """Somebody who signs in with a password, as they are kept: all but that. ``used_at``: of the last sign-in."""

    id: int
    name: str
    role: Role
    queues: tuple[str, ...] | None
    created_at: Instant
    created_by: str
    used_at: Instant | None = None
    removed_at: Instant | None = None
    removed_by: str | None = None


class UserChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change of a user; what is left out stays. ``queues`` None: all."""

    role: Role | UnsetType = UNSET
    queues: tuple[str, ...] | UnsetType | None = UNSET
    password: str | UnsetType = UNSET


class Asker(msgspec.Struct, frozen=True):
    """Who asks, and with what role.

    ``queues``: those that they are kept to, None: to none; ``until``: of a session, its end (None: a token's).
    """

    name: str
    role: Role
    queues: tuple[str, ...] | None = None
    until: Instant | None = None

    def reaches(self, queue: str) -> bool:
        """Whether this is a queue of theirs."""
        return self.queues is None or queue in self.queues


ANYBODY = Asker("client", Role.ADMIN)
"""Whoever asks a server that does not ask who they are: programs of this machine."""


class Change(msgspec.Struct, frozen=True):
    """One line of the audit trail. ``before`` and ``after``: JSON objects; None where there was or is nothing.

    ``request``: the id of the request over REST that it was done for; None for what was done otherwise.
    """

    seq: int
    at: Instant
    actor: str
    action: str
    subject: str
    before: dict[str, object] | None = None
    after: dict[str, object] | None = None
    request: str | None = None


class ChangeFilter(msgspec.Struct, frozen=True):
    """Which lines of the audit trail a list shows, newest first: all that fit each part that is given.

    ``subject``: a thing (``queue mail``); ``actor``: who (``ann@10.0.0.7``); ``action``: the verb (``queue.change``);
    ``below``: go on below this ``seq``.
    """

    subject: str | None = None
    actor: str | None = None
    action: str | None = None
    below: int | None = None
    limit: int = 100


def digest(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).hexdigest()


def proof(secret: str) -> str:
    """What a page must say, besides sending its cookie, to change anything: other sites can send the one alone."""
    return digest(f"proof of {secret}")


def owner_name(text: str, what: str) -> str:
    """A name that a token or a user (``what``) may have. Raises InvalidOption."""
    if not NAME.fullmatch(text):
        raise InvalidOption(
            f"{text[:80]!r} can't be the name of a {what}.",
            remedy="Use letters, digits, dot, dash and underscore (at most 200), such as deploy or ann.",
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


def checked_password(text: str) -> str:
    """A password that may be. Raises InvalidOption."""
    if not SHORTEST_PASSWORD <= len(text) <= LONGEST_PASSWORD:
        raise InvalidOption(
            f"The password has {len(text):,} characters; it must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD:,}.",
            remedy="A few words in a row are easy to keep in mind.",
            field="password",
        )
    return text


def checked_queues(queues: Sequence[str] | None) -> tuple[str, ...] | None:
    """Names of queues that somebody is kept to, in order, each once. Raises InvalidOption, InvalidTask."""
    if queues is None:
        return None
    if not 1 <= len(queues) <= MOST_QUEUES:
        raise InvalidOption(
            f"queues has {len(queues)} names; it must have 1 to {MOST_QUEUES}.",
            remedy="Leave it out for all queues.",
            field="queues",
        )
    return tuple(sorted({checked_name(name, "queue", field="queues") for name in queues}))
