"""System 8: the workflow "pipeline", A -> B and C -> D. Tasks fail at random, by a seed, and are tried again.

python examples/pipeline.py
"""

import hashlib
import sys
from itertools import pairwise

from mainspring import Context, Mainspring, Node, Retry, Workflow

app = Mainspring("system8")


@app.task(retry=Retry(max_attempts=8, delay="50ms", factor=2, max_delay="1s", jitter=0.2))
def work(step: str, seed: int, ctx: Context) -> str:
    """Fail about every second time, the same way for the same seed."""
    if hashlib.sha256(f"{seed} {step} {ctx.attempt}".encode()).digest()[0] % 2:
        raise ConnectionError(f"{step} is not ready at attempt {ctx.attempt}")
    return step


@app.task(retry=Retry(max_attempts=3, delay="50ms", jitter=0.2))
def broken(step: str) -> str:
    """Fail each time."""
    raise ConnectionError(f"{step} is never ready")


@app.task
def join(parts: list[str | None]) -> str:
    return "+".join(part or "?" for part in parts)


def nodes(task_of_b):
    seed = {"$param": "seed"}
    return [
        Node("A", task="work", params={"step": "A", "seed": seed}),
        Node("B", task=task_of_b, needs=["A"], params={"step": "B"} | ({"seed": seed} if task_of_b == "work" else {})),
        Node("C", task="work", needs=["A"], params={"step": "C", "seed": seed}),
        Node("D", task="join", params={"parts": [{"$node": "B"}, {"$node": "C"}]}),
    ]


pipeline = app.add(Workflow("pipeline", nodes=nodes("work"), parameters={"seed": int}))
doomed = app.add(Workflow("doomed", nodes=nodes("broken"), parameters={"seed": int}))


def main():
    from driver import Platform

    with Platform(__file__) as platform:
        platform.server()
        platform.worker("alpha")
        platform.wait_for_workers(1)
        good = pipeline.submit(seed=12)
        good.wait(timeout=60)
        platform.check(good.state == "succeeded", f"run {good.id} of pipeline: {good.state}")
        attempts = {name: len(job.attempts()) for name, job in jobs_of(good).items()}
        told = ", ".join(f"{name} {count}" for name, count in attempts.items())
        platform.check(attempts == {"A": 2, "B": 3, "C": 2, "D": 1}, f"attempts, as the seed has it: {told}")
        platform.check(in_order(good), "D began when B and C had succeeded")
        platform.check(pauses_grow(jobs_of(good)["B"]), "B was tried again after 50 and 100 ms, with jitter")

        bad = doomed.submit(seed=12)
        bad.wait(timeout=60)
        states = {node.name: str(node.reason or node.state) for node in bad.nodes()}
        wanted = {"A": "succeeded", "B": "failed", "C": "succeeded", "D": "upstream_failed"}
        platform.check(states == wanted, f"a B that never works is dead after 3 attempts, and D never began: {states}")
        platform.check(bad.state == "failed", f"run {bad.id} of doomed: {bad.state}")
        status, shown = platform.ask("run-show", str(bad.id))
        platform.check((status, shown["state"]) == (0, "failed"), f"mainspring run-show {bad.id}: {shown['state']}")
        return platform.verdict()


def jobs_of(run):
    return {node.name: app.job(node.jobs[0].id) for node in run.nodes() if node.jobs}


def in_order(run):
    seen = {node.name: node for node in run.nodes()}
    return max(seen["B"].finished_at, seen["C"].finished_at) <= seen["D"].started_at


def pauses_grow(job):
    tries = job.attempts()
    pauses = [(after.started_at - before.ended_at) / 1000 for before, after in pairwise(tries)]
    return len(pauses) == 2 and pauses[0] >= 40 and pauses[1] >= 80


if __name__ == "__main__":
    sys.exit(main())
