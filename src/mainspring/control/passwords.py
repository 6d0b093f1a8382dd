"""Passwords: Argon2id, slow on purpose. How many are looked at at a time is the business of whoever is asked for it.

19 MiB and two passes for each, as OWASP has it: about 20 ms of one core.
"""

from __future__ import annotations

from mainspring.chance import Chance

_MEMORY, _PASSES, _LANES, _LENGTH = 19_456, 2, 1, 32


def hashed(password: str, chance: Chance) -> str:
    """What is kept of a password."""
    from argon2.low_level import Type, hash_secret

    salt = chance.secret().encode()[:16]
    return hash_secret(password.encode(), salt, _PASSES, _MEMORY, _LANES, _LENGTH, Type.ID).decode()


def matches(kept: str, password: str) -> bool:
    """Whether this is the password of which that was kept."""
    from argon2.exceptions import Argon2Error
    from argon2.low_level import Type, verify_secret

    try:
        return verify_secret(kept.encode(), password.encode(), Type.ID)
    except Argon2Error:
        return False
