"""The documentation tells the truth where that can be checked."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path

import cyclopts
import pytest

from tests.house import docs
from tests.house.tree import ROOT, Finding, report

CHECKS = [docs.broken_links, docs.unlisted_pages, docs.broken_code, docs.odd_records, docs.wide_lines]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_pages_are_in_order(check: Callable[[Path], list[Finding]]) -> None:
    found = check(ROOT)
    assert not found, report(found)


def test_every_command_has_help_and_a_place_in_the_reference() -> None:
    found = docs.untold_commands(command_line(), ROOT / "docs" / "reference" / "cli.md")
    assert not found, report(found)


def command_line() -> cyclopts.App:
    """The app behind ``mainspring``."""
    app = importlib.import_module("mainspring.cli.main").app
    assert isinstance(app, cyclopts.App)
    assert commands_of(app), "mainspring has no commands"
    return app


def commands_of(app: cyclopts.App) -> list[str]:
    return [" ".join(words) for words, _ in docs.commands(app)]


def test_the_gate_runs_the_tests_as_the_readme_says() -> None:
    readme = (ROOT / "README.md").read_text()
    said = re.findall(r"\bpytest\b[^\n`]*", "\n".join(code for _, code in shell_blocks(readme)))
    assert said, "README.md names no test command"
    assert said[0].strip() in (ROOT / ".ci" / "run").read_text()


def shell_blocks(text: str) -> list[tuple[int, str]]:
    return [block for language in ("sh", "bash", "console", "shell") for block in docs.blocks(text, language)]


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def test_a_line_that_is_too_wide_is_found_unless_it_is_a_row(tmp_path: Path) -> None:
    write(tmp_path, "a.md", f"{'x' * 126}\n{'y' * 125}\n| {'z' * 200} |\n")
    assert [(one.line, one.text) for one in docs.wide_lines(tmp_path)] == [
        (1, "126 characters; at most 125, or a row of a table")
    ]


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    write(tmp_path, "docs/there.md", "# It is `here` now\n")
    write(
        tmp_path,
        "docs/page.md",
        """[good](there.md) [good](there.md#it-is-here-now) [good](https://example.org/x) [good](#own)
`[code](not-a-link.md)` [bad](gone.md)
![bad](picture.png)

## Own

```
[code](not-a-link.md)
```

[bad](there.md#it-was-here) [bad](../gone/) [good](../docs/)
[ref]: gone-too.md
""",
    )
    assert [(finding.line, finding.text) for finding in docs.broken_links(tmp_path)] == [
        (2, "gone.md leads nowhere"),
        (3, "picture.png leads nowhere"),
        (11, "there.md#it-was-here: no heading of that name"),
        (11, "../gone/ leads nowhere"),
        (12, "gone-too.md leads nowhere"),
    ]


def test_a_page_that_no_list_leads_to_is_found(tmp_path: Path) -> None:
    write(tmp_path, "docs/guides/told.md", "# Told\n")
    write(tmp_path, "docs/guides/untold.md", "# Untold\n")
    write(tmp_path, "docs/decisions/0001.md", "# These have a list of their own\n")
    write(tmp_path, "docs/README.md", "| to know | [told](guides/told.md) |\n")
    assert [finding.text for finding in docs.unlisted_pages(tmp_path)] == ["guides/untold.md is not listed"]


def test_code_that_is_no_code_is_found(tmp_path: Path) -> None:
    write(tmp_path, "README.md", "# x\n\n```python\nawait job.aresult()\nx = [\n```\n\n```sh\n$ x = [\n```\n")
    assert [(finding.path, finding.line) for finding in docs.broken_code(tmp_path)] == [("README.md", 5)]


def test_a_command_without_help_or_place_is_found(tmp_path: Path) -> None:
    app = cyclopts.App(name="mainspring", help="Jobs.")
    worker = cyclopts.App(name="worker", help="Workers.")
    app.command(worker)

    @app.command
    def jobs() -> None:
        """List jobs."""

    @app.command
    def job() -> None:
        pass

    @app.command(show=False)
    def hidden() -> None:
        pass

    @worker.command
    def drain() -> None:
        """Drain one."""

    write(tmp_path, "cli.md", "## mainspring jobs\n\n## mainspring worker\n")
    assert [finding.text for finding in docs.untold_commands(app, tmp_path / "cli.md")] == [
        "does not tell of `mainspring worker drain`",
        "`mainspring job` has no help: give its function a docstring",
        "does not tell of `mainspring job`",
    ]


def test_an_odd_record_is_found(tmp_path: Path) -> None:
    good = "# 0001 A thing\n\nDate: 2026-11-29\n\n## Context\n\n## Options measured\n\n## Decision\n\n## Consequences\n"
    write(tmp_path, "docs/decisions/0001-a-thing.md", good)
    assert docs.odd_records(tmp_path) == []
    write(tmp_path, "docs/decisions/0003-other.md", good.replace("Date: 2026-11-29", "").replace("## Decision\n", ""))
    assert [finding.text.partition(":")[0] for finding in docs.odd_records(tmp_path)] == [
        "should be number 0002",
        "should start with '# 0002 ' and its title",
        "has no line 'Date",
        "has no part '## Decision'",
    ]
