"""docs/architecture/field-reports.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "architecture" / "field-reports.md"


def test_every_test_that_the_page_of_field_reports_names_is_there() -> None:
    named = re.findall(r"`(test_\w+\.py)(?:: (\w+))?`", PAGE.read_text())
    files: dict[str, str] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):  # several folders may have a file of one name
        files[path.name] = files.get(path.name, "") + path.read_text()
    missing = [
        (file, words) for file, words in named if file not in files or f"def test_{words or ''}" not in files[file]
    ]
    assert len(named) > 50
    assert missing == []
