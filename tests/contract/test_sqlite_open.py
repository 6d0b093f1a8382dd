"""Opening a SQLite store: what must hold before, what is in force after, and every refusal with its right text."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from mainspring.client.direct import connect
from mainspring.control import read
from mainspring.domain.job import JobFilter
from mainspring.domain.logline import LogChunk
from mainspring.errors import (
    EngineTooOld,
    MainspringError,
    NetworkFilesystem,
    SchemaTooNew,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    StoreUnreachable,
)
from mainspring.store import Store, database_path
from mainspring.store.sqlite_errors import store_error
from mainspring.store.sqlite_place import check_engine, check_place, filesystem
from tests.contract import children
from tests.contract.engines import SqliteBench, connection_of, engine_of
from tests.contract.stories import Story
from tests.patience import Limit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


@pytest.fixture
def filled(tmp_path: Path, path: Path) -> Path:
    """A closed database with a hundred jobs in it."""
    bench = SqliteBench(tmp_path)
    story = Story(bench)
    for _ in range(100):
        story.running(params={"text": "x" * 500})
    story.store.logs.append([(story.submit(), 1, 1, LogChunk(story.clock.now(), "stdout", "line\n" * 1000))])
    bench.close()
    return path


def open_url(path: Path) -> Store:
    return Store.open(f"sqlite:///{path}")


# --- names ------------------------------------------------------------------------------------------------------------


def test_a_url_names_a_file_or_memory() -> None:
    assert database_path("sqlite:///relative/m.db") == "relative/m.db"
    assert database_path("sqlite:////absolute/m.db") == "/absolute/m.db"
    assert database_path("sqlite:///with space & ü?.db") == "with space & ü?.db"
    assert database_path("sqlite://:memory:") == ":memory:"


def test_what_is_no_database_url_is_refused_with_the_right_form() -> None:
    for url in ("", "m.db", "/m.db", "sqlite:m.db", "sqlite:///", "mysql://x/y", "http://localhost", "sqlite//m.db"):
        with pytest.raises(StoreUnreachable, match=r"sqlite:///relative/path\.db"):
            Store.open(url)


def test_a_client_connects_by_url_and_makes_the_folders_on_the_way(tmp_path: Path) -> None:
    client = connect(f"sqlite:///{tmp_path}/a/b/m.db")
    assert client.count(JobFilter()) == 0
    client.close()
    assert (tmp_path / "a" / "b" / "m.db").exists()


def test_odd_file_names_are_file_names(tmp_path: Path) -> None:
    for name in ("with space.db", "ünï.db", "100%.db", "a?mode=ro.db", "file:x.db", "quote'\".db", "noextension"):
        store = open_url(tmp_path / name)
        store.close()
        assert (tmp_path / name).exists(), name


# --- what must hold before --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["3.51.2", "3.50.99", "3.9.0", "2.8.17"])
def test_a_library_with_the_wal_race_is_refused(version: str) -> None:
    with pytest.raises(EngineTooOld, match=version) as refusal:
        check_engine(version)
    assert "pip install --upgrade apsw" in refusal.value.remedy


@pytest.mark.parametrize("version", ["3.51.3", "3.51.10", "3.52.0", "4.0.0", None])
def test_a_sound_library_is_taken(version: str | None) -> None:
    check_engine(version)


MOUNTS = """\
/dev/vda / ext4 rw,relatime 0 0
tmpfs /tmp tmpfs rw 0 0
server:/home /net/home nfs4 rw,vers=4.2 0 0
//nas/share /media/with\\040space cifs rw 0 0
/dev/vdb /net/home/local xfs rw 0 0
share /mnt/host 9p rw 0 0
"""


def test_a_network_file_system_is_refused(tmp_path: Path) -> None:
    mounts = MOUNTS + f"server:/x {tmp_path} nfs rw 0 0\n"
    with pytest.raises(NetworkFilesystem, match=r"\(nfs\)"):
        check_place(tmp_path / "deep" / "m.db", mounts=mounts)
    check_place(tmp_path / "deep" / "m.db", mounts=MOUNTS)


def test_the_file_system_is_that_of_the_nearest_mount_point() -> None:
    for place, kind in {
        "/": "ext4",
        "/net/homestead": "ext4",
        "/net/home": "nfs4",
        "/net/home/ann": "nfs4",
        "/net/home/local/x": "xfs",
        "/media/with space/x": "cifs",
        "/mnt/host/x": "9p",
    }.items():
        assert filesystem(Path(place), mounts=MOUNTS) == kind, place
    assert filesystem(Path("/"), mounts="") == ""
    assert filesystem(Path.cwd()) not in {"", "nfs"}


# --- what is in force after -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inline", [False, True])
def test_wal_and_full_are_really_in_force_on_every_connection(path: Path, *, inline: bool) -> None:
    for _ in range(2):  # when it is made, and when it is opened again
        store = Store.open(f"sqlite:///{path}", inline=inline)
        for transact in (store.read, store.write):
            asked = {
                name: transact(lambda tx, name=name: next(connection_of(tx).execute(f"pragma {name}"))[0])  # type: ignore[misc]
                for name in ("journal_mode", "synchronous", "fullfsync", "trusted_schema", "mmap_size")
            }
            assert asked == {
                "journal_mode": "wal",
                "synchronous": 2,
                "fullfsync": 1,
                "trusted_schema": 0,
                "mmap_size": 0,
            }
        store.close()


def test_a_file_that_was_in_another_journal_mode_is_switched(path: Path) -> None:
    open_url(path).close()
    raw = apsw.Connection(str(path))
    assert raw.pragma("journal_mode", "delete") == "delete"
    raw.close()
    store = open_url(path)
    assert engine_of(store).raw.pragma("journal_mode") == "wal"
    store.close()


def test_what_can_not_be_made_durable_is_refused(path: Path) -> None:
    """As on a file system without shared memory, where SQLite stays in another mode."""
    store = open_url(path)
    with pytest.raises(StoreUnreachable, match="journal_mode=memory"):
        engine_of(store)._make_durable(apsw.Connection(":memory:"))
    store.close()


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_directory_is_refused_with_the_name_of_a_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnreachable, match="is a directory") as refusal:
        open_url(tmp_path)
    assert refusal.value.remedy == f"Name a file: sqlite:///{tmp_path}/mainspring.db"


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreUnreachable, match="can't be made"):
        open_url(tmp_path / "file" / "m.db")


def test_a_place_that_takes_no_files_is_refused() -> None:
    for place in ("/proc/m.db", "/proc/nowhere/m.db", "/sys/m.db"):
        with pytest.raises(StoreError) as refusal:
            Store.open(f"sqlite:///{place}")
        assert isinstance(refusal.value, StoreReadOnly | StoreUnreachable), place
        assert place.rpartition("/")[0] in refusal.value.message


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that everybody may enter, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def tried_by_nobody(path: Path) -> str:
    done = children.run("nobody", f"sqlite:///{path}")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def copied(filled: Path, folder: Path) -> Path:
    """The filled database in a folder, for everybody to read and for nobody to write."""
    for name in ("m.db", "m.logs.db"):
        shutil.copyfile(filled.with_name(name), folder / name)
        (folder / name).chmod(0o444)
    return folder / "m.db"


def test_a_folder_without_permission_is_refused(shared: Path) -> None:
    shared.chmod(0o555)
    assert tried_by_nobody(shared / "m.db").startswith("store_read_only\n")
    assert tried_by_nobody(shared / "below" / "m.db").startswith("store_read_only\n")
    shared.chmod(0o700 if os.getuid() == 0 else 0o000)
    assert tried_by_nobody(shared / "m.db").partition("\n")[0] in {"store_read_only", "store_unreachable"}
    shared.chmod(0o755)


def test_a_database_without_permission_is_refused_and_left_as_it_is(shared: Path, filled: Path) -> None:
    path = copied(filled, shared)
    before = path.read_bytes()
    for folder, file in ((0o555, 0o444), (0o777, 0o444), (0o777, 0o000), (0o555, 0o666)):
        shared.chmod(folder)
        path.chmod(file)
        said = tried_by_nobody(path)
        assert said.partition("\n")[0] in {"store_read_only", "store_unreachable"}, (oct(folder), oct(file), said)
        assert str(path) in said
    assert path.read_bytes() == before


def test_a_file_system_that_is_read_only_is_refused(tmp_path: Path, filled: Path) -> None:
    place = tmp_path / "mount"
    place.mkdir()
    with mounted(place, "rw") as works:
        if not works:  # not allowed to mount here: what SQLite says then is at least translated
            assert isinstance(store_error("m.db", apsw.ReadOnlyError("x")), StoreReadOnly)
            return
        path = copied(filled, place)
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        for name in (path, place / "new.db", place / "below" / "new.db"):
            with pytest.raises(StoreReadOnly, match="--db"):
                open_url(name)


class mounted:  # noqa: N801 - reads as a phrase
    """A small file system of our own, where we may mount."""

    def __init__(self, place: Path, options: str, size: str = "8m") -> None:
        self.place, self.options = place, f"{options},size={size}"
        self.works = False

    def __enter__(self) -> bool:
        command = ["mount", "-t", "tmpfs", "-o", self.options, "tmpfs", str(self.place)]
        try:
            self.works = subprocess.run(command, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            self.works = False
        return self.works

    def __exit__(self, *_: object) -> None:
        if self.works:
            subprocess.run(["umount", "--lazy", str(self.place)], check=True)


# --- corruption -------------------------------------------------------------------------------------------------------


def use(path: Path) -> None:
    """Open and look at everything."""
    store = open_url(path)
    try:
        for job in read.listed(store, JobFilter(limit=1000)).items:
            read.attempts(store, job.id)
            read.history(store, after=0, job=job.id, kinds=(), limit=100)
            read.logs(store, job.id, attempt=None, after=0, limit=1000)
        read.history(store, after=0, job=None, kinds=(), limit=1000)
        read.tasks(store)
        read.all_workers(store)
        store.write(lambda tx: tx.job_ids(1))
    finally:
        store.close()


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(path: Path) -> None:
    for content in (random.Random(1).randbytes(50_000), b"a text\n" * 1000, b"\0" * 8192, b"SQLite format 3\0" * 600):
        path.write_bytes(content)
        with pytest.raises(StoreCorrupt, match="left as it is"):
            open_url(path)
        assert path.read_bytes() == content


def test_an_empty_file_becomes_a_database(path: Path) -> None:
    path.write_bytes(b"")
    use(path)


@pytest.mark.parametrize("part", [0.9, 0.5, 0.1])
def test_a_truncated_database_is_refused(filled: Path, part: float) -> None:
    content = filled.read_bytes()
    filled.write_bytes(content[: int(len(content) * part)])
    with pytest.raises(StoreCorrupt, match="not a sound SQLite database"):
        use(filled)


def test_a_log_file_that_is_no_database_is_refused_too(filled: Path) -> None:
    filled.with_name("m.logs.db").write_bytes(b"rubbish" * 1000)
    with pytest.raises(StoreCorrupt, match=r"m\.logs\.db"):
        open_url(filled)


def spoiled(path: Path, content: bytes, at: int, change: bytes) -> str:
    """What comes of using a file of which some bytes were changed: ``fine`` or the code of an error of ours."""
    path.write_bytes(content[:at] + change + content[at + len(change) :])
    try:
        use(path)
    except MainspringError as error:
        return error.code
    finally:
        for name in ("m.db-wal", "m.db-shm"):
            path.with_name(name).unlink(missing_ok=True)
    return "fine"


def test_a_damaged_page_is_told_as_damage_when_it_is_met(filled: Path) -> None:
    """The head of a page is structure, so that damage to it shows; pages of indices that nobody reads stay unseen."""
    content, size = filled.read_bytes(), 4096
    pages = range(1, len(content) // size, 2)
    seen = [spoiled(filled, content, page * size, random.Random(page).randbytes(64)) for page in pages]
    assert set(seen) <= {"fine", "store_corrupt", "store_error", "unknown_job"}
    assert seen.count("store_corrupt") > len(pages) // 4


def test_any_flipped_bit_gives_an_answer_or_an_error_of_ours(filled: Path) -> None:
    """SQLite has no checksums: damage inside a value may go unseen; what can't be read must be told as damage."""
    content, chance = filled.read_bytes(), random.Random(7)
    for _ in range(60):
        at = chance.randrange(len(content))
        found = spoiled(filled, content, at, bytes([content[at] ^ (1 << chance.randrange(8))]))
        assert found in {"fine", "store_corrupt", "store_error", "unknown_job"}, at


