"""Attributes of torch set for as long as a simulation lasts, and put back in the reverse order."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

ABSENT = object()


class Patches:
    """What was set, and what was there before."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any]] = []
        self._entries: list[tuple[dict[Any, Any], dict[Any, Any]]] = []

    def set(self, owner: Any, name: str, value: Any) -> None:
        before = vars(owner).get(name, ABSENT) if hasattr(owner, "__dict__") else getattr(owner, name, ABSENT)
        self._before.append((owner, name, before))
        setattr(owner, name, value)

    def everywhere(self, changes: Mapping[str, tuple[Any, Any]], prefix: str) -> None:
        """Wherever a loaded module of this package bound one of these names to the original: (original, value)."""
        names = changes.keys()
        for path, module in list(sys.modules.items()):
            if path.startswith(prefix):
                space = getattr(module, "__dict__", {})
                for name in names & space.keys():
                    original, value = changes[name]
                    if space[name] is original:
                        self.set(module, name, value)

    def wrap(self, owner: Any, name: str, wrapper: Callable[[Any], Any]) -> None:
        if (original := getattr(owner, name, None)) is not None:
            self.set(owner, name, wrapper(original))

    def items(self, table: dict[Any, Any], values: dict[Any, Any]) -> None:
        """Entries of a dictionary that there are already."""
        self._entries.append((table, {key: table[key] for key in values}))
        table.update(values)

    def undo(self) -> None:
        while self._entries:
            table, entries = self._entries.pop()
            table.update(entries)
        while self._before:
            owner, name, before = self._before.pop()
            if before is ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
