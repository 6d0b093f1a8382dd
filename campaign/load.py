"""``python -m campaign.load [--engine ENGINE] [--jobs 1000000] [--seconds 60]``: a server under the load of a busy day.

On each engine, with so many ended jobs in the store and a worker that runs what comes: 200 submits a second over HTTP,
beside 20 who listen to all events and 5 who look at lists; then whole batches. Each has a bound, which the table at the
end names; no acknowledged submit may be lost, nor an event be missing at a listener. Exit status 1 when one does not
hold. The short form for a look: ``--jobs 20000 --seconds 5``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import NamedTuple

import uvloop

from benchmarks import report
from benchmarks.growth import population
from benchmarks.place import APP, Place, cpu_seconds, free_port, role, tree
from benchmarks.postgres import PostgresPlace
from benchmarks.report import Line, percentile
from campaign.load_clients import Listener, Poller, Rest, Submitter
from campaign.simulate import say
from mainspring.clock import SystemClock, from_seconds, seconds

LISTENERS, POLLERS = 20, 5
_ALONE = 10.0
"""Seconds of each kind of request alone, from which its cost is told."""

_BATCH, _BATCHES = 1_000, 40
_PATIENCE = 60.0


class Wanted(NamedTuple):
    """How much of it: ended jobs in the store, seconds, submits a second."""

    jobs: int
    length: float
    rate: int


class Traffic(NamedTuple):
    """What was asked, and answered. Lengths are seconds; ``cpu``: of the server, for all of it."""

    jobs: list[int]
    submits: list[float]
    delays: list[float]
    looks: list[float]
    told: int
    cpu: float
    amiss: list[str]


class Ground:
    """A server with a worker on a place, and how much of the processor the server has had."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.port = free_port()
        self.up = place.start("up", "--app", str(APP), "--port", str(self.port), "--log-format", "pretty")
        place.until_ready()
        (self._server,) = (pid for pid in tree(self.up.pid) if role(pid) == "server")

    def cpu(self) -> float:
        """Seconds of the server so far."""
        return cpu_seconds(self._server)


async def traffic(ground: Ground, *, length: float, rate: int, listeners: int, pollers: int) -> Traffic:
    """So much at once, for so long; then everybody hears of the rest."""
    ears = [Listener(ground.port) for _ in range(listeners)]
    for ear in ears:
        await ear.begin()
    eyes = [Poller(ground.port, number) for number in range(pollers)]
    hand = Submitter(ground.port, rate, length)
    before = ground.cpu()
    listening = [asyncio.ensure_future(ear.listen()) for ear in ears]
    looking = [asyncio.ensure_future(eye.look()) for eye in eyes]
    try:
        await (hand.submit() if rate else asyncio.sleep(length))
        for look in looking:
            look.cancel()
        amiss = await _heard(ears, hand.jobs)
        cpu = ground.cpu() - before
    finally:
        for one in (*listening, *looking):
            one.cancel()
        await asyncio.gather(*listening, *looking, return_exceptions=True)
    return Traffic(
        hand.jobs,
        hand.took,
        [delay for ear in ears for delay in ear.delays],
        [took for eye in eyes for took in eye.took],
        sum(ear.told for ear in ears),
        cpu,
        amiss + hand.amiss + [text for eye in eyes for text in eye.amiss],
    )


async def _heard(ears: list[Listener], jobs: list[int]) -> list[str]:
    """Wait until each has heard of each job; what is missing or out of order."""
    clock = SystemClock()
    wanted, limit = set(jobs), clock.monotonic() + from_seconds(_PATIENCE)
    while any(wanted - ear.born for ear in ears) and clock.monotonic() < limit:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    found = [f"a listener has not heard of {len(wanted - ear.born)} jobs" for ear in ears if wanted - ear.born]
    return found + ["events came out of order" for ear in ears if not ear.in_order]


async def batches(ground: Ground) -> float:
    """Jobs a second, by batches, into a queue that runs nothing meanwhile; two at a time."""
    rest = Rest(ground.port)
    await rest.ask("PATCH", "/queues/batch", {"paused": True})
    one = [{"task": "noop", "queue": "batch"} for _ in range(_BATCH)]
    left = iter(range(_BATCHES))

    async def send() -> None:
        mine = Rest(ground.port)
        for _ in left:
            status, _ = await mine.ask("POST", "/jobs/batch", {"jobs": one})
            if status != 201:
                raise SystemExit(f"a batch was answered with {status}")
        mine.close()

    clock = SystemClock()
    began = clock.monotonic()
    await asyncio.gather(send(), send())
    rest.close()
    return _BATCH * _BATCHES / seconds(clock.monotonic() - began)


