"""``mainspring up``: a tree of real processes that starts, is started again, drains and ends."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from mainspring.config.layers import lock_place
from mainspring.domain.job import JobFilter
from mainspring.domain.states import Outcome, State
from mainspring.process import children
from mainspring.supervisor.locks import take
from tests.patience import slowness
from tests.processes.world.driver import APP, ROOT, Process, World, free_port, is_zombie


@pytest.fixture(scope="module")
def standing() -> Iterator[World]:
    """A world whose tree stands, for tests that look at it, or have it run jobs of their own. Its first process."""
    with World() as one:
        one.up()
        yield one
        one.judge()


def roles(up: Process) -> dict[str, int]:
    """The supervisor's children by their word: ``server``, ``worker``; several workers as ``worker``, ``worker 2``."""
    found: dict[str, int] = {}
    for pid in sorted(children(up.pid)):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        if "mainspring" in words and not is_zombie(pid):
            word = words[words.index("mainspring") + 1]
            found[word if word not in found else f"{word} {len(found)}"] = pid
    return found


def start(world: World, **options: str) -> Process:
    """``mainspring up`` with these options, not waited for."""
    chosen = {"app": str(APP), "port": str(free_port())} | options
    return world.start("up", *(f"--{name}={value}" for name, value in chosen.items()))


def stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=40) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


# --- starting -------------------------------------------------------------------------------------------------------


def test_from_an_empty_folder_to_a_finished_job_in_three_commands(world: World):
    assert world.command("init").returncode == 0
    port = free_port()
    up = world.start("up", "--port", str(port))
    world.eventually(world.active, what="a worker")
    done = world.command("submit", "hello", "name=world", "--wait")
    assert (done.returncode, done.stdout) == (0, "job 1 succeeded after 1 attempt: hello, world\n")
    assert "| saying hello to world" in done.stderr
    assert re.findall("queued|running|succeeded", done.stderr) == ["queued", "running", "succeeded"]
    retried = world.command("submit", "flaky", "succeeds_at=2", "--wait", "--json")
    assert json.loads(retried.stdout)["attempt"] == 2
    assert retried.stderr == "", "no progress for a program"
    failed = world.command("submit", "flaky", "--max-attempts", "1", "--wait")
    assert failed.returncode == 1
    assert "dead after 1 attempt: RuntimeError: attempt 1 fails on purpose" in failed.stdout
    assert world.command("logs", "1").stdout == "saying hello to world\n"
    assert json.loads(world.command("logs", "1", "-f", "--json").stdout)["text"] == "saying hello to world"
    page = world.command("job", "3").stdout
    for part in ("✖ dead", "✖ failed", "RuntimeError: attempt 1 fails on purpose", 'raise RuntimeError(f"attempt'):
        assert part in page
    assert "● active" in world.command("workers").stdout
    assert healthy(port)
    assert up.stop() == 0
    assert up.said.splitlines()[-1] == "mainspring up has ended; no job waits."


def test_it_says_where_everything_is_and_how_to_end_it(world: World):
    up = world.up("--slots", "7", "--workers", "2", "--name", "w", log_format="json")
    world.eventually(lambda: {"w-1", "w-2"} <= set(world.active()))
    for part in (
        "Ctrl-C",
        "http://127.0.0.1:",
        f"{world.database} (MAINSPRING_DATABASE_URL)",
        f"{APP} (--app)",
        "1 server, 2 workers with 7 slots each",
    ):
        assert part in up.said
    tell = {"mainspring.server", "mainspring.worker"}

    def sources() -> set[str]:
        return {json.loads(line)["source"] for line in up.said.splitlines() if line.startswith("{")}

    world.eventually(lambda: tell <= sources(), what="the first words of server and worker")
    assert up.stop() == 0


def test_processes_are_told_apart_and_stand_in_groups_of_their_own(standing: World):
    up = standing.processes[0]
    tree = standing.eventually(lambda: found if len(found := roles(up)) == 2 else None)
    assert tree is not None
    assert set(tree) == {"server", "worker"}
    for pid in tree.values():
        assert os.getpgid(pid) == pid, "Ctrl-C of the terminal must not reach it"
    runner = standing.runner_of(next(iter(standing.active())))
    words = Path(f"/proc/{runner}/environ").read_bytes()
    assert b"MAINSPRING_SUPERVISOR" not in words, "what a child was handed is not for jobs"
    held = [path.readlink() for path in Path(f"/proc/{runner}/fd").iterdir()]
    assert not [name for name in held if name.suffix == ".lock"], "a job must not hold the tree's lock"


