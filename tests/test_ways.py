"""Of a call that waits in several ways, the message names those that it meets."""

from __future__ import annotations

import pytest
from checked import findings

HEAD = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
LENGTHS, TARGETS, MEAN = "lengths on the device", "with targets on the device", "the mean"


@pytest.mark.parametrize(("given", "said"), [
    ("y, n, m", (LENGTHS, TARGETS, MEAN)),
    ("y, n, m, reduction='sum'", (LENGTHS, TARGETS)),
    ("y, [8], [4], reduction='none'", (TARGETS,)),
    ("y.cpu(), [8], [4]", (MEAN,)),
    ("y.cpu(), n, m, reduction='sum'", (LENGTHS,)),
])  # fmt: skip
@pytest.mark.parametrize("name", ["F.ctc_loss", "torch.ctc_loss"])
def test_a_loss_names_the_copies_that_it_makes(name: str, given: str, said: tuple[str, ...]) -> None:
    text = (
        f"def f(x: torch.Tensor, y: torch.Tensor, n: torch.Tensor, m: torch.Tensor):\n    return {name}(x, {given})\n"
    )
    found = [one for one in findings(text, HEAD) if one.code == "SG505"]
    assert [tuple(way for way in (LENGTHS, TARGETS, MEAN) if way in one.message) for one in found] == [said]


def test_a_module_is_asked_for_its_reduction() -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.loss = nn.CTCLoss(reduction="sum")

            def forward(self, x: torch.Tensor, y: torch.Tensor):
                return self.loss(x, y, (8,), (4,))
    """
    (found,) = findings(text, HEAD)
    assert TARGETS in found.message
    assert MEAN not in found.message
    assert LENGTHS not in found.message


def test_a_mask_of_the_host_that_is_written_through_is_told_to_copy_the_number_alone() -> None:
    text = "def f(x: torch.Tensor):\n    x[torch.arange(8) > 2] = 0.0\n"
    (found,) = findings(text, HEAD)
    assert found.code == "SG302"
    assert found.hint.startswith("It is the number that is copied.")
