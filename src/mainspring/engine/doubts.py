"""After a commit whose outcome stayed unknown: claims that it may have made, of which this worker has not heard.

Nobody runs them. They are given back by the next commit, uncharged, rather than lost when their leases have run out.
"""

from __future__ import annotations

from collections.abc import Iterable

from mainspring.domain.attempt import Ending
from mainspring.domain.ids import WorkerId
from mainspring.domain.states import Outcome
from mainspring.domain.task import Lodging
from mainspring.engine.held import Held
from mainspring.store import Transaction, jobs, lanes, runs
from mainspring.transitions.ended import Report


class Doubts:
    """Those of one worker. ``open``: a commit was not answered, and none has been since."""

    def __init__(self, worker: WorkerId) -> None:
        self._worker = worker
        self.open = False

    def unheard(self, tx: Transaction, held: Iterable[Held], reports: Iterable[Report]) -> list[Report]:
        """Ends for claims of this worker that it neither holds nor reports; none without a doubt."""
        if not self.open:
            return []
        known = {one.claim for one in held} | {report.ending.claim for report in reports}
        found = [one for one in jobs.leased_by(tx, self._worker) if one[1] not in known]
        links = runs.links(tx, [job for job, _, _ in found]) if found else {}
        return [
            Report(
                Ending(job=job, claim=claim, outcome=Outcome.RELEASED),
                jobs.policy_of(tx, job),
                lanes.lodging_of(tx, lane) is Lodging.ALONE,
                links.get(job),
            )
            for job, claim, lane in found
        ]

    def settled(self) -> bool:
        """A commit was answered: whether there had been a doubt."""
        had, self.open = self.open, False
        return had
