"""docs/reference/settings.md says what the table says."""

from __future__ import annotations

from pathlib import Path

from mainspring.domain.setting import SETTINGS, Setting

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "settings.md"


def row(setting: Setting) -> str:
    """The line of the page that tells of this setting."""
    commands = ", ".join(f"`{name}`" for name in setting.commands)
    default = f"`{setting.default_text}`" if setting.default_text and not setting.depends else setting.depends or "none"
    cells = (
        f"`{setting.name}`",
        setting.kind.value,
        default,
        f"`{setting.flag}`",
        commands,
        setting.sentence,
    )
    return f"| {' | '.join(cells)} |"


def test_the_page_has_a_row_for_each_setting_and_no_other():
    rows = [line for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    assert rows == [row(setting) for setting in SETTINGS]
