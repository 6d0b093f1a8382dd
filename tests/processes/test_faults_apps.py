"""An app that breaks while its worker lives: whoever asks is told, and all goes on once it is mended."""

from __future__ import annotations

import os
import signal

from mainspring.domain.states import Outcome, State
from mainspring.domain.worker import WorkerState
from tests.processes.test_full_disk import asked
from tests.processes.world.driver import APP, World, free_port


def test_a_worker_whose_runners_can_not_load_the_app_is_not_ready_until_they_can(world: World) -> None:
    port, app = free_port(), world.folder / "mine.py"
    app.write_text(APP.read_text())
    world.start("up", "--app", str(app), "--port", str(port))
    world.eventually(lambda: asked(port, "/readyz")[0] == 200, what="a worker that is ready")
    (worker,) = world.active().values()
    app.write_text("import no_such_module\n")
    os.kill(world.runner_of(worker.name), signal.SIGKILL)
    world.eventually(lambda: asked(port, "/readyz")[0] == 503, within=5, what="its word that it is not")
    assert "can load the app" in asked(port, "/readyz")[1]["reason"]
    assert asked(port, "/healthz")[0] == 200, "the server itself is well"
    assert [one.state for one in world.client.workers()] == [WorkerState.IMPAIRED]
    job = world.submit("quick")
    app.write_text(APP.read_text())
    world.eventually(lambda: asked(port, "/readyz")[0] == 200, what="a worker that is ready again")
    world.until_state(job, State.SUCCEEDED)
    assert world.outcomes(job) == [Outcome.SUCCEEDED]


def test_a_worker_whose_runner_is_only_being_replaced_stays_ready(world: World) -> None:
    world.worker("solid", lease="1s", sweep="100ms")
    killed: set[int] = set()
    for _ in range(3):
        world.eventually(lambda: world.runner_of("solid") not in killed, what="the next runner")
        killed.add(world.runner_of("solid"))
        os.kill(world.runner_of("solid"), signal.SIGKILL)
        world.stays(lambda: world.client.workers()[0].state is WorkerState.ACTIVE, 0.7)
