"""What each worker of a run would do for itself, done once before they start: the asserts of test files rewritten.

In a fresh checkout that is a quarter of a minute for every worker. It is pytest's own cache that is filled; where a
version of pytest keeps it in another way, workers do as they always did.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest


def rewrite(config: pytest.Config, places: Iterable[str]) -> None:
    """Those below these arguments of the command line that have no valid entry in the cache."""
    with suppress(ImportError, AttributeError):
        for place in places:
            top = Path(place.partition("::")[0])
            for path in sorted(top.rglob("*.py")) if top.is_dir() else [top]:
                if path.name == "conftest.py" or path.match("test_*.py"):
                    _rewrite(config, path.resolve())


def _rewrite(config: pytest.Config, path: Path) -> None:
    from _pytest.assertion import rewrite as rewriting

    folder = rewriting.get_cache_dir(path)
    kept = folder / f"{path.stem}{rewriting.PYC_TAIL}"
    if rewriting.try_makedirs(folder) and rewriting._read_pyc(path, kept) is None:
        digest, code = rewriting._rewrite_test(path, config)
        rewriting._write_pyc(config.stash[rewriting.assertstate_key], code, digest, kept)
