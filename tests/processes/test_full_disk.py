"""A disk that is full: health says so with the reason, a drain ends at once, and all goes on when there is space."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mainspring.domain.states import State
from tests.contract.test_sqlite_open import mounted
from tests.processes.world.driver import APP, World, free_port


@pytest.fixture
def small(tmp_path: Path) -> Iterator[World]:
    """A world whose database is on a file system of 16 MiB."""
    place = tmp_path / "small"
    place.mkdir()
    with mounted(place, "rw", "16m") as works:
        if not works:
            pytest.skip("not allowed to mount here")
        with World() as one:
            one.database = place / "m.db"
            one.url = f"sqlite:///{one.database}"
            yield one


def fill(place: Path) -> Path:
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (65_536, 4_096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return ballast


def asked(port: int, path: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=40) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return 0, {}


def test_a_full_disk_is_red_with_the_reason_and_green_again_when_there_is_space(small: World) -> None:
    port = free_port()
    small.start("up", "--app", str(APP), "--port", str(port))
    small.eventually(lambda: asked(port, "/readyz")[0] == 200, what="a fit server")
    ballast = fill(small.database.parent)
    for path in ("/healthz", "/readyz"):
        small.eventually(lambda path=path: asked(port, path)[0] == 503, what=f"{path} turned red")  # type: ignore[misc]
        assert "is full" in asked(port, path)[1]["reason"]
    ballast.unlink()
    for path in ("/healthz", "/readyz"):
        small.eventually(lambda path=path: asked(port, path)[0] == 200, what=f"{path} green again")  # type: ignore[misc]


def test_a_drain_on_a_full_disk_ends_at_once_when_nothing_runs(small: World) -> None:
    up = small.up(drain="30s")
    small.until_state(small.submit("nap", seconds=0), State.SUCCEEDED)
    fill(small.database.parent)
    small.eventually(lambda: "is full" in up.said, what="the worker's word that the disk is full")
    assert up.stop(within=8) == 0
