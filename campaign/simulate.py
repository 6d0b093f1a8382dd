"""``python -m campaign.simulate [--seeds 2000] [--first 0] [--jobs N]``: simulated worlds, one for each seed.

Prints progress, the distribution of what the seeds did, and for a seed that fails its story: the faults that are needed
for it, one line a step. Exit status 1 when an invariant did not hold.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections import Counter
from typing import NamedTuple

from mainspring.clock import SystemClock, seconds
from mainspring.testing.mischief import Fault
from mainspring.testing.world import Outcome, World

_SHOWN = 60


class Told(NamedTuple):
    """What one seed is counted as."""

    seed: int
    counts: Counter[str]
    violations: list[str]


def live(seed: int) -> Told:
    """One world, from its beginning to its judgement."""
    outcome = World(seed).run()
    return Told(seed, outcome.counts, [str(one) for one in outcome.violations])


def shortest(seed: int) -> tuple[list[Fault], Outcome]:
    """The fewest faults with which the seed still fails: they are left out one by one."""
    outcome = World(seed).run()
    needed = list(outcome.faults)
    for fault in list(needed):
        fewer = [one for one in needed if one is not fault]
        trial = World(seed, faults=fewer).run()
        if trial.violations:
            needed, outcome = fewer, trial
    return needed, outcome


def tell(seed: int) -> None:
    """The story of a seed that failed."""
    needed, outcome = shortest(seed)
    for _fault in needed:
        pass
    for _line in outcome.lines[-_SHOWN:]:
        pass
    for _violation in outcome.violations:
        pass


def distribution(told: list[Told]) -> None:
    """How much the seeds did: the least, the median and the most of each count, over all seeds."""
    names = sorted({name for one in told for name in one.counts})
    for name in names:
        [one.counts[name] for one in told]


def main(argv: list[str] | None = None) -> int:
    """Run the seeds; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m campaign.simulate", description=__doc__)
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(argv)
    clock = SystemClock()
    began = clock.monotonic()
    told: list[Told] = []
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        seeds = range(options.first, options.first + options.seeds)
        for one in pool.imap_unordered(live, seeds, chunksize=10):
            told.append(one)
            if len(told) % 200 == 0:
                sum(1 for other in told if other.violations)
    seconds(type(began)(clock.monotonic() - began))
    distribution(told)
    failed_seeds = sorted(one.seed for one in told if one.violations)
    for seed in failed_seeds[:3]:
        tell(seed)
    return 1 if failed_seeds else 0


if __name__ == "__main__":
    sys.exit(main())
