"""The catalog in the store: the tasks that apps have reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, NamedTuple

from mainspring.domain.ids import LARGEST, LaneId
from mainspring.domain.task import Catalog, Task
from mainspring.errors import StoreCorrupt
from mainspring.store import lanes, rows
from mainspring.store.lanes import Kind
from mainspring.store.transaction import Transaction, Wanted


class Ground(NamedTuple):
    """What new jobs of one kind stand on; ``policy`` is a document."""

    task: str
    kind: Kind
    policy: str


def known(tx: Transaction, catalog: Catalog) -> bool:
    """Whether there is nothing to record: every task is recorded as it is, or newer code has been seen since."""
    held = dict(tx.rows("task/of_app", app=catalog.app))
    if all(held.get(task.name) == rows.text(task) for task in catalog.tasks):
        return True
    seen = generations(tx, catalog.app)
    return seen.get(catalog.code_hash, LARGEST) < max(seen.values(), default=0)


def generations(tx: Transaction, app: str) -> dict[str, int]:
    """In which order the code hashes of an app were first seen."""
    return dict(tx.rows("generation/of_app", app=app))


def declare(tx: Transaction, catalog: Catalog) -> None:
    """Record an app's tasks. A code hash keeps the generation of its first sight, so old never overwrites new."""
    generation = generations(tx, catalog.app).get(catalog.code_hash)
    if generation is None:
        generation = tx.rows("generation/insert", app=catalog.app, code_hash=catalog.code_hash)[0][0]
    tx.many(
        "task/upsert",
        [
            (task.name, task.app, task.short, rows.text(task), catalog.code_hash, generation, tx.now)
            for task in catalog.tasks
        ],
    )
    tx.many("task/note_code", [(catalog.app, catalog.code_hash, task.name, task.code_hash) for task in catalog.tasks])


def tasks(tx: Transaction) -> list[Task]:
    """All tasks, by name; one whose row was spoiled by hand hides no other, and is told of by a submit."""
    found = []
    for row in tx.rows("task/all"):
        with suppress(StoreCorrupt):
            found.append(rows.task(row))
    return found


def names(tx: Transaction) -> list[str]:
    """All full names."""
    return [row[0] for row in tx.rows("task/names")]


def callable_names(tx: Transaction) -> set[str]:
    """Full names of tasks, and the short ones that are unique."""
    full = names(tx)
    short = Counter(name.rpartition(".")[2] for name in full)
    return {*full, *(name for name, count in short.items() if count == 1)}


def of_app(tx: Transaction, app: str) -> list[str]:
    """Full names of one app's tasks."""
    return [row[0] for row in tx.rows("task/of_app", app=app)]


def declaration(tx: Transaction, name: str) -> str | None:
    """The declaration of a task, as JSON text, by its full name."""
    found = tx.row("task/one", name=name)
    return None if found is None else found[0]


def declarations(tx: Transaction, names: Iterable[str]) -> dict[str, str]:
    """The declarations of those of these tasks that are named in full."""
    return dict(tx.rows("task/declared", names=rows.text(sorted(names))))


class Known(NamedTuple):
    """The task's declaration, and the numbers of lane and policy; None for what is not there.

    ``namesakes``: how many tasks have its short name.
    """

    declaration: str | None
    lane: LaneId | None
    policy: int | None
    namesakes: int


def ground_known(tx: Transaction, wanted: Ground) -> Known:
    """In one look what there is of what a job is to stand on."""
    name, values = asking(wanted)
    return Known(*tx.rows(name, **values)[0])


def asking(wanted: Ground) -> tuple[str, dict[str, Any]]:
    """What is to be asked for that."""
    return "task/ground", {"task": wanted.task, "document": wanted.policy, **wanted.kind.values()}


def ground(tx: Transaction, wanted: Ground) -> tuple[str | None, LaneId, int]:
    """The same; lane and policy are made when new."""
    return made(tx, wanted, ground_known(tx, wanted))


def made(tx: Transaction, wanted: Ground, found: Known) -> tuple[str | None, LaneId, int]:
    """What was found for that; lane and policy are made when new."""
    declared, lane, policy, _ = found
    if lane is None:
        lane = lanes.intern(tx, wanted.kind)
    if policy is None:
        policy = lanes.intern_policy(tx, wanted.policy)
    return declared, lane, policy


def interned(tx: Transaction, wanted: Ground) -> tuple[LaneId, int]:
    """The numbers of lane and policy alone, made when new. Once committed they stay, so they are kept in mind."""
    found: tuple[LaneId, int] | None = tx.recall(wanted)
    if found is None:
        _, lane, policy = ground(tx, wanted)
        found = lane, policy
        tx.remember(wanted, found)
    return found


_FIRED = "tasks of nodes that went"
_MOST_FIRED = 8


def note_fired(tx: Transaction, tasks: Iterable[str]) -> None:
    """Nodes with these tasks have gone: most likely the next ones have the same."""
    tx.remember(_FIRED, tuple(tasks)[:_MOST_FIRED])


def guessing(tx: Transaction) -> list[Wanted]:
    """What is to be asked to have the declarations of tasks at hand that nodes will most likely have; often nothing."""
    names = tx.recall(_FIRED)
    return [("task/declared", {"names": rows.text(names)})] if names else []


def by_short(tx: Transaction, short: str) -> list[str]:
    """Full names of the tasks with this short name."""
    return [row[0] for row in tx.rows("task/by_short", short=short)]
