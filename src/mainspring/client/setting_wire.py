"""The wire forms of the configuration, as REST answers and ``--json`` prints them. Passwords are left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mainspring.clock import instant_text
from mainspring.domain.address import shown
from mainspring.domain.configured import Edit, Holding, plain


def holding_wire(one: Holding) -> dict[str, Any]:
    """A setting. ``source``: the layer of its value, ``place``: where in it; ``takes_effect``: when a change does."""
    key = one.key
    value = plain(key, one.value)
    return {
        "name": key.text,
        "value": shown(value) if isinstance(value, str) else value,
        "source": one.layer.value,
        "place": one.place,
        "default": key.setting.default_text or None,
        "takes_effect": "restart" if key.setting.restart_only else "now",
        "description": key.setting.sentence,
    }


def edit_wire(edit: Edit) -> dict[str, Any]:
    """A change of the configuration; ``seq`` is the cursor. null stands where nothing was or is said."""
    return {
        "seq": edit.seq,
        "at": instant_text(edit.at),
        "actor": edit.actor,
        "source": edit.layer.value,
        "before": _shown(edit.before),
        "after": _shown(edit.after),
    }


def _shown(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: shown(value) if isinstance(value, str) else value for name, value in values.items()}
