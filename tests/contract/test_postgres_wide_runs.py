"""Workers whose ends meet in the same joins while people cancel: a deadlock is tried again by who was in it (B163)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from mainspring.chance import SeededChance
from mainspring.control import read
from mainspring.control import runs as control_runs
from mainspring.control.catalog import declare
from mainspring.domain.attempt import Ending
from mainspring.domain.ids import ClaimId, WorkerId
from mainspring.domain.job import JobFilter
from mainspring.domain.run import RunRequest
from mainspring.domain.states import Outcome, State
from mainspring.domain.workflow import Node, Workflow
from mainspring.store import Store, Transaction, jobs, lanes, workers
from mainspring.store import runs as store_runs
from mainspring.store.check import Level, check
from mainspring.store.jobs import Grant
from mainspring.store.workers import Hello
from mainspring.transitions import due, ended
from mainspring.transitions.ended import Report
from tests import postgres
from tests.contract.stories import LEASE, SHOP

WIDE = tuple(
    Node(f"{layer}.{place}", "send", needs=tuple(f"{layer - 1}.{one}" for one in range(12)) if layer else ())
    for layer in range(4)
    for place in range(12)
)


def test_wide_runs_that_many_move_on_and_somebody_cancels_all_end(postgres_databases: postgres.Databases) -> None:
    url = postgres_databases.server.url(postgres_databases.take({"deadlock_timeout": "100ms"}))
    stores = [Store.open(url) for _ in range(4)]
    declare(stores[0], SHOP)
    shapes = [WIDE, WIDE, WIDE, (*WIDE, Node("late", "send", delay="1h"))]
    requests = [RunRequest(Workflow("wide", nodes)) for nodes in shapes]
    numbers = [control_runs.start(stores[0], one, actor="client").id for one in requests]

    def work_off(seed: int) -> None:
        chance = SeededChance(seed)
        worker = arrived(stores[seed], f"w{seed}")
        while any(not control_runs.one(stores[seed], one).done for one in numbers):
            claimed_and_ended(stores[seed], worker, chance)
            stores[seed].write(lambda tx: due.come(tx, "sweeper"))

    begun = threading.Barrier(5)

    def cancel() -> None:
        begun.wait(60)
        control_runs.cancel(stores[0], numbers[-1], actor="ann")

    def begin(seed: int) -> None:
        begun.wait(60)
        work_off(seed)

    with ThreadPoolExecutor(5) as pool:
        asked = [pool.submit(cancel), *(pool.submit(begin, seed) for seed in range(4))]
        for one in asked:
            one.result(120)
    states = [str(control_runs.one(stores[0], one).state) for one in numbers]
    assert states == ["succeeded", "succeeded", "succeeded", "cancelled"]
    assert Level.FAULT not in {one.level for one in check(stores[0])}
    for store in stores:
        store.close()


def arrived(store: Store, name: str) -> WorkerId:
    """A worker of the app."""
    hello = Hello(f"{name} is here", name, "host", 1, "shop", "one", "0.1.0", ["shop"], {}, 10, ["shop.send"], {})
    return store.write(lambda tx: workers.register(tx, hello))


def claimed_and_ended(store: Store, worker: WorkerId, chance: SeededChance) -> None:
    """Some jobs in any order: one transaction for the claim, one for their ends."""
    waiting = [job.id for job in read.listed(store, JobFilter(state=State.QUEUED, limit=60)).items]
    wanted = {waiting[chance.whole(0, len(waiting) - 1)] for _ in range(min(8, len(waiting)))}

    def claim(tx: Transaction) -> list[Grant]:
        left, _ = jobs.leave_ready(tx, sorted(wanted), lanes.read_map(tx).rules)
        grants = [Grant(row, ClaimId(tx.chance.claim_id())) for row in left.values()]
        jobs.enter_leased(tx, grants, worker, tx.now + LEASE, "worker")  # type: ignore[arg-type]
        return grants

    grants = store.write(claim)

    def end(tx: Transaction) -> None:
        links = store_runs.links(tx, [one.left.job for one in grants])
        endings = [Ending(one.left.job, one.claim, Outcome.SUCCEEDED, result=b"1") for one in grants]
        policies = {one.left.job: jobs.policy_of(tx, one.left.job) for one in grants}
        ended.end(tx, [Report(one, policies[one.job], False, links.get(one.job)) for one in endings], "worker")

    if grants:
        store.write(end)
