"""What several workers and a sweeper do to the same jobs: leases, losses, stuck and silent runners, drains."""

from __future__ import annotations

from mainspring.clock import DAY, HOUR, MILLISECOND, MINUTE, SECOND, Duration
from mainspring.domain.states import Cause, Charge, Outcome, State
from mainspring.store import audit
from tests.engine.crew import LEASE, SOON, STUBBORN, SWEEP, Crew, lasting

A_MOMENT = Duration(10 * MILLISECOND)


# --- leases -----------------------------------------------------------------------------------------------------------


def test_a_clock_that_jumps_takes_no_job_from_an_owner_that_renews():
    crew = Crew("alpha", "beta", server=True)
    (job,) = crew.submit("slow", lasting(120))
    crew.run(SECOND)
    for jump in (DAY, Duration(3650 * DAY), Duration(-DAY), HOUR, Duration(-3650 * DAY)):
        crew.clock.jump(jump)
        crew.run(Duration(20 * SECOND))
    crew.run(Duration(30 * SECOND))
    assert crew.outcomes(job) == [Outcome.SUCCEEDED]


def test_an_orphan_whose_owner_had_the_clock_ahead_is_swept_within_a_lease():
    crew = Crew("alpha", "beta")
    (job,) = crew.submit("slow", lasting(600))
    crew.run(SECOND)
    owner = crew.runs(job)[0].worker
    crew.clock.jump(HOUR)
    crew.run(Duration(10 * SECOND))
    crew.clock.jump(Duration(-HOUR))
    crew.run(Duration(10 * SECOND))
    crew.kill(owner)
    crew.run(Duration(LEASE + SWEEP + 2 * SECOND))
    assert crew.outcomes(job) == [Outcome.LOST, Outcome.SUCCEEDED]


def test_two_sweepers_move_each_of_a_hundred_orphans_once():
    crew = Crew("alpha", "beta", server=True)
    jobs = crew.submit("slow", *[lasting(600)] * 100, count=100)
    crew.run(SECOND)
    owner = crew.runs(jobs[0])[0].worker
    crew.kill(owner)
    crew.run(Duration(LEASE + SWEEP + 2 * SECOND))
    lost = [event.job for event in crew.client.events(kinds=["lose"], limit=1000)]
    held = [job for job in jobs if crew.runs(job)[0].worker == owner]
    assert held
    assert sorted(lost) == sorted(held)
    assert all(crew.outcomes(job) == [Outcome.LOST, Outcome.SUCCEEDED] for job in held)


def test_a_frozen_owner_runs_nothing_past_its_lease_and_its_late_end_is_refused():
    crew = Crew("alpha", "beta")
    (job,) = crew.submit("slow", lasting(600), lasting(600))
    crew.run(SECOND)
    owner = crew.runs(job)[0].worker
    crew.freeze(owner, Duration(2 * LEASE))
    crew.run(Duration(2 * LEASE + SECOND))
    first, second = crew.runs(job)
    assert first.ended is not None
    assert first.ended <= second.started
    assert first.ended - first.started <= LEASE + SECOND
    assert second.worker != owner
    assert any(note.startswith(f"job {job}: the end of claim {first.claim} was refused") for note in crew.notes)
    assert crew.outcomes(job) == [Outcome.LOST, None]


def test_an_owner_that_is_back_before_anybody_took_its_lease_keeps_it():
    crew = Crew("alpha")
    (job,) = crew.submit("slow", lasting(60))
    crew.run(SECOND)
    crew.freeze("alpha", Duration(LEASE - 5 * SECOND))
    crew.clock.jump(DAY)
    crew.run(Duration(61 * SECOND))
    assert crew.outcomes(job) == [Outcome.SUCCEEDED]


def test_a_delayed_job_is_never_claimed_early_by_three_workers():
    crew = Crew("alpha", "beta", "gamma", server=True)
    (job,) = crew.submit("quick", delay="150s")
    crew.run(Duration(5 * LEASE - SECOND))
    assert crew.runs(job) == []
    crew.run(Duration(3 * SECOND))
    claims = [event for event in crew.client.events(job=job) if event.cause is Cause.CLAIM]
    assert len(claims) == 1
    assert claims[0].at >= crew.job(job).run_at
    assert crew.outcomes(job) == [Outcome.SUCCEEDED]


