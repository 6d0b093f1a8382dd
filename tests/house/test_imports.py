"""Imports point only downward, lead everywhere, and cost users little."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.house.modules import dead_modules
from tests.house.tree import ROOT, report

LINT = """
import os, sys
from importlinter.cli import lint_imports

for root in sys.argv[1:]:
    if not os.fork():  # each begins with nothing imported from another tree
        os.chdir(root)
        sys.path.insert(0, os.path.join(root, "src"))
        status = lint_imports(no_cache=True, no_logo=True)
        print(f"status {status}", flush=True)
        os._exit(0)
    os.wait()
"""
LAYERS = "cli server supervisor worker runner sdk client control engine transitions store config domain testing"


def lint(*roots: Path) -> list[tuple[int, str]]:
    """Run the contracts of pyproject.toml on the package in each of these trees: the statuses, and what was said."""
    done = subprocess.run(
        [sys.executable, "-c", LINT, *map(str, roots)],
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=True,
    )
    *said, rest = re.split(r"^status (\d+)\n", done.stdout, flags=re.MULTILINE)
    assert not rest, rest
    assert len(said) == 2 * len(roots), done.stdout + done.stderr
    return [(int(status), text) for text, status in zip(said[::2], said[1::2], strict=True)]


def plant(root: Path, written: dict[str, str]) -> Path:
    """A package with all rooms and these modules, under the contracts of this checkout."""
    root.mkdir(exist_ok=True)
    (root / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    package = root / "src" / "mainspring"
    rooms = [f"{room}/__init__.py" for room in LAYERS.split()]
    for path in ["__init__.py", *rooms, *(f"{base}.py" for base in ("errors", "clock", "chance", "faults", "process"))]:
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text("")
    roots = (
        "server/app.py",
        "server/routes/__init__.py",
        "worker/coordinator.py",
        "client/direct.py",
        "client/database.py",
    )
    for path, text in {**dict.fromkeys(roots, ""), **written}.items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text)
    return root


def test_the_contracts_are_kept() -> None:
    ((status, said),) = lint(ROOT)
    assert status == 0, said


ALLOWED = {
    "server/app.py": ["store", "control", "engine", "client.direct"],
    "worker/coordinator.py": ["store", "engine.dispatch", "client.direct"],
    "engine/dispatch.py": ["transitions", "store"],
    "client/direct.py": ["store", "control", "client"],
    "client/database.py": ["store", "engine", "client"],
    "sdk/app.py": ["client.direct", "domain"],
    "runner/main.py": ["sdk.app", "worker.frames", "client"],
    "worker/frames.py": ["domain"],
    "testing/harness.py": ["store", "worker", "runner", "engine"],
    "cli/up.py": ["supervisor", "server.app", "worker.coordinator"],
    "config/layers.py": ["domain", "clock"],
    "clock.py": ["errors"],
}


def test_what_the_layout_asks_for_is_allowed(tmp_path: Path) -> None:
    planted = {path: "".join(f"import mainspring.{name}\n" for name in names) for path, names in ALLOWED.items()}
    ((status, said),) = lint(plant(tmp_path, {**planted, "__main__.py": "import mainspring\n"}))
    assert status == 0, said


WRONG = [
    ("domain/job.py", "mainspring.store"),
    ("domain/job.py", "mainspring.config"),
    ("errors/invalid.py", "mainspring.clock"),
    ("clock.py", "mainspring.process"),
    ("store/jobs.py", "mainspring.engine"),
    ("transitions/born.py", "mainspring.control"),
    ("engine/fire.py", "mainspring.control"),
    ("control/submit.py", "mainspring.engine"),
    ("config/layers.py", "mainspring.store"),
    ("sdk/app.py", "mainspring.store"),
    ("sdk/app.py", "mainspring.control"),
    ("sdk/app.py", "mainspring.server"),
    ("worker/coordinator.py", "mainspring.sdk"),
    ("worker/coordinator.py", "mainspring.runner"),
    ("worker/coordinator.py", "mainspring.control"),
    ("worker/capture.py", "mainspring.store"),
    ("runner/main.py", "mainspring.store"),
    ("runner/main.py", "mainspring.client.direct"),
    ("runner/main.py", "mainspring.worker.coordinator"),
    ("server/routes/jobs.py", "mainspring.store"),
    ("server/app.py", "mainspring.sdk"),
    ("server/app.py", "mainspring.transitions"),
    ("server/app.py", "mainspring.cli"),
    ("cli/jobs.py", "mainspring.store"),
    ("cli/jobs.py", "mainspring.control"),
    ("cli/jobs.py", "mainspring.engine"),
    ("supervisor/tree.py", "mainspring.engine"),
    ("supervisor/tree.py", "mainspring.server"),
    ("testing/harness.py", "mainspring.server"),
    ("testing/harness.py", "mainspring.cli"),
    ("store/jobs.py", "mainspring"),
    ("unheard/of.py", "mainspring.domain"),
]


def test_each_wrong_import_is_found(tmp_path: Path) -> None:
    """All trees in one process, as most of the time goes into its start."""
    roots = []
    for number, (path, imported) in enumerate(WRONG):
        room = {f"{path.partition('/')[0]}/__init__.py": ""} if "/" in path else {}
        roots.append(plant(tmp_path / str(number), {**room, path: f"import {imported}\n"}))
    missed = {
        wrong: said
        for wrong, (status, said) in zip(WRONG, lint(*roots), strict=True)
        if status != 1 or "BROKEN" not in said
    }
    assert not missed


def test_no_module_is_dead() -> None:
    found = dead_modules(ROOT)
    assert not found, report(found)


def test_a_dead_module_is_found(tmp_path: Path) -> None:
    root = plant(
        tmp_path,
        {
            "__init__.py": '_LAZY = {"Mainspring": "mainspring.sdk.app"}\n',
            "sdk/app.py": "from mainspring.domain import job\n\ndef f():\n    from mainspring.client.direct import D\n",
            "sdk/forgotten.py": "from mainspring.sdk import lonely\n",
            "sdk/lonely.py": "x = 1\n",
            "domain/job.py": "from . import task\nfrom .queue import Queue\n",
            "domain/task.py": "x = 1\n",
            "domain/queue.py": "x = 1\n",
            "client/direct.py": 'ARGV = ["-m", "mainspring.runner.main"]\n',
            "runner/main.py": "import mainspring.worker.frames as frames\n",
            "worker/frames.py": 'GUARD = Path(__file__).with_name("guard.py")\n',
            "worker/guard.py": "x = 1\n",
        },
    )
    assert [finding.path for finding in dead_modules(root)] == [
        "src/mainspring/sdk/forgotten.py",
        "src/mainspring/sdk/lonely.py",
    ]


LOADED = """
import sys
import msgspec  # brings what it likes
before = set(sys.modules)
import mainspring
for name in getattr(mainspring, "__all__", ()):
    getattr(mainspring, name)
print(*sorted(set(sys.modules) - before))
"""


def test_what_user_code_imports_needs_only_the_standard_library_and_msgspec() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    said = subprocess.run([sys.executable, "-c", LOADED], env=environment, capture_output=True, text=True, check=True)
    loaded = said.stdout.split()
    assert "mainspring" in loaded
    foreign = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names - {"mainspring", "msgspec"}
    # zoneinfo asks sysconfig, which keeps its facts in a module named for the platform
    foreign = {name for name in foreign if not name.startswith("_sysconfigdata_")}
    assert not foreign
    rooms = {name.split(".")[1] for name in loaded if name.startswith("mainspring.")}
    assert not rooms & {"store", "engine", "control", "server", "worker", "cli"}, rooms
