"""When a node may go, and what a run is: the states of nodes and runs, and the join rules as pure decisions.

``decide`` reads counts of needs alone, so that the store needs nothing but counters. Two rules for those who read on:
a need that was cancelled, or skipped because something above it failed, counts as failed; and a decision, once it is
not Wait, is the one that the end of all needs would lead to as well, whatever their order (but for the ``one_*`` rules
and ``always``, which are there to be early).
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

import msgspec


class Rule(StrEnum):
    """What a node wants of its needs (``run_if``). A node without needs goes at once under each of them."""

    ALL_SUCCESS = "all_success"  # all succeeded (default)
    ALL_DONE = "all_done"  # all have ended, however
    ALL_FAILED = "all_failed"  # all failed
    ALL_SKIPPED = "all_skipped"  # all were skipped
    ONE_SUCCESS = "one_success"  # one succeeded; does not wait for the others
    ONE_FAILED = "one_failed"  # one failed; does not wait for the others
    ONE_DONE = "one_done"  # one succeeded or failed; does not wait for the others
    NONE_FAILED = "none_failed"  # all have ended and none failed
    NONE_SKIPPED = "none_skipped"  # all have ended and none was skipped
    NONE_FAILED_MIN_ONE_SUCCESS = "none_failed_min_one_success"  # none failed and one succeeded, when all have ended
    ALWAYS = "always"  # at once, without a look at its needs


AFTER_TROUBLE = frozenset({Rule.ALL_DONE, Rule.ALL_FAILED, Rule.ONE_FAILED, Rule.ALWAYS})
"""The rules of nodes that clean up or tell somebody. When a run is stopped (cancelled, timed out, or fail_fast met a
failure) nodes under these are left alone, whether they run or wait for their needs; all others are cancelled."""

EARLY = frozenset({Rule.ONE_SUCCESS, Rule.ONE_FAILED, Rule.ONE_DONE, Rule.ALWAYS})
"""The rules under which a node may go while some of its needs have not ended."""


class NodeState(StrEnum):
    """Where a node of a run stands."""

    WAITING = "waiting"
    ACTIVE = "active"  # it has jobs or a run of its own
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


class Reason(StrEnum):
    """Why a node was skipped."""

    CONDITION = "condition"  # its ``when`` was not met
    RULE = "rule"  # its rule can't be met, and nothing failed
    UPSTREAM_FAILED = "upstream_failed"  # its rule can't be met because something above it failed


class RunState(StrEnum):
    """Where a run stands."""

    PENDING = "pending"  # no node has left its place yet
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Weight(StrEnum):
    """As what an ended need counts."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    SKIPPED = "skipped"


@cache
def weight(state: NodeState, reason: Reason | None = None) -> Weight | None:
    """As what a need in this state counts to the nodes below; None while it has not ended."""
    match state:
        case NodeState.WAITING | NodeState.ACTIVE:
            return None
        case NodeState.SUCCEEDED:
            return Weight.SUCCEEDED
        case NodeState.FAILED | NodeState.CANCELLED:
            return Weight.FAILED
        case NodeState.SKIPPED:
            return Weight.FAILED if reason is Reason.UPSTREAM_FAILED else Weight.SKIPPED


class Needs(NamedTuple):
    """How many needs of a node have not ended, succeeded, failed, were skipped. See ``weight``."""

    open: int = 0
    succeeded: int = 0
    failed: int = 0
    skipped: int = 0

    @property
    def total(self) -> int:
        """All needs."""
        return self.open + self.succeeded + self.failed + self.skipped


class Wait(msgspec.Struct, frozen=True):
    """Not to be decided yet."""


class Go(msgspec.Struct, frozen=True):
    """It may go."""


class Skip(msgspec.Struct, frozen=True):
    """It never goes."""

    reason: Reason


Decision = Wait | Go | Skip

