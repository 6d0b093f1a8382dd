"""Birth: insert jobs. Used by submits, replays, and (later) schedules and runs."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.domain.ids import JobId
from mainspring.store import jobs
from mainspring.store.jobs import Birth
from mainspring.store.transaction import Transaction

__all__ = ["Birth", "born"]


def born(tx: Transaction, births: Sequence[Birth], actor: str) -> list[JobId]:
    """Store the jobs, all in this transaction, and answer their ids in order."""
    return jobs.insert(tx, births, actor) if births else []
