"""Queue: a named line of jobs, with what operators have said of it: a pause, a limit of running jobs, a note."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from mainspring.clock import Instant
from mainspring.domain.parameters import checked_json
from mainspring.errors import InvalidOption

MOST_RUNNING = 1_000_000
LONGEST_NOTE = 1_000


class Rule(msgspec.Struct, frozen=True):
    """What operators have said of a queue.

    ``limit``: jobs of it that may run at once over all workers (None: any number); ``paused_at`` and ``paused_by``:
    since when and by whom it is paused, None where it is not; ``note``: their last word on it.
    """

    limit: int | None = None
    paused_at: Instant | None = None
    paused_by: str | None = None
    note: str | None = None


class Queue(msgspec.Struct, frozen=True):
    """A queue as lists show it: its rule, and how many jobs of it are in each state that is not an end."""

    name: str
    limit: int | None = None
    paused_at: Instant | None = None
    paused_by: str | None = None
    note: str | None = None
    queued: int = 0
    scheduled: int = 0
    retrying: int = 0
    running: int = 0

    @property
    def full(self) -> bool:
        """Whether as many jobs of it run as may."""
        return self.limit is not None and self.running >= self.limit


class QueueChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What to change of a queue; what is left out stays. ``limit`` None: no limit; ``note`` None: no note."""

    paused: bool | UnsetType = UNSET
    limit: int | UnsetType | None = UNSET
    note: str | UnsetType | None = UNSET


def changed(rule: Rule, change: QueueChange, *, by: str, now: Instant) -> Rule:
    """The rule after a change. A pause keeps who began it; a resume takes the note away, unless it brings one.

    Raises InvalidOption, InvalidText.
    """
    limit = rule.limit if change.limit is UNSET else change.limit
    if limit is not None and not 1 <= limit <= MOST_RUNNING:
        raise InvalidOption(
            f"limit is {limit}; it must be from 1 to {MOST_RUNNING:,}.",
            remedy="Pause the queue to let none run.",
            field="limit",
        )
    if isinstance(change.note, str):
        checked_json(change.note, "note")
        if len(change.note) > LONGEST_NOTE:
            raise InvalidOption(f"note is longer than {LONGEST_NOTE:,} characters.", field="note")
    note = change.note
    if note is UNSET:
        note = None if change.paused is False and rule.paused_at is not None else rule.note
    paused_at, paused_by = rule.paused_at, rule.paused_by
    if change.paused is False:
        paused_at = paused_by = None
    elif change.paused is True and paused_at is None:
        paused_at, paused_by = now, by
    return Rule(limit, paused_at, paused_by, note or None)
