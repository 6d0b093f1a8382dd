"""Every route that changes something: how a test asks for it, and where it must leave who did it."""

from __future__ import annotations

from typing import Any, NamedTuple

API = "/api/v1"


class Mutation(NamedTuple):
    """A request that changes something. ``{job}``, ``{run}``, ``{worker}``, ``{edit}``, ``{delivery}`` are put in."""

    path: str
    body: dict[str, Any] | None = None


_NODE = {"name": "A", "task": "echo"}
_SCHEDULE = f"{API}/schedules/pulse"
_HOOK = f"{API}/webhooks/hook"
_RANGE = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-01T02:00:00Z"}

TRAIL: dict[str, Mutation] = {
    "POST /api/v1/jobs/bulk": Mutation(f"{API}/jobs/bulk", {"action": "cancel", "filter": {"queue": "bulk"}}),
    "POST /api/v1/jobs/{id}/cancel": Mutation(f"{API}/jobs/{{job}}/cancel"),
    "POST /api/v1/jobs/{id}/retry": Mutation(f"{API}/jobs/{{job}}/retry"),
    "POST /api/v1/workers/{id}/drain": Mutation(f"{API}/workers/{{worker}}/drain"),
    "PATCH /api/v1/queues/{name}": Mutation(f"{API}/queues/audited", {"limit": 3}),
    "PATCH /api/v1/config": Mutation(f"{API}/config", {"keep_dead": "9d"}),
    "POST /api/v1/config/history/{id}/revert": Mutation(f"{API}/config/history/{{edit}}/revert"),
    "PUT /api/v1/subscriptions/{name}": Mutation(f"{API}/subscriptions/orders", {"topic": "orders", "task": "echo"}),
    "DELETE /api/v1/subscriptions/{name}": Mutation(f"{API}/subscriptions/orders"),
    "PUT /api/v1/workflows/{name}": Mutation(f"{API}/workflows/pair", {"nodes": [_NODE]}),
    "POST /api/v1/runs/{id}/cancel": Mutation(f"{API}/runs/{{run}}/cancel"),
    "POST /api/v1/runs/{id}/resume": Mutation(f"{API}/runs/{{run}}/resume"),
    "POST /api/v1/runs/{id}/restart": Mutation(f"{API}/runs/{{run}}/restart"),
    "POST /api/v1/schedules": Mutation(f"{API}/schedules", {"name": "pulse", "cron": "0 * * * *", "task": "shop.echo"}),
    "PATCH /api/v1/schedules/{name}": Mutation(_SCHEDULE, {"overlap": "allow"}),
    "POST /api/v1/schedules/{name}/pause": Mutation(f"{_SCHEDULE}/pause"),
    "POST /api/v1/schedules/{name}/resume": Mutation(f"{_SCHEDULE}/resume"),
    "POST /api/v1/schedules/{name}/trigger": Mutation(f"{_SCHEDULE}/trigger"),
    "POST /api/v1/schedules/{name}/backfill": Mutation(f"{_SCHEDULE}/backfill", _RANGE),
    "POST /api/v1/schedules/{name}/reset": Mutation(f"{_SCHEDULE}/reset"),
    "DELETE /api/v1/schedules/{name}": Mutation(_SCHEDULE),
    "POST /api/v1/tokens": Mutation(f"{API}/tokens", {"name": "spare", "role": "viewer"}),
    "DELETE /api/v1/tokens/{id}": Mutation(f"{API}/tokens/spare"),
    "POST /api/v1/webhooks": Mutation(f"{API}/webhooks", {"name": "hook", "url": "http://127.0.0.1:1/", "topic": "x"}),
    "PATCH /api/v1/webhooks/{name}": Mutation(_HOOK, {"url": "http://127.0.0.1:1/more"}),
    "POST /api/v1/webhooks/{name}/secret": Mutation(f"{_HOOK}/secret"),
    "POST /api/v1/webhooks/{name}/pause": Mutation(f"{_HOOK}/pause", {"reason": "moving"}),
    "POST /api/v1/webhooks/{name}/resume": Mutation(f"{_HOOK}/resume"),
    "POST /api/v1/webhooks/{name}/test": Mutation(f"{_HOOK}/test"),
    "POST /api/v1/webhooks/{name}/deliveries/{id}/redeliver": Mutation(f"{_HOOK}/deliveries/{{delivery}}/redeliver"),
    "DELETE /api/v1/webhooks/{name}": Mutation(_HOOK),
    "POST /api/v1/users": Mutation(
        f"{API}/users", {"name": "eve", "password": "correct horse battery", "role": "viewer"}
    ),
    "PATCH /api/v1/users/{name}": Mutation(f"{API}/users/eve", {"role": "operator"}),
    "POST /api/v1/login": Mutation(f"{API}/login", {"name": "eve", "password": "correct horse battery"}),
    "POST /api/v1/logout": Mutation(f"{API}/logout"),
    "DELETE /api/v1/users/{name}": Mutation(f"{API}/users/eve"),
}
"""In this order. Each leaves a line of the audit trail."""

EVENTS: dict[str, Mutation] = {
    "POST /api/v1/jobs": Mutation(f"{API}/jobs", {"task": "echo", "queue": "bulk"}),
    "POST /api/v1/jobs/batch": Mutation(f"{API}/jobs/batch", {"jobs": [{"task": "echo"}]}),
    "POST /api/v1/workflows/{name}/runs": Mutation(f"{API}/workflows/pair/runs", {}),
    "POST /api/v1/runs": Mutation(f"{API}/runs", {"definition": {"name": "inline", "nodes": [_NODE]}}),
}
"""What makes jobs and runs: their first event says who it was, as the trail would be as long as all of them."""

MESSAGES: dict[str, Mutation] = {
    "POST /api/v1/topics/{name}/messages": Mutation(f"{API}/topics/orders/messages", {"data": {"id": 7}}),
}
"""What is added to a topic says itself who added it."""

NOTHING = {f"POST /api/v1/schedules/{verb}" for verb in ("preview", "outage", "load")}
"""These only look."""
