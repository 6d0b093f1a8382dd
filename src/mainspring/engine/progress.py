"""Progress: what running attempts last said of themselves, on its way into their leases."""

from __future__ import annotations

from collections.abc import Mapping

from mainspring.domain.frame import Progress
from mainspring.domain.ids import JobId
from mainspring.engine.held import Held, RunnerView
from mainspring.store import Transaction, jobs


class Said(dict[JobId, str]):
    """By job, as JSON; the next commit writes it."""

    def take(self, runner: RunnerView, frame: Progress) -> None:
        """A report of an attempt that this runner holds; any other is dropped."""
        held = runner.jobs.get(frame.job)
        if held is not None and held.claim == frame.claim:
            self[frame.job] = bytes(frame.details).decode()

    def write(self, tx: Transaction, held: Mapping[JobId, Held]) -> None:
        """Keep it with those that still run."""
        jobs.note_details(tx, [(text, job, held[job].claim) for job, text in self.items() if job in held])
