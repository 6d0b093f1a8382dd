"""What is printed of a seed that failed: what did not hold, the fewest faults that still show it, and every step.

Also the runs of many seeds over several processes, and the distribution of what they hit.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from mainspring.clock import Duration
from mainspring.testing.flows import FlowWorld
from mainspring.testing.judge import Violation
from mainspring.testing.mischief import Fault
from mainspring.testing.world import World, WorldEnd

WORLDS: dict[str, type[World]] = {"jobs": World, "flows": FlowWorld}
"""What clients ask for in them."""

MOST_RERUNS = 60
SHOWN = ("jobs", "actors", "steps", "faults", "busy", "events", "attempts")


class SeedResult(msgspec.Struct, frozen=True):
    """What is kept of a seed. ``text``: the violation or the exception that stopped it; empty for a sound one."""

    seed: int
    rule: str
    text: str
    counts: dict[str, int]


def try_seed(seed: int, kind: type[World] = World) -> SeedResult:
    """Run one seed; an exception that leaves the world is a finding too."""
    end = attempt(kind(seed))
    first = end.violations[0] if end.violations else None
    return SeedResult(seed, first.rule if first else "", str(first) if first else "", dict(end.counts))


def attempt(world: World) -> WorldEnd:
    """Run a world; what it raises becomes a violation of the rule ``X``."""
    try:
        return world.run()
    except Exception as error:  # noqa: BLE001 - whatever the product raises here, it should not have
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})"
        end = world.end()
        end.violations.append(Violation("X", 0, text, world.step))
        return end


def shortest(seed: int, rule: str, kind: type[World] = World) -> list[Fault]:
    """The faults of a failing seed without those that it fails without, by leaving them out one by one.

    When one is left out, those that were needed before it may be needed no longer, so all that stay are tried again.
    """
    faults = list(kind(seed).faults)
    reruns, index, needed = 0, 0, 0
    while needed < len(faults) and reruns < MOST_RERUNS:
        index %= len(faults)
        fewer = faults[:index] + faults[index + 1 :]
        reruns += 1
        if any(violation.rule == rule for violation in attempt(kind(seed, faults=fewer)).violations):
            faults, needed = fewer, 0
        else:
            index, needed = index + 1, needed + 1
    return faults


def explain(seed: int, rule: str, *, commit: str, kind: type[World] = World) -> str:
    """The whole story of a failing seed, in fixed columns."""
    faults = shortest(seed, rule, kind)
    world = kind(seed, faults=faults, traced=True)
    end = attempt(world)
    timing = world.timing
    head = [
        f"seed {seed}  commit {commit}  lease {timing.lease / 1e6:g} s  sweep {timing.sweep / 1e6:g} s",
        *(f"  {violation}" for violation in end.violations[:10]),
        f"the fewest faults that still fail ({len(faults)} of {len(kind(seed).faults)}):",
        *(f"  {fault}" for fault in faults),
        "",
        f"{'step':>5} {'seconds':>14}  {'actor':8} what",
    ]
    first = end.lines[0].at if end.lines else Duration(0)
    body = [f"{line.step:5} {(line.at - first) / 1e6:14.4f}  {line.actor:8} {line.what}".rstrip() for line in end.lines]
    return "\n".join([*head, *body])


def distribution(results: Iterable[SeedResult]) -> Iterator[str]:
    """What the seeds were like: the spread of each count, and how often each kind of fault struck, busy or not."""
    counts = [result.counts for result in results]
    if not counts:
        return
    yield f"{'per seed':12} {'least':>7} {'median':>7} {'most':>7}"
    for name in SHOWN:
        values = sorted(count.get(name, 0) for count in counts)
        yield f"{name:12} {values[0]:7} {values[len(values) // 2]:7} {values[-1]:7}"
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    yield f"{'fault':12} {'struck':>7} {'busy':>7}"
    for name in sorted(name.removeprefix("fault ") for name in total if name.startswith("fault ")):
        yield f"{name:12} {total[f'fault {name}']:7} {total[f'busy {name}']:7}"
