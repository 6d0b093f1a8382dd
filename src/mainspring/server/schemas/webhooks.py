"""Webhooks and their deliveries."""

from __future__ import annotations

from mainspring.domain.webhook import DeliveryState
from mainspring.server.schemas.values import FLAG, MOMENT, asked, listed, maybe, record, text, whole, word

_PATTERN = "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$"
_NAME = text("on-call", pattern=_PATTERN)
_URL = text("https://hooks.example.com/mainspring", minLength=1, maxLength=2_000)
_KINDS = listed(text("job.dead", minLength=1), examples=[["job.dead", "run.failed"]])
_QUEUE = maybe(text("mail", pattern=_PATTERN))
_TASK = maybe(text("shop.send_receipt", pattern=_PATTERN))
_TOPIC = maybe(text("orders.paid", pattern=_PATTERN))
_NONE = {"examples": [None]}
_SHOWN = {
    "id": whole(1),
    "name": _NAME,
    "url": _URL,
    "topic": _TOPIC | _NONE,
    "kinds": _KINDS,
    "queue": _QUEUE | _NONE,
    "task": _TASK | _NONE,
    "cursor": whole(10482),
    "created_at": MOMENT,
    "created_by": text("ann@box-1"),
    "paused_at": maybe(MOMENT) | _NONE,
    "paused_by": maybe(text("webhooks")) | _NONE,
    "reason": maybe(text("the receiver says that it is gone (410)")) | _NONE,
    "delivered": whole(12),
    "failed": whole(0),
    "pending": whole(0),
    "reached_at": maybe(MOMENT),
    "trouble": maybe(text("the receiver answered 500")) | _NONE,
}
_TRY = record(
    {
        "at": MOMENT,
        "duration_ms": whole(38),
        "status": maybe(whole(200)),
        "error": maybe(text("the receiver answered 500")) | _NONE,
    }
)

SCHEMAS = {
    "Webhook": record(_SHOWN),
    "NewWebhook": record(_SHOWN | {"secret": text("whsec_bm90IGEgc2VjcmV0IGF0IGFsbA==")}),
    "WebhookRequest": asked(
        {
            "name": _NAME,
            "url": _URL,
            "kinds": _KINDS,
            "queue": _QUEUE,
            "task": _TASK,
            "topic": _TOPIC,
            "after": maybe(whole(0)),
        },
        required=["name", "url"],
    )
    | {"examples": [{"name": "on-call", "url": "https://hooks.example.com/mainspring", "kinds": ["job.dead"]}]},
    "WebhookChange": asked({"url": _URL, "kinds": _KINDS, "queue": _QUEUE, "task": _TASK})
    | {"examples": [{"kinds": ["job.dead", "run.failed"]}]},
    "WebhookPause": asked({"reason": maybe(text("the receiver is being moved", maxLength=500))}),
    "WebhookResume": asked({"skip": FLAG}),
    "Delivery": record(
        {
            "id": whole(7),
            "webhook": _NAME,
            "seq": maybe(whole(10482)),
            "type": text("job.dead"),
            "state": word(DeliveryState, example="delivered"),
            "created_at": MOMENT,
            "due_at": maybe(MOMENT) | _NONE,
            "ended_at": maybe(MOMENT),
            "tries": listed(_TRY),
            "answer": maybe(text("ok")),
        }
    ),
}
