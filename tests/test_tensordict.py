"""What is taken from a dict of tensors, of a library that is not installed here."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = """import torch
from tensordict import TensorDict, TensorDictBase


def f(x: torch.Tensor, td: TensorDict, other: TensorDictBase):
    """

codes = partial(checked.codes, head=HEAD)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("n = td['a'].item()", ["SG201"]),
        ("n = other.get('a').item()", ["SG201"]),
        ("n = td['a', 'b'].sum().item()", ["SG201"]),
        ("n = td.get(('a', 'b')).tolist()", ["SG202"]),
        ("mask = td['mask'].bool()\n    return x[mask]", ["SG102"]),
        ("for value in td.values(): value.item()", ["SG201"]),
        ("for key, value in td.select('a').items(): value.item()", ["SG201"]),
        ("n = td.clone().detach()['a'].item()", ["SG201"]),
        ("part = td[x > 0]", ["SG102"]),
        ("td = td.to('cpu')", ["SG202"]),
        ("td = td.cpu()", ["SG202"]),
    ],
)
def test_its_items_are_on_the_device(text: str, found: list[str]) -> None:
    assert codes(text) == found


def test_what_it_is_reshaped_to_is_no_tuple_of_it_and_the_sizes() -> None:
    assert codes("rows = torch.arange(3, device='cuda')\n    return td.flatten(0, 1)[rows], td.reshape(-1)[rows]") == []


@pytest.mark.parametrize("move", ["td.cpu()", "td.to('cpu')", "td.to(device='cpu')"])
def test_what_was_fetched_waits_once(move: str) -> None:
    assert codes(f"td = {move}\n    return td['a'].item(), td.get('b').tolist(), td.cpu()") == ["SG202"]


@pytest.mark.parametrize(
    "text",
    [
        "if td['use_padding']: return x",
        "if td.get('scale', 1.0) > 0.5: return x",
        "return [name for name in td['names'] if name == 'a']",
        "return td.shape, td.batch_size[0], td.device",
    ],
)
def test_what_may_be_no_tensor_is_quiet(text: str) -> None:
    assert codes(text) == []


def test_what_holds_them_is_fetched_with_them() -> None:
    text = """
    import torch

    def render(td, demand):
        td = td.detach().cpu()
        scale = td["scale"] * 2
        for x, y in zip(td["x"] * scale, td["y"]):
            print(x.item(), y.item())
        return td["z"].tolist()
    """
    assert checked.codes(text) == ["SG202"]


def test_a_dataset_holds_them_on_the_host() -> None:
    text = """
    from tensordict import TensorDict
    from torch.utils.data import Dataset


    class Items(Dataset):
        def __getitem__(self, i):
            td: TensorDict = self.read(i)
            return td["a"].item(), td["mask"].bool().any().item()
    """
    assert checked.codes(text) == []


LOADED = """
import torch
from tensordict import TensorDict
from torch.utils.data import DataLoader


def run(loader: DataLoader, model, device):
    for batch in loader:
        td = {}
        counts: torch.Tensor = td["x"].offsets().diff()
        counts.tolist()
        td["x"].sum().item()
"""


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("TensorDict(source=batch, batch_size=[4])", []),
        ("TensorDict(batch.copy(), [4], device=None)", []),
        ("TensorDict(batch, [4], device=device)", ["SG202", "SG201"]),
        ("TensorDict(batch, [4]).to(device)", ["SG202", "SG201"]),
        ("TensorDict({'x': model(batch['x'])}, [4])", ["SG202", "SG201"]),
    ],
)
def test_what_is_made_of_what_a_loader_gave_is_on_the_host(made: str, found: list[str]) -> None:
    assert checked.codes(LOADED.format(made)) == found


def test_of_tensors_of_the_host_it_is_there() -> None:
    made = "made = TensorDict({'a': torch.ones(3), 'b': torch.zeros(3)}, batch_size=[3])"
    assert codes(f"{made}\n    return made['a'].sum().item(), made[1:]['b'].tolist()") == []
    assert codes(f"{made.replace('torch.zeros(3)', 'x')}\n    return made['a'].sum().item()") == ["SG201"]
    assert codes(f"{made}\n    return made.to('cuda')['a'].sum().item()") == ["SG201"]


def test_what_is_moved_further_down_may_be_on_the_host() -> None:
    assert codes("n = td['a'].sum().item()\n    td = td.to('cuda')\n    return td, n") == []
    assert codes("td = td.to('cuda')\n    return td['a'].sum().item()") == ["SG201"]
    assert codes("n = td['a'].sum().item()\n    td = td.to(x.device)\n    return td, n") == ["SG201"]
