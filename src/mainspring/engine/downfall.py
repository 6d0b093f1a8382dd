"""What is told of a crashed runner to each job that went down with it: how it died, and who else was in it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from mainspring.domain.attempt import Failure
from mainspring.domain.task import Lodging
from mainspring.engine.held import Held, RunnerView

MOST_TASKS = 5
"""Tasks that the message names."""
MOST_NEIGHBOURS = 20
"""Jobs that the evidence lists, those that started last first: one that ran well for an hour is less suspicious."""


class Downfall:
    """The crash of one runner, with all jobs that are in it now."""

    def __init__(self, runner: RunnerView, failure: Failure) -> None:
        self.failure = failure
        self._lodging = runner.lodging
        self._tasks = Counter(held.task for held in runner.jobs.values())
        self._newest = [(held.job, held.task) for held in list(runner.jobs.values())[: -MOST_NEIGHBOURS - 2 : -1]]

    @property
    def shared(self) -> int:
        """How many others may have been the cause: the runner itself where no code of its jobs runs in it."""
        return 1 if self._lodging is Lodging.PROCESS else self._tasks.total() - 1

    def failure_of(self, held: Held) -> Failure:
        """The failure of one of them."""
        others = self._tasks - Counter([held.task])
        if self._lodging is Lodging.PROCESS:
            return self._told("It looks after jobs with a process of their own and ran no code of theirs.")
        if not others:
            return self._told("No other job was in it.")
        listed = [{"job": job, "task": task} for job, task in self._newest if job != held.job][:MOST_NEIGHBOURS]
        return self._told(_sentence(others), neighbours=listed, neighbour_count=others.total())

    def _told(self, more: str, **evidence: Any) -> Failure:
        message = f"{self.failure.message} {more}"
        return msgspec.structs.replace(self.failure, message=message, evidence=self.failure.evidence | evidence)


def _sentence(others: Counter[str]) -> str:
    named = [f"{count} of {task}" for task, count in others.most_common(MOST_TASKS)]
    if len(others) > MOST_TASKS:
        named.append(f"{sum(count for _, count in others.most_common()[MOST_TASKS:])} of other tasks")
    total = others.total()
    count = "1 other job was" if total == 1 else f"{total} other jobs were"
    return f"{count} in it: {', '.join(named)}."
