"""Schedules over REST, on a real server that fires them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.serving import API, Serving, eventually
from tests.api.test_refusals import problem

pytestmark = pytest.mark.usefixtures("worker")


def put(server: Serving, name: str, **fields: Any) -> dict[str, Any]:
    answer = server.http.post(f"{API}/schedules", json={"name": name, "task": "echo", **fields})
    assert answer.status_code in {200, 201}, answer.text
    schedule: dict[str, Any] = answer.json()
    return schedule


def test_a_schedule_is_made_fires_is_changed_paused_triggered_and_removed(server: Serving) -> None:
    made = put(server, "pulse", every="1s", overlap="allow")
    assert (made["state"], made["origin"], made["recurrence"]) == ("active", "api", {"every": "1s"})
    path = f"{API}/schedules/pulse"

    def fired() -> dict[str, Any] | None:
        items = server.http.get(f"{path}/ticks").json()["items"]
        return next((tick for tick in items if tick["outcome"] == "fired"), None)

    tick = eventually(fired)
    assert tick is not None
    assert server.http.get(f"{API}/jobs/{tick['job']}").json()["run_at"] == tick["at"]
    changed = server.http.patch(path, json={"cron": "0 3 * * *", "tz": "Europe/Berlin"}).json()
    assert changed["recurrence"] == {"cron": "0 3 * * *", "tz": "Europe/Berlin"}
    assert server.http.post(f"{path}/pause", json={"note": "why"}).json()["note"] == "why"
    assert server.http.post(f"{path}/resume").json()["state"] == "active"
    assert server.http.post(f"{path}/trigger").json()["origin"] == "trigger"
    wanted = {"from": "2026-01-01T00:00:00Z", "to": "2026-01-03T00:00:00Z", "dry_run": True}
    assert len(server.http.post(f"{path}/backfill", json=wanted).json()["ticks"]) == 2
    assert server.http.delete(path).json()["state"] == "removed"
    assert server.http.get(f"{API}/schedules").json()["items"] == []
    assert problem(server.http.post(f"{path}/trigger"))["code"] == "unknown_schedule"


def test_a_preview_shows_what_the_clocks_do(server: Serving) -> None:
    asked = {"cron": "30 2 * * *", "tz": "Europe/Berlin", "from": "2026-03-28T00:00:00Z", "n": 3}
    answer = server.http.post(f"{API}/schedules/preview", json=asked)
    assert answer.json()["ticks"] == [
        "2026-03-28T02:30:00+01:00",
        "2026-03-29T03:00:00+02:00",
        "2026-03-30T02:30:00+02:00",
    ]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"cron": "0 3 * * *", "task": "echo"}, "name"),
        ({"name": "x", "task": "echo"}, "recurrence"),
        ({"name": "x", "task": "echo", "every": "1s", "overlaps": "skip"}, "overlaps"),
        ({"name": "x", "task": "nobody", "every": "1s"}, "task"),
        ({"name": "x", "workflow": "nobody", "every": "1s"}, "workflow"),
        ({"name": "x", "task": "echo", "every": "1s", "overlap": "maybe"}, "overlap"),
    ],
)
def test_a_wrong_schedule_names_its_field_and_is_not_kept(server: Serving, body: dict[str, Any], field: str) -> None:
    answer = server.http.post(f"{API}/schedules", json=body)
    assert (answer.status_code, problem(answer)["field"]) == (422, field), answer.text
    assert server.http.get(f"{API}/schedules/x").status_code == 404
