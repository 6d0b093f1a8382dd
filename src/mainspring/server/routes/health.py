"""Health over HTTP, at the root: /healthz says whether the server is fit, /readyz whether a job would be run now."""

from __future__ import annotations

from mainspring.server.exchange import Access, Answer, Asked, Entry
from mainspring.server.health import Health, Verdict
from mainspring.server.operation import Operation

_TELLS = Operation({200: "Health", 503: "Health"})


class HealthRoutes:
    """What supervisors and load balancers ask."""

    def __init__(self, health: Health) -> None:
        self._health = health

    def entries(self) -> list[Entry]:
        """The two probes."""
        return [
            Entry("GET", "/healthz", Access.PROBE, self.healthy, _TELLS),
            Entry("GET", "/readyz", Access.PROBE, self.ready, _TELLS),
        ]

    def healthy(self, _: Asked) -> Answer:
        """Whether loops turn and the store takes writes."""
        return _answer(self._health.fit())

    def ready(self, _: Asked) -> Answer:
        """The same, and whether a live worker has reported what it can run."""
        return _answer(self._health.ready())


def _answer(verdict: Verdict) -> Answer:
    wrong = [f"{name}: {said}" for name, (fine, said) in verdict.items() if not fine]
    document = {
        "status": "unavailable" if wrong else "ok",
        "checks": {name: said for name, (_, said) in verdict.items()},
        "reason": "; ".join(wrong) or None,
    }
    return Answer(503 if wrong else 200, document)
