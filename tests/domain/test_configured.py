"""What is configured, in layers and for named things, and a running process that takes a change whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mainspring.clock import SECOND, Duration, Instant
from mainspring.config.layers import load
from mainspring.config.live import Live
from mainspring.domain.configured import Kept, Key, Scope, Stated, key_of, plain, value_of
from mainspring.domain.overriding import Override, overrides
from mainspring.domain.retry import Retry
from mainspring.domain.setting import BY_NAME, Layer
from mainspring.errors import InvalidSetting

GOOD = """
lease = "20s"
slots = 9
[queue.mail]
limit = 3
[queue."shop.bulk"]
limit = 1
[worker.alpha]
slots = 4
[task.shop.receipt]
timeout = "1m"
"""


class Process:
    """A running process with a file."""

    def __init__(self, folder: Path, text: str | None = GOOD, worker: str = "", **flags: object) -> None:
        self.file = folder / "mainspring.toml"
        self.said: list[str] = []
        if text is not None:
            self.file.write_text(text)
        loaded = load(environment={}, directory=folder, flags=flags)
        self.live = Live(loaded.of_worker(worker), self.said.append)
        assert not self.live.look(), "what was loaded is what is there"

    def reads(self, text: str) -> bool:
        """Another file comes, as editors bring it: written beside, then put in place."""
        new = self.file.with_suffix(".new")
        new.write_text(text)
        new.replace(self.file)
        return self.live.look()

    @property
    def stated(self) -> dict[str, object]:
        return {key: one.value for key, one in self.live.loaded.layers[Layer.FILE].items()}


@pytest.fixture
def process(tmp_path: Path) -> Process:
    return Process(tmp_path)


def test_what_depends_on_another_setting_is_told_as_it_holds(process: Process) -> None:
    def told(name: str) -> object:
        return next(one.value for one in process.live.holdings(()) if one.key.text == name)

    assert told("processes") == 9, "slots, at most 32"
    process.reads("slots = 5")
    assert told("processes") == 5
    assert process.said == [
        f"{name} is {text} now ({place})"
        for name, text, place in (
            ("slots", "5", f"{process.file} line 1"),
            ("processes", "5", "default"),
            ("lease", "30s", "default"),
        )
    ]


def test_a_file_speaks_of_everything_and_of_queues_tasks_and_workers_by_name(process: Process) -> None:
    assert process.stated == {
        "lease": 20 * SECOND,
        "slots": 9,
        "queue.mail.limit": 3,
        "queue.shop.bulk.limit": 1,
        "worker.alpha.slots": 4,
        "task.shop.receipt.timeout": 60 * SECOND,
    }
    places = {key: one.place.rpartition(" ")[2] for key, one in process.live.loaded.layers[Layer.FILE].items()}
    assert places["slots"] == "3"
    assert (places["queue.mail.limit"], places["queue.shop.bulk.limit"], places["worker.alpha.slots"]) == tuple("579")
    assert places["task.shop.receipt.timeout"] == "11"


def test_what_is_said_of_a_worker_holds_for_it_and_a_later_layer_wins(tmp_path: Path) -> None:
    assert Process(tmp_path).live.settings.slots == 9
    alpha = Process(tmp_path, worker="alpha")
    assert (alpha.live.settings.slots, alpha.live.settings.name) == (4, "alpha")
    assert Process(tmp_path, worker="alpha", slots="7").live.settings.slots == 7, "a flag is later than a file"
    alpha.live.store_holds({"slots": Stated(5, "store")})
    assert alpha.live.settings.slots == 5, "and the store later still"
    alpha.live.store_holds({"slots": Stated(5, "store"), "worker.alpha.slots": Stated(6, "store")})
    assert alpha.live.settings.slots == 6
    alpha.live.store_holds({})
    assert alpha.live.settings.slots == 4


@pytest.mark.parametrize("text", ["lease", "queue.a.b.limit", "task.shop.a.b.timeout", "worker.alpha-1.slots"])
def test_a_key_is_read_as_it_is_written(text: str) -> None:
    assert key_of(text).text == text


def test_what_a_duration_of_a_task_looks_like_is_told_by_an_example() -> None:
    assert key_of("task.shop.send.timeout").setting.right == "a duration from 1ms to 365d, such as 30s"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("laese", "Did you mean lease"),
        ("", "is not a setting"),
        ("queue", "is not a setting"),
        ("queue.mail", "is not a setting of a queue"),
        ("queue.mail.lim", "Did you mean limit"),
        ("queue.ma il.limit", "names no queue"),
        ("worker.alpha.port", "is not a setting of a worker"),
        ("task.receipt.timeout", r"task\.APP\.NAME\.SETTING"),
        ("job.7.limit", r"queue\.NAME\.SETTING"),
        ("x" * 5000, "is not a setting"),
    ],
)
def test_what_is_no_key_is_refused_with_what_would_be_right(text: str, said: str) -> None:
    with pytest.raises(InvalidSetting, match=said) as raised:
        key_of(text)
    assert len(str(raised.value)) < 1_000


@pytest.mark.parametrize("setting", BY_NAME.values(), ids=lambda one: one.name)
def test_a_value_comes_back_from_its_plain_form(setting: object) -> None:
    key = Key(Scope.ALL, "", setting)  # type: ignore[arg-type]
    if key.setting.default:
        assert value_of(key, plain(key, key.setting.default)) == key.setting.default


# --- files that are wrong ---------------------------------------------------------------------------------------------

WRONG = [
    # not TOML
    "lease",
    "lease = ",
    "lease = 20s",
    'lease = "20s',
    'lease = "20s" slots = 9',
    "[queue.mail\nlimit = 3",
    "[queue.mail]\nlimit = 3\n[queue.mail]\nlimit = 4",
    "slots = 1\nslots = 2",
    "slots = 09",
    "= 3",
    "\x00",
    "slots = 3\n\tx y",
    # no setting
    "leese = 3",
    "LEASE = '3s'",
    "lease.x = 3",
    "'' = 1",
    "[server]\nport = 80",
    "[[lease]]\nx = 1",
    "[limits]\nmail = 3",
    "queue = 3",
    "queue = ['mail']",
    "[queue]\nlimit = 3",
    "[queue.mail]\nlimits = 3",
    "[queue.mail]\nlease = '3s'",
    "[queue.mail.limit]\nmore = 3",
    "[queue.'ma il']\nlimit = 3",
    "[queue.'../mail']\nlimit = 3",
    "[[queue.mail]]\nlimit = 3",
    "[worker]\nslots = 3",
    "[worker.alpha]\nport = 3",
    "[worker.alpha]\nspeed = 3",
    "[worker.'']\nslots = 3",
    "[task.send]\ntimeout = '3s'",
    "[task.shop.send]\nlimit = 3",
    "[task.shop.send]\ntimeout = '0s'",
    "[task.shop.send]\nmax_attempts = 0",
    "[task.shop]\nsend = '3s'",
    # a value that it can't have
    "lease = 30",
    "lease = 30.5",
    "lease = '30'",
    "lease = '0s'",
    "lease = '2d'",
    "lease = true",
    "lease = ['3s']",
    "lease = 2026-11-30",
    "slots = 0",
    "slots = 10001",
    "slots = 3.0",
    "slots = 'many'",
    "slots = true",
    "poll = '1h'",
    "keep_dead = '-1d'",
    "log_format = 'xml'",
    "queues = ['a b']",
    "labels = ['disk']",
    "name = 'a/b'",
    "app = ''",
    "[queue.mail]\nlimit = 0",
    "[queue.mail]\nlimit = -1",
    "[queue.mail]\nlimit = '3s'",
    "[queue.mail]\nlimit = 1000001",
    "[queue.mail]\nlimit = true",
    "[worker.alpha]\nslots = 'x'",
    "[worker.alpha]\nlease = 3",
]


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_a_file_with_one_wrong_line_changes_nothing_and_is_told_once_with_its_place(
    process: Process, text: str
) -> None:
    before = process.live.loaded
    assert not process.reads(f'sweep = "9s"\n{text}\n')
    assert not process.live.look()
    assert process.live.loaded == before
    assert not process.live.sound
    (said,) = process.said
    assert str(process.file) in said
    assert "line" in said
    assert said.endswith("Nothing was changed.")
    assert process.reads(GOOD.replace("20s", "21s"))
    assert process.live.settings.lease == 21 * SECOND


def test_there_are_at_least_fifty_kinds_of_wrong_files() -> None:
    assert len(set(WRONG)) >= 50


def test_bytes_that_are_no_text_and_what_can_not_be_read_change_nothing(process: Process) -> None:
    before = process.live.loaded
    process.file.write_bytes(b"\xff\xfe\x00")
    process.live.look()
    process.file.unlink()
    process.file.mkdir()
    process.live.look()
    assert process.live.loaded == before
    assert len(process.said) == 2


# --- ways in which a file changes -------------------------------------------------------------------------------------


def test_an_edit_in_place_a_rename_and_a_moved_link_are_seen(process: Process, tmp_path: Path) -> None:
    process.file.write_text('lease = "11s"')
    assert process.live.look()
    assert process.reads('lease = "12s"')
    assert process.live.settings.lease == 12 * SECOND
    for number in (13, 14):  # as a mounted configuration changes: the file is a link into a folder that is replaced
        (tmp_path / f"{number}.toml").write_text(f'lease = "{number}s"')
        link = tmp_path / "link"
        link.symlink_to(tmp_path / f"{number}.toml")
        link.replace(process.file)
        assert process.live.look()
        assert process.live.settings.lease == number * SECOND


def test_a_touch_is_no_change(process: Process) -> None:
    os.utime(process.file, ns=(1, 1))
    assert not process.live.look()
    assert process.said == []


def test_a_file_that_is_gone_is_told_and_what_it_said_holds(process: Process) -> None:
    process.file.unlink()
    assert not process.live.look()
    assert not process.live.look()
    assert process.live.settings.lease == 20 * SECOND
    assert not process.live.sound
    assert len(process.said) == 1
    assert "holds until the next start" in process.said[0]


def test_one_that_comes_later_is_taken(tmp_path: Path) -> None:
    process = Process(tmp_path, None)
    assert process.live.sound
    assert process.reads('lease = "7s"')
    assert process.live.settings.lease == 7 * SECOND


def test_a_reload_that_is_asked_for_reads_a_file_that_looks_the_same(process: Process) -> None:
    seen = process.file.stat()
    process.file.write_text(GOOD.replace("20s", "22s"))
    os.utime(process.file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert not process.live.look()
    process.live.hear()
    assert process.live.look()
    assert process.live.settings.lease == 22 * SECOND


def test_what_is_read_at_start_says_that_it_waits_for_the_next_one(process: Process) -> None:
    process.reads("port = 9000")
    assert any("port" in said and "takes effect at the next start" in said for said in process.said)
    held = {one.key.text: one for one in process.live.holdings([])}
    assert held["port"].value == 8750


def test_each_value_is_shown_with_the_layer_and_the_place_that_it_comes_from(process: Process) -> None:
    stored = [
        Kept("lease", Layer.STORE, 8 * SECOND, 0, "ann"),  # type: ignore[arg-type]
        Kept("queue.mail.limit", Layer.FILE, 2, 0, "file:x"),  # type: ignore[arg-type]
        Kept("queue.bulk.limit", Layer.STORE, 5, 0, "ann"),  # type: ignore[arg-type]
    ]
    held = {one.key.text: (one.value, one.layer, one.place) for one in process.live.holdings(stored)}
    assert held["lease"] == (8 * SECOND, Layer.STORE, "store, by ann")
    assert held["slots"] == (9, Layer.FILE, f"{process.file} line 3")
    assert held["sweep"] == (5 * SECOND, Layer.DEFAULT, "default")
    assert held["queue.mail.limit"][:2] == (3, Layer.FILE)
    assert held["queue.bulk.limit"] == (5, Layer.STORE, "store, by ann")
    assert held["worker.alpha.slots"][0] == 4


# --- what is said of tasks --------------------------------------------------------------------------------------------


def test_what_is_said_of_a_task_holds_in_place_of_its_declaration_and_people_win_over_a_file() -> None:
    def kept(name: str, value: int, layer: Layer = Layer.STORE) -> Kept:
        return Kept(f"task.shop.receipt.{name}", layer, value, Instant(0), "ann")

    said = [kept("max_attempts", 7), kept("max_attempts", 2, Layer.FILE), kept("grace", 0), kept("delay", 600 * SECOND)]
    found = overrides([*said, Kept("lease", Layer.STORE, SECOND, Instant(0), "ann")])
    assert found == {"shop.receipt": Override(grace=Duration(0), max_attempts=7, delay=Duration(600 * SECOND))}
    retry = found["shop.receipt"].of_retry(Retry(factor=3))
    assert (retry.max_attempts, retry.delay, retry.factor) == (7, 600 * SECOND, 3)
    assert retry.max_delay == 600 * SECOND, "a cap is never below the delay"
    assert Override(timeout=Duration(SECOND)).of_retry(retry) is retry
