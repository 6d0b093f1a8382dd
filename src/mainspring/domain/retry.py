"""Retry: how often and how late an attempt that went wrong is followed by another one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mainspring.clock import LONGEST, MINUTE, Duration, duration, duration_text
from mainspring.errors import InvalidDuration, InvalidOption

DEFAULT_CAP = Duration(5 * MINUTE)
MOST_ATTEMPTS = 1_000_000
MOST_RELEASES = 10
_LONGEST_NAME = 200

ErrorTypes = Iterable[type[BaseException] | str] | type[BaseException]
"""Error classes or their names; one alone needs no list."""


class RetryAfter(Exception):
    """Raise it in a task to fail this attempt and choose the delay before the next one.

    The wish is taken as it is (``max_delay`` bounds the computed delays only); attempts are charged as usual. Any
    other exception may do the same with an attribute ``retry_after`` (a duration).
    """

    def __init__(self, delay: str | float, message: str = "") -> None:
        super().__init__(message or f"try again in {delay}")
        self.retry_after = delay


@dataclass(frozen=True, slots=True, init=False)
class Retry:
    """The retry policy of a task or job.

    Parameters
    ----------
    max_attempts: failed, timed-out and crashed attempts until the job is dead (default 4; 1 = no retries).
    max_losses: attempts lost with their worker or with a shared runner until the job is dead (default 3;
        0 = at most once: a lost job ends dead and says so).
    delay: before the second attempt (default ``1s``).
    factor: each further delay is this many times the last (default 2).
    max_delay: cap of the computed delay (default ``5m``, or 24 times ``delay`` where that is above 5 minutes).
    jitter: the delay is varied by up to this fraction either way (default 0.2), never above the cap.
    retry_on: error types that are retried, all others are not (default: all are). Classes or their names;
        subclasses count.
    never_on: error types that are never retried; wins over ``retry_on``.

    """

    max_attempts: int
    max_losses: int
    delay: Duration
    factor: float
    max_delay: Duration
    jitter: float
    retry_on: tuple[str, ...]
    never_on: tuple[str, ...]

    def __init__(  # noqa: PLR0913 - each is a documented option
        self,
        *,
        max_attempts: int = 4,
        max_losses: int = 3,
        delay: str | float = "1s",
        factor: float = 2.0,
        max_delay: str | float | None = None,
        jitter: float = 0.2,
        retry_on: ErrorTypes = (),
        never_on: ErrorTypes = (),
    ) -> None:
        first = _length(delay, "retry.delay")
        cap = _length(max_delay, "retry.max_delay") if max_delay is not None else _default_cap(first)
        _whole(max_attempts, "retry.max_attempts", 1)
        _whole(max_losses, "retry.max_losses", 0)
        if not _number(factor) or not 1 <= factor <= 1000:
            raise InvalidOption(f"retry.factor is {factor!r}; it must be between 1 and 1000.", field="retry.factor")
        if not _number(jitter) or not 0 <= jitter <= 1:
            raise InvalidOption(f"retry.jitter is {jitter!r}; it must be between 0 and 1.", field="retry.jitter")
        if cap < first:
            raise InvalidOption(
                f"retry.max_delay {duration_text(cap)} is below retry.delay {duration_text(first)}.",
                remedy="Raise max_delay or leave it out.",
                field="retry.max_delay",
            )
        for name, value in (
            ("max_attempts", max_attempts),
            ("max_losses", max_losses),
            ("delay", first),
            ("factor", float(factor)),
            ("max_delay", cap),
            ("jitter", float(jitter)),
            ("retry_on", _names(retry_on, "retry.retry_on")),
            ("never_on", _names(never_on, "retry.never_on")),
        ):
            object.__setattr__(self, name, value)

    def computed_delay(self, failures: int, fraction: float) -> Duration:
        """The wait after the given number of charged attempts (1 = after the first).

        ``fraction`` in [0, 1) picks the jitter. Exponential backoff with proportional jitter.
        """
        cap = float(self.max_delay)
        try:
            plain = min(self.delay * self.factor ** max(0, failures - 1), cap) if self.delay else 0.0
        except OverflowError:
            plain = cap
        # Spread evenly below the cap too: cutting off at the cap would let half of a herd come back at one instant.
        low, high = plain * (1 - self.jitter), min(plain * (1 + self.jitter), cap)
        return Duration(round(low + (high - low) * fraction))

    def allows(self, error_types: Iterable[str]) -> bool:
        """Whether an error of these types (the class and its bases, plain or dotted names) may be retried."""
        types = {form for name in error_types for form in (name, name.rpartition(".")[2])}
        if types & set(self.never_on):
            return False
        return not self.retry_on or bool(types & set(self.retry_on))

    def document(self) -> dict[str, Any]:
        """The policy as JSON-ready values that ``from_document`` reads back; durations as text."""
        return {
            "max_attempts": self.max_attempts,
            "max_losses": self.max_losses,
            "delay": duration_text(self.delay),
            "factor": self.factor,
            "max_delay": duration_text(self.max_delay),
            "jitter": self.jitter,
            "retry_on": list(self.retry_on),
            "never_on": list(self.never_on),
        }

    @staticmethod
    def from_document(document: dict[str, Any], *, base: Retry | None = None) -> Retry:
        """Read a policy; what is left out comes from ``base`` or from the defaults. Raises InvalidOption."""
        if not isinstance(document, dict):
            raise InvalidOption(
                f"retry is {document!r}; it must be an object such as {{'max_attempts': 5}}.", field="retry"
            )
        known = set(DEFAULT.document())
        for name in document:
            if name not in known:
                raise InvalidOption(
                    f"retry has no {name!r}.", remedy=f"It may have: {', '.join(sorted(known))}.", field=f"retry.{name}"
                )
        inherited = dict(base.document()) if base is not None else {}
        if "delay" in document and "max_delay" not in document:
            inherited.pop("max_delay", None)
        return Retry(**(inherited | document))


def _default_cap(first: Duration) -> Duration:
    return Duration(min(24 * first, LONGEST)) if first > DEFAULT_CAP else DEFAULT_CAP


def _length(value: str | float, field: str) -> Duration:
    try:
        return duration(value)
    except InvalidDuration as error:
        raise InvalidDuration(value, field=field) from error


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: object, field: str, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= MOST_ATTEMPTS:
        raise InvalidOption(
            f"{field} is {value!r}; it must be a whole number from {least} to {MOST_ATTEMPTS:,}.", field=field
        )


def _names(types: ErrorTypes, field: str) -> tuple[str, ...]:
    if isinstance(types, str | type):
        types = (types,)
    if not isinstance(types, Iterable):
        raise InvalidOption(f"{field} is {types!r}; it must be a list of error types.", field=field)
    return tuple(_name(kind, field) for kind in types)


def _name(kind: object, field: str) -> str:
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return kind.__qualname__
    if isinstance(kind, str) and kind.isprintable() and 0 < len(kind) <= _LONGEST_NAME:
        return kind
    raise InvalidOption(
        f"{field} has {kind!r}.", remedy="Give error classes or their names, such as ConnectionError.", field=field
    )


DEFAULT = Retry()
