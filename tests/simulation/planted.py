"""Faults planted into the product while a test runs: one statement's text or one function. No switch in the product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from mainspring.control import submit as control_submit
from mainspring.domain.ids import ClaimId, JobId, LaneId
from mainspring.domain.retry import Retry
from mainspring.domain.states import State
from mainspring.domain.verdicts import Verdict, after_ending, after_loss
from mainspring.engine.sweep import LeaseWatch
from mainspring.faults import InjectedFault
from mainspring.store import Store, jobs, sqlite
from mainspring.store.jobs import Left, Look
from mainspring.store.statements import statement
from mainspring.store.transaction import Transaction
from mainspring.testing import image
from mainspring.transitions import due, waiting

ENDED = "mainspring.transitions.ended."
Plant = Callable[[pytest.MonkeyPatch], None]


def say_instead(monkeypatch: pytest.MonkeyPatch, name: str, old: str, new: str) -> None:
    """Let one statement say something else."""
    sound, others = statement(name, "sqlite"), vars(sqlite)["statement"]
    assert old in sound.text
    wrong = sound._replace(text=sound.text.replace(old, new))
    monkeypatch.setattr(sqlite, "statement", lambda wanted, engine: wrong if wanted == name else others(wanted, engine))


def claim_not_matched_in_end(monkeypatch: pytest.MonkeyPatch) -> None:
    say_instead(
        monkeypatch,
        "job/leave_lease",
        "and claim = :claim\nreturning job, claim,",
        "and :claim > 0\nreturning job, :claim,",
    )
    say_instead(monkeypatch, "job/holding", "lease.claim = one.value", "one.value > 0")


def claim_not_matched_in_renew(monkeypatch: pytest.MonkeyPatch) -> None:
    say_instead(monkeypatch, "job/renew", "and claim = :claim", "and :claim > 0")


def claim_not_matched_in_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    say_instead(
        monkeypatch, "job/leave_lease_lost", "and claim = :claim and until = :until and until < :now", "and :claim > 0"
    )


def attempts_counted_at_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """An attempt whose worker is lost was never counted: it goes back under the number that it had before."""
    sound = jobs.leave_lost

    def uncounted(*arguments: Any) -> Left | None:
        left = sound(*arguments)
        return None if left is None else left._replace(attempt=left.attempt - 1)

    monkeypatch.setattr(jobs, "leave_lost", uncounted)
    for name in ("attempt/insert", "attempt/insert_set"):
        say_instead(monkeypatch, name, "insert into", "insert or replace into")


def acknowledged_before_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is given once the rows are written, whether or not the commit follows."""
    sound_write, sound_born = Store.write, control_submit._born
    answer: list[Any] = []

    def noting(*arguments: Any, **named: Any) -> Any:
        answer[:] = [sound_born(*arguments, **named)]
        return answer[0]

    def hasty(store: Store, work: Callable[[Transaction], Any], **points: Any) -> Any:
        answer.clear()
        try:
            return sound_write(store, work, **points)
        except InjectedFault:
            if answer and "submit.before_commit" in str(points["before"].value):
                return answer[0]
            raise

    monkeypatch.setattr(control_submit, "_born", noting)
    monkeypatch.setattr(Store, "write", hasty)


def promoted_early(monkeypatch: pytest.MonkeyPatch) -> None:
    say_instead(monkeypatch, "job/leave_due_come", "at <= :now", "at <= :now + 2000000")


def cancel_mark_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    say_instead(monkeypatch, "job/leave_lease", "worker, cancel_at, details", "worker, null, details")
    say_instead(monkeypatch, "job/holding", " and lease.cancel_at is null", "")


def ended_row_written_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A late end of an attempt that has lost its lease is written over the end that is there."""
    sound, opened = jobs.leave_leased, image.fresh_store

    def untriggered(*arguments: Any) -> Store:
        store = opened(*arguments)
        store.engine.raw.execute("drop trigger job_end_is_final")  # type: ignore[attr-defined]
        return store

    def over_again(tx: Transaction, pairs: Sequence[tuple[JobId, ClaimId]], *also: Any) -> Any:
        left, others = sound(tx, pairs, *also)
        for job, claim in pairs:
            where = jobs.where(tx, job) if job not in left else None
            if where is not None and where[0] is State.SUCCEEDED:
                tx.many("job/enter_ended", [("succeeded", where[1], 1, 2, 3, f"[{job},{where[1]},{claim}]", None, job)])
        return left, others

    monkeypatch.setattr("mainspring.testing.world.fresh_store", untriggered)
    monkeypatch.setattr(jobs, "leave_leased", over_again)


# --- more: each invariant is shown to be looked at, and what was once found stays found


def job_forgotten_at_promotion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every seventh job that comes due is taken out of its place and put into none."""
    sound = waiting.promote

    def forgetful(tx: Transaction, actor: str) -> int:
        count = sound(tx, actor)
        for _, (_, _, job) in jobs.heads(tx, [Look({LaneId(1): 1}, 1)], {}, None):
            if job % 7 == 0:
                tx.rows("job/leave_ready", job=job)
        return count

    monkeypatch.setattr(due, "promote", forgetful)


def losses_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    generous = Retry(max_losses=1000)
    monkeypatch.setattr(ENDED + "after_loss", lambda _, tally, **facts: after_loss(generous, tally, **facts))


def backoff_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    def impatient(*arguments: Any, **facts: Any) -> Verdict:
        verdict = after_ending(*arguments, **facts)
        return verdict if verdict.due is None else msgspec.structs.replace(verdict, due=facts["now"])

    monkeypatch.setattr(ENDED + "after_ending", impatient)


def renewal_never_shortens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Found in the product: a clock that was ahead for a while made orphans that nobody could take."""
    say_instead(monkeypatch, "job/renew", "set until = :until", "set until = max(until, :until)")


def nobody_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LeaseWatch, "overdue", lambda *_: [])


PLANTS: dict[str, tuple[Plant, set[str]]] = {
    "claim id not matched in end": (claim_not_matched_in_end, {"I4", "I5", "I3"}),
    "claim id not matched in renew": (claim_not_matched_in_renew, {"I4"}),
    "claim id not matched in sweep": (claim_not_matched_in_sweep, {"I4"}),
    "attempts counted at end": (attempts_counted_at_end, {"I3"}),
    "acknowledged before commit": (acknowledged_before_commit, {"I1"}),
    "promoted early": (promoted_early, {"I8"}),
    "cancel mark ignored": (cancel_mark_ignored, {"I11"}),
    "ended row written again": (ended_row_written_again, {"I5"}),
    "job forgotten at promotion": (job_forgotten_at_promotion, {"I2"}),
    "losses without end": (losses_without_end, {"I6"}),
    "backoff forgotten": (backoff_forgotten, {"I7"}),
    "renewal never shortens": (renewal_never_shortens, {"V1"}),
    "nobody sweeps": (nobody_sweeps, {"V1", "V2"}),
}
