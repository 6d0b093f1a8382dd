"""A first write behind an outage, or any write, that takes long: nothing that it claims is lost in an idle runner."""

from __future__ import annotations

from mainspring.clock import MILLISECOND, SECOND, Duration
from mainspring.domain.states import Outcome, State
from tests.engine.crew import LEASE, Crew, lasting


class SlowCrew(Crew):
    """``slow``: how long the next write waits for its connection."""

    slow = Duration(0)

    def before_write(self) -> None:
        super().before_write()
        slow, self.slow = self.slow, Duration(0)
        self.clock.advance(slow)


def test_what_is_claimed_in_a_slow_write_behind_an_outage_runs_though_it_may_not_be_lost() -> None:
    crew = SlowCrew("alpha")
    crew.run(Duration(5 * SECOND))
    (runner,) = crew.runners
    crew.outage = True
    crew.run(Duration(2 * LEASE))
    assert crew.runners == [runner], "a runner without jobs outlives the outage"
    (job,) = crew.submit("slow", lasting(1), retry={"max_losses": 0})
    crew.outage, crew.slow = False, Duration(LEASE - SECOND)
    crew.run(Duration(2 * LEASE))
    assert crew.outcomes(job) == [Outcome.SUCCEEDED]
    assert crew.runners == [runner]


def test_a_job_that_was_claimed_too_late_for_its_runner_is_given_back_before_it_starts() -> None:
    crew = SlowCrew("alpha")
    crew.submit("slow")
    crew.run(Duration(5 * SECOND))
    crew.slow = Duration(LEASE + SECOND)
    (job,) = crew.submit("slow", lasting(1), retry={"max_losses": 0})
    crew.run(Duration(2 * LEASE))
    assert crew.outcomes(job) == [Outcome.RELEASED, Outcome.SUCCEEDED]
    assert len(crew.runs(job)) == 1, "nothing was sent to a runner that its guard ends"


def test_a_runner_with_a_job_is_not_vouched_for_while_the_store_is_away() -> None:
    crew = SlowCrew("alpha")
    (job,) = crew.submit("slow", lasting(90))
    crew.run(Duration(5 * SECOND))
    crew.outage = True
    crew.run(Duration(LEASE + SECOND))
    (run,) = crew.runs(job)
    assert run.ended is not None, "its guard has ended it when the lease was over"
    crew.outage = False
    crew.run(Duration(5 * LEASE))
    assert crew.outcomes(job) == [Outcome.LOST, Outcome.SUCCEEDED]
    assert crew.job(job).state is State.SUCCEEDED


def test_an_idle_runner_goes_by_the_deadline_of_all_again_once_leases_are_renewed() -> None:
    crew = SlowCrew("alpha")
    crew.outage = True
    crew.run(Duration(5 * SECOND))
    (runner,) = crew.runners
    assert runner.deadline is not None
    assert runner.deadline > crew.clock.monotonic() + LEASE
    crew.outage = False
    (job,) = crew.submit("slow", lasting(3))
    crew.run(Duration(6 * SECOND))
    assert crew.outcomes(job) == [Outcome.SUCCEEDED]
    assert runner.deadline <= crew.clock.monotonic() + LEASE + MILLISECOND
