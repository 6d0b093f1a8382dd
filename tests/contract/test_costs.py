"""Labels and costs: lanes of their own for what a task requires, and slots that are counted by what each job takes."""

from __future__ import annotations

import pytest

from mainspring.control.catalog import declare
from mainspring.domain.ids import ClaimId, JobId
from mainspring.domain.states import Outcome
from mainspring.domain.task import Lodging
from mainspring.engine.held import Custody, Held, Limits, RunnerView, taken
from mainspring.engine.lending import Lending, Lent
from mainspring.store import Transaction, jobs, lanes
from mainspring.store.lanes import Lane
from tests.contract.stories import Story, app_of, task
from tests.contract.test_claims import claim, order

FLEET = app_of(
    task("fleet.light"),
    task("fleet.heavy", slots=2),
    task("fleet.fast", requires={"disk": "fast", "zone": "a"}),
    task("fleet.wide", slots=4),
)


@pytest.fixture
def fleet(story: Story) -> Story:
    declare(story.store, FLEET)
    return story


def lane_of(story: Story, job: JobId) -> Lane:
    """Where a ready job waits."""

    def look(tx: Transaction) -> Lane:
        number = jobs.ready_lane(tx, job, None)
        return next(lane for lane in lanes.read_map(tx).lanes if lane.id == number)

    return story.store.read(look)


def test_what_a_task_requires_and_costs_is_of_its_lane_and_stays_with_its_jobs(fleet: Story) -> None:
    job = fleet.submit("fast")
    lane = lane_of(fleet, job)
    assert (lane.requires, lane.slots, lane.lodging) == ({"disk": "fast", "zone": "a"}, 1, Lodging.SHARED)
    assert lane_of(fleet, fleet.submit("fast")).id == lane.id
    heavy = fleet.running("heavy")
    fleet.end(heavy, Outcome.CRASHED, shared=1)
    again = lane_of(fleet, heavy)
    assert (again.slots, again.lodging) == (2, Lodging.ALONE), "alone, and as heavy as before"


def test_a_claim_takes_no_more_slots_than_there_are(fleet: Story) -> None:
    heavy = [fleet.submit("heavy") for _ in range(3)]
    light = fleet.submit("light")
    got = claim(fleet, slots=5)
    assert (order(got), got.more) == (heavy[:2], True), (
        "one slot is kept for the third, which comes before the light one"
    )
    assert order(claim(fleet, slots=3)) == [heavy[2], light]


def test_one_that_is_first_and_too_heavy_for_now_waits_for_room_and_is_not_overtaken(fleet: Story) -> None:
    wide, light = fleet.submit("wide"), fleet.submit("light")
    urgent = fleet.submit("light", priority=1)
    assert order(claim(fleet, slots=3)) == [urgent]
    assert order(claim(fleet, slots=4)) == [wide]
    assert order(claim(fleet, slots=1)) == [light]


# --- lending ----------------------------------------------------------------------------------------------------------


def held(job: int, *, slots: int = 1, place_of: JobId | None = None) -> Held:
    """A job that this worker runs."""
    one = Held(JobId(job), ClaimId(job), 1, "fleet.light", 1, Lodging.SHARED, None)  # type: ignore[arg-type]
    one.slots, one.place_of = slots, place_of
    return one


def test_slots_that_were_lent_count_once_however_deep() -> None:
    parent, child, grandchild = (
        held(1, slots=3),
        held(2, slots=3, place_of=JobId(1)),
        held(3, slots=4, place_of=JobId(2)),
    )
    assert taken({}) == 0
    assert taken({one.job: one for one in (parent, held(9, slots=2))}) == 5
    assert taken({one.job: one for one in (parent, child, grandchild)}) == 4
    assert taken({one.job: one for one in (child, grandchild)}) == 4, "a lender that has ended gets nothing back"


@pytest.mark.parametrize(("slots", "lent"), [(3, False), (4, True)])
def test_a_job_may_take_the_place_of_a_lighter_one_where_the_rest_is_free(
    fleet: Story, slots: int, *, lent: bool
) -> None:
    parent, child = fleet.running("light"), fleet.submit("wide")
    custody = Custody()
    custody.add(RunnerView(1, Lodging.SHARED, frozenset()))
    custody.held[parent] = held(parent)
    lending = Lending(custody)
    lending.heard({parent: [child]})

    def choose(tx: Transaction) -> Lent:
        return lending.choose(tx, lanes.read_map(tx).lanes, custody.room(Limits(slots, slots)), None)

    got = fleet.store.write(choose)
    assert got.places == ({child: parent} if lent else {})
