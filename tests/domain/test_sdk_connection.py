"""Which database the SDK speaks to, when it opens it, and what a fork does to that. Real files, real processes."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from mainspring import Mainspring
from mainspring.client.direct import DirectClient, connect
from mainspring.domain.job import JobFilter
from mainspring.domain.task import Catalog
from mainspring.errors import InvalidSetting, NoDatabase, StoreUnreachable
from mainspring.sdk import connection
from mainspring.sdk.connection import use_client
from mainspring.store import Store

TASKS = """
import os, sys, threading
from mainspring import Mainspring, errors
from mainspring.sdk import connection
app = Mainspring("shop")
@app.task
def ping(n: int = 0): ...
"""


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MAINSPRING_DATABASE_URL", raising=False)
    yield
    connection.close()


def program(text: str, directory: Path, **environment: str) -> str:
    """What a program of a user says."""
    ran = subprocess.run(
        [sys.executable, "-c", TASKS + text],
        cwd=directory,
        env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin:/bin", **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def submitted(path: Path) -> list[int]:
    client = connect(f"sqlite:///{path}")
    try:
        return sorted(job.params.get("n", 0) for job in client.jobs(JobFilter(limit=1000)).items)
    finally:
        client.close()


def ping_app(database_url: str | None = None) -> Mainspring:
    app = Mainspring("shop", database_url=database_url)

    @app.task
    def ping(n: int = 0) -> None: ...

    return app


def test_the_default_is_a_file_below_the_working_directory(tmp_path: Path) -> None:
    ping_app().tasks["ping"].submit(n=1)
    assert submitted(tmp_path / ".mainspring/mainspring.db") == [1]


def test_the_nearest_setting_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mainspring.toml").write_text('database_url = "sqlite:///from_file.db"\n')
    ping_app().tasks["ping"].submit(n=1)
    monkeypatch.setenv("MAINSPRING_DATABASE_URL", "sqlite:///from_environment.db")
    ping_app().tasks["ping"].submit(n=2)
    ping_app("sqlite:///from_app.db").tasks["ping"].submit(n=3)
    assert submitted(tmp_path / "from_file.db") == [1]
    assert submitted(tmp_path / "from_environment.db") == [2]
    assert submitted(tmp_path / "from_app.db") == [3]


def test_a_wrong_setting_is_refused_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "mainspring.toml").write_text("database_url = 5\n")
    with pytest.raises(InvalidSetting, match=r"mainspring\.toml line 1"):
        ping_app().tasks["ping"].submit()


def test_a_database_that_is_none_is_refused_by_its_url() -> None:
    with pytest.raises(StoreUnreachable, match="'mysql://x' is not a database URL"):
        ping_app("mysql://x").tasks["ping"].submit()


def test_two_apps_on_one_url_share_a_connection_and_closing_opens_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/one.db"
    first, second = ping_app(url), ping_app(url)
    first.tasks["ping"].submit(n=1)
    assert first.client() is second.client()
    connection.close()
    first.tasks["ping"].submit(n=2)
    assert submitted(tmp_path / "one.db") == [1, 2]


def test_a_question_where_no_database_is_makes_none(tmp_path: Path) -> None:
    app = ping_app()
    for ask in (lambda: app.job(7), lambda: list(app.events(follow=False)), app.client):
        with pytest.raises(NoDatabase, match=r"\.mainspring/mainspring\.db"):
            ask()
    assert list(tmp_path.iterdir()) == []
    job = app.tasks["ping"].submit()
    assert app.job(job.id).state == "queued"


def test_many_threads_open_it_once(tmp_path: Path) -> None:
    app = ping_app(f"sqlite:///{tmp_path}/one.db")
    start, clients = threading.Barrier(8), []

    def submit(n: int) -> None:
        start.wait()
        app.tasks["ping"].submit(n=n)
        clients.append(app.client())

    threads = [threading.Thread(target=submit, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(client) for client in clients}) == 1
    assert submitted(tmp_path / "one.db") == list(range(8))


class Counting(DirectClient):
    """A client that remembers what was declared."""

    declared: int = 0

    def declare(self, catalog_: Catalog) -> None:
        self.declared += 1
        super().declare(catalog_)


def test_the_catalog_is_declared_at_the_first_submit_and_again_when_it_has_changed() -> None:
    client = Counting(Store.open("sqlite://:memory:", inline=True))
    app = ping_app()
    with use_client(client):
        assert list(app.events(follow=False)) == []
        assert client.declared == 0, "a question needs no catalog"
        for _ in range(3):
            app.tasks["ping"].submit()
        assert client.declared == 1
        app.command("tick", ["true"]).submit()
        app.tasks["ping"].submit()
        assert client.declared == 2
        assert {task.name for task in client.tasks()} == {"shop.ping", "shop.tick"}
    client.close()


def test_a_client_that_was_set_is_used_until_its_block_ends() -> None:
    app = ping_app()
    inner, outer = (DirectClient(Store.open("sqlite://:memory:", inline=True)) for _ in range(2))
    with use_client(outer):
        with use_client(inner):
            assert app.client() is inner
        assert app.client() is outer
        use_client(None)
        app.tasks["ping"].submit()
        assert app.client() not in (inner, outer)
    for client in (inner, outer):
        client.close()


# --- fork ----------------------------------------------------------------------------------------------------------

FORK = """
def in_child(work):
    pid = os.fork()
    if not pid:
        code = 1
        try:
            code = work() or 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0, "the child failed"
