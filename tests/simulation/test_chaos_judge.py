"""The judge of the chaos campaign finds what it says it finds: each fault that is planted into a sound past is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from campaign.chaos_judge import Judge, Told
from mainspring.clock import SECOND
from mainspring.domain.ids import JobId
from mainspring.domain.states import Outcome
from tests import postgres
from tests.contract.engines import MemoryBench, PostgresBench, asked
from tests.contract.stories import LEASE, Story

NARROW = "mail"


class Past:
    """Seven jobs that have ended as they should, what clients were told of them, and the ledger that they wrote."""

    def __init__(self, story: Story, folder: Path) -> None:
        self.story = story
        self.told: dict[str, Told] = {}
        self.lines: list[str] = []
        self._folder = folder
        self.plain = self._submitted("plain")
        self._run(self.plain, 1, 10, 11)
        self.again = self._submitted("again")
        self._run(self.again, 1, 10, 11, Outcome.FAILED)
        story.clock.forward(10 * SECOND)
        story.promote()
        self._run(self.again, 2, 21, 22)
        self.lost = self._submitted("lost")
        story.claim(self.lost)
        story.clock.forward(LEASE + SECOND)
        story.lose_expired()
        self._note(self.lost, 1, 30, 63)  # behind the start of the next, as it was stopped
        self._run(self.lost, 2, 61, 64)
        self.key = self._submitted("key", unique="key")
        self._run(self.key, 1, 70, 71)
        self.key_again = self._submitted("key-again", unique="key")
        self.other_key = self._submitted("other-key", unique="other")
        self._run(self.key_again, 1, 72, 73)
        self._run(self.other_key, 1, 72, 73)
        self.narrow = [self._submitted(f"narrow{one}", task="shop.mail") for one in range(2)]
        self._run(self.narrow[0], 1, 80, 81)
        self._run(self.narrow[1], 1, 82, 83)
        dead = self._submitted("dead", task="shop.once")
        self._run(dead, 1, 90, 91, Outcome.FAILED)
        self.replay = JobId(story.retry(dead).id)
        self._run(self.replay, 1, 92, 93, Outcome.FAILED)
        self.told["refused"] = Told("refused", 2, "refused")
        self.told["held"] = Told("held", 1, "held")

    def _submitted(self, token: str, task: str = "shop.send", **options: Any) -> JobId:
        job = self.story.submit(task, tags={"token": token}, **options)
        self.told[token] = Told(token, 1, "stored", (job,))
        return job

    def _run(self, job: JobId, attempt: int, since: int, until: int, outcome: Outcome = Outcome.SUCCEEDED) -> None:
        self.story.claim(job)
        self._note(job, attempt, since, until)
        self.story.end(job, outcome)

    def _note(self, job: JobId, attempt: int, since: int, until: int) -> None:
        self.lines += [self.line("start", job, attempt, since), self.line("end", job, attempt, until)]

    def line(self, kind: str, job: JobId, attempt: int, at: float) -> str:
        return f"{kind} {job} {attempt} {round(at * 1e9)}"

    def change(self, text: str) -> None:
        """Somebody with a shell, who knows what guards the rows."""
        on = " on job" if self.story.bench.dialect == "postgres" else ""
        self.story.bench.alter(self.story.store, f"drop trigger if exists job_end_is_final{on}")
        self.story.bench.alter(self.story.store, text)

    def event(self, job: JobId, cause: str, source: str, target: str) -> None:
        """One more in a job's history."""
        self.change(
            "insert into event (seq, job, at, cause, source, target, attempt, actor) "
            f"select max(seq) + 1, {job}, max(at), '{cause}', '{source}', '{target}', 1, 'ann' from event"
        )

    def verdicts(self) -> list[str]:
        ledger = self._folder / "ledger"
        ledger.write_text("".join(f"{line}\n" for line in self.lines))
        ask = lambda text: asked(self.story.store, text)  # noqa: E731
        return Judge(ask, ledger, [*self.told.values()], [self.replay], limits={NARROW: 1}).verdicts()


@pytest.fixture
def past(tmp_path: Path) -> Iterator[Past]:
    bench = MemoryBench(tmp_path)
    yield Past(Story(bench), tmp_path)
    bench.close()


def a_job_is_gone(past: Past) -> str:
    past.change(f"delete from job where id = {past.plain}")
    return f"submit plain: acknowledged as ({past.plain},), stored are []"


def a_submit_was_stored_twice(past: Past) -> str:
    """As when a commit whose answer was lost is done again."""
    past.told["again"] = Told("again", 1, "stored", (past.plain,))
    past.change(f"""update job set tags = '{{"token":"again"}}' where id = {past.plain}""")
    past.told.pop("plain")
    return f"submit again: acknowledged as ({past.plain},), stored are [{past.plain}, {past.again}]"


def what_was_refused_is_there(past: Past) -> str:
    past.told["plain"] = Told("plain", 1, "refused")
    return f"submit plain: said to have changed nothing, stored are [{past.plain}]"