# --- runners ----------------------------------------------------------------------------------------------------------


def test_a_stuck_thread_is_left_until_the_other_jobs_of_its_runner_are_done():
    crew = Crew("alpha")
    (stuck,) = crew.submit("thread", lasting(3600, heeds=STUBBORN), retry={"max_attempts": 1})  # its timeout is 3 s
    (other,) = crew.submit("slow", lasting(20))
    crew.run(Duration(10 * SECOND))
    assert any("does not heed; its runner will be replaced" in note for note in crew.notes)
    assert len(crew.workers["alpha"].runners) == 2, "the successor is there, the old one still has a job"
    (late,) = crew.submit("quick")
    crew.run(SECOND)
    assert crew.runs(late)[0].runner != crew.runs(stuck)[0].runner
    crew.run(Duration(15 * SECOND))
    assert crew.outcomes(other) == [Outcome.SUCCEEDED]
    assert crew.outcomes(stuck) == [Outcome.TIMED_OUT]
    assert [one.failure and one.failure.type for one in crew.client.attempts(stuck)] == ["TimedOut"]
    assert len(crew.workers["alpha"].runners) == 1


def test_a_replaced_runner_whose_stuck_job_came_to_its_end_is_gone():
    crew = Crew("alpha")
    (stuck,) = crew.submit("thread", lasting(8, heeds=STUBBORN), retry={"max_attempts": 1})
    crew.run(Duration(10 * SECOND))
    assert crew.outcomes(stuck) == [Outcome.TIMED_OUT]
    (successor,) = crew.workers["alpha"].runners.values()
    successor.die(None, {"signal": "SIGKILL"})
    (job,) = crew.submit("quick")
    crew.run(Duration(2 * SECOND))
    assert crew.outcomes(job) == [Outcome.SUCCEEDED], "the old runner stood in the way of a new one"


def test_a_runner_that_does_not_answer_is_killed_and_its_neighbours_are_released():
    crew = Crew("alpha")
    (asked,) = crew.submit("endless", lasting(3600), retry={"max_attempts": 1})  # its timeout is 2 s
    (neighbour,) = crew.submit("slow", lasting(3600), lasting(1))
    crew.run(SECOND)
    crew.runners[0].hang(Duration(crew.clock.monotonic() + HOUR))
    crew.run(Duration(4 * SECOND))
    assert crew.outcomes(asked) == [None], "its grace is over, its runner has not been pinged yet"
    crew.run(Duration(6 * SECOND))
    assert crew.outcomes(asked) == [Outcome.TIMED_OUT]
    assert crew.outcomes(neighbour) == [Outcome.RELEASED, Outcome.SUCCEEDED]


def test_jobs_that_went_down_together_run_again_each_alone_in_a_runner_and_some_side_by_side():
    crew = Crew("alpha")
    jobs = crew.submit("slow", *[lasting(30)] * 12, count=6)
    crew.run(SECOND)
    crew.runners[0].die(None, {"signal": "SIGSEGV"})
    crew.run(Duration(20 * SECOND))
    runs = [run for job in jobs for run in crew.runs(job)[1:]]
    assert len({run.runner for run in runs}) == len(runs) == 4, "so many at once, each with a runner to itself"
    crew.run(Duration(2 * MINUTE))
    for job in jobs:
        assert [attempt.charge for attempt in crew.client.attempts(job)] == [Charge.SUSPECT, Charge.ATTEMPT]
        assert crew.job(job).state is State.SUCCEEDED
    assert len(crew.workers["alpha"].runners) == 1, "runners for jobs alone are kept only while there are such jobs"


