"""The states that docs/concepts.md draws are those of the code."""

from __future__ import annotations

import pytest

from mainspring.domain.states import TABLE, State
from tests.house import states_doc


def test_the_page_shows_the_table_of_the_code() -> None:
    text = states_doc.PAGE.read_text(encoding="utf-8")
    assert states_doc.renewed(text) == text, "renew it with: python -m tests.house.states_doc"


def test_every_state_is_drawn_and_every_sentence_told() -> None:
    text = states_doc.PAGE.read_text(encoding="utf-8")
    for state in State:
        assert state is State.NEW or f"`{state}`" in text, state
    for row in TABLE:
        assert row.sentence in text


def test_a_page_that_differs_is_renewed() -> None:
    marks = [f"<!-- states: {name} -->\nstale\n<!-- states: end of {name} -->\n" for name in states_doc.PARTS]
    made = states_doc.renewed("# Page\n" + "".join(marks) + "the end\n")
    assert "stale" not in made
    assert made.startswith("# Page\n")
    assert made.endswith("the end\n")
    assert "    queued --> running: claim\n" in made
    assert "    running --> queued: lose, requeue, release\n" in made
    assert "    [*] --> queued: submit\n" in made
    assert "    dead --> [*]\n" in made
    assert states_doc.renewed(made) == made


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="drawing"):
        states_doc.renewed("# Page\n")
