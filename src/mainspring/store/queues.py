"""Queues in the store: what operators say of them, and how many of their jobs run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from mainspring.domain.queue import Queue, Rule
from mainspring.domain.states import State
from mainspring.store import depths
from mainspring.store.transaction import Transaction


def all_queues(tx: Transaction) -> list[Queue]:
    """Every queue that a job or an operator has named, by name."""
    counted = depths.live(tx)
    return [_with(Queue(*row), counted) for row in tx.rows("queue/known")]


def names(tx: Transaction) -> list[str]:
    """The names of every queue that a job or an operator has named."""
    return [row[0] for row in tx.rows("queue/names")]


def one(tx: Transaction, name: str) -> Queue:
    """A queue of any name; one that nobody has named is empty."""
    said = rule(tx, name)
    return _with(Queue(name, said.limit, said.paused_at, said.paused_by, said.note), depths.live(tx))


def _with(queue: Queue, counted: Mapping[tuple[str, str], int]) -> Queue:
    """A queue with how many of its jobs are where."""
    waiting = (State.QUEUED, State.SCHEDULED, State.RETRYING, State.RUNNING)
    return replace(queue, **{state.value: counted.get((queue.name, state), 0) for state in waiting})


def rule(tx: Transaction, name: str) -> Rule:
    """What operators have said of a queue."""
    found = tx.row("queue/rule", queue=name)
    return Rule() if found is None else Rule(*found)


def rule_to_change(tx: Transaction, name: str) -> Rule:
    """What operators have said of a queue; nobody else changes it until this transaction has ended.

    Claims by what was said before take nothing from now on.
    """
    rules_change(tx)
    return rule(tx, name)


def rules_change(tx: Transaction) -> None:
    """What holds for all is another thing from now on; workers look at all of it again."""
    tx.rows("queue/rules_change")


def put_rule(tx: Transaction, name: str, wanted: Rule) -> None:
    """Say this of a queue whose rule was read to be changed."""
    tx.rows(
        "queue/put",
        queue=name,
        most=wanted.limit,
        paused_at=wanted.paused_at,
        paused_by=wanted.paused_by,
        note=wanted.note,
    )


def running(tx: Transaction, name: str) -> int:
    """How many jobs of a queue run."""
    return int(tx.rows("queue/running", queue=name)[0][0])


def room(tx: Transaction, limits: Mapping[str, int]) -> dict[str, int]:
    """By queue, how many more of its jobs may run under these limits; it stays true until the transaction ends."""
    return {name: max(0, limits[name] - _running_for_good(tx, name)) for name in _in_one_order(limits)}


def left(tx: Transaction) -> dict[str, int]:
    """By queue that has a limit, how many more of its jobs may run; others may take them at any moment."""
    return {name: max(0, most - running) for name, most, running in tx.rows("queue/used")}


def _in_one_order(names: Iterable[str]) -> list[str]:
    """So that two who count several never wait for each other."""
    return sorted(names)


def _running_for_good(tx: Transaction, name: str) -> int:
    tx.rows("queue/count_next", queue=name)
    return running(tx, name)
