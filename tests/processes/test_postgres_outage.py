"""Real processes on PostgreSQL: the database goes and comes back, ways are lost, processes are killed and stopped."""

from __future__ import annotations

import json
import shutil
import signal
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mainspring.domain.states import Outcome, State
from mainspring.faults import FaultPoint
from tests import postgres
from tests.patience import slowness
from tests.processes.world.clients import Submitter
from tests.processes.world.driver import World, free_port, state_of
from tests.proxy import Proxy

APP = Path(__file__).parent / "world" / "apps" / "ledgers.py"
FAST: dict[str, Any] = {"lease": "2s", "sweep": "500ms"}
LATER = 8.0
"""Seconds until a job is due that is submitted before a crash."""
CUTS = 10


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    """A server of this file's own, as it goes down now and then."""
    folder = Path(tempfile.mkdtemp(prefix="ms-own-"))
    folder.chmod(0o755)
    (folder / "server").mkdir()
    one = postgres.start(folder / "server", fsync="on")
    yield one
    postgres.stop(one)
    shutil.rmtree(folder)


@pytest.fixture
def database(server: postgres.Server) -> str:
    name = f"p{postgres.unique()}"
    postgres.new_database(server, name, empty=True)
    return name


@pytest.fixture
def world(server: postgres.Server, database: str) -> Iterator[World]:
    with World(server.url(database)) as one:
        yield one
        one.judge()


def control(server: postgres.Server, *words: str) -> None:
    server.control("-l", str(server.folder / "log"), *words)


