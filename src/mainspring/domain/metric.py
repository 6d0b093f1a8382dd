"""Metrics: what is counted and measured of jobs, for how long it is kept, and how it is read from history.

Pure. A measured length falls into one of BUCKETS, so that those of any two stretches, queues or tasks can be added up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

from mainspring.clock import DAY, HOUR, MINUTE, Duration, Instant, duration
from mainspring.domain.ids import LaneId
from mainspring.domain.states import State
from mainspring.errors import InvalidOption, near

BUCKETS: tuple[Duration, ...] = tuple(
    duration(text)
    for text in (
        *("1ms", "2.5ms", "5ms", "10ms", "25ms", "50ms", "100ms", "250ms", "500ms"),
        *("1s", "2.5s", "5s", "10s", "30s", "1m", "5m", "30m", "1h"),
    )
)
"""Upper bounds of lengths; what is longer than the last falls behind it."""

READER = "roll-up"
"""Who counts, as the reader that it is of the history."""

DEPTHS = "depths"
"""Who counts how many jobs are where, as another."""

NO_BUCKET = -1
"""Of what is only counted."""

KEPT: dict[Duration, Duration] = {
    MINUTE: Duration(2 * DAY),
    HOUR: Duration(90 * DAY),
    DAY: Duration(1100 * DAY),
}
"""The stretches of time, and how long each is kept."""


class Kind(StrEnum):
    """What the numbers of a metric are."""

    COUNT = "count"
    LENGTH = "length"  # of time
    LEVEL = "level"  # looked at once a minute


class Metric(NamedTuple):
    """One row of METRICS. ``label``: what its label says; an empty text where it has none.

    ``adds``: of levels, whether those of several queues add up to one.
    """

    kind: Kind
    label: str
    sentence: str
    adds: bool = False


METRICS: dict[str, Metric] = {
    "submitted": Metric(Kind.COUNT, "", "jobs that were submitted"),
    "moved": Metric(Kind.COUNT, "state", "moves of jobs into each state"),
    "duration": Metric(Kind.LENGTH, "outcome", "how long attempts ran, by how they ended"),
    "wait": Metric(Kind.LENGTH, "", "from when a job could go to the claim of its first attempt"),
    "late": Metric(Kind.LENGTH, "", "from the instant of a schedule's tick to its job"),
    "jobs": Metric(Kind.LEVEL, "state", "jobs in each state that is not an end", adds=True),
    "oldest": Metric(Kind.LEVEL, "", "seconds for which the oldest queued job could have gone"),
    "workers": Metric(Kind.LEVEL, "state", "workers that are known, by state", adds=True),
    "slots": Metric(Kind.LEVEL, "use", "slots of live workers: all, and used", adds=True),
}


class Flow(NamedTuple):
    """So many equal moves of jobs within a minute.

    ``outcome``: of the attempt that one ended; ``bucket``: NO_BUCKET where nothing was measured.
    """

    minute: Instant
    lane: LaneId
    queue: str
    task: str
    source: str
    target: str
    outcome: str
    bucket: int
    number: int
    total: int
    most: int


class Key(NamedTuple):
    """What a number is of."""

    metric: str
    queue: str = ""
    task: str = ""
    label: str = ""
    bucket: int = NO_BUCKET


class Amount(NamedTuple):
    """How many, how much in all, and the most of one."""

    number: int = 0
    total: int = 0
    most: int = 0

    def __add__(self, other: object) -> Amount:
        if not isinstance(other, Amount):
            return NotImplemented
        return Amount(self.number + other.number, self.total + other.total, max(self.most, other.most))


Points = dict[tuple[Instant, Key], Amount]
"""What happened, by the minute in which it did."""


def points_of(flows: Iterable[Flow]) -> Points:
    """What moves of jobs mean in metrics."""
    points: Points = {}

    def add(flow: Flow, key: Key, amount: Amount) -> None:
        place = flow.minute, key
        points[place] = points.get(place, Amount()) + amount

    for flow in flows:
        of = flow.queue, flow.task
        counted = Amount(flow.number)
        add(flow, Key("moved", *of, flow.target), counted)
        if flow.source == State.NEW:
            add(flow, Key("submitted", *of), counted)
        if flow.bucket == NO_BUCKET:
            continue
        measured = Amount(flow.number, flow.total, flow.most)
        if flow.source == State.RUNNING:
            add(flow, Key("duration", *of, flow.outcome, flow.bucket), measured)
        elif flow.source == State.NEW:
            add(flow, Key("late", *of, "", flow.bucket), measured)
        else:
            add(flow, Key("wait", *of, "", flow.bucket), measured)
    return points


def stretched(points: Points, step: Duration) -> Points:
    """The same by longer stretches of time."""
    found: Points = {}
    for (at, key), amount in points.items():
        place = Instant(at - at % step), key
        found[place] = found.get(place, Amount()) + amount
    return found


def level(value: int) -> Amount:
    """One look at something that goes up and down."""
    return Amount(1, value, value)


def bucket_of(length: Duration) -> int:
    """The bucket that a length falls into."""
    return bisect_left(BUCKETS, length)


def quantile(counts: Sequence[tuple[int, int]], share: float, most: int) -> Duration | None:
    """A length that this share of all is not longer than, from (bucket, number), as far as buckets can tell.

    ``most``: the longest of them. None where there are none.
    """
    whole = sum(number for _, number in counts)
    if not whole:
        return None
    wanted, passed = share * whole, 0
    for bucket, number in sorted(counts):
        if number and passed + number >= wanted:
            low = BUCKETS[bucket - 1] if bucket else 0
            high = min(most, BUCKETS[bucket]) if bucket < len(BUCKETS) else most
            return Duration(round(low + max(0, high - low) * (wanted - passed) / number))
        passed += number
    return Duration(most)


class SeriesWanted(NamedTuple):
    """A question: a metric in [first, until) by steps. ``by``: what is told apart: ``queue``, ``task``, ``label``."""

    metric: str
    first: Instant
    until: Instant
    step: Duration = MINUTE
    queue: str | None = None
    task: str | None = None
    label: str | None = None
    by: tuple[str, ...] = ()


class Point(NamedTuple):
    """One stretch of a series. ``counts``: how many lengths are in each bucket, where lengths are measured."""

    at: Instant
    queue: str
    task: str
    label: str
    amount: Amount
    counts: tuple[tuple[int, int], ...] = ()


MOST_POINTS = 3_000
APART = ("queue", "task", "label")


def check(wanted: SeriesWanted) -> SeriesWanted:
    """The question, if it can be answered; its first instant at the begin of a step. Raises InvalidOption."""
    if wanted.metric not in METRICS:
        known = near(wanted.metric, METRICS) or f"Metrics: {', '.join(METRICS)}."
        raise InvalidOption(f"There is no metric {wanted.metric[:80]!r}.", remedy=known, field="metric")
    if wanted.step not in KEPT:
        raise InvalidOption("step must be 1m, 1h or 1d.", field="step")
    for one in wanted.by:
        if one not in APART:
            raise InvalidOption(f"by is {one[:80]!r}.", remedy=f"It may name: {', '.join(APART)}.", field="by")
    if wanted.until <= wanted.first:
        raise InvalidOption("The time asked for has no length.", remedy="to must be later than from.", field="to")
    if (wanted.until - wanted.first) // wanted.step > MOST_POINTS:
        raise InvalidOption(
            f"The time asked for has more than {MOST_POINTS} steps.", remedy="Ask for longer steps.", field="step"
        )
    return wanted._replace(first=Instant(wanted.first - wanted.first % wanted.step))


class Depth(NamedTuple):
    """Jobs of a queue in a state. ``oldest``: of queued ones, the earliest instant from which one could have gone."""

    queue: str
    state: str
    jobs: int
    oldest: Instant | None = None


class Figures(NamedTuple):
    """All numbers of a store at one time. ``unread``: events that no roll-up has counted yet."""

    at: Instant
    totals: list[tuple[Key, Amount]]
    depths: list[Depth]
    unread: int
