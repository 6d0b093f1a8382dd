"""``python -m campaign.schedules [--seeds 1] [--first 0] [--count 1000] [--days 366]``: simulated years of schedules.

Three schedulers, kills at every fault point of firing, clocks that jump by -1 h, +1 h and +1 day, zones whose clocks
change. Exit status 1 when a due tick has no record or two, or made two jobs.
"""

from __future__ import annotations

import argparse
import sys

from mainspring.clock import DAY, Duration, SystemClock, seconds
from tests.simulation.ticking import Ticking

SHOWN = 10


def say(text: str) -> None:
    """A line for whoever watches."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(argv: list[str] | None = None) -> int:
    """Run the seeds; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m campaign.schedules", description="Simulated years of schedules.")
    parser.add_argument("--seeds", type=int, default=1, help="how many (default 1)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (default 0)")
    parser.add_argument("--count", type=int, default=1000, help="schedules (default 1000)")
    parser.add_argument("--days", type=int, default=366, help="simulated (default 366)")
    options = parser.parse_args(argv)
    clock, bad = SystemClock(), 0
    for seed in range(options.first, options.first + options.seeds):
        began = clock.monotonic()
        world = Ticking(seed, options.count)
        world.live(Duration(options.days * DAY))
        wrong = world.wrong()
        bad += bool(wrong)
        took = seconds(Duration(clock.monotonic() - began))
        say(
            f"seed {seed}: {world.recorded():,} ticks in {world.records():,} records, {world.kills:,} kills, "
            f"{world.nested:,} turns inside others, {took:.0f} s: {'sound' if not wrong else f'{len(wrong):,} WRONG'}"
        )
        for line in wrong[:SHOWN]:
            say(f"  {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
