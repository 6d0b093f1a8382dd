"""Migrations are numbered one behind the other: two with one number would leave out the second, silently."""

from __future__ import annotations

from mainspring.store.statements import ENGINES, migrations


def test_each_engine_has_each_number_once_and_leaves_out_none() -> None:
    for engine in ENGINES:
        numbers = [number for number, *_ in migrations(engine)]
        assert numbers == list(range(1, len(numbers) + 1)), engine
