"""Numbers over time."""

from __future__ import annotations

from mainspring.domain.metric import METRICS
from mainspring.server.schemas.values import MOMENT, NUMBER, listed, maybe, named, record, text, whole, word

SCHEMAS = {
    "Point": record(
        {
            "at": MOMENT,
            "queue": maybe(text("mail")),
            "task": maybe(text("shop.send_receipt")),
            "label": maybe(text("succeeded")),
            "count": maybe(whole(12)),
            **{name: maybe(NUMBER) for name in ("mean", "max", "p50", "p95", "p99")},
            "buckets": listed(record({"le": maybe(NUMBER), "count": whole(12)})),
        }
    ),
    "Series": record(
        {
            "metric": word(METRICS),
            "from": MOMENT,
            "to": MOMENT,
            "step": whole(60, least=1),
            "items": listed(named("Point")),
            "next": {"type": "null"},
        }
    ),
}
