"""Chance as an argument: jitter, claim ids and incarnations come from here, so that a seed can replay a world."""

from __future__ import annotations

import random
import secrets
from collections.abc import MutableSequence, Sequence
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Chance(Protocol):
    """What decides where the product needs an arbitrary choice."""

    def fraction(self) -> float:
        """A number in [0, 1)."""
        ...

    def claim_id(self) -> int:
        """A positive 63-bit number, the fence of one attempt."""
        ...

    def incarnation(self) -> str:
        """The random name of one start of a process: 16 hexadecimal digits."""
        ...

    def secret(self) -> str:
        """256 random bits as letters, digits, dash and underscore."""
        ...


class SystemChance:
    """Unpredictable; what real processes use."""

    def __init__(self) -> None:
        self._random = random.Random(secrets.randbits(128))  # noqa: S311 - claim ids are fences, not secrets

    def fraction(self) -> float:
        return self._random.random()

    def claim_id(self) -> int:
        return self._random.getrandbits(62) + 1

    def incarnation(self) -> str:
        return secrets.token_hex(8)

    def secret(self) -> str:
        return secrets.token_urlsafe(32)


class SeededChance:
    """The same seed gives the same choices; what simulation and tests use."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - repeatable on purpose

    def fraction(self) -> float:
        return self._random.random()

    def claim_id(self) -> int:
        return self._random.getrandbits(62) + 1

    def incarnation(self) -> str:
        return f"{self._random.getrandbits(64):016x}"

    def secret(self) -> str:
        return f"{self._random.getrandbits(256):064x}"

    def whole(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return self._random.randint(low, high)

    def pick(self, among: Sequence[T]) -> T:
        """One of them."""
        return self._random.choice(among)

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Reorder in place."""
        self._random.shuffle(items)
