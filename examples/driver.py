"""What the examples share: a platform of real processes in a temporary folder, and a list of what was checked.

Each example is an app that you can start yourself (``mainspring up --app examples/xe001.py``). Run as a script it
starts its platform, does what its story says, checks every outcome, and ends with 0 only if all are right.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path


class Platform:
    """Processes of mainspring on one database. Use it as a context: it drains and ends what it started."""

    def __init__(self, app: str):
        self.app = str(Path(app).resolve())
        self.folder = Path(tempfile.mkdtemp(prefix="ms-"))
        self.port = free_port()
        self.checked: list[tuple[bool, str]] = []
        self._log = (self.folder / "processes.log").open("ab")
        self._running: list[subprocess.Popen] = []
        # Every process of the example finds the database here, this one too.
        os.environ["MAINSPRING_DATABASE_URL"] = f"sqlite:///{self.folder}/mainspring.db"

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        for process in reversed(self._running):
            process.send_signal(signal.SIGTERM)
        for process in self._running:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._log.close()
        if kind is not None:
            print((self.folder / "processes.log").read_text(), file=sys.stderr)
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- starting -------------------------------------------------------------------------------------------------

    def up(self, *words):
        """``mainspring up`` with the example's app."""
        return self._start("up", "--app", self.app, "--port", str(self.port), *words)

    def server(self):
        """``mainspring server``."""
        return self._start("server", "--port", str(self.port))

    def worker(self, name):
        """``mainspring worker`` with the example's app."""
        return self._start("worker", "--app", self.app, "--name", name)

    def _start(self, *words):
        process = subprocess.Popen(
            [sys.executable, "-m", "mainspring", *words],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )
        self._running.append(process)
        return process

    def ask(self, *words):
        """A command with ``--json``: its exit status and its answer."""
        command = [sys.executable, "-m", "mainspring", *words, "--json"]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        said = done.stdout.strip() or done.stderr.strip()
        return done.returncode, json.loads(said) if said else None

    def wait_for_workers(self, count):
        """Block until so many workers are active; their names, sorted."""
        deadline = time.monotonic() + 20
        while True:
            status, workers = self.ask("workers")  # 5 until the platform has made its database
            names = sorted(one["name"] for one in workers if one["state"] == "active") if status == 0 else []
            if len(names) >= count:
                return names
            if time.monotonic() > deadline:
                raise SystemExit(f"only {names} came up within 20 s")
            time.sleep(0.1)

    # --- checking -------------------------------------------------------------------------------------------------

    def check(self, right, what):
        """Note and print whether something is as it should be."""
        self.checked.append((bool(right), what))
        print(f"{'ok   ' if right else 'WRONG'} {what}", flush=True)

    def verdict(self):
        """The exit status: 0 only if all checks were right."""
        wrong = sum(1 for right, _ in self.checked if not right)
        print(f"{len(self.checked) - wrong} of {len(self.checked)} as expected")
        return 1 if wrong or not self.checked else 0


def free_port():
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
