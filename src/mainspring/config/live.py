"""Live: the configuration of a running process. Its file is looked at again, and what the store holds comes on top.

A change is taken whole or not at all: what is wrong with it is said once, and all goes on as before. Must not open a
store; whoever has one hands over what it holds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from mainspring.config.file import settings_of
from mainspring.config.layers import Loaded, defaults
from mainspring.domain.address import shown
from mainspring.domain.configured import Holding, Kept, Layers, Stated, holding, stated_of, winner
from mainspring.domain.setting import BY_NAME, Layer, Settings, value_text
from mainspring.errors import InvalidSetting

_Mark = tuple[int, int, int] | None


class Live:
    """What holds in this process. ``say`` is told what changed, and why something did not.

    ``sound``: whether the file, as it was last looked at, is what holds.
    """

    def __init__(self, loaded: Loaded, say: Callable[[str], None] = lambda _: None) -> None:
        self.loaded = loaded
        self._say = say
        self._path = Path(loaded.file)
        self.sound = False
        self._seen: _Mark = None
        self._told = ""
        self._asked = True  # whoever loaded it may have done so some time ago
        self._started = loaded
        self._more: Callable[[Path], object] = lambda _: None

    @property
    def settings(self) -> Settings:
        """The effective values."""
        return self.loaded.settings

    def holdings(self, kept: Iterable[Kept]) -> list[Holding]:
        """Every setting with what holds in this process, and why: what is read at start only as it was then.

        ``kept``: what the store holds.
        """
        found = list(kept)
        layers = self.loaded.layers | {
            Layer.FILE: stated_of(found, Layer.FILE) | self.loaded.layers.get(Layer.FILE, {}),
            Layer.STORE: stated_of(found, Layer.STORE),
        }
        late = {one.key: one for one in _all(self._started.layers) if one.key.setting.restart_only}
        return [late.get(one.key, one) for one in _all(layers)]

    def reads(self, more: Callable[[Path], object]) -> None:
        """``more`` reads what else the file says; where it raises InvalidSetting, nothing of the file is taken."""
        self._more = more

    def hear(self) -> None:
        """Somebody wants the file to be read again, whether it seems to have changed or not (SIGHUP)."""
        self._asked = True

    def look(self) -> bool:
        """Look at the file; whether something else holds now."""
        mark = _mark(self._path)
        if mark == self._seen and not self._asked:
            return False
        self._seen, self._asked = mark, False
        self.sound = mark is None and not self.loaded.layers.get(Layer.FILE)
        if mark is None:
            if self.loaded.layers.get(Layer.FILE):
                self._once(f"{self._path} is gone; what it said holds until the next start.")
            return False
        try:
            stated = settings_of(self._path)
            self._more(self._path)
        except InvalidSetting as error:
            self._once(f"{error} Nothing was changed.")
            return False
        self._told, self.sound = "", True
        return self._take(Layer.FILE, stated)

    def store_holds(self, stated: Mapping[str, Stated]) -> bool:
        """What the store states; whether something else holds now."""
        return self._take(Layer.STORE, stated)

    def _take(self, layer: Layer, stated: Mapping[str, Stated]) -> bool:
        before, self.loaded = self.loaded, self.loaded.restated(layer, stated)
        changed = [name for name in BY_NAME if getattr(before.settings, name) != getattr(self.settings, name)]
        for name in changed:
            setting, value = BY_NAME[name], getattr(self.settings, name)
            text = setting.default_text if value is None else shown(value_text(setting, value))
            now, late = ("", "; it takes effect at the next start") if setting.restart_only else (" now", "")
            self._say(f"{name} is {text or 'not set'}{now} ({self.loaded.origins[name]}){late}")
        return before.layers.get(layer, {}) != self.loaded.layers[layer]

    def _once(self, text: str) -> None:
        """Say it, unless it was the last thing said."""
        if text != self._told:
            self._say(text)
        self._told = text


def _all(layers: Layers) -> list[Holding]:
    stated = {name: found[1].value for name in BY_NAME if (found := winner(layers, name, "")) is not None}
    return list(holding(layers, defaults(stated)))


def _mark(path: Path) -> _Mark:
    """What tells one version of a file from another; None when there is none that could be read."""
    try:
        found = os.stat(path)  # noqa: PTH116 - follows links, as a mounted configuration is one that moves on
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