"""


def test_a_forked_child_opens_its_own_and_the_parent_goes_on(tmp_path: Path) -> None:
    said = program(
        FORK
        + """
ping.submit(n=1)
mine = app.client()
def child():
    ping.submit(n=2)
    assert app.client() is not mine
    in_child(lambda: ping.submit(n=3) and None)
    connection.close()
in_child(child)
assert app.client() is mine
ping.submit(n=4)
def untouched():
    sys.exit(0)  # leaves through atexit, which must not close what it inherited
pid = os.fork()
if not pid:
    untouched()
os.waitpid(pid, 0)
ping.submit(n=5)
print(sorted(job.params["n"] for job in mine.jobs(__import__("mainspring.domain.job").domain.job.JobFilter()).items))
""",
        tmp_path,
    )
    assert said == "[1, 2, 3, 4, 5]"
    assert submitted(tmp_path / ".mainspring/mainspring.db") == [1, 2, 3, 4, 5]


def test_a_fork_while_another_thread_opens_does_not_hang_the_child(tmp_path: Path) -> None:
    program(
        FORK
        + """
held, forked = threading.Event(), threading.Event()
def hold():
    with connection._here.lock:
        held.set()
        forked.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
in_child(lambda: ping.submit(n=1) and None)
forked.set()
thread.join()
ping.submit(n=2)
""",
        tmp_path,
    )
    assert submitted(tmp_path / ".mainspring/mainspring.db") == [1, 2]


def test_the_standard_pools_of_processes_can_submit(tmp_path: Path) -> None:
    program(
        """
import multiprocessing
ping.submit(n=0)
def work(n):
    ping.submit(n=n)
    return n
with multiprocessing.get_context("fork").Pool(3) as pool:
    assert pool.map(work, range(1, 7)) == list(range(1, 7))
""",
        tmp_path,
    )
    assert submitted(tmp_path / ".mainspring/mainspring.db") == list(range(7))


def test_a_client_of_a_job_is_not_shared_with_a_process_that_the_job_forks(tmp_path: Path) -> None:
    said = program(
        FORK
        + """
from mainspring.client.direct import connect
from mainspring.sdk.connection import use_client
use_client(connect("sqlite:///one.db"))
ping.submit(n=1)
def child():
    try:
        ping.submit(n=2)
    except errors.StoreUnreachable as error:
        print(error, flush=True)
    use_client(connect("sqlite:///two.db"))
    ping.submit(n=3)
in_child(child)
ping.submit(n=4)
""",
        tmp_path,
    )
    assert "forked from one whose connection it can't share" in said
    assert submitted(tmp_path / "one.db") == [1, 4]
    assert submitted(tmp_path / "two.db") == [3]
