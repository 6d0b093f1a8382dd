"""The figures of other products are what their jobs' own marks say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import workflows
from benchmarks.peers import environment, graphs, table
from benchmarks.peers.contestants import rate
from benchmarks.peers.scripts.graph_shapes import CHAIN, LAYERS, WIDTH, needs_of
from benchmarks.peers.scripts.ledger import marks

_SECOND = 1_000_000_000
_NOTES = """
import os, threading
from benchmarks.peers.scripts.ledger import Ledger
ledger = Ledger()
def note():
    for _ in range(250):
        ledger.note()
threads = [threading.Thread(target=note) for _ in range(4)]
[one.start() for one in threads]
[one.join() for one in threads]
if os.fork():
    os.wait()
else:
    ledger.note()
"""


def test_every_job_of_every_thread_and_fork_is_counted_in_its_process(tmp_path: Path) -> None:
    more = {"BENCH_LEDGER": str(tmp_path), "BENCH_JOBS": "1000", "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", _NOTES], env=os.environ | more, check=True)

    assert sorted(len(each) for each in marks(tmp_path)) == [1, 1000]


def test_a_rate_counts_from_the_moment_when_all_workers_run() -> None:
    early = [at * _SECOND for at in (1, 2, 3, 4, 5, 6)]
    late = [at * _SECOND for at in (4, 5, 6)]

    assert rate([early], 6) == pytest.approx(1.0)
    assert rate([early, late], 9) == pytest.approx(2.0)


def test_a_rate_of_a_handful_of_jobs_is_refused() -> None:
    with pytest.raises(SystemExit, match="9 of 10 jobs were gone before all workers ran"):
        rate([[at * _SECOND for at in range(1, 10)], [8 * _SECOND + 1]], 10)


def test_without_redis_the_reason_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    environment.redis.cache_clear()

    with pytest.raises(environment.LeftOut, match=r"there is no redis-server \(apt-get install redis-server\)$"):
        environment.redis()


def test_a_page_shows_medians_of_the_rounds_and_how_each_was_set_up() -> None:
    row = table.Row("Other", "1.2", "Redis", "no: snapshots", "2 threads", [100, 300, 200], [1500], [3.14], [20])
    said: list[str] = []

    table.markdown([row], ["2026-11-29"], say=said.append)

    assert said[2] == "| Other (1.2) | Redis | no: snapshots | 200 | 1,500 | 3.14 / 20.0 |"
    assert said[-2:] == ["- 2026-11-29", "- Other: 2 threads"]


def test_all_run_the_same_graphs() -> None:
    ours = {
        "chain": workflows.chain("chain", CHAIN),
        "fan": workflows.fan("fan", WIDTH),
        "layers": workflows.layered("layers", LAYERS, 20),
    }
    for shape in graphs.SHAPES:
        needs = needs_of(shape, 1_000)
        assert [{f"n{one}" for one in above} for above in needs] == [set(node.needs) for node in ours[shape].nodes]


def test_a_graph_that_takes_too_long_is_given_up_and_said() -> None:
    code = "import threading; from benchmarks.peers.scripts.graph_roles import limited\n"
    code += "with limited(1): threading.Event().wait()"
    where = {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | where, check=False, capture_output=True)

    assert (done.returncode, done.stderr) == (1, b"none within 1 s\n")


def test_every_engine_of_graphs_has_a_script_and_an_exact_version() -> None:
    for engine in graphs.PEERS:
        assert (Path(graphs.__file__).parent / "scripts" / f"{engine.script}.py").exists()
        assert environment.version(engine.distribution, graphs.REQUIREMENTS)
