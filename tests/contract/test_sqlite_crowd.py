"""Many processes and threads on one SQLite file: no lock error, no double claim, no lost job, whatever else goes on."""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from pathlib import Path

import pytest

from mainspring import faults
from mainspring.clock import SECOND, Duration, SystemClock, from_seconds
from mainspring.control import read
from mainspring.control.catalog import declare
from mainspring.domain.job import JobFilter
from mainspring.domain.states import State
from mainspring.errors import StoreBusy
from mainspring.faults import FaultPoint, InjectedFault
from mainspring.store import Store, Transaction
from tests.contract import children
from tests.contract.engines import connection_of, unsound
from tests.contract.stories import SHOP

PROCESSES, THREADS, SECONDS, KILLED = 8, 4, 4.0, 2


EARLY = pytest.mark.parametrize("early", [False, True])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.db"


def sound(store: Store) -> None:
    """The file is whole, and every job is in exactly one place."""
    assert integrity(store) == "ok"
    assert unsound(store) == []


def integrity(store: Store) -> str:
    return store.read(lambda tx: str(next(connection_of(tx).execute("pragma integrity_check"))[0]))


def test_a_crowd_meets_no_lock_error_and_no_job_is_lost_or_claimed_twice(path: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{path}"
    store = Store.open(url)
    declare(store, SHOP)
    with children.started("crowd", url, tmp_path, PROCESSES, THREADS, SECONDS, KILLED) as crowd:
        with children.transaction_of_a_stranger(path, "read", SECONDS / 2) as reader:
            for verb in ("vacuum", "backup"):
                strange = children.run("stranger", path, verb, 0)
                assert strange.returncode == 0, strange.stderr
            assert reader.wait(children.LONGEST) == 0
        out, err = crowd.communicate(timeout=children.LONGEST)
        assert crowd.returncode == 0, out + err

    told: dict[str, list[list[object]]] = {}
    errors = []
    for record in sorted(tmp_path.glob("*.jsonl")):
        for line in record.read_text().splitlines():
            what, value = json.loads(line)
            if what == "error":
                errors.append(value)
            elif what != "done":
                told.setdefault(what, []).extend(value)
    assert errors == []
    submitted, cancelled = told["submitted"], told["cancelled"]
    print(f"{len(submitted)} submitted, {len(told['ended'])} ended, {len(told['claimed'])} claimed")
    assert len(submitted) > 100, "a crowd that did nothing proves nothing"

    sound(store)
    counts = Counter(map(str, submitted))
    assert max(counts.values()) == 1, "an id was given twice"
    claims = Counter(map(str, told["claimed"]))
    assert max(claims.values()) == 1, "an attempt was claimed twice"
    stored = dict(store.read(lambda tx: list(connection_of(tx).execute("select id, state from job"))))
    assert set(submitted) <= set(stored), "an acknowledged job is gone"
    assert len(stored) - len(submitted) <= KILLED * THREADS * 5, "only what the killed had no time to note"
    assert told["fenced"] == [], "nobody's lease was taken"
    for job in cancelled:
        assert stored[job] == State.CANCELLED or stored[job] is None, "a cancel that was accepted and then not kept"
    check_histories(store)
    store.close()


def check_histories(store: Store) -> None:
    """Every history is a legal walk that ends where the job is."""
    standing: dict[int, State] = {}
    after = 0
    while page := read.history(store, after=after, job=None, kinds=(), limit=10_000):
        for event in page:
            assert standing.get(event.job, State.NEW) is event.source
            standing[event.job] = event.target
        after = page[-1].seq
    assert len(standing) == read.counted(store, JobFilter())
    for state in State:
        if state is not State.NEW:
            here = sum(1 for found in standing.values() if found is state)
            assert read.counted(store, JobFilter(state=state)) == here


def take(store: Store) -> int:
    return store.write(lambda tx: tx.job_ids(1)[0])


def test_a_write_waits_for_a_stranger_that_holds_the_lock(path: Path) -> None:
    store = Store.open(f"sqlite:///{path}")
    with children.transaction_of_a_stranger(path, "write", 0.5) as stranger:
        assert take(store) == 1
        assert stranger.wait(children.LONGEST) == 0
    store.close()


def test_readers_do_not_wait_for_a_stranger_that_writes(path: Path) -> None:
    store = Store.open(f"sqlite:///{path}")
    with children.transaction_of_a_stranger(path, "write", children.LONGEST) as stranger:
        for _ in range(20):
            read.counted(store, JobFilter())
        assert stranger.poll() is None
    store.close()


def test_processes_may_open_a_new_database_at_the_same_instant(tmp_path: Path) -> None:
    """Each makes the file, switches it to WAL and migrates it, unless another was faster."""
    for number in range(3):
        folder = tmp_path / str(number)
        folder.mkdir()
        crowd = children.run("rush", f"sqlite:///{folder / 'new.db'}", 8)
        assert crowd.returncode == 0, crowd.stderr
        store = Store.open(f"sqlite:///{folder / 'new.db'}")
        assert integrity(store) == "ok"
        store.close()


def test_the_wait_for_a_lock_is_bounded_and_its_error_says_what_to_do(path: Path) -> None:
    """With a clock that runs fast, so that nobody waits ten seconds."""

    class Fast(SystemClock):
        def monotonic(self) -> Duration:
            return Duration(super().monotonic() * 100)

    store = Store.open(f"sqlite:///{path}", clock=Fast())
    stranger = children.transaction_of_a_stranger(path, "write", children.LONGEST)
    with stranger, pytest.raises(StoreBusy, match="locked for 10 s"):
        take(store)
    assert take(store) == 1
    store.close()


def number(tx: Transaction) -> int:
    """Change something: a number is taken from the counter of jobs."""
    return int(tx.rows("counter/take", name="job", count=1)[0][0])


@EARLY
def test_whoever_writes_on_hearing_a_bell_sees_what_it_rang_for(path: Path, early: bool) -> None:  # noqa: FBT001
    """The bell rings while the commit is under way: its listeners are awake early, and never too early."""
    ringer, hearer = Store.open(f"sqlite:///{path}"), Store.open(f"sqlite:///{path}", inline=True)
    bell = hearer.work_bell.listen("hearer")
    done = threading.Semaphore(0)
    heard: list[int] = []
    rung: list[int] = []

    def hear() -> None:
        while bell.wait(Duration(5 * SECOND)) and len(heard) < 100:
            heard.append(hearer.write(number))
            done.release()

    thread = threading.Thread(target=hear)
    thread.start()
    for _ in range(100):
        rung.append(ringer.write(number, rings=ringer.work_bell, early=early))
        assert done.acquire(timeout=20)
    ringer.work_bell.ring()
    thread.join(20)
    assert heard == [one + 1 for one in rung]
    bell.close()
    for store in (ringer, hearer):
        store.close()


def test_a_bell_can_be_heard_however_many_ring_while_it_is_made(path: Path) -> None:
    """Ringers clear away FIFOs without a listener: never one that is about to have its listener."""
    ringer, hearer = Store.open(f"sqlite:///{path}"), Store.open(f"sqlite:///{path}")
    stop = threading.Event()

    def ring() -> None:
        while not stop.is_set():
            ringer.work_bell.ring()

    crowd = [threading.Thread(target=ring) for _ in range(2)]
    for thread in crowd:
        thread.start()
    try:
        for _ in range(500):
            bell = hearer.work_bell.listen("hearer")
            heard = bell.wait(Duration(5 * SECOND))
            bell.close()
            assert heard
    finally:
        stop.set()
        for thread in crowd:
            thread.join()
    for store in (ringer, hearer):
        store.close()


def test_a_ringer_keeps_fifos_open_and_still_finds_who_comes_goes_and_comes_back(path: Path) -> None:
    ringer, hearer = Store.open(f"sqlite:///{path}"), Store.open(f"sqlite:///{path}")
    fifos = Path(f"{path}.bells/work")
    first = hearer.work_bell.listen("first")
    moments = 0.0, 0.2  # right behind the ring before, and when the directory counts as settled
    for moment in moments:
        ringer.work_bell.ring()
        assert first.wait(Duration(5 * SECOND))
        SystemClock().wait(from_seconds(moment))
        second = hearer.work_bell.listen("second")
        ringer.work_bell.ring()
        assert second.wait(Duration(5 * SECOND))
        assert first.wait(Duration(5 * SECOND))
        SystemClock().wait(from_seconds(moment))
        second.close()
        ringer.work_bell.ring()
        assert first.wait(Duration(5 * SECOND))
    SystemClock().wait(from_seconds(moments[-1]))
    ringer.work_bell.ring()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        ringer.work_bell.ring()
    assert len(os.listdir("/proc/self/fd")) == before
    (fifos / "first").unlink()
    assert first.gone
    first.make_again()
    ringer.work_bell.ring()
    assert first.wait(Duration(5 * SECOND))
    os.mkfifo(fifos / "dead")  # its listener was killed
    ringer.work_bell.ring()
    assert sorted(os.listdir(fifos)) == ["first"]
    first.close()
    for store in (ringer, hearer):
        store.close()


@EARLY
def test_a_bell_has_rung_when_its_ringer_dies_right_behind_the_commit(path: Path, early: bool) -> None:  # noqa: FBT001
    store = Store.open(f"sqlite:///{path}")
    bell = store.work_bell.listen("hearer")

    def die(point: FaultPoint) -> None:
        raise InjectedFault(point)

    faults.arm(die)
    try:
        with pytest.raises(InjectedFault):
            store.write(number, after=FaultPoint.SUBMIT_AFTER_COMMIT, rings=store.work_bell, early=early)
    finally:
        faults.arm(None)
    assert bell.wait(Duration(0))
    bell.close()
    store.close()
