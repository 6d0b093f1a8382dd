"""Start: imports, the command's help, and from `mainspring up` to the first finished job.

Raw baseline: a bare interpreter, which all of them contain. Bytecode is written and used, as where a package was
installed: compiling takes three to five times as long again, so PYTHONDONTWRITEBYTECODE counts for nothing here.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from tempfile import TemporaryDirectory

from benchmarks.app import app
from benchmarks.place import Place
from benchmarks.report import Line

_TIMED = "import time; t = time.perf_counter(); {}; print((time.perf_counter() - t) * 1e3)"


def measure(*, quick: bool) -> list[Line]:
    """Four lines."""
    runs = 3 if quick else 9
    declaring = "from mainspring import Context, Mainspring, Retry"
    with TemporaryDirectory() as folder:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        compiled = kept | {"PYTHONPYCACHEPREFIX": folder}
        _inside(declaring, compiled)
        _wall("-m", "mainspring", "--help", environment=compiled)
        bare = statistics.median(_wall("-c", "pass", environment=compiled) for _ in range(runs))
        package = [_inside("import mainspring", compiled) for _ in range(runs)]
        names = [_inside(declaring, compiled) for _ in range(runs)]
        helped = [_wall("-m", "mainspring", "--help", environment=compiled) for _ in range(runs)]
    cold = [_cold() for _ in range(1 if quick else 3)]
    return [
        Line(
            "import mainspring",
            statistics.median(package),
            "ms",
            budget=150,
            budget_text="<= 150 ms",
            samples=tuple(package),
            note="in a fresh interpreter; names load when first used",
        ),
        Line(
            "from mainspring import Mainspring, ...",
            statistics.median(names),
            "ms",
            budget=150,
            budget_text="<= 150 ms",
            samples=tuple(names),
            note="with what declaring tasks needs",
        ),
        Line(
            "mainspring --help",
            statistics.median(helped),
            "ms",
            raw=bare,
            raw_is="python -c pass",
            budget=400,
            budget_text="<= 400 ms",
            samples=tuple(helped),
        ),
        Line(
            "mainspring up to the first finished job",
            statistics.median(cold),
            "s",
            budget=3,
            budget_text="<= 3 s",
            samples=tuple(cold),
            note="fresh database, supervisor, server, worker, runner",
        ),
    ]


def _inside(code: str, environment: Mapping[str, str]) -> float:
    """Milliseconds that a statement takes in a fresh interpreter, as it measures itself."""
    command = [sys.executable, "-c", _TIMED.format(code)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def _wall(*arguments: str, environment: Mapping[str, str]) -> float:
    """Milliseconds from start to exit of an interpreter."""
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - started) * 1e3


def _cold() -> float:
    """Seconds from starting the tree to the recorded end of a job that waited for it."""
    with Place() as place:
        with place.sdk():
            app.tasks["noop"].submit()
        started = time.time()
        place.up()
        with place.reading() as look:
            place.until("the first job", lambda: look("select count(*) from attempt") == 1, every=0.02)
            ended = look("select max(ended) from attempt") / 1e6
        return ended - started