def test_a_module_of_the_users_folder_stands_in_for_none_of_ours(world: World):
    for name in ("queue.py", "logging.py", "msgspec.py"):
        (world.folder / name).write_text("raise SystemExit('imported by accident')")
    # -P: as the installed command starts, which has no folder of the user's in its path
    up = world.up(ready=False, shell='python=$1; shift; exec "$python" -P "$@"')
    world.eventually(lambda: (len(roles(up)) == 2 and "runs" in up.said) or up.status is not None)
    assert up.status is None, up.said


def test_it_uses_no_cpu_when_nothing_happens(standing: World):
    up = standing.processes[0]
    standing.eventually(lambda: len(roles(up)) == 2)
    before = stat(up.pid)[11:13]
    standing.stays(lambda: stat(up.pid)[11:13] == before, 2)


# --- starting again -------------------------------------------------------------------------------------------------


def test_who_is_killed_or_ends_by_himself_is_started_again_and_jobs_run_on(world: World):
    port = free_port()
    up = start(world, port=str(port))
    world.eventually(lambda: world.active() and healthy(port))
    job = world.submit("nap", seconds=0.5)
    world.started(job)
    killed = roles(up)
    for pid in killed.values():
        os.kill(pid, signal.SIGKILL)
    world.until_state(job, State.SUCCEEDED)
    assert world.outcomes(job) == [Outcome.LOST, Outcome.SUCCEEDED]
    for name in ("worker process", "server"):
        assert f"{name} was killed by SIGKILL; it starts again in 200ms" in up.said
    world.eventually(lambda: healthy(port), what="the server at its old address")
    again = roles(up)
    assert again.keys() == killed.keys()
    assert not set(again.values()) & set(killed.values())
    os.kill(again["worker"], signal.SIGTERM)
    world.eventually(lambda: "worker process ended with status 0; it starts again" in up.said)
    world.eventually(lambda: roles(up).get("worker", again["worker"]) != again["worker"])
    assert up.stop() == 0


def test_a_worker_that_is_drained_from_outside_ends_its_jobs_and_is_not_started_again(world: World):
    up = world.up()
    job = world.submit("nap", seconds=1.5)
    world.started(job)
    (worker,) = world.active().values()
    assert world.command("worker", "drain", str(worker.id)).returncode == 0
    world.until_state(job, State.SUCCEEDED)
    world.eventually(lambda: "worker process was drained, as " in up.said)
    assert re.search(r"worker process was drained, as \S+@\S+ asked; it is not started again\.", up.said)
    later = world.submit("quick")
    world.stays(lambda: "worker" not in roles(up) and world.job(later).state is State.QUEUED, 1)
    assert up.stop() == 0


def test_a_process_that_keeps_dying_is_given_up_and_the_rest_drained(world: World):
    up = world.up("--restart-limit", "2", ready=False, faults="dispatch.before_commit=kill")
    assert up.wait(30) == 1, up.said
    assert up.said.count("worker process was killed by SIGKILL; it starts again") == 2
    last = up.said.partition("mainspring up has ended: ")[2]
    assert last.startswith(
        "worker process ended 3 times within 1m and is given up; the last time it was killed by SIGKILL."
    )
    assert not world.alive()


def test_what_a_process_said_last_is_told_when_it_is_given_up(world: World):
    up = world.up("--restart-limit", "0", ready=False, faults="dispatch.before_commit=raise")
    assert up.wait(30) != 0
    last = up.said.partition("mainspring up has ended: ")[2]
    assert "dispatch.before_commit" in last, up.said


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (
            {"app": "broken.py"},
            4,
            r'worker process could not start\..*broken\.py", line 3, in nothing\n.*ZeroDivisionError',
        ),
        ({"app": "nothing.py"}, 4, r"worker process could not start\.\n.*nothing\.py"),
        ({"host": "0.0.0.0"}, 4, r"server could not start\.\n.*0\.0\.0\.0"),
        ({"db": "sqlite:///corrupt.db"}, 5, r"could not start\.\n.*corrupt\.db is not a sound"),
    ],
)
def test_what_can_not_start_ends_it_at_once_with_the_reason(
    world: World, options: dict[str, str], status: int, said: str
):
    (world.folder / "broken.py").write_text("def nothing():\n    one = 1\n    return one / 0\n\n\nnothing()\n")
    (world.folder / "corrupt.db").write_bytes(b"no database" * 2_000)
    up = start(world, **options)
    assert up.wait(30) == status, up.said
    assert re.search(f"mainspring up has ended: .*{said}", up.said, re.DOTALL), up.said
    assert "starts again" not in up.said
    world.eventually(lambda: not world.alive())


