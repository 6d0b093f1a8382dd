"""The configuration over REST: what holds and why, changes that are heeded by the running server, what was changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.serving import API, Serving, eventually

CONFIG = f"{API}/config"


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("config")
    (folder / "mainspring.toml").write_text('sweep = "3s"\n[queue.mail]\nlimit = 3\n')
    one = Serving(folder).wait_until_up()
    yield one
    one.http.close()
    assert one.end() == 0, one.said
    one.close()


def held(serving: Serving) -> dict[str, dict[str, Any]]:
    answer = serving.http.get(CONFIG)
    assert answer.status_code == 200, answer.text
    return {one["name"]: one for one in answer.json()["items"]}


def test_every_setting_is_told_with_where_it_comes_from(serving: Serving) -> None:
    found = held(serving)
    assert (found["port"]["value"], found["port"]["place"]) == (0, "--port")
    assert (found["sweep"]["value"], found["sweep"]["source"]) == ("3s", "file")
    assert found["sweep"]["place"].endswith("mainspring.toml line 1")
    assert (found["poll"]["source"], found["poll"]["takes_effect"]) == ("default", "now")
    assert found["port"]["takes_effect"] == "restart"
    eventually(lambda: serving.http.get(f"{API}/queues/mail").json().get("limit") == 3)


def test_a_change_is_taken_by_the_running_server_and_can_be_taken_back(serving: Serving) -> None:
    answer = serving.http.patch(CONFIG, json={"keep_dead": "2d", "queue.bulk.limit": 5})
    assert answer.status_code == 200, answer.text
    eventually(lambda: "keep_dead is 2d now (store, by client)" in serving.said)
    assert held(serving)["keep_dead"] | {"description": ""} == {
        "name": "keep_dead",
        "value": "2d",
        "source": "store",
        "place": "store, by client",
        "default": "30d",
        "takes_effect": "now",
        "description": "",
    }
    assert serving.http.get(f"{API}/queues/bulk").json()["limit"] == 5
    newest = serving.http.get(f"{CONFIG}/history?limit=1").json()
    assert newest["items"][0]["after"] == {"keep_dead": "2d", "queue.bulk.limit": 5}
    assert serving.http.patch(CONFIG, json={"keep_dead": None}).status_code == 200
    assert held(serving)["keep_dead"]["value"] == "30d"
    back = serving.http.post(f"{CONFIG}/history/{newest['items'][0]['seq']}/revert")
    assert back.status_code == 200
    assert held(serving)["keep_dead"]["value"] == "2d"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"sweep": "4s", "leese": "3s"}, "leese"),
        ({"sweep": "4s", "queue.mail.limit": 0}, "queue.mail.limit"),
        ({"sweep": "4s", "port": 80}, "port"),
        ({"sweep": "4s", "lease": 30}, "lease"),
    ],
)
def test_a_wrong_change_is_refused_whole_naming_the_setting(serving: Serving, body: dict[str, Any], field: str) -> None:
    answer = serving.http.patch(CONFIG, json=body)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (422, "invalid_setting", field)
    assert held(serving)["sweep"]["value"] == "3s"


def test_a_dry_run_checks_and_changes_nothing(serving: Serving) -> None:
    assert serving.http.patch(f"{CONFIG}?dry_run=true", json={"sweep": "4s"}).status_code == 200
    assert serving.http.patch(f"{CONFIG}?dry_run=true", json={"sweep": "x"}).status_code == 422
    assert serving.http.patch(f"{CONFIG}?dry_run=maybe", json={"sweep": "4s"}).status_code == 422
    assert held(serving)["sweep"]["value"] == "3s"


def test_there_is_no_way_back_to_a_change_that_was_none(serving: Serving) -> None:
    for wrong in ("9999", "x"):
        answer = serving.http.post(f"{CONFIG}/history/{wrong}/revert")
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_edit")
