"""Reach: the lanes that a worker may claim from and the tasks that it knows, read again when a look shows a change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mainspring.domain.worker import may_take, serves
from mainspring.engine.held import RunnerView
from mainspring.store import Transaction, catalog, lanes
from mainspring.store.lanes import Lane, Map
from mainspring.store.workers import Other, Poll, others_of


class Reach:
    """What one worker may claim. ``known``: only these tasks, where the catalog names others too; None for all.

    ``version``: which lanes and rules were read.
    """

    def __init__(
        self,
        app: str,
        *,
        queues: Collection[str],
        labels: Mapping[str, str],
        slots: int,
        runners: Mapping[int, RunnerView],
    ) -> None:
        self.app = app
        self.known: Sequence[str] | None = None
        self.map = Map([], 0)
        self._own = Other(list(queues), dict(labels), slots)
        self._others: list[Other] = []
        self._told = "[]"
        self._runners = runners
        self.version = ""
        self._catalog = ""

    def adopt(self, slots: int) -> None:
        """The worker has so many slots from now on."""
        self._own, self.version = self._own._replace(slots=slots), ""

    def look_at_tasks_again(self) -> None:
        """A runner has come: the tasks that the worker as a whole knows may be others."""
        self._catalog = ""

    def read(self, tx: Transaction, *, again: bool = False) -> None:
        """Read the lanes, where that was never done; ``again``: in any case."""
        if again or not self.version:
            every = lanes.read_map(tx)
            self.version = every.version
            self.map = every._replace(lanes=[self._shared(lane) for lane in every.lanes if self._takes(lane)])

    def learn(self, tx: Transaction, found: Poll) -> bool:
        """Read what a look has shown to be new; whether that may be something to claim."""
        new = found.lanes != self.version
        if new:
            self.read(tx, again=True)
            self.version = found.lanes
        if found.others != self._told:
            self._told, self._others = found.others, others_of(found.others)
            self.map = self.map._replace(lanes=[self._shared(lane) for lane in self.map.lanes])
        if found.catalog != self._catalog:
            self._compare_catalog(tx, found.catalog)
        return new

    def _takes(self, lane: Lane) -> bool:
        return lane.app == self.app and not lane.paused and _fits(self._own, lane)

    def _shared(self, lane: Lane) -> Lane:
        """The lane with the number of workers that may take from it."""
        return lane._replace(workers=1 + sum(_fits(other, lane) for other in self._others))

    def _compare_catalog(self, tx: Transaction, version: str) -> None:
        """Claims need a filter by task only while the catalog names tasks that our runners don't know."""
        self._catalog = version
        ours = frozenset[str]().union(*(runner.tasks for runner in self._runners.values()))
        foreign = set(catalog.of_app(tx, self.app)) - ours
        self.known = tuple(sorted(ours)) if foreign else None


def _fits(worker: Other, lane: Lane) -> bool:
    fits = may_take(lane.requires, lane.slots, labels=worker.labels, slots=worker.slots)
    return fits and serves(worker.queues, lane.queue)
