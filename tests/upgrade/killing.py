"""Upgrades a database again and again, each time in a child that is killed: python -m tests.upgrade.killing URL TIMES.

The first dies in its first step, each other one step further. Prints the list of exit codes (-9: killed).
"""

from __future__ import annotations

import json
import os
import sys

from mainspring import faults
from mainspring.faults import FaultPoint
from mainspring.store.upgrading import upgrade_at


def killed(url: str, faulty: str) -> int:
    """The exit code of a child that upgrades."""
    child = os.fork()
    if child == 0:
        faults.arm_from_environment({"MAINSPRING_FAULTS": faulty})
        upgrade_at(url)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(url: str, times: int) -> list[int]:
    """Kill so many."""
    point = FaultPoint.MIGRATE_BEFORE_COMMIT.value
    return [killed(url, f"{point}=kill@{1 if one == 0 else 2}") for one in range(times)]


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]))))
