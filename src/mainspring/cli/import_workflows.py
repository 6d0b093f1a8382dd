"""``mainspring import wfformat|pipeline FILE``: other systems' workflows become known here, under names of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import show
from mainspring.cli.access import Access, option
from mainspring.domain.parameters import loads_strict
from mainspring.errors import InvalidInput
from mainspring.importers import pipeline as pipelines
from mainspring.importers import wfformat as wfformats
from mainspring.importers.found import Found

File = Annotated[Path, Parameter(name="FILE", help="What to read.")]
Scale = Annotated[float, option("Times of the file are taken times this; 0 (the default): no time.", "N")]


def wfformat(file: File, /, *, scale: Scale = 0.0, access: Access = of.DEFAULT) -> int:
    """Import an instance of WfFormat as a workflow, and print its name. Its programs are never run.

    Each task becomes a node that takes the time that was measured, times the scale. To run it, start a worker with
    --app mainspring.importers.stand_ins:app.
    """
    return _registered(wfformats.read(_document(file), scale=scale), access)


def pipeline(file: File, /, *, scale: Scale = 0.0, access: Access = of.DEFAULT) -> int:
    """Import a pipeline in the neutral JSON, with what it nests, and print the names. Its commands are never run.

    Each node becomes one that ends as the file says it does. To run it, start a worker with
    --app mainspring.importers.stand_ins:app.
    """
    return _registered(pipelines.read(_document(file), scale=scale), access)


def _document(file: Path) -> Any:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{file} can't be read: {error.strerror}.", field="FILE") from error
    return loads_strict(data, file.name)


def _registered(found: Found, access: Access) -> int:
    """Make the workflows known, those that are nested first, and the tasks that stand in for what was found."""
    from mainspring.importers.stand_ins import app  # loads the SDK, which no other command needs

    with access.client(make=True, actor=of.operator()) as client:
        client.declare(app.catalog())
        for document in found.workflows:
            client.put_workflow(document)
    names = [document.name for document in found.workflows]
    if access.json:
        show.as_json(names)
        return 0
    for name in names:
        show.line(name)
    for note in found.notes:
        show.note(note)
    return 0
