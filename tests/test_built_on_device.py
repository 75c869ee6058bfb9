"""Files that say at their top where what names no device is built."""

from __future__ import annotations

import pytest
from orders import in_any_order

TEXT = """import torch
{top}

def train(batches):
    layer = torch.nn.Linear(4, 4)
    for x in batches:
        y = layer(torch.randn(2, 4)).sum()
        y.backward()
        print(y.item())
"""


@pytest.mark.parametrize(
    ("top", "waits"),
    [
        ('torch.set_default_device("cuda")', True),
        ('torch.set_default_device("cuda:1")', True),
        ('torch.set_default_device(torch.device("cuda"))', True),
        ('if torch.cuda.is_available():\n    torch.set_default_device("cuda")', True),
        ("torch.set_default_device(chosen())", True),
        ("torch.set_default_tensor_type(torch.cuda.FloatTensor)", True),
        ('torch.set_default_tensor_type("torch.cuda.FloatTensor")', True),
        ("torch.set_default_tensor_type(torch.DoubleTensor)", False),
        ('torch.set_default_device("cpu")', False),
        ('torch.set_default_device(torch.device("cpu"))', False),
        ('def later():\n    torch.set_default_device("cuda")', False),
        ("", False),
    ],
)
def test_a_file_that_builds_on_the_device(tmp_path, monkeypatch, top, waits):
    monkeypatch.chdir(tmp_path)
    found = in_any_order(tmp_path, {"one": TEXT.replace("{top}", top)})
    assert ("SG201" in {code for _, _, code in found}) == waits


def test_other_files_build_where_they_did(tmp_path, monkeypatch):
    """Whichever is read first."""
    monkeypatch.chdir(tmp_path)
    there = 'import torch\nfrom two import ones\ntorch.set_default_device("cuda")\n\n\n'
    there += "def f():\n    return ones().sum().item()\n"
    here = "import torch\n\n\ndef ones():\n    return torch.ones(3)\n\n\ndef g():\n    return ones().sum().item()\n"
    found = in_any_order(tmp_path, {"one": there, "two": here})
    assert [(path, line) for path, line, code in found if code == "SG201"] == [("one.py", 7)]


CHOSEN = """import torch


def total(rows: list, small: bool):
    place = {place}
    x = torch.tensor(rows).to(place)
    return x.sum().item()
"""


@pytest.mark.parametrize(
    ("place", "waits"),
    [
        ('"cuda" if torch.cuda.is_available() and not small else "cpu"', True),
        ('"cpu" if small else "cuda:1"', True),
        ('torch.device("cpu" if small else "cuda")', True),
        ('"cpu" if small else "cpu:0"', False),
        ('"cpu" if small else "meta"', False),
    ],
)
def test_one_of_two_names_is_a_device_where_one_of_them_is_no_host(tmp_path, monkeypatch, place, waits):
    monkeypatch.chdir(tmp_path)
    found = in_any_order(tmp_path, {"one": CHOSEN.replace("{place}", place)})
    assert ("SG201" in {code for _, _, code in found}) == waits
