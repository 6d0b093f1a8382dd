"""Dask's distributed scheduler, one worker process with two threads on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from dask import delayed
from distributed import Client


def noop(*needs: object) -> None:
    """What a node does."""


@contextmanager
def ready() -> Iterator[Callable[[list[list[int]], str], None]]:
    with Client(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None) as client:
        yield lambda needs, _: run(client, needs)


def run(client: Client, needs: list[list[int]]) -> None:
    made = []
    for above in needs:
        made.append(delayed(noop, pure=False)(*(made[one] for one in above)))
    used = {one for above in needs for one in above}
    last = [node for number, node in enumerate(made) if number not in used]
    client.gather(client.compute(last, optimize_graph=False))
