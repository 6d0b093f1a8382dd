"""Reach: the lanes that a worker may claim from and the tasks that it knows, read again when a look shows a change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mainspring.domain.worker import may_take
from mainspring.engine.held import RunnerView
from mainspring.store import Transaction, catalog, lanes
from mainspring.store.lanes import Lane, Map
from mainspring.store.workers import Poll


class Reach:
    """What one worker may claim. ``known``: only these tasks, where the catalog names others too; None for all."""

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
        self._queues = queues
        self._labels = labels
        self._slots = slots
        self._runners = runners
        self._version = ""
        self._catalog = ""

    def look_at_tasks_again(self) -> None:
        """A runner has come: the tasks that the worker as a whole knows may be others."""
        self._catalog = ""

    def read(self, tx: Transaction, *, again: bool = False) -> None:
        """Read the lanes, where that was never done; ``again``: in any case."""
        if again or not self._version:
            every = lanes.read_map(tx)
            self._version = every.version
            self.map = every._replace(lanes=[lane for lane in every.lanes if self._takes(lane)])

    def learn(self, tx: Transaction, found: Poll) -> bool:
        """Read what a look has shown to be new; whether that may be something to claim."""
        new = found.lanes != self._version
        if new:
            self.read(tx, again=True)
            self._version = found.lanes
        if found.catalog != self._catalog:
            self._compare_catalog(tx, found.catalog)
        return new

    def _takes(self, lane: Lane) -> bool:
        fits = may_take(lane.requires, lane.slots, labels=self._labels, slots=self._slots)
        return fits and lane.app == self.app and not lane.paused and (not self._queues or lane.queue in self._queues)

    def _compare_catalog(self, tx: Transaction, version: str) -> None:
        """Claims need a filter by task only while the catalog names tasks that our runners don't know."""
        self._catalog = version
        ours = frozenset[str]().union(*(runner.tasks for runner in self._runners.values()))
        foreign = set(catalog.of_app(tx, self.app)) - ours
        self.known = tuple(sorted(ours)) if foreign else None
