"""``mainspring draw FILE``: check a workflow document and show its graph. Asks no database and runs nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from mainspring.cli import access as of
from mainspring.cli import show
from mainspring.cli.access import Access, option
from mainspring.clock import SystemClock
from mainspring.domain.graph import compiled
from mainspring.domain.pictures.diagram import dot, mermaid
from mainspring.domain.pictures.layered import layered
from mainspring.domain.pictures.seen import of_graph
from mainspring.domain.workflow import content_hash
from mainspring.errors import InvalidInput
from mainspring.importers import written


def draw(
    file: Annotated[Path, Parameter(name="FILE", help="A workflow document, YAML or JSON.")],
    /,
    *,
    format_: Annotated[
        Literal["text", "mermaid", "dot"],
        option("How: text (the default), mermaid or dot.", "FORMAT", name=("--format",)),
    ] = "text",
    access: Access = of.DEFAULT,
) -> int:
    """Check a workflow document, and show its nodes in layers, or as a Mermaid or DOT text.

    What is wrong is told with the line. Whether its tasks are known is asked when it is registered or run.
    """
    document = written.read(_text(file), file.name)
    graph = compiled(document)
    seen = of_graph(graph)
    if access.json:
        edges = sum(map(len, graph.needs))
        show.as_json(
            {"name": document.name, "hash": content_hash(document), "nodes": len(document.nodes), "edges": edges}
        )
    elif format_ == "text":
        for row in layered(seen, SystemClock().now()):
            show.line(row.text)
    else:
        show.line((mermaid if format_ == "mermaid" else dot)(document.name, seen).rstrip())
    return 0


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{file} can't be read: {error}.", remedy="Give a file in UTF-8.", field="FILE") from error
