"""Dagster in this process, with an instance that keeps nothing."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dagster import (
    DagsterInstance,
    DependencyDefinition,
    GraphDefinition,
    In,
    MultiDependencyDefinition,
    NodeInvocation,
    Nothing,
    Out,
    op,
)

logging.getLogger("dagster").setLevel(logging.ERROR)


@op(ins={"above": In(Nothing)}, out=Out(Nothing))
def noop() -> None:
    """What a node does."""


@op(out=Out(Nothing))
def first() -> None:
    """What a node without needs does."""


@contextmanager
def ready() -> Iterator[Callable[[list[list[int]], str], None]]:
    with DagsterInstance.ephemeral() as instance:
        yield lambda needs, _: run(instance, needs)


def run(instance: DagsterInstance, needs: list[list[int]]) -> None:
    depends = {}
    for number, above in enumerate(needs):
        wanted = [DependencyDefinition(f"n{one}") for one in above]
        of_it = {"above": MultiDependencyDefinition(wanted)} if wanted else {}
        depends[NodeInvocation("noop" if above else "first", alias=f"n{number}")] = of_it
    job = GraphDefinition(name="graph", node_defs=[noop, first], dependencies=depends).to_job()
    if not job.execute_in_process(instance=instance).success:
        raise SystemExit("dagster did not run all of it")