def test_an_address_that_is_taken_ends_it_at_once(world: World):
    port = free_port()
    first = world.start("server", "--port", str(port))
    world.eventually(lambda: "listening" in first.said)
    up = start(world, port=str(port))
    assert up.wait(30) == 5
    assert f"port {port}" in up.said.partition("server could not start.")[2]


# --- ending ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains_running_jobs_and_ends_with_0(world: World, number: signal.Signals):
    up = world.up()
    job = world.submit("nap", seconds=1)
    world.started(job)
    up.send(number)
    up.send(number)  # as timeout(1) does: the same wish twice, at once
    assert up.wait(30) == 0
    assert world.job(job).state is State.SUCCEEDED
    assert "hurrying" not in up.said
    assert not world.alive()


def test_a_second_signal_gives_running_jobs_back_and_the_last_line_says_what_waits_for_the_next_start(world: World):
    up = world.up()
    world.until_state(world.submit("nap", seconds=0), State.SUCCEEDED)
    world.submit_many("nap", [{"seconds": 0}], delay="1h")
    job = world.submit("nap", seconds=60)
    world.started(job)
    up.send(signal.SIGTERM)
    world.eventually(lambda: "draining" in up.said)
    up.send(signal.SIGTERM)
    assert up.wait(15) == 0
    assert up.said.splitlines()[-1] == "mainspring up has ended; 2 jobs wait."
    assert world.job(job).state is State.QUEUED
    assert world.outcomes(job) == [Outcome.RELEASED]


def test_what_does_not_end_is_killed_at_last_and_that_is_no_success(world: World):
    up = world.up(drain="0s", grace="0s")
    worker = roles(up)["worker"]
    world.freeze(worker)
    asked_at = world.now()
    up.send(signal.SIGTERM)
    assert up.wait(30) == 1, up.said
    assert 5 <= world.now() - asked_at < 8 * slowness()
    assert "worker process did not end within 5s; killing" in up.said
    assert "worker process was killed by SIGKILL while it was ending" in up.said
    assert is_zombie(worker)


def test_a_third_signal_kills(world: World):
    up = world.up()
    world.freeze(roles(up)["worker"])
    for word in ("draining", "hurrying", "killing"):
        up.send(signal.SIGINT)
        world.eventually(lambda word=word: word in up.said)  # type: ignore[misc]
    assert up.wait(10) == 1


def test_nohup_keeps_it_running_when_the_terminal_goes(world: World):
    up = world.up(shell='trap "" HUP; exec "$@"')
    up.send(signal.SIGHUP)
    world.stays(lambda: up.status is None, 0.5)
    assert up.stop() == 0


# --- two of them ----------------------------------------------------------------------------------------------------


def test_a_second_one_is_refused_naming_the_first(world: World):
    up = world.up()
    second = world.up(ready=False)
    assert second.wait() == 4
    assert f"Another `mainspring up` runs on {world.database} (process {up.pid})." in second.said
    other = world.up("--db", "sqlite:///other.db", ready=False)
    world.eventually(lambda: "runs" in other.said and "worker" in other.said)
    assert (up.stop(), other.stop()) == (0, 0)


def test_a_directory_for_a_database_is_refused_and_nothing_is_left_beside_it(world: World):
    place = world.folder / "place"
    place.mkdir()
    up = world.up("--db", f"sqlite:///{place}", ready=False)
    assert up.wait() == 5
    assert f"Name a file: sqlite:///{place}/mainspring.db" in up.said
    assert not list(world.folder.glob("place.*"))


def test_a_second_one_on_postgresql_is_told_that_another_directory_will_do(world: World):
    url = "postgresql://ann:secret@db.example/jobs"  # it is refused before anything is asked of it
    held = take(world.folder / lock_place(url), waiting=print)
    second = world.up("--db", url, ready=False)
    assert second.wait() == 4
    held.close()
    assert "runs on postgresql://ann" in second.said
    assert "secret" not in second.said
    assert "in another directory" in second.said
    assert "mainspring worker" in second.said


