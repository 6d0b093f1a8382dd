"""The text that Prometheus reads (exposition format 0.0.4): families of samples, written down. It measures nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Sample(NamedTuple):
    """One number. ``suffix``: of its name, in a histogram."""

    value: float
    labels: Mapping[str, str] = {}
    suffix: str = ""


class Family(NamedTuple):
    """Numbers of one kind: ``counter``, ``gauge`` or ``histogram``."""

    name: str
    kind: str
    sentence: str
    samples: Sequence[Sample]


def text(families: Iterable[Family]) -> bytes:
    """All of them. Each name stands once."""
    lines: list[str] = []
    for one in families:
        lines += [f"# HELP {one.name} {one.sentence}", f"# TYPE {one.name} {one.kind}"]
        lines += [f"{one.name}{s.suffix}{_labels(s.labels)} {_number(s.value)}" for s in one.samples]
    return ("\n".join(lines) + "\n").encode()


def histogram(
    counts: Mapping[int, int], bounds: Sequence[float], total: float, labels: Mapping[str, str]
) -> list[Sample]:
    """The samples of one histogram. ``counts``: by bucket; the last bucket is behind the last bound."""
    samples, passed = [], 0
    for bucket, bound in enumerate(bounds):
        passed += counts.get(bucket, 0)
        samples.append(Sample(passed, {**labels, "le": _number(bound)}, "_bucket"))
    whole = sum(counts.values())
    samples.append(Sample(whole, {**labels, "le": "+Inf"}, "_bucket"))
    return [*samples, Sample(total, labels, "_sum"), Sample(whole, labels, "_count")]


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)
