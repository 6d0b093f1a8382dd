"""Topics: named lines of messages, and subscriptions that make a job or a run of each message. Values only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from mainspring.clock import DAY, Duration, Instant
from mainspring.errors import InvalidOption

KEPT = Duration(7 * DAY)
"""How long a message is kept; one that a subscription has not taken yet stays."""

MOST_MESSAGES = 1_000
"""Of one publish."""


class Topic(msgspec.Struct, frozen=True):
    """A line of messages, numbered from 1. ``first``: the oldest that is kept, if one is; ``last``: the newest."""

    name: str
    last: int
    first: int | None
    at: Instant | None


class Message(msgspec.Struct, frozen=True):
    """What was published."""

    topic: str
    number: int
    at: Instant
    actor: str
    data: Any


class Subscription(msgspec.Struct, frozen=True):
    """Who takes the messages of a topic: each makes a job of ``task`` or a run of ``workflow``.

    ``params``: what each has besides the fields of the message; ``cursor``: the last message that was taken;
    ``refused``: messages that could not be made into one, ``refusal``: why, of the last of them.
    """

    name: str
    topic: str
    task: str | None
    workflow: str | None
    params: dict[str, Any]
    cursor: int
    made: int
    refused: int
    refusal: str | None
    created_at: Instant
    created_by: str


class SubscriptionWanted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody subscribes with: one of ``task`` and ``workflow``. ``after``: the message behind which it begins.

    Without ``after`` it begins with the next message; 0 is the oldest that is kept.
    """

    name: str
    topic: str
    task: str | None = None
    workflow: str | None = None
    params: dict[str, Any] = {}
    after: int | None = None


def params_of(fixed: Mapping[str, Any], data: Any) -> dict[str, Any]:
    """Parameters of the job or run that a message makes: its fields, and what is fixed. Raises InvalidOption."""
    if not isinstance(data, dict):
        raise InvalidOption(
            f"The message is {type(data).__name__}, and its fields are to be parameters.",
            remedy="Publish an object.",
            field="data",
        )
    if not isinstance(fixed, Mapping):
        raise InvalidOption(
            "The parameters that are fixed for this subscription can't be read.",
            remedy="Its row was changed by hand: subscribe anew.",
            field="params",
        )
    return {**data, **fixed}
