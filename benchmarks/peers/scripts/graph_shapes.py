"""The graphs that all run: of each node, by number, the numbers of those that it needs. Standard library only."""

from __future__ import annotations

CHAIN = 100
WIDTH = 500
LAYERS = 50

Needs = list[list[int]]


def needs_of(shape: str, nodes: int) -> Needs:
    """``chain``, ``fan`` (one, many, one), or ``layers`` of ``nodes`` nodes in all, two needs each."""
    if shape == "chain":
        return [[number - 1] if number else [] for number in range(CHAIN)]
    if shape == "fan":
        return [[], *([0] for _ in range(WIDTH)), list(range(1, WIDTH + 1))]
    width = nodes // LAYERS
    found: Needs = []
    for number in range(LAYERS * width):
        layer, place = divmod(number, width)
        above = (layer - 1) * width
        found.append(sorted({above + place, above + (place + 1) % width}) if layer else [])
    return found
