"""Event: one recorded transition of a job. The order is ``seq``; recorded times of a job never go back."""

from __future__ import annotations

from typing import Any

import msgspec

from mainspring.clock import Instant
from mainspring.domain.ids import EventSeq, JobId
from mainspring.domain.states import Cause, State


class Event(msgspec.Struct, frozen=True):
    """What happened to a job: the move, when, by whom (``worker:7``, ``client``, ``sweeper``), and its attempt.

    ``detail`` says more in JSON where there is more to say: due instant, reason, error.
    """

    seq: EventSeq
    job: JobId
    at: Instant
    cause: Cause
    source: State
    target: State
    attempt: int
    actor: str
    detail: dict[str, Any] | None = None
