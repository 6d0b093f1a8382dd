"""The code of the guides does what the guides say: each page runs from top to bottom, with a worker beside it."""

from __future__ import annotations

import ast
import asyncio
import inspect
import sys
import types
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from mainspring import Mainspring
from mainspring.client.direct import DirectClient
from mainspring.sdk.connection import use_client
from mainspring.store import Store
from tests import blank
from tests.domain.working import Working
from tests.house.docs import blocks

GUIDES = Path(__file__).parents[2] / "docs" / "guides"


@pytest.mark.parametrize("name", ["tasks.md", "retries.md", "workflows.md"])
def test_a_guide_runs_from_top_to_bottom(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = GUIDES / name
    module = types.ModuleType("guide")
    monkeypatch.setitem(sys.modules, "guide", module)  # dataclasses look their module up
    store = Store.open(blank.lay(tmp_path / "main.db"))
    client = DirectClient(store)
    ran = 0
    with use_client(client), ExitStack() as stack:
        for line, code in blocks(page.read_text(encoding="utf-8"), "python"):
            # The line numbers of a failure are those of the page.
            tree = ast.parse("\n" * (line - 1) + code, str(page))
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            for statement in tree.body:
                found = eval(compile(ast.Module([statement], []), str(page), "exec", flags), vars(module))
                if inspect.iscoroutine(found):
                    asyncio.run(found)
                app: Any = getattr(module, "app", None)
                if isinstance(app, Mainspring) and isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
                    stack.close()
                    stack.enter_context(Working(store, app))
            ran += 1
    client.close()
    assert ran >= 3
