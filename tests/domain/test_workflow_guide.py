"""What the pages say of definitions is so: their code runs, their files are read, the schema is that of the code."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest

from mainspring.domain.joins import EARLY, Rule
from mainspring.domain.workflow import Workflow, document_schema
from mainspring.importers import written
from tests.house.docs import blocks

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "guides" / "workflows.md").read_text()
SCHEMA = DOCS / "reference" / "workflow.schema.json"


def test_the_files_of_the_guide_are_documents() -> None:
    files = [written.read(code, "guide.yaml") for _, code in blocks(PAGE, "yaml")]
    assert [document.name for document in files] == ["nightly", "weekly"]
    validator = jsonschema_rs.validator_for(json.loads(SCHEMA.read_text()))
    for document in files:
        validator.validate(msgspec.to_builtins(document))
    with pytest.raises(jsonschema_rs.ValidationError):
        validator.validate({"name": "w", "nodes": [{"name": "a", "taks": "t"}]})


def test_the_published_schema_is_that_of_the_code() -> None:
    """To write it anew: what ``json.dumps(document_schema(), indent=1)`` gives, and a line feed."""
    assert SCHEMA.read_text() == json.dumps(document_schema(), indent=1) + "\n"
    assert json.loads(SCHEMA.read_text())["$defs"]["Workflow"]["properties"].keys() == {*Workflow.__struct_fields__}


def test_the_guide_has_a_row_for_each_rule() -> None:
    rows = [
        line.split("|")[1].strip().split("`")[1] for line in PAGE.splitlines() if line.startswith("| `") and "_" in line
    ]
    told = [name for name in rows if name in set(Rule)] + ["always"]
    assert set(told) == set(Rule)
    assert all(f"`{rule}`" in PAGE for rule in EARLY)
