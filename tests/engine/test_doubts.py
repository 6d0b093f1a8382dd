"""A worker in doubt about its last commit: what that may have claimed is given back, not left to expire."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from mainspring import faults
from mainspring.clock import SECOND, Duration
from mainspring.domain.job import JobFilter
from mainspring.domain.states import Outcome, State
from mainspring.errors import OutcomeUnknown
from mainspring.faults import FaultPoint
from tests.engine.crew import LEASE, Crew, lasting


@pytest.fixture
def lose_the_answer() -> Iterator[Callable[[Callable[[], bool]], list[bool]]]:
    """The first commit of a worker after which this is true is made, and not answered; the list tells that it was."""

    def when(true: Callable[[], bool]) -> list[bool]:
        lost: list[bool] = []

        def hook(point: FaultPoint) -> None:
            if point is FaultPoint.DISPATCH_AFTER_COMMIT and not lost and true():
                lost.append(True)
                raise OutcomeUnknown(":memory:")

        faults.arm(hook)
        return lost

    yield when
    faults.arm(None)


@pytest.mark.parametrize("outage", [0, 5])
def test_claims_of_which_it_never_heard_are_given_back_and_run_long_before_their_leases_end(
    lose_the_answer: Callable[[Callable[[], bool]], list[bool]], outage: int
) -> None:
    crew = Crew("alpha")

    def claimed() -> bool:
        crew.outage = any(job.state is State.RUNNING for job in crew.client.jobs(JobFilter()).items)
        return crew.outage

    lost = lose_the_answer(claimed)
    jobs = crew.submit("slow", count=5)
    crew.run(Duration(outage * SECOND))
    crew.outage = False
    crew.run(Duration(6 * SECOND))
    assert lost
    assert 11 * SECOND < LEASE
    for job in jobs:
        assert crew.outcomes(job) == [Outcome.RELEASED, Outcome.SUCCEEDED]
        assert len(crew.runs(job)) == 1, "the claim that nobody heard of ran nothing"


def test_an_end_whose_answer_was_lost_is_told_once_and_what_still_runs_goes_on(
    lose_the_answer: Callable[[Callable[[], bool]], list[bool]],
) -> None:
    crew = Crew("alpha")
    (long,) = crew.submit("slow", lasting(3))
    (short,) = crew.submit("slow", lasting(1))
    lost = lose_the_answer(lambda: crew.job(short).state is State.SUCCEEDED)
    crew.run(Duration(8 * SECOND))
    assert lost
    assert [crew.outcomes(job) for job in (short, long)] == [[Outcome.SUCCEEDED], [Outcome.SUCCEEDED]]
    assert [note for note in crew.notes if "fenced" in note or "refused" in note] == []