def ready(port: int) -> tuple[int, dict[str, Any]]:
    """What /readyz answers; 0 when nobody does."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=40) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return 0, {}


def test_the_whole_tree_outlives_a_crash_of_the_database_and_says_so_meanwhile(
    world: World, server: postgres.Server
) -> None:
    port = free_port()
    up = world.start("up", "--app", str(APP), "--port", str(port), **FAST)
    world.eventually(world.active, within=30, what="a worker")
    before = {name: one.pid for name, one in world.active().items()}
    job = world.submit("nap", seconds=0.1)
    world.until_state(job, State.SUCCEEDED)
    world.eventually(lambda: ready(port)[0] == 200, what="ready")
    due_at = world.now() + LATER
    (later,) = world.submit_many("nap", [{"seconds": 0}], delay=LATER)
    control(server, "-m", "immediate", "stop")
    world.eventually(lambda: ready(port)[0] == 503, what="not ready")
    world.eventually(lambda: "can't be reached" in json.dumps(ready(port)[1]), what="the reason")
    assert ready(port)[0] == 503
    control(server, "start")
    world.eventually(lambda: ready(port)[0] == 200, within=30, what="ready again")
    again = world.submit("nap", seconds=0.1)
    world.until_state(again, State.SUCCEEDED)
    back_at = world.now()
    world.until_state(later, State.SUCCEEDED)
    # The first start, unless its claim fell into the outage: that is an attempt which was lost, and another follows.
    started = world.ledger(later, "start")[0].at
    assert due_at - 0.1 <= started <= max(due_at, back_at) + 5 * slowness(), "not a recovery time later"
    assert up.status is None
    assert {name: one.pid for name, one in world.active().items()} == before, "nobody had to be started anew"


def test_submits_that_were_acknowledged_survive_restarts_of_the_database(world: World, server: postgres.Server) -> None:
    port = free_port()
    world.start("up", "--app", str(APP), "--port", str(port), **FAST)
    world.eventually(lambda: ready(port)[0] == 200, within=30, what="ready")
    with Submitter(world, port) as client:
        for goal, mode in ((100, "fast"), (250, "immediate")):
            client.until(goal)
            control(server, "-m", mode, "stop")
            client.until_refused()
            control(server, "start")
        client.until(500)
    assert len(set(client.acknowledged)) == len(client.acknowledged)
    assert set(world.until_ended(client.acknowledged).values()) == {State.SUCCEEDED}


def test_a_worker_that_starts_while_the_database_is_away_amid_its_hello_joins_when_it_is_back(
    world: World, server: postgres.Server, database: str
) -> None:
    world.client.tasks()
    with Proxy(server.port) as proxy:
        url = server.tcp_url(database, port=proxy.port)
        worker = world.start("worker", "--app", str(APP), "--name", "late", database_url=url, **FAST)
        world.eventually(lambda: proxy.accepted >= 2, within=30, what="the store and its listener")
        proxy.at_commit, proxy.commits = "lose", None  # its runner has yet to load the app; no write is stored
        world.eventually(lambda: "Trying again in a second" in worker.said, within=30, what="a worker that waits")
        proxy.at_commit = ""
        world.eventually(lambda: "late" in world.active(), what="the worker")
        assert worker.status is None
    warned = [line for line in worker.said.splitlines() if "Trying again in a second" in line]
    assert all(json.loads(line)["level"] == "warning" for line in warned if line.startswith("{"))
    assert any(line.startswith("{") for line in warned)


def test_jobs_that_run_across_a_short_outage_end_as_if_nothing_had_been(world: World, server: postgres.Server) -> None:
    world.worker(lease="20s", sweep="1s")
    jobs = world.submit_many("nap", [{"seconds": 2.5}] * 5)
    for job in jobs:
        world.started(job)
    control(server, "-m", "fast", "restart")
    assert set(world.until_ended(jobs).values()) == {State.SUCCEEDED}
    assert all(world.outcomes(job) == [Outcome.SUCCEEDED] for job in jobs)


def test_a_worker_whose_way_is_lost_stops_what_it_runs_before_others_take_it(
    world: World, server: postgres.Server, database: str
) -> None:
    """Lease and guard: nothing runs beside its next attempt for longer than it may."""
    with Proxy(server.port) as proxy:
        url = server.tcp_url(database, port=proxy.port)
        world.worker("cut-off", database_url=f"{url}?connect_timeout=2", **FAST)
        job = world.submit("nap", seconds=3)
        first = world.started(job)
        proxy.refuse = 1_000_000
        proxy.cut()
        world.worker("other", **FAST)
        second = world.started(job, 2, within=30)
        assert second.at - first.at >= 1.5
        assert not [line for line in world.ledger(job, "end") if line.attempt == 1 and line.at > second.at + 5]
        proxy.refuse = 0
        world.until_state(job, State.SUCCEEDED)
    assert world.outcomes(job)[0] is Outcome.LOST


def test_answers_to_commits_are_lost_again_and_again_and_no_job_is_charged_for_it(
    world: World, server: postgres.Server, database: str
) -> None:
    with Proxy(server.port) as proxy:
        lease = "10s"  # none runs out meanwhile, however busy the machine: what is unheard is given back, not swept
        world.worker("lossy", database_url=server.tcp_url(database, port=proxy.port), lease=lease, sweep="300ms")
        jobs = world.submit_many("at_most_once", [{"seconds": 0.1}] * 30)
        for _ in range(10):
            lost = proxy.lost
            proxy.at_commit, proxy.commits = "answer", 1
            world.eventually(lambda lost=lost: proxy.lost > lost)  # type: ignore[misc]
        assert set(world.until_ended(jobs).values()) == {State.SUCCEEDED}
    assert {tuple(world.outcomes(job)) for job in jobs} == {(Outcome.SUCCEEDED,)}


@pytest.mark.parametrize(
    "point", [FaultPoint.DISPATCH_BEFORE_COMMIT, FaultPoint.DISPATCH_AFTER_COMMIT, FaultPoint.RENEW_BEFORE_WRITE]
)
def test_a_worker_that_stops_at_any_point_of_its_turn_holds_nobody_up(world: World, point: FaultPoint) -> None:
    """Stopped inside its transaction it keeps locks until the server ends its session; its jobs go on elsewhere."""
    jobs = world.submit_many("nap", [{"seconds": 0.05}] * 12)
    stopped = world.worker("stopped", slots=4, faults=f"{point}=stop@2", ready=False, **FAST)
    world.eventually(lambda: state_of(stopped.pid) == "T", within=30, what="a worker that is stopped")
    world.worker("other", slots=4, **FAST)
    assert set(world.until_ended(jobs, within=60).values()) == {State.SUCCEEDED}
    stopped.send(signal.SIGCONT)
    assert stopped.stop(30) == 0


def resources(pid: int) -> tuple[int, int, int]:
    """Descriptors, threads and resident KiB of a process."""
    folder = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
    return len(list((folder / "fd").iterdir())), int(status["Threads"]), int(status["VmRSS"].split()[0])


def test_connections_are_cut_again_and_again_and_work_goes_on_within_seconds_at_no_cost_that_stays(
    world: World, server: postgres.Server, database: str
) -> None:
    """Also the ways of the listener, which nobody would miss."""
    with Proxy(server.port) as proxy:
        worker = world.worker("cut", database_url=server.tcp_url(database, port=proxy.port), **FAST)
        seen = []
        for _ in range(2):
            for _ in range(CUTS):
                proxy.cut()
                job = world.submit("nap", seconds=0)
                world.until_state(job, State.SUCCEEDED, within=5)
            seen.append(resources(worker.pid))
        (files, threads, kib), (files_later, threads_later, kib_later) = seen
        assert files_later <= files + 3
        assert threads_later <= threads + 1
        assert kib_later <= kib + 4096
        assert world.active()["cut"].pid == worker.pid


SPOILED_BEATS = """
create sequence mainspring.beats;
create function mainspring.spoil() returns trigger language plpgsql as $$
begin
  case nextval('mainspring.beats')
    when 2 then raise exception 'spoiled' using errcode = 'unique_violation';
    when 4 then raise exception 'spoiled' using errcode = 'serialization_failure';
    when 6 then raise exception 'spoiled' using errcode = 'query_canceled';
    when 8 then raise exception 'spoiled' using errcode = 'disk_full';
    when 10 then raise exception 'spoiled' using errcode = 'internal_error';
    when 12 then perform pg_terminate_backend(pg_backend_pid());
    else null;
  end case;
  return new;
end
$$;
create trigger spoiled before update on mainspring.beat for each row execute function mainspring.spoil();
"""


def test_a_heartbeat_that_fails_in_whatever_way_is_followed_by_the_next(
    world: World, server: postgres.Server, database: str
) -> None:
    worker = world.worker("beating", lease="1s", sweep="300ms")
    server.ask(SPOILED_BEATS, database)
    beats = lambda: server.ask("select last_value from mainspring.beats", database)[0][0]  # noqa: E731
    world.eventually(lambda: beats() >= 14, within=60, what="heartbeats behind all that failed")
    assert worker.status is None
    world.until_state(world.submit("nap", seconds=0), State.SUCCEEDED)
    assert world.active()["beating"].pid == worker.pid
