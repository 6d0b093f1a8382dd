"""Pictures of workflows and runs: what stands in them, whatever the names are."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from mainspring.clock import Instant
from mainspring.domain.graph import compiled
from mainspring.domain.joins import NodeState
from mainspring.domain.pictures.diagram import dot, mermaid
from mainspring.domain.pictures.gantt import MOST_ROWS, gantt
from mainspring.domain.pictures.layered import layered
from mainspring.domain.pictures.seen import Seen, critical_path, layers, of_graph
from mainspring.domain.workflow import Node, Workflow

SECOND = 1_000_000


def at(seconds: float) -> Instant:
    return Instant(int(seconds * SECOND))


NOW = at(10)
RUN = [
    Seen("raw", (), "t", NodeState.SUCCEEDED, "", at(0), at(1)),
    Seen("clean", ("raw",), "t", NodeState.SUCCEEDED, "", at(1), at(4), items=3, ended=3),
    Seen("lint", ("raw",), "t", NodeState.FAILED, "", at(1), at(2)),
    Seen("load", ("clean", "lint"), "t", NodeState.SKIPPED, "upstream_failed"),
    Seen("join", ("clean",), "", NodeState.SUCCEEDED, "", at(4), at(4)),
    Seen("late", ("join",), "t", NodeState.ACTIVE, "", at(5)),
]


def test_layers_follow_the_longest_way() -> None:
    names = [[node.name for node in layer] for layer in layers(RUN)]
    assert names == [["raw"], ["clean", "lint"], ["load", "join"], ["late"]]


def test_a_long_chain_is_no_matter() -> None:
    chain = [Seen(str(n), (str(n - 1),) if n else ()) for n in range(20_000)]
    assert len(layers(chain[::-1])) == 20_000


def test_the_critical_path_goes_back_to_what_ended_last() -> None:
    assert critical_path(RUN) == ["raw", "clean", "join"]
    assert critical_path([Seen("a")]) == []


def test_the_terminal_shows_states_lengths_and_the_critical_path() -> None:
    rows = layered(RUN, NOW)
    text = [row.text for row in rows]
    assert text[0].startswith("* ✓ raw")
    assert "1.00s" in text[0]
    assert text[1] == "  │"
    assert text[2].startswith("* ✓ clean [3/3]")
    assert "3.00s" in text[2]
    assert "← raw" in text[2]
    assert text[3].startswith("  ✗ lint")
    assert "skipped (upstream_failed)" in text[5]
    assert "5.00s" in text[-1]
    assert rows[3].state is NodeState.FAILED
    assert rows[0].critical


def test_a_wide_layer_shows_what_matters_and_counts_the_rest() -> None:
    wide = [Seen(f"n{n}", (), "t", NodeState.SUCCEEDED, "", at(0), at(1)) for n in range(500)]
    wide.append(Seen("bad", (), "t", NodeState.FAILED, "", at(0), at(0.5)))
    text = [row.text for row in layered(wide, NOW)]
    assert len(text) == 3
    assert any("✗ bad" in line for line in text)
    assert text[-1] == "    … and 499 succeeded"


def test_a_definition_has_pictures_too() -> None:
    graph = compiled(Workflow("w", (Node("a", task="t"), Node('b"<x>', needs=("a",)))))
    seen = of_graph(graph)
    assert [row.text for row in layered(seen, NOW)] == ["  o a", "  │", '  o b"<x>  ← a']
    assert '    n0["a"]' in mermaid("w", seen)
    assert '    n1(("b#quot;#lt;x#gt;"))' in mermaid("w", seen)
    assert "n0 --> n1" in mermaid("w", seen)
    assert '    n1 [label="b\\"<x>", fillcolor="#ffffff", shape=circle];' in dot("w", seen)


def test_mermaid_and_dot_tell_states() -> None:
    assert 'n3["load<br>skipped: upstream_failed"]:::skipped' in mermaid("run 1", RUN)
    assert "classDef failed fill" in mermaid("run 1", RUN)
    drawn = dot("run 1", RUN)
    assert "n0 -> n1 [penwidth=3];" in drawn
    assert "n0 -> n2;" in drawn
    assert drawn.count("{") == drawn.count("}") == 1


@pytest.mark.parametrize("title", ["run 1", '<&">'])
def test_the_gantt_chart_is_svg_with_a_row_for_each_node_that_began(title: str) -> None:
    root = ET.fromstring(gantt(title, [*RUN, Seen("a<b&c", (), "t", NodeState.FAILED, "", at(2), at(3))], NOW))
    bars = [one for one in root.iter() if one.tag.endswith("rect")][1:]
    assert len(bars) == 6
    widths = [float(bar.attrib["width"]) for bar in bars]
    assert widths[0] == pytest.approx(76)
    assert sum("stroke" in bar.attrib for bar in bars) == 3
    assert any(one.text and "a<b&c" in one.text for one in root.iter())


def test_a_chart_of_very_many_nodes_keeps_the_longest() -> None:
    many = [Seen(str(n), (), "t", NodeState.SUCCEEDED, "", at(0), at(n)) for n in range(MOST_ROWS + 5)]
    root = ET.fromstring(gantt("run", many, at(2000)))
    assert sum(one.tag.endswith("rect") for one in root.iter()) == MOST_ROWS + 1
    assert "5 shorter nodes are left out" in "".join(one.text or "" for one in root.iter())


def test_an_empty_run_has_pictures() -> None:
    assert layered([], NOW) == []
    ET.fromstring(gantt("run", [], NOW))
