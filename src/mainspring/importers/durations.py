"""Lengths of time as other systems write them: ``30``, ``"15s"``, ``"1d"``, ``"PT0.25S"``, ``{"seconds": 3}``."""

from __future__ import annotations

import re
from typing import Any

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)?", re.IGNORECASE)
_ISO = re.compile(r"P(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?", re.IGNORECASE)


def length(value: Any) -> float | None:
    """Seconds, or None for what is no length of time."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, dict):
        parts = [length(f"{amount}{str(unit)[:1]}") for unit, amount in value.items()]
        return None if None in parts else sum(part for part in parts if part is not None)
    if not isinstance(value, str):
        return None
    text = value.strip()
    iso = _ISO.fullmatch(text)
    if iso and len(text) > 1:
        return sum(float(amount) * _UNITS[unit] for unit, amount in iso.groupdict().items() if amount)
    total, end = 0.0, 0
    for match in _PART.finditer(text):
        if text[end : match.start()].strip():
            return None
        total += float(match[1]) * _UNITS[(match[2] or "s").lower()]
        end = match.end()
    return total if text and end == len(text) else None
