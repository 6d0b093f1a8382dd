"""Luigi with its local scheduler in this process, one worker; targets are kept in memory."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import luigi
from luigi.mock import MockTarget

logging.getLogger("luigi").setLevel(logging.ERROR)
logging.getLogger("luigi-interface").setLevel(logging.ERROR)
graph: list[list[int]] = []
runs = itertools.count()


class Node(luigi.Task):
    """A node of the graph that runs now."""

    run_number = luigi.IntParameter()
    number = luigi.IntParameter()

    def requires(self) -> list[luigi.Task]:
        return [Node(run_number=self.run_number, number=one) for one in graph[self.number]]

    def output(self) -> MockTarget:
        return MockTarget(f"{self.run_number}/{self.number}")

    def run(self) -> None:
        with self.output().open("w"):
            pass


@contextmanager
def ready() -> Iterator[Callable[[list[list[int]], str], None]]:
    yield run


def run(needs: list[list[int]], _: str) -> None:
    graph[:] = needs
    number = next(runs)
    used = {one for above in needs for one in above}
    last = [Node(run_number=number, number=one) for one in range(len(needs)) if one not in used]
    if not luigi.build(last, local_scheduler=True, workers=1, log_level="ERROR"):
        raise SystemExit("luigi did not run all of it")
