"""The configuration: what holds and why, and what was changed."""

from __future__ import annotations

from mainspring.domain.setting import Layer
from mainspring.server.schemas.values import ANYTHING, MOMENT, OBJECT, maybe, record, text, whole, word

_VALUES = OBJECT | {"examples": [{"lease": "10s", "queue.mail.limit": 3}]}

SCHEMAS = {
    "Setting": record(
        {
            "name": text("queue.mail.limit"),
            "value": ANYTHING | {"examples": [3]},
            "source": word(Layer, example=Layer.STORE.value),
            "place": text("store, by ann@box-1"),
            "default": maybe(text("any number")),
            "takes_effect": word(["now", "restart"]),
            "description": text("How many jobs of the queue may run at once, over all workers."),
        }
    ),
    "SettingChange": _VALUES | {"additionalProperties": ANYTHING},
    "SettingEdit": record(
        {
            "seq": whole(12),
            "at": MOMENT,
            "actor": text("ann@box-1"),
            "source": word([Layer.FILE, Layer.STORE], example=Layer.STORE.value),
            "before": _VALUES,
            "after": _VALUES,
        }
    ),
}
