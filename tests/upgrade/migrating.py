"""Upgrades a database by migrations of the test, armed as MAINSPRING_FAULTS arms real processes.

    python -m tests.upgrade.migrating PATH STEPS

STEPS is a JSON list of [number, name, script]. Prints the version that was reached.
"""

from __future__ import annotations

import json
import os
import sys

from mainspring import faults
from mainspring.chance import SystemChance
from mainspring.clock import SystemClock
from mainspring.store.migrate import Step, upgrade
from mainspring.store.sqlite import SqliteEngine


def main(path: str, steps: list[Step]) -> int:
    """Open, upgrade, close."""
    faults.arm_from_environment(dict(os.environ))
    engine = SqliteEngine(path, clock=SystemClock(), chance=SystemChance(), inline=True)
    upgrade(engine, "sqlite", binary="9.9.9", steps=steps)
    version: int = engine.read(lambda tx: tx.rows("schema/read"))[0][0]
    engine.close()
    return version


if __name__ == "__main__":
    print(main(sys.argv[1], [(number, name, script) for number, name, script in json.loads(sys.argv[2])]))
