"""Which engine of the store a test with a world of real processes runs on: SQLite unless it asks for both.

Both are for what the store takes part in: claims, leases, sweeps, ends, submits and cancels that are cut off. What is
between a worker and its runners is the same on either, and is tested on one.
"""

from __future__ import annotations

import pytest

both_engines = pytest.mark.parametrize("world", ["sqlite", "postgres"], indirect=True)
"""On a test that asks for ``world``: it runs once on each engine."""
