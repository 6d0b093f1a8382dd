"""``python -m campaign.schedules [--schedules 1000] [--days 366] [--seeds 1]``: simulated years of schedules.

Three schedulers on one store under a virtual clock: they are killed while they fire, overtake each other, and the clock
jumps by an hour or a day; the zones change theirs. Each due tick must be in exactly one record, and each that fired
must have made one job. ``--planted`` takes away the key of ticks, which must be found. Exit status 1 when anything did
not hold, or a planted fault was not found.
"""

from __future__ import annotations

import argparse
import sys

from mainspring.clock import DAY, Duration, SystemClock
from tests.simulation.ticking import Ticking


def say(text: str) -> None:
    """A line for whoever watches."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def lived(seed: int, count: int, days: int, *, planted: bool) -> list[str]:
    """One world; what did not hold."""
    clock = SystemClock()
    began = clock.monotonic()
    world = Ticking(seed, count)
    if planted:
        world.drop_the_key_of_ticks()
    world.live(Duration(days * DAY))
    wrong = world.wrong()
    took = (clock.monotonic() - began) / 1_000_000
    say(
        f"seed {seed}: {count:,} schedules, {days} days, {world.recorded():,} ticks in {world.records():,} records, "
        f"{world.kills:,} kills, {world.nested:,} times overtaken, jumps: {world.jumped()}, clock changes "
        f"in their zones: {world.clock_changes():,}; {len(wrong)} wrong ({took:.0f} s)"
    )
    for line in wrong[:5]:
        say(f"  {line}")
    return wrong


def main(argv: list[str] | None = None) -> int:
    """Live the years; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m campaign.schedules", description=__doc__)
    parser.add_argument("--schedules", type=int, default=1000, help="how many (default 1000)")
    parser.add_argument("--days", type=int, default=366, help="how long (default 366)")
    parser.add_argument("--seeds", type=int, default=1, help="how many worlds (default 1)")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first (default 0)")
    parser.add_argument("--planted", action="store_true", help="without the key of ticks: this must be found")
    asked = parser.parse_args(argv)
    found = 0
    for seed in range(asked.first, asked.first + asked.seeds):
        wrong = lived(seed, asked.schedules, asked.days, planted=asked.planted)
        found += bool(wrong)
    if asked.planted:
        say(f"the planted fault was found in {found} of {asked.seeds} worlds")
        return 0 if found == asked.seeds else 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
