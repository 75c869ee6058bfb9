"""A dict that is declared to hold tensors and makes those that are not there: these are where it makes them, unless
others are put there."""

import pytest
from checked import codes

TEXT = """
from collections import defaultdict
import torch

def summed(x: torch.Tensor, names: list[str]):
    found: dict[str, torch.Tensor] = defaultdict(lambda: torch.tensor(0.0))
    for name in names:
        {filled}
    return {read}
"""
READ = 'found["all"].item()'


@pytest.mark.parametrize(
    ("filled", "read", "expected"),
    [
        ("found[name] += 1", READ, []),
        ("found[name] += torch.tensor(1)", READ, []),
        ("found[name] += x.sum()", READ, []),  # where `x` is on the device, torch raises
        ("found[name] = found[name] + x.sum()", READ, ["SG201"]),
        ("found[name] = x.sum()", READ, ["SG201"]),
        ("found[name] = x", "[one.tolist() for one in found.values()]", ["SG202"]),
    ],
)
def test_what_is_put_there_tells(filled, read, expected):
    assert codes(TEXT.format(filled=filled, read=read)) == expected


REPLACED = """
import torch

def totals(given, names, many):
    found = {{}}
    for name in names:
        {first}
        {then}
        {last}
    return f"{{found}}"
"""
TOTAL, READ_BACK = "found[name] = torch.tensor(given[name], device='cuda')", "found[name] = found[name].item()"


@pytest.mark.parametrize(
    ("first", "then", "last", "expected"),
    [
        (TOTAL, "found[name] = found[name].item() if name else found[name].tolist()", "", []),
        (TOTAL, "print(name)", READ_BACK, []),
        (TOTAL, "if many: found[name] = 0.0", "", ["SG206"]),
        (TOTAL, "name = name.upper()", "found[name] = 0.0", ["SG206"]),
        (TOTAL, "found[many] = found[name]", READ_BACK, ["SG206"]),
        (READ_BACK, "", TOTAL, ["SG206"]),
    ],
)
def test_what_is_replaced_under_a_name_is_no_longer_there(first, then, last, expected):
    told = codes(REPLACED.format(first=first, then=then, last=last))
    assert [code for code in told if code == "SG206"] == expected


EACH_READ = """
import torch

def totals(x: torch.Tensor):
    found = {{"loss": x.sum(), "count": 3}}
    for key in found:
        {first}
        {then}
    return f"{{found['loss']}}"
"""
READ_KEY = "found[key] = found[key].item()"


@pytest.mark.parametrize(
    ("first", "then", "expected"),
    [
        ("", READ_KEY, []),
        ("print(key)", READ_KEY, []),
        ("", f"if torch.is_tensor(found[key]): {READ_KEY}", []),
        ("if not torch.is_tensor(found[key]): continue", READ_KEY, []),
        ("", f"if hasattr(found[key], 'item'): {READ_KEY}", []),
        ("", f"if isinstance(found[key], int): print(key)\n        else: {READ_KEY}", []),
        ("", f"if isinstance(found[key], float): found[key] = found[key]\n        else: {READ_KEY}", []),
        ("", f"if isinstance(found[key], float): found[key] = x\n        else: {READ_KEY}", ["SG206"]),
        ("", f"if key == 'count': {READ_KEY}", ["SG206"]),
        (READ_KEY, "found[key] = x", ["SG206"]),
        ("if key == 'loss': break", READ_KEY, ["SG206"]),
        ("if key == 'loss': continue", READ_KEY, ["SG206"]),
        ("if torch.is_tensor(found[key]) and key == 'loss': continue", READ_KEY, ["SG206"]),
    ],
)
def test_a_loop_that_reads_every_tensor_of_a_dict_leaves_none(first, then, expected):
    told = codes(EACH_READ.format(first=first, then=then))
    assert [code for code in told if code == "SG206"] == expected


def test_what_an_object_keeps_is_read_as_a_name_is():
    assert codes(EACH_READ.format(first="", then=READ_KEY).replace("found", "self.found")) == ["SG201"]


def test_a_loop_that_makes_lists_of_what_nobody_knows_puts_no_tensors_there():
    text = """
def table(metrics, name):
    for key in metrics:
        metrics[key] = list(set(metrics[key]))
    return name in metrics["all"]
"""
    assert codes(f"import torch\n{text}") == []
