"""Tasks, workers and queues over REST."""

from __future__ import annotations

from mainspring.client.operating import OperatingClient
from mainspring.client.wire import queue_wire, task_wire, worker_wire
from mainspring.errors import NoSuchTask
from mainspring.server import pages
from mainspring.server.decode import no_fields, queue_change
from mainspring.server.exchange import Access, Answer, Asked, Entry, Reach
from mainspring.server.operation import Page, gives


class CatalogRoutes:
    """What can be run, who runs it, and in which lines it waits."""

    def __init__(self, client: OperatingClient) -> None:
        self._client = client

    def entries(self) -> list[Entry]:
        """The routes of these nouns."""
        return [
            Entry(
                "GET", "/api/v1/tasks", Access.READ, self.tasks, gives(Page("Task")), pages.QUERY, reach=Reach.NOTHING
            ),
            Entry("GET", "/api/v1/tasks/{name}", Access.READ, self.task, gives("Task"), reach=Reach.NOTHING),
            Entry(
                "GET",
                "/api/v1/workers",
                Access.READ,
                self.workers,
                gives(Page("Worker")),
                pages.QUERY,
                reach=Reach.NOTHING,
            ),
            Entry("GET", "/api/v1/workers/{id}", Access.READ, self.worker, gives("Worker"), reach=Reach.NOTHING),
            Entry("POST", "/api/v1/workers/{id}/drain", Access.ACT, self.drain, gives("Worker")),
            Entry(
                "GET", "/api/v1/queues", Access.READ, self.queues, gives(Page("Queue")), pages.QUERY, reach=Reach.ASKED
            ),
            Entry("GET", "/api/v1/queues/{name}", Access.READ, self.queue, gives("Queue"), reach=Reach.QUEUE),
            Entry(
                "PATCH",
                "/api/v1/queues/{name}",
                Access.CHANGE,
                self.change_queue,
                gives("Queue", body="QueueChange"),
                reach=Reach.QUEUE,
            ),
        ]

    def tasks(self, asked: Asked) -> Answer:
        """All tasks that apps have reported, by name."""
        return pages.paged(asked, self._client.tasks(), task_wire, lambda task: (task.name,))

    def task(self, asked: Asked) -> Answer:
        """One task, by its full name, or by the short one where it is unique."""
        name = asked.path["name"]
        known = self._client.tasks()
        full = [one for one in known if one.name == name]
        found = full or [one for one in known if one.name.partition(".")[2] == name]
        if len(found) != 1:
            raise NoSuchTask(name, [one.name for one in known])
        return Answer(200, task_wire(found[0]))

    def workers(self, asked: Asked) -> Answer:
        """All known workers, newest first."""
        return pages.paged(asked, self._client.workers(), worker_wire, lambda worker: (-worker.id,))

    def worker(self, asked: Asked) -> Answer:
        """One worker."""
        return Answer(200, worker_wire(self._client.worker(asked.worker)))

    def drain(self, asked: Asked) -> Answer:
        """It claims nothing more, and ends when its jobs have."""
        no_fields(asked)
        return Answer(200, worker_wire(self._client.acting(asked.actor).drain(asked.worker)))

    def queues(self, asked: Asked) -> Answer:
        """All known queues, by name."""
        found = [queue for queue in self._client.queues() if asked.asker.reaches(queue.name)]
        return pages.paged(asked, found, queue_wire, lambda queue: (queue.name,))

    def queue(self, asked: Asked) -> Answer:
        """One queue."""
        return Answer(200, queue_wire(self._client.queue(asked.path["name"])))

    def change_queue(self, asked: Asked) -> Answer:
        """Paused or resumed, with another limit or note."""
        return Answer(
            200, queue_wire(self._client.acting(asked.actor).change_queue(asked.path["name"], queue_change(asked)))
        )