def test_a_job_that_went_down_with_others_tells_how_and_who_they_were():
    crew = Crew("alpha")
    slow = crew.submit("slow", *[lasting(30)] * 30, count=30)
    (other,) = crew.submit("quick", lasting(30))
    crew.run(SECOND)
    crew.runners[0].die(None, {"signal": "SIGKILL", "out_of_memory": True})
    crew.run(SECOND)
    failure = crew.client.attempts(slow[0])[0].failure
    assert failure is not None
    assert failure.message == (
        "The runner was killed by SIGKILL (the machine or its memory group was out of memory). "
        "30 other jobs were in it: 29 of world.slow, 1 of world.quick."
    )
    assert failure.evidence["neighbour_count"] == 30
    assert failure.evidence["neighbours"][0] == {"job": other, "task": "world.quick"}, "the newest first"
    assert len(failure.evidence["neighbours"]) == 20


def test_a_job_that_crashed_its_runner_alone_is_told_that_no_other_was_in_it():
    crew = Crew("alpha")
    (job,) = crew.submit("slow", lasting(1, end="crash"), retry={"max_attempts": 1})
    crew.run(Duration(2 * SECOND))
    error = crew.job(job).error
    assert error is not None
    assert error.message == "The runner was killed by SIGSEGV. No other job was in it."


def test_a_suspect_that_never_ends_does_not_hold_up_the_others():
    crew = Crew("alpha")
    hung, *others = crew.submit("slow", *[lasting(600)] * 6, lasting(7200), *[lasting(1)] * 5, count=6)
    crew.run(SECOND)
    crew.runners[0].die(None, {"signal": "SIGSEGV"})
    crew.run(Duration(10 * SECOND))
    assert crew.outcomes(hung) == [Outcome.CRASHED, None]
    assert all(crew.outcomes(job) == [Outcome.CRASHED, Outcome.SUCCEEDED] for job in others)


def test_jobs_with_a_process_of_their_own_do_not_go_down_with_the_shared_runner():
    crew = Crew("alpha")
    assert len(crew.workers["alpha"].runners) == 1
    (own,) = crew.submit("own", lasting(3))
    (shared,) = crew.submit("slow", lasting(3), lasting(1))
    crew.run(SECOND)
    (first,) = crew.runs(shared)
    next(one for one in crew.runners if one.name == first.runner).die(None, {"signal": "SIGSEGV"})
    crew.run(Duration(10 * SECOND))
    assert crew.outcomes(own) == [Outcome.SUCCEEDED]
    assert crew.outcomes(shared) == [Outcome.CRASHED, Outcome.SUCCEEDED]


def test_jobs_that_went_down_with_the_runner_of_processes_run_again_and_are_not_charged_an_attempt():
    crew = Crew("alpha")
    (own,) = crew.submit("own", lasting(3), lasting(1))
    crew.run(SECOND)
    (first,) = crew.runs(own)
    next(one for one in crew.runners if one.name == first.runner).die(None, {"signal": "SIGKILL"})
    crew.run(Duration(10 * SECOND))
    assert [attempt.charge for attempt in crew.client.attempts(own)] == [Charge.SUSPECT, Charge.ATTEMPT]
    assert crew.outcomes(own) == [Outcome.CRASHED, Outcome.SUCCEEDED]


# --- a store that can't be written ------------------------------------------------------------------------------------


def test_runners_without_jobs_outlive_an_outage_of_the_store():
    crew = Crew("alpha")
    (runner,) = crew.runners
    crew.outage = True
    crew.run(Duration(3 * LEASE))
    crew.outage = False
    crew.run(Duration(10 * SECOND))
    assert crew.runners == [runner]


def test_code_whose_lease_can_not_be_renewed_is_ended_and_runs_again_after_the_outage():
    crew = Crew("alpha")
    (job,) = crew.submit("slow", lasting(600))
    crew.run(SECOND)
    crew.outage = True
    crew.run(Duration(3 * LEASE))
    (first,) = crew.runs(job)
    assert first.ended is not None
    assert first.ended - first.started <= LEASE + SECOND
    crew.outage = False
    crew.run(Duration(40 * SECOND))
    assert crew.outcomes(job) == [Outcome.LOST, Outcome.SUCCEEDED]