def lost(place: Place, jobs: list[int]) -> int:
    """How many of these have not ended well, once there has been time for it."""
    numbers = ",".join(map(str, jobs))
    with place.reading() as look:
        # numbers, and none of a stranger's
        question = f"select count(*) from job where state = 'succeeded' and id in ({numbers})"  # noqa: S608
        place.until("the end of all submitted jobs", lambda: look(question) == len(jobs), within=_PATIENCE, every=1)
        return len(jobs) - look(question)


def measure(place: Place, engine: str, wanted: Wanted) -> tuple[list[Line], list[str]]:
    """All of it on one engine."""
    say(f"{engine}: a store with {wanted.jobs:,} ended jobs")
    population.finished(place, wanted.jobs)
    ground = Ground(place)
    say(f"{engine}: {wanted.rate} submits a second for {wanted.length:.0f} s, {LISTENERS} listeners, {POLLERS} pollers")
    whole = uvloop.run(traffic(ground, length=wanted.length, rate=wanted.rate, listeners=LISTENERS, pollers=POLLERS))
    say(f"{engine}: each kind of request alone")
    alone = min(_ALONE, wanted.length)
    submits = uvloop.run(traffic(ground, length=alone, rate=wanted.rate, listeners=0, pollers=0))
    looks = uvloop.run(traffic(ground, length=alone, rate=0, listeners=0, pollers=POLLERS))
    gone = lost(place, whole.jobs + submits.jobs)
    say(f"{engine}: {_BATCHES} batches of {_BATCH:,}")
    lines = _lines(engine, whole, submits, looks, uvloop.run(batches(ground)))
    place.stop(ground.up)
    amiss = [f"{engine}: {text}" for text in (*whole.amiss, *submits.amiss, *looks.amiss)]
    return lines, amiss + ([f"{engine}: {gone} jobs are lost"] if gone else [])


def _lines(engine: str, whole: Traffic, submits: Traffic, looks: Traffic, rate: float) -> list[Line]:
    def worst(what: str, lengths: list[float], most: int) -> Line:
        value = percentile(lengths, 0.99) * 1000
        middle = percentile(lengths, 0.5) * 1000
        note = f"{len(lengths):,} of them, p50 {middle:.1f} ms, the longest {max(lengths) * 1000:.0f} ms"
        return Line(f"{engine}: {what}, p99", value, "ms", budget=most, budget_text=f"<= {most} ms", note=note)

    of_submit = submits.cpu / len(submits.jobs) * 1000
    of_look = looks.cpu / len(looks.looks) * 1000
    rest = whole.cpu - (of_submit * len(whole.jobs) + of_look * len(whole.looks)) / 1000
    of_event = max(0.0, rest) / max(1, whole.told) * 1_000_000
    note = f"the server had {whole.cpu:.1f} s of a processor in all"
    return [
        worst("submit", whole.submits, 50),
        worst("event at a listener", whole.delays, 500),
        worst("look at a list", whole.looks, 200),
        Line(f"{engine}: jobs by batches", rate, "/s", budget=5_000, budget_text=">= 5,000/s", more_is_better=True),
        Line(f"{engine}: server's CPU of a submit", of_submit, "ms", note=note),
        Line(f"{engine}: server's CPU of a look at a list", of_look, "ms"),
        Line(f"{engine}: server's CPU of an event to a listener", of_event, "µs", note=f"{whole.told:,} of them"),
    ]


def main(argv: list[str] | None = None) -> int:
    """Put the load on; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m campaign.load", description="A server under load.")
    parser.add_argument("--engine", choices=("sqlite", "postgres"), action="append", help="default: both")
    parser.add_argument("--jobs", type=int, default=1_000_000, help="ended ones in the store")
    parser.add_argument("--seconds", type=float, default=60, help="of the load")
    parser.add_argument("--rate", type=int, default=200, help="submits a second")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON instead of the table")
    options = parser.parse_args(argv)
    wanted = Wanted(options.jobs, options.seconds, options.rate)
    lines: list[Line] = []
    amiss: list[str] = []
    for engine in options.engine or ("sqlite", "postgres"):
        with PostgresPlace() if engine == "postgres" else Place() as place:
            found, wrong = measure(place, engine, wanted)
        lines += found
        amiss += wrong
    if options.json:
        say(json.dumps({line.name: line.value for line in lines}))
    else:
        report.show(lines, folder=f"{wanted.jobs:,} jobs in the store, {wanted.length:.0f} s", against="baseline")
    for text in amiss:
        say(text)
    return int(bool(amiss) or any(line.verdict == "short" for line in lines))


if __name__ == "__main__":
    sys.exit(main())
