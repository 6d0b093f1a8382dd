"""Ends on their way: a batch of successes is stored in a transaction of its own while the next jobs are claimed.

Where the store is a server, it works on the one while we prepare the other, and both wait for the disk at once.
Neither needs the other: an end is guarded by its claim, a claim by the row that waits. A few ends go with the claim, so
that a hop of a chain is one commit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mainspring.domain.states import Outcome
from mainspring.errors import StoreError
from mainspring.faults import FaultPoint
from mainspring.store import Store, Transaction, at_once
from mainspring.store.transaction import Sent
from mainspring.transitions.ended import Report, Settled, end

FEWEST = 10
"""Ends for which another transaction is worth it."""

MOST_BYTES = 65_536
"""Of results, so that all of it is sent without anybody waiting."""


class Ahead(NamedTuple):
    """Reports that are on their way to the store."""

    reports: Sequence[Report]
    sent: Sent[at_once.Told]

    def left(self) -> list[Report]:
        """Wait until the others are stored: those of which something else is true. Raises StoreError for all."""
        told = self.sent.answer()()
        return [one for one in self.reports if (one.ending.job, one.ending.claim) not in told]


def send(store: Store, reports: Sequence[Report], actor: str) -> Ahead | None:
    """Send them, where they are many and plain: successes of no runs. Raises StoreError where nothing was sent."""
    if not store.engine.sends or len(reports) < FEWEST or not all(map(_plain, reports)):
        return None
    if sum(len(one.ending.result or b"") + len(one.ending.details or b"") for one in reports) > MOST_BYTES:
        return None

    def work(tx: Transaction) -> at_once.Told:
        return at_once.succeed(tx, [one.ending for one in reports], actor)

    return Ahead(reports, store.send(work, before=FaultPoint.DISPATCH_BEFORE_COMMIT))


def _plain(report: Report) -> bool:
    return report.link is None and report.ending.outcome is Outcome.SUCCEEDED


def one_by_one(store: Store, reports: Sequence[Report], actor: str) -> tuple[list[Settled], list[str]]:
    """Write ends singly, so that one bad row stops no other; what came of them, and a sentence for each other."""
    settled: list[Settled] = []
    notes: list[str] = []
    for report in reports:
        try:
            settled.append(store.write(lambda tx, one=report: end(tx, [one], actor)))  # type: ignore[misc]
        except StoreError as error:
            notes.append(f"job {report.ending.job}: its end can't be recorded: {error}")
    return settled, notes
