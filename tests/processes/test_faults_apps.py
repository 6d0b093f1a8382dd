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


def test_jobs_whose_task_is_gone_from_the_code_wait_say_so_and_run_when_it_is_back(world: World) -> None:
    app, words = world.folder / "mine.py", ("worker", "--app", str(world.folder / "mine.py"), "--name")
    code = APP.read_text()
    app.write_text(code)
    first = world.start(*words, "first")
    world.eventually(lambda: "first" in world.active(), what="the first worker")
    assert first.stop() == 0
    gone = world.submit_many("quick", [{}] * 20, priority=1)
    others = world.submit_many("nap", [{"seconds": 0}] * 20)
    app.write_text(code.replace("async def quick(", "async def renamed("))
    second = world.start(*words, "second")
    assert set(world.until_ended(others).values()) == {State.SUCCEEDED}
    assert {world.job(job).state for job in gone} == {State.QUEUED}
    assert [world.attempts(job) for job in gone] == [[]] * 20
    (reason,) = world.client.explain(gone[0]).reasons
    assert (reason.code, reason.remedy != "") == ("task_unknown", True), reason
    app.write_text(code)
    world.start(*words, "third")
    assert set(world.until_ended(gone).values()) == {State.SUCCEEDED}
    assert second.status is None