def test_a_timeout_does_not_wait_for_the_store():
    crew = Crew("alpha")
    (job,) = crew.submit("thread", lasting(600), retry={"max_attempts": 1})  # its timeout is 3 s
    crew.run(SECOND)
    crew.outage = True
    crew.run(Duration(10 * SECOND))
    (run,) = crew.runs(job)
    assert run.ended is not None
    assert run.ended - run.started <= 7 * SECOND, "timeout and the longest pause between two tries"
    crew.outage = False
    crew.run(Duration(6 * SECOND))
    assert crew.outcomes(job) == [Outcome.TIMED_OUT]


# --- drains -----------------------------------------------------------------------------------------------------------


def test_a_drain_keeps_the_leases_of_what_still_runs_and_claims_nothing():
    crew = Crew("alpha", server=True)
    (running,) = crew.submit("slow", lasting(29))
    crew.run(SECOND)
    crew.workers["alpha"].signal()
    (waiting,) = crew.submit("quick")
    crew.run(Duration(27 * SECOND))
    assert crew.outcomes(running) == [None]
    crew.run(Duration(2 * SECOND))
    assert crew.outcomes(running) == [Outcome.SUCCEEDED]
    assert crew.job(waiting).state is State.QUEUED
    assert crew.workers["alpha"].stopped


def test_what_outlasts_a_drain_is_given_back_uncharged_and_runs_elsewhere_at_once():
    crew = Crew("alpha")
    (job,) = crew.submit("slow", lasting(3600))
    crew.run(SECOND)
    crew.workers["alpha"].signal()
    crew.run(Duration(29 * SECOND))
    assert crew.outcomes(job) == [None]
    crew.run(Duration(2 * SECOND))
    assert crew.workers["alpha"].stopped
    assert [attempt.charge for attempt in crew.client.attempts(job)] == [Charge.RELEASE]
    assert crew.job(job).state is State.QUEUED


def test_a_second_signal_gives_the_running_jobs_back_at_once():
    crew = Crew("alpha")
    (job,) = crew.submit("slow", lasting(3600))
    crew.run(SECOND)
    crew.workers["alpha"].signal()
    crew.workers["alpha"].signal()
    crew.run(SECOND)
    assert crew.outcomes(job) == [Outcome.RELEASED]
    assert crew.workers["alpha"].stopped


def test_a_job_that_is_given_back_again_and_again_ends_dead():
    crew = Crew("alpha")
    (job,) = crew.submit("slow", *[lasting(3600)] * 20)
    for _ in range(12):
        crew.run(SECOND)
        crew.workers["alpha"].signal()
        crew.workers["alpha"].signal()
        crew.run(SECOND)
        crew.hire("alpha")
    assert crew.outcomes(job) == [Outcome.RELEASED] * 11
    assert crew.job(job).state is State.DEAD


def test_a_thousand_delayed_jobs_do_not_hold_up_a_drain():
    crew = Crew("alpha")
    crew.submit("quick", count=1000, delay="10m")
    crew.run(SECOND)
    crew.workers["alpha"].signal()
    crew.run(A_MOMENT)
    assert crew.workers["alpha"].stopped


# --- the store's own view ---------------------------------------------------------------------------------------------


def test_every_job_is_in_one_place_through_all_of_this():
    crew = Crew("alpha", "beta", server=True)
    crew.submit("slow", *[lasting(20)] * 30, count=30)
    crew.submit("flaky", *[lasting(1, end="fail")] * 10, count=10)
    crew.submit("quick", count=10, delay="20s")
    for _ in range(30):
        crew.run(Duration(2 * SECOND))
        assert crew.store.read(audit.misplaced) == []
        assert crew.store.read(audit.strays) == []


def test_a_cancel_is_seen_while_submits_keep_the_worker_claiming():
    crew = Crew("a")
    (job,) = crew.submit("slow", lasting(60))
    crew.run(SECOND)
    crew.client.cancel(job)
    for _ in range(100):  # each is heard before the look that the one before has asked for
        crew.submit("quick", SOON)
        crew.run(MILLISECOND)
    assert crew.job(job).state == "cancelled"
