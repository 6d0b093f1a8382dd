"""How often a process is started again, as values; and the two locks, as files."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mainspring.clock import MINUTE, SECOND, Duration
from mainspring.errors import AlreadyUp, StoreReadOnly
from mainspring.supervisor.locks import take
from mainspring.supervisor.restart import FIRST_PAUSE, LONGEST_PAUSE, Restarts


def quiet(text: str) -> None:
    raise AssertionError(text)


def test_pauses_double_up_to_a_cap():
    deaths = Restarts(100, MINUTE)
    pauses = [deaths.died(Duration(n)) for n in range(10)]
    assert pauses[:4] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE, 8 * FIRST_PAUSE]
    assert pauses[-1] == LONGEST_PAUSE


def test_one_death_more_than_the_limit_within_the_window_is_the_end():
    deaths = Restarts(3, MINUTE)
    assert all(deaths.died(Duration(n * SECOND)) for n in range(3))
    assert deaths.died(Duration(59 * SECOND)) is None
    assert deaths.lately == 4


def test_deaths_outside_the_window_are_forgotten():
    deaths = Restarts(1, MINUTE)
    assert [deaths.died(Duration(n * 61 * SECOND)) for n in range(50)] == [FIRST_PAUSE] * 50


def test_a_limit_of_0_never_starts_again():
    assert Restarts(0, MINUTE).died(Duration(0)) is None


def test_a_second_taker_is_refused_and_told_who_holds_it(tmp_path: Path):
    held = take(tmp_path / "m.db", waiting=quiet)
    with pytest.raises(AlreadyUp, match=rf"process {os.getpid()}") as raised:
        take(tmp_path / "m.db", waiting=quiet)
    assert raised.value.exit_status == 4
    take(tmp_path / "other.db", waiting=quiet).close()
    held.close()
    take(tmp_path / "m.db", waiting=quiet).close()


@pytest.mark.parametrize("left", ["1\n", "", "no number", "99999999999999999999"])
def test_what_a_dead_holder_left_in_the_file_blocks_nobody(tmp_path: Path, left: str):
    (tmp_path / "m.db.up.lock").write_text(left)
    (tmp_path / "m.db.tree.lock").write_text(left)
    take(tmp_path / "m.db", waiting=quiet).close()
    with (tmp_path / "m.db.up.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write("no number")
        file.flush()
        with pytest.raises(AlreadyUp, match="runs on"):
            take(tmp_path / "m.db", waiting=quiet)


def test_children_keep_the_tree_lock_and_a_new_taker_waits_for_them(tmp_path: Path):
    held = take(tmp_path / "m.db", waiting=quiet)
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=(held.tree,), close_fds=True
    )
    held.close()
    told: list[str] = []
    waits = threading.Event()

    def waiting(text: str) -> None:
        told.append(text)
        waits.set()

    second = threading.Thread(target=lambda: take(tmp_path / "m.db", waiting=waiting).close())
    second.start()
    assert waits.wait(60)
    assert second.is_alive()
    with pytest.raises(AlreadyUp):  # the one that waits is up already, for a third
        take(tmp_path / "m.db", waiting=quiet)
    child.communicate(b"\n", timeout=60)
    second.join(10)
    assert not second.is_alive()
    assert told == [told[0]]
    assert "still draining" in told[0]


def test_locks_are_not_inherited_by_accident(tmp_path: Path):
    held = take(tmp_path / "m.db", waiting=quiet)
    assert not os.get_inheritable(held.tree)
    child = subprocess.Popen(
        [sys.executable, "-c", "input(1)"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=False
    )
    assert child.stdout is not None
    assert child.stdout.read(1) == b"1"  # it has become another program by now
    held.close()
    take(tmp_path / "m.db", waiting=quiet).close()
    child.communicate(b"\n", timeout=60)


def test_a_folder_that_can_not_be_is_refused(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreReadOnly, match=r"m\.db\.up\.lock"):
        take(tmp_path / "file" / "m.db", waiting=quiet)
