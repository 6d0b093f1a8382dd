"""Who may ask, and who changed what."""

from __future__ import annotations

from mainspring.domain.access import LONGEST_PASSWORD, MOST_QUEUES, SHORTEST_PASSWORD, Role
from mainspring.server.schemas.values import DURATION, MOMENT, OBJECT, asked, listed, maybe, record, text, whole, word

_QUEUES = maybe(listed(text("mail"), minItems=1, maxItems=MOST_QUEUES))
_PASSWORD = text("correct horse battery", minLength=SHORTEST_PASSWORD, maxLength=LONGEST_PASSWORD)
USER_NAME = text("ann", pattern="^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$")
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
    "queues": _QUEUES,
}
_ASKER = {"name": USER_NAME, "role": word(Role, example="operator"), "queues": _QUEUES}

SCHEMAS = {
    "Token": record(_TOKEN),
    "NewToken": record(_TOKEN | {"token": text("mst_kept_by_whoever_made_it")}),
    "TokenRequest": asked(
        {
            "name": _NAME,
            "role": word(Role),
            "expires_in": maybe(DURATION | {"examples": ["90d"]}),
            "queues": _QUEUES,
        },
        required=["name", "role"],
    ),
    "User": record(
        {
            "id": whole(3),
            **_ASKER,
            "created_at": MOMENT,
            "created_by": text("ann@box-1"),
            "used_at": maybe(MOMENT),
            "removed_at": maybe(MOMENT),
            "removed_by": maybe(text("ann@box-1")),
        }
    ),
    "UserRequest": asked({**_ASKER, "password": _PASSWORD}, required=["name", "password", "role"]),
    "UserChange": asked({"role": word(Role), "queues": _QUEUES, "password": _PASSWORD}),
    "LoginRequest": asked({"name": text("ann"), "password": text("...")}, required=["name", "password"]),
    "Login": record({**_ASKER, "until": MOMENT, "csrf": text("9f2c")}),
    "Session": record({**_ASKER, "until": maybe(MOMENT), "csrf": maybe(text("9f2c"))}),
    "Change": record(
        {
            "seq": whole(88),
            "at": MOMENT,
            "actor": text("deploy@10.0.0.7"),
            "action": text("queue.change"),
            "subject": text("queue mail"),
            "before": maybe(OBJECT | {"examples": [{"limit": 3}]}),
            "after": maybe(OBJECT | {"examples": [{"limit": 5}]}),
            "request": maybe(text("b7ad6b7169203331", description="As X-Request-ID has it, and the server's log.")),
        }
    ),
}
