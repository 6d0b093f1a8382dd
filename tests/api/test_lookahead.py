"""Previews over REST."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.serving import API, Serving


def preview(server: Serving, **fields: Any) -> Any:
    return server.http.post(f"{API}/schedules/preview", json=fields)


def test_a_preview_gives_local_times_with_offset(server: Serving) -> None:
    answer = preview(server, cron="0 2 * * *", tz="Europe/Berlin", **{"from": "2025-10-25T00:00:00Z"}, n=2)
    assert answer.status_code == 200, answer.text
    assert answer.json()["ticks"] == ["2025-10-26T02:00:00+02:00", "2025-10-27T02:00:00+01:00"]
    start = "2025-10-25T00:00:00Z"
    same = preview(server, cron="0 2 * * *", tz="Europe/Berlin", **{"from": start}, n=1, inclusive=True).json()
    assert same["ticks"] == ["2025-10-25T02:00:00+02:00"]
    assert preview(server, every="1h", n=3).json()["words"] == "every 1h"
    assert len(preview(server, rrule="FREQ=DAILY").json()["ticks"]) == 10


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"cron": "61 * * * *"}, "invalid_cron", "cron"),
        ({"cron": "0 0 30 2 *"}, "never_fires", "cron"),
        ({"cron": "0 0 * * *", "tz": "Mars/Base"}, "unknown_zone", "tz"),
        ({"cron": "0 0 * * *", "n": 0}, "invalid_option", "n"),
        ({"cron": "0 0 * * *", "inclusive": 1}, "invalid_option", "inclusive"),
        ({"cron": "0 0 * * *", "from": "soon"}, "invalid_instant", "from"),
        ({"cron": "0 0 * * *", "to": "soon"}, "invalid_schedule", "to"),
    ],
)
def test_what_is_wrong_is_refused_with_its_field(
    server: Serving, fields: dict[str, Any], code: str, field: str
) -> None:
    answer = preview(server, **fields)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, code, field)


def test_an_outage_of_what_is_no_schedule_yet(server: Serving) -> None:
    asked = {"cron": "0 * * * *", "from": "2026-12-24T00:30:00Z", "to": "2026-12-24T10:30:00Z", "window": "6h"}
    answer = server.http.post(f"{API}/schedules/outage", json=asked)
    assert answer.status_code == 200, answer.text
    seen = answer.json()
    assert (seen["ticks"], seen["first"], len(seen["policies"])) == (10, "2026-12-24T01:00:00Z", 15)
    every = next(one for one in seen["policies"] if (one["catch_up"], one["overlap"]) == ("all", "allow"))
    assert (every["fired"], every["missed"], len(every["fires"])) == (6, 4, 6)
    wrong = server.http.post(f"{API}/schedules/outage", json={"cron": "0 * * * *", "from": "2026-12-24T00:30:00Z"})
    assert (wrong.status_code, wrong.json()["field"]) == (422, "to")


def test_the_load_of_no_schedules(server: Serving) -> None:
    answer = server.http.post(f"{API}/schedules/load", json={"from": "2026-12-24T00:00:00Z", "for": "2h"})
    assert answer.status_code == 200, answer.text
    assert answer.json() == {
        "start": "2026-12-24T00:00:00Z",
        "ticks": 0,
        "minutes": [0] * 120,
        "peaks": [],
        "whole": True,
    }
