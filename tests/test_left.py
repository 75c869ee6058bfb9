"""What a parameter is left with where a caller gives it nothing: a function, or the CPU."""

import pytest
from checked import codes, findings

LAMBDAS = """
import torch

def train(model, batches, read={default}):
    for batch in batches:
        loss = model(batch)
        loss.backward()
        read(batch, loss)
"""


@pytest.mark.parametrize(
    ("default", "found"),
    [
        ("lambda x, loss: loss.item()", ["SG201"]),
        ("lambda x, loss: loss.detach()", []),
        ("None", []),
    ],
)
def test_a_function_that_is_a_default_is_called_with_what_is_given(default: str, found: list[str]) -> None:
    assert codes(LAMBDAS.format(default=default)) == found


def test_what_is_declared_to_be_a_function_may_be_the_default_as_well() -> None:
    text = LAMBDAS.format(default="lambda x, loss: loss.item()").replace("read=", "read: Callable[..., object] = ")
    assert codes("from collections.abc import Callable\n" + text) == ["SG201"]


SUMS = """
import torch

class Mean:
    def __init__(self, device{default}):
        self.device = torch.device(device)

    def update(self, x: torch.Tensor):
        return {value}.to(self.device)
"""


@pytest.mark.parametrize(
    ("default", "value", "found"),
    [
        ('="cpu"', "x.sum()", ["SG202"]),
        (': str | torch.device = torch.device("cpu")', "(x + 1).mean()", ["SG202"]),
        ('="cpu"', "x", []),
        ('="cpu"', "(x > 0)", []),
        ('="cuda"', "x.sum()", []),
        ("=None", "x.sum()", []),
        ("", "x.sum()", []),
    ],
)
def test_a_sum_goes_to_the_host_where_no_other_device_is_asked_for(default: str, value: str, found: list[str]) -> None:
    assert codes(SUMS.format(default=default, value=value)) == found


def test_who_names_a_device_keeps_the_sum_there() -> None:
    assert codes(SUMS.format(default='="cpu"', value="x.sum()") + "\nMean('cuda:1')\n") == []


def test_it_is_told_which_device_is_left_out() -> None:
    (found,) = findings(SUMS.format(default='="cpu"', value="x.sum()"))
    assert [fact.line for fact in found.because] == [8, 9, 5]
    assert "is the CPU where nothing else is asked for" in found.because[-1].text


KEPT = """
import torch

class Counts:
    def __init__(self, model, device="cpu"):
        self.device = torch.device(device)
        self.model = model
        self.counts = torch.zeros(4, device=self.device)
        self.seen = {{}}

    def update(self, x: torch.Tensor):
        x = x.detach().to(self.device{asked})
        {kept}
"""


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        ("self.counts += x.sum(dim=0)", ["SG202"]),
        ("self.counts = self.counts + x.sum(dim=0)", ["SG202"]),
        ("self.counts = torch.cat([self.counts, x])", ["SG202"]),
        ("self.seen['x'].append(x)", ["SG202"]),
        ("y, z = x > 0, 2; self.counts += (y * z).sum(dim=0)", ["SG202"]),
        ("self.last = x", []),
        ("self.counts += self.model(x)", []),
        ("self.counts += x.shape[0]", []),
        ("self.counts += len(x)", []),
        ("y = self.model(x); self.counts += y.sum(dim=0)", []),
        ("return x.sum(dim=0)", []),
        ("self.last = self.last.to(self.device)", []),
        ("last = self.last.to(self.device); self.last = last", []),
    ],
)
def test_what_is_added_up_goes_to_the_host_where_no_other_device_is_asked_for(kept: str, found: list[str]) -> None:
    assert codes(KEPT.format(kept=kept, asked="")) == found


def test_a_copy_that_nobody_waits_for_is_none_that_is_added_up() -> None:
    assert codes(KEPT.format(kept="self.counts += x.sum(dim=0)", asked=", non_blocking=True")) == []


def test_a_module_is_moved_with_what_it_keeps() -> None:
    text = KEPT.format(kept="self.counts += x.sum(dim=0)", asked="")
    assert codes(text.replace("class Counts", "class Counts(torch.nn.Module)")) == []
