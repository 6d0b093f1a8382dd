"""Between the moment in which a run is told to stop and the one in which what runs of it is cancelled."""

from __future__ import annotations

import pytest

from mainspring.domain.ids import RunId
from mainspring.domain.joins import Stop
from mainspring.transitions.stopping import stop
from tests.contract.run_stories import Runs, node
from tests.contract.stories import Story


@pytest.mark.parametrize(
    ("run_if", "more", "end"), [("all_success", [], "cancelled"), ("always", ["each[1]"], "succeeded")]
)
def test_items_of_a_map_that_have_not_begun_never_do_unless_it_cleans_up(
    story: Story, run_if: str, more: list[str], end: str
) -> None:
    runs = Runs(story)
    run = runs.start(node("each", map=[1, 2, 3], parallel=1, run_if=run_if), node("below", "each"))
    (first,) = runs.waiting().values()
    story.claim(first.id)
    runs.store.write(lambda tx: stop(tx, RunId(run), Stop.CANCEL, "ann"))
    story.end(first.id)
    assert list(runs.waiting()) == more
    runs.errands()
    assert list(runs.waiting()) == more
    runs.work_off()
    assert (runs.run(run).state, runs.states(run)) == ("cancelled", {"each": end, "below": "cancelled"})
