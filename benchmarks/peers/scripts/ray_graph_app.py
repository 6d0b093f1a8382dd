"""Ray on this machine: remote functions that take the references of those that they need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import ray


@ray.remote(max_retries=0)
def noop(*needs: object) -> None:
    """What a node does."""


@contextmanager
def ready() -> Iterator[Callable[[list[list[int]], str], None]]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        yield run
    finally:
        ray.shutdown()


def run(needs: list[list[int]], _: str) -> None:
    made = []
    for above in needs:
        made.append(noop.remote(*(made[one] for one in above)))
    used = {one for above in needs for one in above}
    ray.get([node for number, node in enumerate(made) if number not in used])
