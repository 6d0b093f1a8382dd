"""Topics, messages and subscriptions."""

from __future__ import annotations

from mainspring.server.schemas.values import ANYTHING, MOMENT, OBJECT, asked, listed, maybe, record, text, whole

_NAME = text("orders.paid", pattern="^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$")
_MAKES = {
    "task": maybe(text("shop.send_receipt", minLength=1)),
    "workflow": maybe(text("pipeline", minLength=1)),
    "params": OBJECT | {"examples": [{}]},
}

SCHEMAS = {
    "Topic": record({"name": _NAME, "first": maybe(whole(1)), "last": whole(12), "last_at": maybe(MOMENT)}),
    "Message": record(
        {"topic": _NAME, "number": whole(12), "at": MOMENT, "actor": text("ann@box-1"), "data": ANYTHING}
    ),
    "Published": record({"topic": _NAME, "first": whole(12), "last": whole(12)}),
    "PublishRequest": asked(
        {
            "data": ANYTHING | {"examples": [{"order_id": 7}]},
            "messages": listed(ANYTHING, minItems=1, maxItems=1000, examples=[[{"order_id": 7}]]),
        }
    )
    | {"minProperties": 1, "maxProperties": 1, "examples": [{"data": {"order_id": 7}}]},
    "Subscription": record(
        {
            "name": _NAME,
            "topic": _NAME,
            **_MAKES,
            "cursor": whole(12),
            "made": whole(12),
            "refused": whole(0),
            "refusal": maybe(text("message 3: there is no parameter 'x'")),
            "created_at": MOMENT,
            "created_by": text("ann@box-1"),
        }
    ),
    "SubscriptionRequest": asked({"topic": _NAME, **_MAKES, "after": maybe(whole(0))}, required=["topic"])
    | {"examples": [{"topic": "orders.paid", "task": "shop.send_receipt"}]},
}
