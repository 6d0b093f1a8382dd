"""Who may ask, and who changed what."""

from __future__ import annotations

from mainspring.domain.access import Role
from mainspring.server.schemas.values import DURATION, MOMENT, OBJECT, asked, maybe, record, text, whole, word

_NAME = text("deploy", pattern="^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$")
_TOKEN = {
    "id": whole(3, least=1),
    "name": _NAME,
    "role": word(Role),
    "created_at": MOMENT,
    "created_by": text("ann@box-1"),
    "expires_at": maybe(MOMENT),
    "used_at": maybe(MOMENT),
    "revoked_at": maybe(MOMENT),
    "revoked_by": maybe(text("ann@box-1")),
}

SCHEMAS = {
    "Token": record(_TOKEN),
    "NewToken": record(_TOKEN | {"token": text("mst_kept_by_whoever_made_it")}),
    "TokenRequest": asked(
        {"name": _NAME, "role": word(Role), "expires_in": maybe(DURATION | {"examples": ["90d"]})},
        required=["name", "role"],
    ),
    "Change": record(
        {
            "seq": whole(88),
            "at": MOMENT,
            "actor": text("deploy@10.0.0.7"),
            "action": text("queue.change"),
            "subject": text("queue mail"),
            "before": maybe(OBJECT | {"examples": [{"limit": 3}]}),
            "after": maybe(OBJECT | {"examples": [{"limit": 5}]}),
        }
    ),
}
