"""A Lightning callback that says where a training step ends, and can refuse steps that wait."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from syncguard.observe.forbid import budget, step

NAME = "lightning.pytorch" if find_spec("lightning") else "pytorch_lightning"
Callback: Any = import_module(f"{NAME}.callbacks").Callback


class Steps(Callback):  # type: ignore[misc]
    """A step is a training batch. With a `budget`, SyncError at the wait after so many in one batch."""

    def __init__(self, budget: int | None = None) -> None:
        self.budget = budget
        self._region: Any = None

    def on_train_batch_start(self, *_: Any, **__: Any) -> None:
        if self.budget is not None:
            self._region = budget(self.budget)
            self._region.__enter__()

    def on_train_batch_end(self, *_: Any, **__: Any) -> None:
        self.leave()
        step()

    def on_exception(self, *_: Any, **__: Any) -> None:
        self.leave()

    def leave(self) -> None:
        """Lift the budget of the batch."""
        if self._region is not None:
            self._region.__exit__()
            self._region = None