def test_after_a_killed_supervisor_the_old_ones_drain_and_a_new_one_waits_for_them_or_is_stopped(world: World):
    up = world.up(drain="200s")
    job = world.submit("shell", script='while [ ! -e "$HOME/over" ]; do sleep 0.1; done')
    world.until_state(job, State.RUNNING)
    left = roles(up)
    up.kill()
    stopped = world.up(ready=False)
    world.eventually(lambda: "waiting until they have ended" in stopped.said)
    stopped.send(signal.SIGINT)
    assert stopped.wait() in {130, -signal.SIGINT}
    second = world.up(ready=False)
    world.eventually(lambda: "waiting until they have ended" in second.said)
    assert not is_zombie(left["worker"])
    assert not roles(second)
    (world.home / "over").touch()
    world.eventually(lambda: all(is_zombie(pid) for pid in left.values()), within=10)
    assert world.job(job).state is State.SUCCEEDED
    assert world.outcomes(job) == [Outcome.SUCCEEDED]
    world.eventually(lambda: len(roles(second)) == 2)
    world.eventually(world.active)
    assert second.stop() == 0


# --- waiting for a job ----------------------------------------------------------------------------------------------


def test_ctrl_c_stops_the_waiting_and_not_the_job(standing: World):
    known = len(standing.ledger(kind="start"))
    waiting = subprocess.Popen(
        [sys.executable, "-m", "mainspring", "submit", "nap", "seconds=1.5", "--wait"],
        cwd=standing.folder,
        env=os.environ | {"MAINSPRING_DATABASE_URL": standing.url, "PYTHONPATH": str(ROOT / "src")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert waiting.stderr is not None
    assert "Ctrl-C stops waiting" in waiting.stderr.readline()
    standing.eventually(lambda: len(standing.ledger(kind="start")) > known)
    waiting.send_signal(signal.SIGINT)
    out, err = waiting.communicate(timeout=60)
    assert (waiting.returncode, out) == (130, "")
    job = standing.client.jobs(JobFilter(task="ledgers.nap", limit=1)).items[0].id
    assert f"job {job} goes on. Follow it: mainspring logs {job} -f" in err
    assert "Traceback" not in err
    standing.until_state(job, State.SUCCEEDED)


def on_terminal(world: World, *words: str) -> str:
    """What a person sees of a command, on a terminal of 100 columns."""
    place = {"MAINSPRING_DATABASE_URL": world.url, "PYTHONPATH": str(ROOT / "src")}
    environment = place | {"COLUMNS": "100", "TERM": "xterm"}
    reader, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "mainspring", *words],
        cwd=world.folder,
        env=os.environ | environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    seen = b""
    with suppress(OSError):  # the end of the last writer
        while part := os.read(reader, 65_536):
            seen += part
    os.close(reader)
    process.wait(60)
    return seen.decode()


def test_on_a_terminal_progress_is_live_and_everything_in_colour(standing: World):
    seen = on_terminal(standing, "submit", "shell", "script=echo one; sleep 1.5; echo two", "--wait")
    assert re.search("│ .*one", seen)
    running = re.search(r"job (\d+) running · attempt 1 of 1 · on \S+ · \d", seen)
    assert running, seen
    job = running[1]
    assert f"job {job} succeeded after 1 attempt" in seen
    assert "\x1b[?25h" in seen, "the cursor is shown again"
    assert "\x1b[32m✔ succeeded\x1b[0m" in on_terminal(standing, "job", job)
    assert f'\n  "id": {job},' in on_terminal(standing, "job", job, "--json").replace("\r", "")
    rows = on_terminal(standing, "jobs", "--limit", "1").partition("More: ")[0].splitlines()
    assert len(rows) == 2, "a head and a job"
    assert all(len(re.sub(r"\x1b\[[\d;]*m", "", row)) <= 100 for row in rows), "cut, not broken into lines"


def test_logs_are_followed_until_the_job_has_ended(standing: World):
    job = standing.submit("shell", script="for n in 1 2 3; do echo line $n; sleep 0.2; done; echo oops >&2")
    done = standing.command("logs", str(job), "-f")
    assert done.returncode == 0
    assert sorted(done.stdout.splitlines()) == ["line 1", "line 2", "line 3", "oops"]
    assert standing.command("logs", str(job), "--attempt", "1").stdout == done.stdout
    assert standing.command("logs", str(job), "--attempt", "2").stdout == ""


# --- a new folder ---------------------------------------------------------------------------------------------------


def test_several_processes_may_make_the_same_database_at_once(world: World):
    code = (
        "import sys\n"
        "from mainspring.client.direct import connect\n"
        "sys.stdin.readline()\n"
        "for number in range(8):\n"
        "    connect(f'sqlite:///new{number}/m.db').close()\n"
    )
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            cwd=world.folder,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for maker in makers:
        assert maker.stdin is not None
        maker.stdin.write("go\n")
        maker.stdin.flush()
    said = [maker.communicate(timeout=60)[1] for maker in makers]
    assert [maker.returncode for maker in makers] == [0, 0, 0], said
