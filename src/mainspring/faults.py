"""Named fault points: places where a test may stop, kill or delay the real code. No-ops unless armed.

In one process: ``arm(handler)``. In real processes: the environment variable ``MAINSPRING_FAULTS``, a list such as
``submit.before_commit=kill@3,sweep.after_read=stop`` (``kill``, ``stop`` or ``raise``; ``@n``: only the n-th hit).
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from enum import StrEnum


class FaultPoint(StrEnum):
    """Where things may go wrong. Names are stable; a test fails when one is hit by no test."""

    SUBMIT_BEFORE_COMMIT = "submit.before_commit"
    SUBMIT_AFTER_COMMIT = "submit.after_commit"
    DISPATCH_BEFORE_COMMIT = "dispatch.before_commit"
    DISPATCH_AFTER_COMMIT = "dispatch.after_commit"
    START_BEFORE_SEND = "start.before_send"
    RENEW_BEFORE_WRITE = "renew.before_write"
    SWEEP_AFTER_READ = "sweep.after_read"
    SWEEP_BEFORE_COMMIT = "sweep.before_commit"
    SWEEP_AFTER_COMMIT = "sweep.after_commit"
    FIRE_AFTER_READ = "fire.after_read"
    FIRE_BEFORE_COMMIT = "fire.before_commit"
    FIRE_AFTER_COMMIT = "fire.after_commit"
    CANCEL_BEFORE_COMMIT = "cancel.before_commit"
    CANCEL_AFTER_COMMIT = "cancel.after_commit"
    RETENTION_BEFORE_COMMIT = "retention.before_commit"
    MOVE_BEFORE_COMMIT = "move.before_commit"
    MIGRATE_BEFORE_COMMIT = "migrate.before_commit"


class InjectedFault(Exception):
    """What an armed ``raise`` action throws; in the simulated world it ends the actor."""


Handler = Callable[[FaultPoint], None]
_handler: Handler | None = None


def hit(point: FaultPoint) -> None:
    """Mark a fault point. Costs one comparison when nothing is armed."""
    if _handler is not None:
        _handler(point)


def arm(handler: Handler | None) -> None:
    """Call this for each hit from now on; None disarms."""
    global _handler  # noqa: PLW0603 - one switch per process
    _handler = handler


def arm_from_environment(environment: dict[str, str]) -> None:
    """Arm what MAINSPRING_FAULTS asks for; nothing when it is not set."""
    plan = environment.get("MAINSPRING_FAULTS", "")
    if plan:
        arm(_Plan(plan))


class _Plan:
    """Actions by fault point, as the environment variable spells them."""

    def __init__(self, text: str) -> None:
        self._actions: dict[FaultPoint, tuple[str, int]] = {}
        self._hits: Counter[FaultPoint] = Counter()
        for item in text.split(","):
            point, _, action = item.strip().partition("=")
            verb, _, nth = action.partition("@")
            self._actions[FaultPoint(point)] = (verb, int(nth or 0))

    def __call__(self, point: FaultPoint) -> None:
        self._hits[point] += 1
        verb, nth = self._actions.get(point, ("", 0))
        if not verb or (nth and self._hits[point] != nth):
            return
        if verb == "raise":
            raise InjectedFault(point.value)
        os.kill(os.getpid(), signal.SIGKILL if verb == "kill" else signal.SIGSTOP)
