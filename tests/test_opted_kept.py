"""What a constructor is given, though few give it, and keeps: a wait for that says what must be given."""

from __future__ import annotations

import pytest

from tests.test_opted import told

LOSS = """
    def as_row(x):
        return torch.tensor(x)


    class Loss(torch.nn.Module):
        def __init__(self, weight: list[float] | None = None, scale=None, given: list[float] = (), mask=None):
            super().__init__()
            {kept}

        def forward(self, x, y):
            loss = torch.nn.functional.mse_loss(x, y)
            if {test}:
                loss = loss * self.kept.to(x.device)
            return loss
    """
CHOICE = "self.kept = as_row(weight) if weight is not None else None"


@pytest.mark.parametrize(
    "kept",
    [
        CHOICE,
        "self.kept = None if weight is None else as_row(weight)",
        "self.kept = weight if weight is None else as_row(weight)",
        "if weight is not None: weight = as_row(weight)\n            self.kept = weight",
        "if weight is not None: self.kept = as_row(weight)\n            else: self.kept = None",
    ],
)
@pytest.mark.parametrize("test", ["self.kept is not None", "not self.kept is None"])
def test_what_is_there_only_where_it_is_given_says_so(kept: str, test: str) -> None:
    assert told(LOSS.format(kept=kept, test=test)) == [["only where `weight` is given"]]


@pytest.mark.parametrize(
    ("kept", "test"),
    [
        (CHOICE, "self.kept is None or x.dim() > 1"),
        ("self.kept = as_row(weight) if weight is not None else as_row([1.0])", "self.kept is not None"),
        ("self.kept = as_row(mask) if mask is not None else None", "self.kept is not None"),  # most give it
        ("self.kept = as_row(given) if len(given) else None", "self.kept is not None"),
        (CHOICE + "\n            if unseen(): self.kept = as_row([1.0])", "self.kept is not None"),
    ],
)
def test_what_is_there_all_the_same_says_nothing(kept: str, test: str) -> None:
    assert told(LOSS.format(kept=kept, test=test)) == [[]]


def test_what_another_method_makes_is_there_without_it() -> None:
    later = "\n        def fill(self):\n            self.kept = as_row([1.0])\n"
    assert told(LOSS.format(kept=CHOICE, test="self.kept is not None") + later) == [[]]