# --- versions ---------------------------------------------------------------------------------------------------------


def test_a_database_of_a_newer_mainspring_is_refused_with_the_version_that_is_needed(filled: Path) -> None:
    store = open_url(filled)
    bench = SqliteBench(filled.parent)
    bench.alter(store, "update schema_version set version = 99, oldest_binary = '7.1.0'")
    store.close()
    before = filled.read_bytes()
    with pytest.raises(SchemaTooNew, match="has schema version 99") as refusal:
        open_url(filled)
    assert "7.1.0 or newer" in refusal.value.remedy
    assert refusal.value.exit_status == 5
    assert filled.read_bytes() == before


def test_a_newer_schema_that_still_allows_this_version_is_used(filled: Path) -> None:
    store = open_url(filled)
    SqliteBench(filled.parent).alter(store, "update schema_version set version = 99, oldest_binary = '0.0.9'")
    store.close()
    use(filled)


def test_a_database_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path):
    file = tmp_path / "theirs.db"
    theirs = apsw.Connection(str(file))
    theirs.execute("create table customer (name); insert into customer values ('ada')")
    theirs.close()
    before = file.read_bytes()
    with pytest.raises(StoreUnreachable, match="another program"):
        connect(f"sqlite:///{file}")
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["theirs.db"]


def test_the_log_is_copied_into_the_database_beside_the_commits_of_a_process_with_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = open_url(path)
    engine = engine_of(store)
    assert engine._checkpoints is not None
    (turn,) = engine._checkpoints.pause()
    text = "x" * 12_000_000
    before = path.stat().st_size
    for number in range(2):
        store.write(
            lambda tx, n=number: tx.rows("policy/insert", document=f"{n} {text}")  # type: ignore[misc]
        )
    assert path.stat().st_size == before, "no commit has copied anything"
    turn.release()
    limit = Limit(60)
    while path.stat().st_size < before + len(text) and not limit.over():
        store.write(lambda tx: tx.rows("counter/take", name="job", count=1))
    assert path.stat().st_size > before + len(text)
    store.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "mainspring-checkpoint"]


def test_a_process_that_stays_gives_the_log_its_size_and_changes_nothing(tmp_path: Path) -> None:
    path, log = tmp_path / "m.db", tmp_path / "m.db-wal"
    first, store = open_url(path), open_url(path)
    assert log.stat().st_size < 1_000_000
    raw = engine_of(store).raw
    before = list(raw.execute("select * from sqlite_schema"))
    store.settle_in()
    size = log.stat().st_size
    assert 16_000_000 < size < 17_000_000
    assert list(raw.execute("select * from sqlite_schema")) == before
    for one in (first, store) * 20:
        one.write(lambda tx: tx.rows("counter/take", name="job", count=1))
    store.settle_in()
    assert log.stat().st_size == size, "commits overwrite it"
    assert next(raw.execute("pragma integrity_check"))[0] == "ok"
    assert next(raw.execute("pragma cache_size"))[0] == -16000
    first.close()
    store.close()
