"""Worker: a process that claims and runs jobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from mainspring.clock import Instant
from mainspring.domain.ids import WorkerId


class WorkerState(StrEnum):
    """What a worker does now."""

    ACTIVE = "active"
    IMPAIRED = "impaired"  # it lives, but its runners can't load the app
    DRAINING = "draining"
    STOPPED = "stopped"  # it said goodbye
    LOST = "lost"  # its heartbeat is overdue


def serves(queues: Collection[str], queue: str) -> bool:
    """Whether a worker with these queues takes from one; without any it takes from all."""
    return not queues or queue in queues


def may_take(requires: Mapping[str, str], cost: int, *, labels: Mapping[str, str], slots: int) -> bool:
    """Whether a worker with these labels and slots may run jobs that require labels and cost so many slots each."""
    return cost <= slots and requires.items() <= labels.items()


class Worker(msgspec.Struct, frozen=True):
    """A worker as lists show it.

    ``pids``: coordinator, runners; ``running``: jobs it holds leases on; ``outdated``: it runs other code than the
    newest of its app that was ever seen.
    """

    id: WorkerId
    incarnation: str
    name: str
    host: str
    pid: int
    app: str
    code_hash: str
    version: str
    queues: tuple[str, ...]
    labels: dict[str, str]
    slots: int
    state: WorkerState
    started_at: Instant
    beat_at: Instant
    running: int
    pids: dict[str, Any]
    tasks: tuple[str, ...] = ()
    outdated: bool = False
