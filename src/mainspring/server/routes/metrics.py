"""Numbers over HTTP: /metrics for Prometheus, and our own series over time."""

from __future__ import annotations

from mainspring.client.metric_wire import point_wire
from mainspring.client.operating import ServingClient
from mainspring.clock import DAY, HOUR, MINUTE, Clock, Duration, Instant, SystemClock, duration, instant_text
from mainspring.domain.metric import METRICS, SeriesWanted
from mainspring.errors import InvalidInput, of_field
from mainspring.server.decode import instant_of
from mainspring.server.exchange import Access, Answer, Asked, Entry, Reach
from mainspring.server.exposition import CONTENT_TYPE, text
from mainspring.server.health import Health
from mainspring.server.measures import of_machine, of_server, of_store, of_workers
from mainspring.server.operation import PLAIN, Operation, gives
from mainspring.server.schemas.values import text as told
from mainspring.server.schemas.values import word

_USUAL = {MINUTE: Duration(HOUR), HOUR: Duration(2 * DAY), DAY: Duration(90 * DAY)}
"""How far back is looked where nothing is said of it."""

_VALUES = {
    "metric": word(METRICS),
    "from": told("2026-11-29T03:00:00Z", format="date-time"),
    "to": told("2026-11-29T04:00:00Z", format="date-time"),
    "step": word(["1m", "1h", "1d"]),
    "label": told("succeeded"),
    "by": told("queue,label", description="What is told apart: queue, task, label, with commas between them."),
}
_QUERY = ("metric", "from", "to", "step", "queue", "task", "label", "by")


class MetricRoutes:
    """The handlers. ``disk``: a directory on the file system to be watched."""

    def __init__(self, client: ServingClient, health: Health, disk: str, clock: Clock | None = None) -> None:
        self._client = client
        self._health = health
        self._disk = disk
        self._clock = clock or SystemClock()

    def entries(self) -> list[Entry]:
        """The two routes."""
        return [
            Entry("GET", "/metrics", Access.READ, self.metrics, Operation({200: "Text"}, media=(PLAIN,))),
            Entry(
                "GET",
                "/api/v1/series",
                Access.READ,
                self.series,
                gives("Series", values=_VALUES),
                _QUERY,
                reach=Reach.ASKED,
            ),
        ]

    def metrics(self, _: Asked) -> Answer:
        """What Prometheus scrapes."""
        fit = all(fine for fine, _ in self._health.fit().values())
        began = self._clock.monotonic()
        figures, workers = self._client.figures(), self._client.workers()
        took = Duration(self._clock.monotonic() - began)
        families = [
            *of_store(figures),
            *of_workers(workers),
            *of_server(self._health.loops(), fit=fit, read=took, write=self._health.write_took),
            *of_machine(self._disk),
        ]
        return Answer(200, text(families), {"content-type": CONTENT_TYPE})

    def series(self, asked: Asked) -> Answer:
        """A metric over time."""
        query = asked.query
        asked.keep(query.get("queue"))
        if "metric" not in query:
            raise InvalidInput("metric is missing.", remedy="Name one, such as metric=submitted.", field="metric")
        step = of_field("step", duration, query.get("step", "1m"))
        until = instant_of(query, "to") or self._clock.now()
        first = instant_of(query, "from") or Instant(until - _USUAL.get(step, HOUR))
        by = tuple(query["by"].split(",")) if query.get("by") else ()
        wanted = SeriesWanted(
            query["metric"], first, until, step, query.get("queue"), query.get("task"), query.get("label"), by
        )
        found = self._client.series(wanted)
        return Answer(
            200,
            {
                "metric": wanted.metric,
                "from": instant_text(first),
                "to": instant_text(until),
                "step": int(step // 1_000_000),
                "items": [point_wire(wanted.metric, one) for one in found],
                "next": None,
            },
        )
