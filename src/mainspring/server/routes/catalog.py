"""Tasks and workers over REST."""

from __future__ import annotations

from mainspring.client import Client
from mainspring.client.wire import task_wire, worker_wire
from mainspring.server.exchange import Access, Answer, Asked, Entry


class CatalogRoutes:
    """What can be run, and who runs it."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def entries(self) -> list[Entry]:
        """The routes of these nouns."""
        return [
            Entry("GET", "/api/v1/tasks", Access.READ, self.tasks),
            Entry("GET", "/api/v1/workers", Access.READ, self.workers),
        ]

    def tasks(self, _: Asked) -> Answer:
        """All tasks that apps have reported."""
        return Answer(200, {"items": [task_wire(task) for task in self._client.tasks()], "next": None})

    def workers(self, _: Asked) -> Answer:
        """All known workers, newest first."""
        return Answer(200, {"items": [worker_wire(worker) for worker in self._client.workers()], "next": None})
