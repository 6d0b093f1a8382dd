"""How long a claim takes from 200 busy lanes, and beside many waiting jobs that are none of this worker's.

As in waiting.py a claim is a look for the ten best, their move to a lease, and its commit.
"""

from __future__ import annotations

from benchmarks.growth import population
from benchmarks.growth.waiting import BATCH, claims
from benchmarks.place import Place
from benchmarks.report import Line, percentile

_LANES = 200


def measure(where: type[Place], *, short: bool) -> list[Line]:
    """Two lines: many lanes beside one, and an empty lane beside those of others."""
    each, rounds = (200, 50) if short else (950, 300)
    busy = [f"busy-{number}" for number in range(_LANES)]
    with where() as place:
        population.waiting(place, 1, ["own"])
        claims(place, 1, ["own"])  # it is empty now
        nothing = claims(place, rounds, ["own"])
        population.waiting(place, (rounds + 1) * BATCH, ["default"])
        one = claims(place, rounds, ["default"])
        population.waiting(place, each, busy)
        many = claims(place, rounds, busy)
        beside = claims(place, rounds, ["own"])
    return [
        _line(f"claim of {BATCH} from {_LANES} busy lanes, p50", many, one, "the same from one lane", 5),
        _line(
            f"claim from an empty lane beside {_LANES * each:,} jobs of others, p50", beside, nothing, "beside none", 2
        ),
    ]


def _line(what: str, measured: list[float], base: list[float], base_is: str, most: int) -> Line:
    score = percentile(measured, 0.5) / percentile(base, 0.5)
    note = (
        f"{len(measured)} claims with commit; p99 {percentile(measured, 0.99):.1f} and {percentile(base, 0.99):.1f} ms"
    )
    return Line(
        what,
        percentile(measured, 0.5),
        "ms",
        raw=percentile(base, 0.5),
        raw_is=base_is,
        score=score,
        budget=most,
        budget_text=f"<= {most} x {base_is}",
        note=note,
    )
