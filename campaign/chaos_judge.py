"""What must hold after a run of the chaos campaign: the database against what clients were told and jobs have written.

Reads the tables and the ledger, changes nothing, and knows nothing of what was done to the processes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from mainspring.domain.states import FINAL, Cause, State, next_state
from tests.postgres import Server

OVERLAP = 5.0
"""Seconds that an attempt may run on behind the end of its lease, which the next one had to wait for."""


class Told(NamedTuple):
    """What a client was told of one submit. ``answer``: ``stored``, ``refused`` or ``unknown``."""

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
    """Finds what does not hold. ``notes``: what clients were told; ``retried``: jobs that a retry by hand answered."""

    def __init__(self, server: Server, database: str, ledger: Path, notes: list[Told], retried: list[int]) -> None:
        self._server = server
        self._database = database
        self._notes = notes
        self._retried = retried
        self.jobs: dict[int, tuple[str | None, str]] = {
            job: (state, tags or "") for job, state, tags in self._ask("select id, state, tags from job")
        }
        self.attempts: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for job, number, outcome in self._ask("select job, number, outcome from attempt order by job, number"):
            self.attempts[job].append((number, outcome))
        self.lines: dict[int, list[Line]] = defaultdict(list)
        for text in ledger.read_text().splitlines() if ledger.exists() else []:
            kind, job, attempt, at = text.split()
            self.lines[int(job)].append(Line(kind, int(job), int(attempt), int(at) / 1e9))

    def _ask(self, text: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(f"{self._server.url(self._database)}&options=-csearch_path%3Dmainspring") as connection:
            return connection.execute(text.encode()).fetchall()

    def verdicts(self) -> list[str]:
        """All that does not hold, one sentence each."""
        found = [*self._submits(), *self._histories(), *self._places()]
        for job in self.jobs:
            found += [*self._tries(job), *self._overlaps(job)]
        return found

    # --- what clients were told -------------------------------------------------------------------------------

    def _submits(self) -> Iterator[str]:
        stored: dict[str, set[int]] = defaultdict(set)
        for job, (_, tags) in self.jobs.items():
            stored[tags].add(job)
        for told in self._notes:
            there = {job for tags, jobs in stored.items() if f'"{told.token}"' in tags for job in jobs}
            if told.answer == "stored" and not set(told.jobs) <= there:
                yield f"submit {told.token}: acknowledged as {told.jobs}, stored are {sorted(there)}"
            elif told.answer == "refused" and there:
                yield f"submit {told.token}: said to have changed nothing, stored are {sorted(there)}"
            elif told.answer == "unknown" and len(there - set(self._retried)) not in {0, told.size}:
                yield f"submit {told.token}: {told.size} or none, stored are {sorted(there)}"
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

    def _places(self) -> Iterator[str]:
        """Whoever has ended is nowhere else."""
        rest = self._ask("select 'ready', job from ready union all select 'due', job from due")
        rest += self._ask("select 'lease', job from lease union all select 'expiry', job from expiry")
        for table, job in rest:
            yield f"job {job} is still in {table}"

    # --- attempts and the ledger ------------------------------------------------------------------------------

    def _tries(self, job: int) -> Iterator[str]:
        state, _ = self.jobs[job]
        numbers = [number for number, _ in self.attempts[job]]
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"job {job}: its attempts are {numbers}"
        outcomes = Counter(outcome for _, outcome in self.attempts[job])
        if outcomes["succeeded"] != (state == State.SUCCEEDED):
            yield f"job {job} is {state}, its attempts were {dict(outcomes)}"
        starts = [line.attempt for line in self.lines[job] if line.kind == "start"]
        if len(starts) != len(set(starts)):
            yield f"job {job}: one attempt started twice: {starts}"
        if not set(starts) <= set(numbers):
            yield f"job {job}: started were {starts}, recorded {numbers}"
        if state == State.SUCCEEDED and ("end", numbers[-1]) not in [
            (one.kind, one.attempt) for one in self.lines[job]
        ]:
            yield f"job {job} succeeded, but its last attempt never came to its end"

    def _overlaps(self, job: int) -> Iterator[str]:
        """An attempt may go on behind the start of the next one only if it was lost, and not for long."""
        spans: dict[int, list[float]] = defaultdict(list)
        for line in self.lines[job]:
            spans[line.attempt].append(line.at)
        outcomes = dict(self.attempts[job])
        for earlier, later in pairwise(sorted(spans)):
            over = max(spans[earlier]) - min(spans[later])
            if over > (OVERLAP if outcomes.get(earlier) == "lost" else 0):
                yield f"job {job}: attempt {earlier} ({outcomes.get(earlier)}) ran {over:.2f} s beside attempt {later}"