WAIT, GO = Wait(), Go()
_BY_RULE, _BY_FAILURE = Skip(Reason.RULE), Skip(Reason.UPSTREAM_FAILED)


@lru_cache(maxsize=1_000)
def decide(rule: Rule, needs: Needs) -> Decision:
    """What becomes of a node that waits, as soon as that is certain."""
    if rule is Rule.ALWAYS or needs.total == 0:
        return GO
    early = _before_the_end(rule, needs)
    if early is not None:
        return early
    return WAIT if needs.open else _at_the_end(rule, needs)


def _before_the_end(rule: Rule, needs: Needs) -> Decision | None:
    """What no further end of a need can change, or None."""
    match rule:
        case Rule.ALL_SUCCESS | Rule.NONE_FAILED | Rule.NONE_FAILED_MIN_ONE_SUCCESS:
            return _BY_FAILURE if needs.failed else None
        case Rule.ALL_FAILED:
            return _BY_RULE if needs.succeeded or needs.skipped else None
        case Rule.ALL_SKIPPED:
            return _BY_RULE if needs.succeeded or needs.failed else None
        case Rule.NONE_SKIPPED:
            return _BY_RULE if needs.skipped else None
        case Rule.ONE_SUCCESS:
            return GO if needs.succeeded else None
        case Rule.ONE_FAILED:
            return GO if needs.failed else None
        case Rule.ONE_DONE:
            return GO if needs.succeeded or needs.failed else None
        case Rule.ALL_DONE | Rule.ALWAYS:
            return None


def _at_the_end(rule: Rule, needs: Needs) -> Decision:
    """All needs have ended, and nothing was certain before."""
    match rule:
        case Rule.ALL_SUCCESS:
            return _BY_RULE if needs.skipped else GO
        case Rule.ONE_SUCCESS:
            return _BY_FAILURE if needs.failed else _BY_RULE
        case Rule.NONE_FAILED_MIN_ONE_SUCCESS:
            return GO if needs.succeeded else _BY_RULE
        case Rule.ONE_FAILED | Rule.ONE_DONE:
            return _BY_RULE
        case _:
            return GO


class Stop(StrEnum):
    """Why a run was told to stop before its time."""

    CANCEL = "cancel"
    TIMEOUT = "timeout"
    FAIL_FAST = "fail_fast"


class Tally(NamedTuple):
    """How many nodes of a run are in each state. ``excused``: failed nodes that may fail; no part of ``failed``."""

    waiting: int = 0
    active: int = 0
    succeeded: int = 0
    failed: int = 0
    excused: int = 0
    skipped: int = 0
    cancelled: int = 0


def run_state(tally: Tally, stop: Stop | None = None) -> RunState:
    """The state of a run, from those of its nodes and, where it was told to stop, from why.

    - While a node waits or is active: ``pending`` as long as all of them wait, then ``running``.
    - When all have ended: a run that was stopped by its timeout or by a person is ``failed`` or ``cancelled`` if that
      kept a node from its end (one is cancelled); what was over already is not touched by a stop that came late.
    - Else ``failed`` if a node failed that may not (``may_fail``), ``cancelled`` if a node was cancelled on its own,
      and ``succeeded`` otherwise, also when nodes were skipped: a branch that was not taken is no failure.

    So a failure that another node dealt with (``one_failed``, ``all_done``) still makes the run failed: it says what
    happened. Where a failure is fine, the node says so.
    """
    if tally.waiting or tally.active:
        left = tally.active or tally.succeeded or tally.failed or tally.excused or tally.skipped or tally.cancelled
        return RunState.RUNNING if left else RunState.PENDING
    if tally.cancelled and stop is Stop.TIMEOUT:
        return RunState.FAILED
    if tally.cancelled and stop is Stop.CANCEL:
        return RunState.CANCELLED
    if tally.failed:
        return RunState.FAILED
    return RunState.CANCELLED if tally.cancelled else RunState.SUCCEEDED
