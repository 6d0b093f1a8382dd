"""Which engine of the store a test with a world of real processes runs on: SQLite unless it asks for both.

Both are for what the store takes part in: claims, leases, sweeps and ends, in whatever way a job ends. What is only
between a worker and its runners is the same on either, and is tested on one; so is what the contract suite shows of
both with less, as what is stored by a process that is killed at a fault point.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

both_engines = pytest.mark.parametrize("world", ["sqlite", "postgres"], indirect=True)
"""On a test that asks for ``world``: it runs once on each engine."""

on_postgres = pytest.mark.parametrize("world", ["postgres"], indirect=True)


def on_engines(name: str, cases: Mapping[Any, str]) -> pytest.MarkDecorator:
    """On a test that asks for ``world`` and an argument: it runs once for each value, on the engine beside it."""
    pairs = [(engine, case) for case, engine in cases.items()]
    return pytest.mark.parametrize(("world", name), pairs, indirect=["world"])
