"""What a function that calls what it is given returns to each of its callers."""

from __future__ import annotations

import pytest
from checked import codes, findings

HEAD = """import torch

def default(value, make):
    if value is not None:
        return value
    return make() if callable(make) else make

def noisy(x: torch.Tensor, noise=None):
    return x + default(noise, lambda: torch.randn_like(x))

"""


@pytest.mark.parametrize(
    ("given", "test"),
    [
        ("default(steps, 8)", "found"),
        ("default(steps, 8)", "found < 3"),
        ("default(steps, lambda: 0.5)", "found"),
        ("default(steps, make=lambda: 3)", "found > 2"),
        ("default(steps, len)", "found"),
        ("default(steps, default(other, 3))", "found"),
    ],
)
def test_who_passes_no_tensor_gets_none(given: str, test: str) -> None:
    text = f"def run(x: torch.Tensor, steps=None, other=None):\n    found = {given}\n    return 1 if {test} else 2\n"
    assert codes(text, HEAD) == []


@pytest.mark.parametrize(
    "given",
    [
        "default(steps, lambda: x.sum())",
        "default(steps, x.sum)",
        "default(steps, x)",
        "default(x, 3)",
        "default(steps, make=lambda: default(other, x))",
        "noisy(x)",
    ],
)
def test_who_passes_one_gets_it_back(given: str) -> None:
    text = f"def run(x: torch.Tensor, steps=None, other=None):\n    return 1 if {given} > 0 else 2\n"
    assert codes(text, HEAD) == ["SG204"]


def test_each_is_told_of_what_it_passed() -> None:
    first, second = findings(
        "def one(x: torch.Tensor):\n    return 1 if default(None, lambda: x) > 0 else 2\n\n"
        "def two(y: torch.Tensor):\n    return 1 if default(y, 3) > 0 else 2\n",
        HEAD,
    )
    assert "`x: torch.Tensor` is" in first.because[0].text
    assert "`y: torch.Tensor` is" in second.because[0].text


PAIR = """
import torch


class Schedule:
    def __init__(self, sigmas):
        self.sigmas = torch.from_numpy(sigmas).to("cpu")

    def pair(self, sigma):
        {made}

    def noised(self, x: torch.Tensor, t: torch.Tensor):
        a, s = self.pair(t.flatten())
        return a * x + s

    def step(self, x: torch.Tensor, i: int):
        a, s = self.pair(self.sigmas[i])
        rate = torch.log(a) - torch.log(s)
        print(rate.item())
        return x * torch.tensor([rate, 1.0], device=x.device)[0]
"""


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("return 1 - sigma, sigma", ["SG302"]),
        ("return [1 - sigma, sigma]", ["SG302"]),
        ("return sigma.cuda(), sigma.cuda()", ["SG201", "SG203"]),
    ],
)
def test_who_passes_what_is_on_the_host_gets_parts_that_are(made: str, found: list[str]) -> None:
    assert sorted(set(codes(PAIR.format(made=made)))) == found


def test_targets_that_are_made_on_the_host_are_copied_back() -> None:
    text = """
    class Head(torch.nn.Module):
        def forward(self, x, boxes):
            heat, mask = self.targets(boxes=boxes.cpu())
            return x * heat.to(x.device) + mask.to(x.device)

        def targets(self, boxes):
            \"\"\"The targets of these.

            Args:
                boxes: (N, 4)
            \"\"\"
            return boxes.new_zeros(4), boxes.sum(dim=1).long()
    """
    assert codes(text, "import torch\n") == ["SG202", "SG305", "SG305"]


def test_what_a_module_is_given_on_the_host_may_come_back_from_the_device() -> None:
    text = """
    class Net(torch.nn.Module):
        def forward(self, x):
            y = self.inner(x)
            return y.squeeze(), y

    class Learner:
        def __init__(self):
            self.net = Net()

        def step(self, z: torch.Tensor):
            y, _ = self.net(torch.randn(4))
            self.net(z)
            return y[1:].item()
    """
    assert codes(text, "import torch\n") == ["SG201"]


def test_what_a_function_gives_comes_of_what_its_caller_gave_it() -> None:
    text = """
import torch


def ended(x):
    return torch.cat([x, x.new_zeros([1])])


def first(n, device):
    steps = torch.linspace(0, 1, n)
    return ended(steps).to(device)


def second(n, device):
    times = torch.linspace(1, 0, n, device=device).exp()
    return ended(times).sum().item()
"""
    lines = {finding.site.line: [fact.line for fact in finding.because] for finding in findings(text)}
    assert set(lines[11]) <= {10, 6, 11}
    assert set(lines[16]) <= {15, 6, 16}
