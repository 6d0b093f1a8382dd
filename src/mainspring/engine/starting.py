"""The frames that start an attempt, and what becomes of one that can't be started."""

from __future__ import annotations

import msgspec

from mainspring.clock import seconds
from mainspring.domain.attempt import Ending, Failure
from mainspring.domain.frame import INLINE_LIMIT, Frame, Params, Start
from mainspring.domain.span import traceparent
from mainspring.domain.states import Outcome
from mainspring.domain.task import Lodging
from mainspring.engine.claiming import Claimed
from mainspring.store import rows
from mainspring.transitions.ended import Report

NOTHING, NULL = msgspec.Raw(b"{}"), msgspec.Raw(b"null")


def start_frames(claimed: Claimed, attempt: int, log_room: int) -> list[Frame] | None:
    """What the runner is sent; None when that can't be made: ``refused``, or stored parameters that are not JSON."""
    if claimed.refused is not None:
        return None
    left, claim = claimed.grant
    params = claimed.load.params.encode()
    if not _is_json(params):
        return None
    large = len(params) > INLINE_LIMIT
    start = Start(
        job=left.job,
        claim=claim,
        attempt=attempt,
        task=claimed.load.task,
        params=NOTHING if large or params == b"{}" else msgspec.Raw(params),
        bulk=large,
        log_room=log_room,
        grace=seconds(claimed.policy.grace),
        details=NULL if claimed.details is None else msgspec.Raw(claimed.details.encode()),
        tick=rows.tick(claimed.load.tick),
        trace="" if claimed.origin is None else traceparent(claimed.origin, left.job, attempt),
    )
    return [start, Params(left.job, claim, msgspec.Raw(params))] if large else [start]


def unsent(claimed: Claimed) -> Report:
    """The end of an attempt whose runner was ended before anything was sent to it: another one follows at once."""
    (left, claim), lane = claimed.grant, claimed.lane
    ending = Ending(left.job, claim, Outcome.RELEASED)
    return Report(ending, claimed.policy, lane.lodging is Lodging.ALONE, claimed.load.link)


def unstartable(claimed: Claimed) -> Failure:
    """Why there are no frames for it."""
    text = "its stored parameters are not JSON; the row was changed by hand"
    return claimed.refused or Failure("UnreadableParameters", text)


def _is_json(text: bytes) -> bool:
    """A row that was edited by hand must not break the frames of its neighbours."""
    if text == b"{}":
        return True
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError):
        return False
    return b"\n" not in text
