"""LogLine: one piece of a job's output."""

from __future__ import annotations

import msgspec

from mainspring.clock import Instant
from mainspring.domain.ids import JobId

LOG_LIMIT = 10 * 1_048_576
"""Bytes of output kept per job; the first part and the last MiB, with a cut mark between."""

TAIL_LIMIT = 1_048_576


class LogChunk(msgspec.Struct, frozen=True, array_like=True):
    """Output as it travels and is stored: when it was read, its stream and its text (one or more lines).

    ``stream``: ``stdout``, ``stderr``, ``log`` (the logging module; the level is in ``level``) or ``mainspring`` (ours,
    for instance the cut mark).
    """

    at: Instant
    stream: str
    text: str
    level: str = ""


class LogLine(msgspec.Struct, frozen=True):
    """One line as readers get it; ``seq`` is a cursor, strictly increasing within a job."""

    seq: int
    job: JobId
    attempt: int
    at: Instant
    stream: str
    level: str
    text: str
