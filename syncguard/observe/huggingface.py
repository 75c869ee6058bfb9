"""A callback of the Hugging Face Trainer that says where a training step ends, and can refuse steps that wait."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from syncguard.observe.forbid import budget, step

TrainerCallback: Any = import_module("transformers").TrainerCallback


class Steps(TrainerCallback):  # type: ignore[misc]
    """A step is one of the Trainer's. With a `budget`, SyncError at the wait after so many in one of them."""

    def __init__(self, budget: int | None = None) -> None:
        self.budget = budget
        self._region: Any = None

    def on_step_begin(self, *_: Any, **__: Any) -> None:
        if self.budget is not None:
            self._region = budget(self.budget)
            self._region.__enter__()

    def on_step_end(self, *_: Any, **__: Any) -> None:
        if self._region is not None:
            self._region.__exit__()
            self._region = None
        step()
