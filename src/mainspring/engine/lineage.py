"""Lineage: in whose trace a job or run is. Of its own submit, of the job or run that made it, or one that it begins."""

from __future__ import annotations

from collections.abc import Sequence

from mainspring.domain.ids import JobId
from mainspring.domain.span import Lineage, Origin, below, origin_in, root
from mainspring.store import Transaction, spans

_DEEPEST = 50
_REMEMBERED = 10_000

Known = dict[tuple[str, int], Origin]


class Origins:
    """Finds them, and remembers those of the jobs and runs that have made others."""

    def __init__(self) -> None:
        self._known: Known = {}

    def of(self, tx: Transaction, kind: str, number: int, lineage: Lineage) -> Origin:
        """That of a ``job`` or ``run`` of this lineage."""
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        return self._of(tx, kind, number, lineage, _DEEPEST)

    def of_jobs(self, tx: Transaction, jobs: Sequence[JobId]) -> dict[JobId, Origin]:
        """Those of these jobs."""
        return {job: self.of(tx, "job", job, lineage) for job, lineage in spans.of_jobs(tx, jobs).items()}

    def _of(self, tx: Transaction, kind: str, number: int, lineage: Lineage, deep: int) -> Origin:
        said = origin_in(lineage.tags)
        if said is not None:
            return said
        maker = ("job", lineage.job) if lineage.job is not None else ("run", lineage.run)
        if maker[1] is None or deep == 0:
            return root(kind, number, lineage.created)
        above = maker[0], int(maker[1])
        found = self._known.get(above)
        if found is None:
            older = spans.of_run(tx, above[1]) if above[0] == "run" else spans.of_job(tx, above[1])
            if older is None:
                return root(kind, number, lineage.created)
            found = self._known[above] = self._of(tx, *above, older, deep - 1)
        return below(found, *above)
