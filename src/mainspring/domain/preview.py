"""The next ticks of a recurrence, for people to look at before they trust it. The same ``next_after`` that fires."""

from __future__ import annotations

from mainspring.clock import MICROSECOND, Instant
from mainspring.domain.recurrence import Recurrence
from mainspring.errors import InvalidOption

MOST = 1_000


def next_ticks(rule: Recurrence, after: Instant, count: int, *, inclusive: bool = False) -> list[str]:
    """ISO 8601 with the offset of its zone, of the next ticks after an instant; fewer where no more come.

    Raises InvalidOption for a count that can't be.
    """
    if not 1 <= count <= MOST:
        raise InvalidOption(f"n is {count}; it must be from 1 to {MOST:,}.", field="n")
    found: list[str] = []
    tick: Instant | None = Instant(after - MICROSECOND) if inclusive else after
    while tick is not None and len(found) < count:
        tick = rule.next_after(tick)
        if tick is not None:
            found.append(rule.place.text(tick))
    return found
