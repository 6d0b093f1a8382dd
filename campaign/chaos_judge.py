"""What must hold after a run of the chaos campaign: the database against what clients were told and jobs have written.

Reads the tables and the ledger, changes nothing, and knows nothing of what was done to the processes.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from mainspring.domain.states import FINAL, Cause, State, next_state

OVERLAP = 5.0
"""Seconds that an attempt may run on behind the end of its lease, which the next one had to wait for."""

_LOST = "lost"


class Told(NamedTuple):
    """What a client was told of one submit. ``answer``: ``stored``, ``held`` (its key), ``refused`` or ``unknown``."""

    token: str
    size: int
    answer: str
    jobs: tuple[int, ...] = ()


class Line(NamedTuple):
    """A line of the ledger; ``at`` in monotonic seconds."""

    kind: str
    job: int
    attempt: int
    at: float


class Judge:
    """Finds what does not hold.

    ``ask``: answers a question in SQL; ``notes``: what clients were told; ``retried``: jobs that a retry by hand
    answered; ``limits``: how many jobs of a queue may run at once.
    """

    def __init__(
        self,
        ask: Callable[[str], Sequence[tuple[Any, ...]]],
        ledger: Path,
        notes: Sequence[Told],
        retried: Sequence[int] = (),
        limits: Mapping[str, int] | None = None,
    ) -> None:
        self._ask = ask
        self._notes = notes
        self._retried = retried
        self._limits = limits or {}
        self.jobs: dict[int, tuple[str | None, str]] = {
            job: (state, tags or "") for job, state, tags in ask("select id, state, tags from job")
        }
        self.attempts: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for job, number, outcome in ask("select job, number, outcome from attempt order by job, number"):
            self.attempts[job].append((number, outcome))
        self.lines: dict[int, list[Line]] = defaultdict(list)
        for text in ledger.read_text().splitlines() if ledger.exists() else []:
            kind, job, attempt, at = text.split()
            self.lines[int(job)].append(Line(kind, int(job), int(attempt), int(at) / 1e9))

    def verdicts(self) -> list[str]:
        """All that does not hold, one sentence each."""
        found = [*self._submits(), *self._histories(), *self._places(), *self._keys()]
        for job in self.jobs:
            found += [*self._tries(job), *self._ledger(job), *self._overlaps(job)]
        for queue, limit in self._limits.items():
            found += self._crowds(queue, limit)
        found += [f"job {job} has run, and is not stored" for job in self.lines if job not in self.jobs]
        return found

    # --- what clients were told -------------------------------------------------------------------------------

    def _submits(self) -> Iterator[str]:
        replays = {job for (job,) in self._ask("select id from job where replay_of is not null")}
        stored: dict[str, set[int]] = defaultdict(set)
        for job, (_, tags) in self.jobs.items():
            if job not in replays:
                stored[json.loads(tags or "{}").get("token", "")].add(job)
        for told in self._notes:
            there = stored.pop(told.token, set())
            if told.answer == "stored" and set(told.jobs) != there:
                yield f"submit {told.token}: acknowledged as {told.jobs}, stored are {sorted(there)}"
            elif told.answer in {"refused", "held"} and there:
                yield f"submit {told.token}: said to have changed nothing, stored are {sorted(there)}"
            elif told.answer == "unknown" and len(there) not in {0, told.size}:
                yield f"submit {told.token}: {told.size} or none, stored are {sorted(there)}"
        for token, jobs in stored.items():
            yield f"nobody has submitted {sorted(jobs)} ({token or 'no token'})"
        for job in self._retried:
            if job not in self.jobs:
                yield f"retry: acknowledged as {job}, which is not stored"

    # --- history ----------------------------------------------------------------------------------------------

    def _histories(self) -> Iterator[str]:
        states: dict[int, State] = defaultdict(lambda: State.NEW)
        claims: Counter[int] = Counter()
        last: dict[int, int] = {}
        for job, at, cause, source, target, attempt in self._ask(
            "select job, at, cause, source, target, attempt from event order by seq"
        ):
            if source != states[job] or next_state(State(source), Cause(cause)) != target:
                yield f"job {job}: {cause} from {source} to {target}, but it was {states[job]}"
            if at < last.get(job, 0):
                yield f"job {job}: time went back at {cause}"
            if cause == Cause.CLAIM:
                claims[job] += 1
            if attempt != claims[job]:
                yield f"job {job}: {cause} names attempt {attempt}, claimed were {claims[job]}"
            states[job], last[job] = State(target), at
        for job, (state, _) in self.jobs.items():
            if state is None or states[job] not in FINAL:
                yield f"job {job} has not ended: its history says {states[job]}"
            elif state != states[job]:
                yield f"job {job}: its row says {state}, its history {states[job]}"
            if claims[job] != len(self.attempts[job]):
                yield f"job {job} was claimed {claims[job]} times, and has {len(self.attempts[job])} attempts"
        yield from (f"job {job} has a history, and is not stored" for job in states if job not in self.jobs)

    def _places(self) -> Iterator[str]:
        """Whoever has ended is nowhere else."""
        rest = [*self._ask("select 'ready', job from ready union all select 'due', job from due")]
        rest += self._ask("select 'lease', job from lease union all select 'expiry', job from expiry")
        for table, job in rest:
            yield f"job {job} is still in {table}"

    def _keys(self) -> Iterator[str]:
        """No unique key has two jobs that have not ended."""
        keys = {
            job: (task, json.loads(rule)["key"])
            for job, task, rule in self._ask("select id, task, uniqueness from job where uniqueness is not null")
        }
        holders: dict[tuple[str, str], int] = {}
        for job, source, target in self._ask("select job, source, target from event order by seq"):
            if (key := keys.get(job)) is None:
                continue
            if source == State.NEW and key in holders:
                yield f"job {job} was stored with the key {key[1]} of job {holders[key]}, which had not ended"
            if source == State.NEW:
                holders[key] = job
            elif target in FINAL and holders.get(key) == job:
                del holders[key]

    # --- attempts and the ledger ------------------------------------------------------------------------------

    def _tries(self, job: int) -> Iterator[str]:
        state, _ = self.jobs[job]
        numbers = [number for number, _ in self.attempts[job]]
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"job {job}: its attempts are {numbers}"
        outcomes = Counter(outcome for _, outcome in self.attempts[job])
        # Who was asked to stop ends cancelled, also when its code came to its end before it heard of it.
        allowed = {State.SUCCEEDED: {1}, State.CANCELLED: {0, 1}}.get(State(state or State.NEW), {0})
        if outcomes["succeeded"] not in allowed:
            yield f"job {job} is {state}, its attempts were {dict(outcomes)}"

    def _ledger(self, job: int) -> Iterator[str]:
        numbers = [number for number, _ in self.attempts[job]]
        starts = [line.attempt for line in self.lines[job] if line.kind == "start"]
        if len(starts) != len(set(starts)):
            yield f"job {job}: one attempt started twice: {starts}"
        if not set(starts) <= set(numbers):
            yield f"job {job}: started were {starts}, recorded {numbers}"
        ends = [line.attempt for line in self.lines[job] if line.kind == "end"]
        if self.jobs[job][0] == State.SUCCEEDED and (not numbers or numbers[-1] not in ends):
            yield f"job {job} succeeded, but its last attempt never came to its end"

    def _spans(self, job: int) -> dict[int, tuple[float, float]]:
        """From the first to the last line of each attempt that has written."""
        lines: dict[int, list[float]] = defaultdict(list)
        for line in self.lines[job]:
            lines[line.attempt].append(line.at)
        return {attempt: (min(found), max(found)) for attempt, found in sorted(lines.items())}

    def _overlaps(self, job: int) -> Iterator[str]:
        """An attempt may go on behind the start of the next one only if it was lost, and not for long."""
        outcomes = dict(self.attempts[job])
        spans = self._spans(job)
        for earlier, later in pairwise(spans):
            over = spans[earlier][1] - spans[later][0]
            if over > (OVERLAP if outcomes.get(earlier) == _LOST else 0):
                yield f"job {job}: attempt {earlier} ({outcomes.get(earlier)}) ran {over:.2f} s beside attempt {later}"

    def _crowds(self, queue: str, limit: int) -> Iterator[str]:
        """A queue has no more attempts at once than its limit; those that were lost are the exception, as above."""
        steps: list[tuple[float, int]] = []
        for job, its in self._ask("select job.id, lane.queue from job join lane on lane.id = job.lane"):
            if its != queue:
                continue
            outcomes = dict(self.attempts[job])
            for attempt, (since, until) in self._spans(job).items():
                if outcomes.get(attempt) != _LOST:
                    steps += [(since, 1), (until, -1)]
        running = most = 0
        for _, step in sorted(steps):
            running += step
            most = max(most, running)
        if most > limit:
            yield f"queue {queue} had {most} jobs at once, its limit is {limit}"
