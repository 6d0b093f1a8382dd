"""mainspring.toml is changed while a server runs: its schedules are taken over, and nothing of a file that is wrong."""

from __future__ import annotations

from mainspring.domain.timetable import Schedule, Standing
from tests.processes.world.driver import World

PULSE = '[schedules.pulse]\nevery = "1h"\ntask = "quick"\n'


def test_a_running_server_takes_over_what_its_file_says_of_schedules(world: World) -> None:
    file = world.folder / "mainspring.toml"
    server = world.server()
    world.eventually(lambda: "listening at" in server.said)

    def known() -> dict[str, Schedule]:
        return {one.name: one for one in world.client.schedules()}

    file.write_text(PULSE)
    made = world.eventually(lambda: known().get("pulse"), what="the schedule of a new file")
    file.write_text(
        f'keep_ticks = "40d"\n{PULSE.replace("1h", "2h")}[schedules.more]\ncron = "61 * * * *"\ntask = "quick"\n'
    )
    world.eventually(lambda: "[schedules.more]" in server.said, what="what is wrong with it")
    now = known()
    assert (list(now), now["pulse"].plan, now["pulse"].changed_at) == (["pulse"], made.plan, made.changed_at)
    assert "keep_ticks is 40d" not in server.said, "nothing is taken by halves"
    file.write_text(
        f'keep_ticks = "41d"\n{PULSE.replace("1h", "2h")}[schedules.more]\ncron = "1 * * * *"\ntask = "quick"\n'
    )
    world.eventually(lambda: "more" in known(), what="the corrected file")
    assert known()["pulse"].plan.recurrence["every"] == "2h"
    world.eventually(lambda: "keep_ticks is 41d now" in server.said, what="its settings")
    assert server.said.count("[schedules.more]") == 1, "it was said once"
    file.write_text("[schedules]\n")
    world.eventually(lambda: {one.standing for one in known().values()} == {Standing.WITHDRAWN}, what="the end of both")
    assert server.stop() == 0
