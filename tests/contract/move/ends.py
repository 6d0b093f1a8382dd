"""What the tests of moves share: both ends of one, and those who are no longer there while it goes on."""

from __future__ import annotations

from pathlib import Path

from mainspring.clock import Duration
from mainspring.domain.worker import WorkerState
from mainspring.store import workers
from tests import postgres
from tests.contract.engines import Bench
from tests.contract.stories import Story


class Ends:
    """Addresses to move to."""

    def __init__(self, place: Path, server: postgres.Server) -> None:
        self._place = place
        self._server = server
        self._made = 0

    def empty(self, engine: str) -> str:
        """The address of a new database."""
        self._made += 1
        if engine == "sqlite":
            return f"sqlite:///{self._place}/to{self._made}.db"
        return postgres.new_database(self._server, f"m{postgres.unique()}")


def url_of(bench: Bench) -> str:
    return str(bench.url)


def quiet(table: str, rows: int, total: int) -> None:
    """Nobody watches."""


def goodbye(story: Story) -> None:
    """Its worker goes: a move waits for none."""
    story.store.write(lambda tx: workers.beat(tx, story.worker, WorkerState.STOPPED, Duration(0)))
