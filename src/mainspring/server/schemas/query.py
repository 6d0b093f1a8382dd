"""What the names in paths and queries mean, wherever they stand; an operation says where it is otherwise."""

from __future__ import annotations

from mainspring.domain.states import State
from mainspring.domain.uniqueness import IDEMPOTENCY_KEY, LONGEST_KEY
from mainspring.server.operation import Schema
from mainspring.server.schemas.values import text, whole, word

PATH: dict[str, Schema] = {
    "id": whole(10482, least=1),
    "name": text("nightly", pattern="^[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}$"),
}

QUERY: dict[str, Schema] = {
    "action": text("queue.change", minLength=1),
    "actor": text("ann@10.0.0.7", minLength=1),
    "attempt": whole(1, least=1, most=2**31),
    "cursor": text("10482", minLength=1, description="What `next` said on the page before."),
    "dry_run": word(["true", "false"], example="true"),
    "follow": word(["true", "false"], example="false"),
    "job": whole(10482, least=1),
    "kind": text(
        "dead,cancelled",
        minLength=1,
        description="Target states or causes, such as dead, job.dead or run.*, with commas between them.",
    ),
    "limit": whole(50, least=1, most=1_000),
    "queue": text("mail", minLength=1),
    "run": whole(377, least=1),
    "since": text("2026-11-29T03:00:00Z", format="date-time"),
    "state": word([state.value for state in State if state is not State.NEW]),
    "subject": text("queue mail", minLength=1),
    "tag": text("team=mail", pattern="^[^=]*=", description="Write `key=value`."),
    "task": text("shop.send_receipt", minLength=1),
    "until": text("2026-11-30T03:00:00Z", format="date-time"),
    "workflow": text("pipeline", minLength=1),
}

HEADERS: dict[str, Schema] = {
    "If-None-Match": text('"9f2c"'),
    "Idempotency-Key": text("3f2a0c", minLength=1, maxLength=LONGEST_KEY, pattern=IDEMPOTENCY_KEY),
    "traceparent": text("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    "Last-Event-ID": text("10482", pattern="^[0-9]{1,18}$"),
}
"""What routes read of a request's headers, besides those that all have."""