def half_of_an_unknown_submit_is_there(past: Past) -> str:
    past.told["plain"] = Told("plain", 2, "unknown")
    return f"submit plain: 2 or none, stored are [{past.plain}]"


def nobody_submitted_it(past: Past) -> str:
    past.told.pop("plain")
    return f"nobody has submitted [{past.plain}] (plain)"


def a_retry_is_gone(past: Past) -> str:
    past.change(f"delete from job where id = {past.replay}")
    return f"retry: acknowledged as {past.replay}, which is not stored"


def a_job_never_ends(past: Past) -> str:
    job = past._submitted("late")
    return f"job {job} has not ended: its history says queued"


def a_job_has_ended_and_is_still_in_line(past: Past) -> str:
    past.change(f"insert into expiry (job, at) values ({past.plain}, 1)")
    return f"job {past.plain} is still in expiry"


def a_job_has_two_ends(past: Past) -> str:
    past.event(past.plain, "exhaust", "running", "dead")
    return f"job {past.plain}: exhaust from running to dead, but it was succeeded"


def an_end_is_taken_back(past: Past) -> str:
    past.event(past.plain, "promote", "succeeded", "queued")
    return f"job {past.plain}: promote from succeeded to queued, but it was succeeded"


def a_move_is_illegal(past: Past) -> str:
    past.change(f"update event set cause = 'promote' where job = {past.plain} and cause = 'succeed'")
    return f"job {past.plain}: promote from running to succeeded, but it was running"


def time_goes_back(past: Past) -> str:
    past.change(f"update event set at = 1 where job = {past.plain} and cause = 'succeed'")
    return f"job {past.plain}: time went back at succeed"


def the_row_says_something_else(past: Past) -> str:
    past.change(f"update job set state = 'dead' where id = {past.plain}")
    return f"job {past.plain}: its row says dead, its history succeeded"


def an_attempt_is_missing(past: Past) -> str:
    past.change(f"delete from attempt where job = {past.again} and number = 1")
    return f"job {past.again}: its attempts are [2]"


def two_attempts_succeeded(past: Past) -> str:
    past.change(f"update attempt set outcome = 'succeeded' where job = {past.again}")
    return f"job {past.again} is succeeded, its attempts were {{'succeeded': 2}}"


def an_attempt_was_never_claimed(past: Past) -> str:
    past.lines += [past.line("start", past.plain, 2, 20)]
    return f"job {past.plain}: started were [1, 2], recorded [1]"


def an_attempt_started_twice(past: Past) -> str:
    past.lines += [past.line("start", past.plain, 1, 12)]
    return f"job {past.plain}: one attempt started twice: [1, 1]"


def a_job_succeeded_without_coming_to_its_end(past: Past) -> str:
    past.lines.remove(past.line("end", past.plain, 1, 11))
    return f"job {past.plain} succeeded, but its last attempt never came to its end"


def it_ran_beside_its_next_attempt(past: Past) -> str:
    past.lines += [past.line("beat", past.again, 1, 21.5)]
    return f"job {past.again}: attempt 1 (failed) ran 0.50 s beside attempt 2"


def a_lost_attempt_ran_on_too_long(past: Past) -> str:
    past.lines += [past.line("beat", past.lost, 1, 66.5)]
    return f"job {past.lost}: attempt 1 (lost) ran 5.50 s beside attempt 2"


def two_hold_one_key(past: Past) -> str:
    first = past.key_again
    past.change(
        f"update job set uniqueness = (select uniqueness from job where id = {first}) where id = {past.other_key}"
    )
    return f"job {past.other_key} was stored with the key key of job {first}, which had not ended"


def a_queue_is_over_its_limit(past: Past) -> str:
    past.lines += [past.line("beat", past.narrow[0], 1, 82.5)]
    return f"queue {NARROW} had 2 jobs at once, its limit is 1"


FAULTS: list[Callable[[Past], str]] = [
    a_job_is_gone,
    a_submit_was_stored_twice,
    what_was_refused_is_there,
    half_of_an_unknown_submit_is_there,
    nobody_submitted_it,
    a_retry_is_gone,
    a_job_never_ends,
    a_job_has_ended_and_is_still_in_line,
    a_job_has_two_ends,
    an_end_is_taken_back,
    a_move_is_illegal,
    time_goes_back,
    the_row_says_something_else,
    an_attempt_is_missing,
    two_attempts_succeeded,
    an_attempt_was_never_claimed,
    an_attempt_started_twice,
    a_job_succeeded_without_coming_to_its_end,
    it_ran_beside_its_next_attempt,
    a_lost_attempt_ran_on_too_long,
    two_hold_one_key,
    a_queue_is_over_its_limit,
]


def test_a_sound_past_is_sound(past: Past) -> None:
    assert past.verdicts() == []


def test_a_sound_past_is_sound_on_postgresql(tmp_path: Path, postgres_databases: postgres.Databases) -> None:
    bench = PostgresBench(tmp_path, postgres_databases)
    assert Past(Story(bench), tmp_path).verdicts() == []
    bench.close()


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_told(past: Past, plant: Callable[[Past], str]) -> None:
    expected = plant(past)
    assert expected in past.verdicts()
