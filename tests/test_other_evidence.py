"""What shows that a tensor waits counts whatever else stands beside it: arrays, unpickled objects, copies of modules,
names that a loop gives, helpers that move what they are given in its place."""

from __future__ import annotations

import packaged
import pytest
from checked import findings

ARRAYS = """
import numpy as np
import torch


def loss(pred, target):
    scale = np.concatenate([[1.0], [2.0]]).sum()
    diff = {left} - {right}
    return (diff**2).mean() * scale
"""
LOADED = """
import pickle
import torch


def made(path, x):
    with open(path, "rb") as file:
        net = {load}(file)
    return net.decode(x.cuda()).cpu().numpy()
"""
SET_LATER = """
import torch

{name} = None


def init():
    global {name}
    {name} = torch.device("cuda")


def total():
    device = {name} if {name} is not None else torch.device("cpu")
    return torch.zeros(3, device=device).cpu()
"""
PINNED = """
import torch


def fetched(x: torch.Tensor):
    out = torch.empty(x.shape, dtype=x.dtype{how})
    return out.copy_(x)
"""
COPIED = """
import copy
import torch


def kept(build, path):
    net = build()
    {use}
    return copy.deepcopy(net).cpu()
"""
LOOPED = """
import pandas as pd
import torch


class Found:
    def __init__(self, pred: list[torch.Tensor], names):
        self.low = pred
        self.high = [x * 2 for x in pred]
        self.names = {names}

    def rows(self):
        for key in {keys}:
            yield pd.DataFrame([x.tolist() for x in getattr(self, key)])
"""
MOVED = """
import dataclasses
import torch
from torch.utils.data import DataLoader


def moved(t):
    try:
        t = t.float().{move}
    except AttributeError:
        pass
    return t


def put(obj):
    {put}


def train(dataset):
    for batch in DataLoader(dataset, batch_size=2):
        {call}
        found = torch.nonzero(batch.mask)
"""
SEEDED = """
import torch


class Seeded:
    def __init__(self, device, seeds):
        self.drawn = [torch.Generator(device).manual_seed(seed) for seed in seeds]

    def randint(self, *args, size, **kwargs):
        return torch.stack([torch.randint(*args, size=size[1:], generator=one{more}) for one in self.drawn])


def labels(n, device=torch.device("cuda")):
    drawn = Seeded(device, [0, 1])
    return torch.eye(n, device=device)[drawn.randint(n, size=[2]{given})]
"""


def codes(text, *wanted):
    return [one.code for one in findings(text) if not wanted or one.code in wanted]


@pytest.mark.parametrize(
    ("left", "right", "count"),
    [("pred.cpu()", "target.cpu()", 2), ("pred.max()", "target", 0), ("pred.tolist()", "target", 0)],
    ids=["no array is fetched", "an array has a largest", "an array is listed"],
)
def test_arrays_beside_it_say_nothing_of_what_no_array_has(left, right, count):
    assert len(codes(ARRAYS.format(left=left, right=right))) == count


@pytest.mark.parametrize(("load", "expected"), [("pickle.load", ["SG202"]), ("yaml.safe_load", [])])
def test_what_is_unpickled_may_be_a_module(load, expected):
    assert codes("import yaml\n" + LOADED.format(load=load)) == expected


@pytest.mark.parametrize("name", ["_device", "device"])
def test_a_device_that_a_function_sets_is_one_of_any_kind(name):
    assert codes(SET_LATER.format(name=name)) == ["SG202"]


@pytest.mark.parametrize(("how", "expected"), [(", pin_memory=True", ["SG202"]), ("", [])])
def test_who_pins_memory_fetches_from_the_device(how, expected):
    assert codes(PINNED.format(how=how)) == expected


@pytest.mark.parametrize(
    ("use", "expected"), [("opt = torch.optim.Adam(net.parameters())", ["SG202"]), ("net.go()", [])]
)
def test_a_copy_of_a_module_is_fetched(use, expected):
    assert codes(COPIED.format(use=use)) == expected


@pytest.mark.parametrize(
    ("names", "keys", "expected"),
    [
        ("names", '["low", "high"]', ["SG202"]),
        ("names", '("low", "names")', ["SG202"]),
        ("names", "self.names", []),
        ("[str(one) for one in names]", '["names"]', []),
    ],
)
def test_names_that_a_loop_gives_are_asked_for_one_by_one(names, keys, expected):
    assert codes(LOOPED.format(names=names, keys=keys)) == expected


@pytest.mark.parametrize(
    ("put", "call", "move", "expected"),
    [
        ("obj.mask = obj.mask.cuda()", "put(batch)", "cuda()", ["SG101"]),
        ("obj.mask = moved(obj.mask)", "put(batch)", "cuda()", ["SG101"]),
        (
            "for one in dataclasses.fields(obj): setattr(obj, one.name, moved(getattr(obj, one.name)))",
            "put(batch)", "cuda()", ["SG101"],
        ),
("for key, value in obj.items(): obj[key] = value.cuda()", "put(batch)", "cuda()", ["SG101"]),
        ("for key in ('low', 'mask'): setattr(obj, key, getattr(obj, key).cuda())", "put(batch)", "cuda()", ["SG101"]),
        ("for key in ('low', 'high'): setattr(obj, key, getattr(obj, key).cuda())", "put(batch)", "cuda()", []),
        ("obj.low = obj.low.cuda()", "put(batch)", "cuda()", []),
        (
            "for key, value in obj.items(): obj[key] = value.cuda()\n    obj.low = obj.low.cuda()",
            "put(batch)", "cuda()", ["SG101"],
        ),
        ("obj.mask = torch.ones(3).cuda()", "put(batch)", "cuda()", []),
        ("obj = dict(obj); obj.mask = obj.mask.cuda()", "put(batch)", "cuda()", []),
        ("if dataset: obj.mask = obj.mask.cuda()", "put(batch)", "cuda()", []),
        ("obj.mask = obj.mask.to('cpu')", "put(batch)", "cuda()", []),
        ("obj.mask = obj.mask.float()", "put(batch)", "cuda()", []),
        ("obj = obj.mask.cuda()", "put(batch)", "cuda()", []),
        ("obj.mask = moved(obj.mask)", "put(batch)", "cpu()", []),
        ("obj.mask = obj.mask.cuda()", "put(dataset)", "cuda()", []),
    ],
)  # fmt: skip
def test_a_helper_moves_the_parts_of_what_it_is_given(put, call, move, expected):
    told = [one for one in findings(MOVED.format(put=put, call=call, move=move)) if one.code == "SG101"]
    assert [one.code for one in told] == expected
    reason = f"`{call.rpartition(': ')[2]}` moves what it holds to the device"
    assert all(reason in one.because[-1].text for one in told)


@pytest.mark.parametrize(
    ("put", "call", "expected"),
    [
        ("obj['mask'] = obj['mask'].cuda()", "put(batch)", ["SG101"]),
        ("obj['low'] = obj['low'].cuda()", "put(batch)", []),
        ("obj[key] = obj[key].cuda()", "put(batch, 'mask')", ["SG101"]),
        ("obj[key] = moved(obj[key])", "put(key='mask', obj=batch)", ["SG101"]),
        ("obj[key] = obj[key].cuda()", "put(batch, 'low')", []),
        ("obj[key] = obj[key].cuda()", "put(batch)", []),
        ("key = key.lower(); obj[key] = obj[key].cuda()", "put(batch, 'mask')", []),
        ("obj['low'], obj[key] = obj['low'].cuda(), obj[key].cuda()", "put(batch, 'mask')", ["SG101"]),
        ("for one in ('low', 'mask'): obj[one] = obj[one].cuda()", "put(batch)", ["SG101"]),
        ("for one in ('low', 'high'): obj[one] = obj[one].cuda()", "put(batch)", []),
        ("obj[key] = obj[key].to(device)", "put(batch, 'mask')", ["SG101"]),
        ("obj[key] = obj[key].to(device)", "put(batch, 'mask', 'cuda:1')", ["SG101"]),
        ("obj[key] = obj[key].to(device)", "put(batch, 'mask', 'cpu')", []),
        ("obj[key] = obj[key].to(device)", "put(batch, 'mask', device=torch.device('cpu'))", []),
    ],
)
def test_a_helper_moves_what_a_batch_has_under_a_key(put, call, expected):
    text = MOVED.format(put=put, call=call, move="cuda()").replace("batch.mask", "batch['mask']")
    assert codes(text.replace("def put(obj)", "def put(obj, key=None, device='cuda')"), "SG101") == expected


@pytest.mark.parametrize(
    ("more", "given", "expected"),
    [(", **kwargs", ", device=device", []), ("", "", ["SG307"])],
    ids=["what is handed on may name a device", "nothing names one"],
)
def test_what_is_handed_on_may_name_a_device(more, given, expected):
    assert codes(SEEDED.format(more=more, given=given), "SG307") == expected


ABOVE = """
import torch


class First:
    def get(self):
        return torch.ones(4, device="cuda")


class Second(First):
    def get(self):
        return "text"


class Third(Second):
    def told(self):
        return super({above}).get().tolist()
"""
HANDED = """
import torch
from library import make_algorithm


def train(loader, device):
    algorithm = make_algorithm("bc", device=device)
    losses = []
    for batch in loader:
        batch = {{key: value.{moved} for key, value in batch.items()}}
        losses.append(numpy.pi * algorithm.train({given})["loss"].item())
"""


@pytest.mark.parametrize(
    ("above", "expected"),
    [("Second, self", ["SG202"]), ("Third, self", []), ("", [])],
    ids=["above the second", "above its own class", "above"],
)
def test_the_search_begins_above_the_class_that_super_names(above, expected):
    assert codes(ABOVE.format(above=above)) == expected


@pytest.mark.parametrize(
    ("moved", "given", "expected"),
    [
        ("to(device, non_blocking=True)", "batch", ["SG209"]),
        ("to(device, non_blocking=True)", "[batch]", ["SG209"]),
        ("strip()", "batch", []),
    ],
)
def test_what_is_computed_from_a_dict_of_tensors_is_read(moved, given, expected):
    assert codes("import numpy\n" + HANDED.format(moved=moved, given=given), "SG209") == expected


LISTED = """
import numpy as np
import torch


def padded(net, images, device):
    rows = []
    for found in net.find({"images": images.to(device)}):
        if len(found) < 8:
            found = np.concatenate([found, np.zeros(8)])
        rows.append(found)
    return torch.tensor(rows, device=device)
"""


def test_a_list_of_arrays_is_data_whatever_else_its_items_may_be():
    assert "SG302" in codes(LISTED)


BROUGHT = """
import importlib
import torch

try:
    ops = importlib.import_module({name})
except ImportError:
    ops = None


class Norm(torch.nn.Module):
    def forward(self, x):
        return ops.{called}(x.view(-1, 4)).max().item()
"""


@pytest.mark.parametrize(
    ("name", "called", "expected"),
    [
        ("'fused_norm'", "forward", ["SG201"]),
        ("name='fused_norm'", "forward", ["SG201"]),
        ("'torch'", "exp", ["SG201"]),
        ("'json'", "dumps", []),
        ("__name__ + '.norm'", "forward", []),
    ],
)
def test_a_module_that_is_brought_in_by_its_name_is_that_module(name, called, expected):
    assert codes(BROUGHT.format(name=name, called=called)) == expected


OPS = """
def limit(x):
    total = 0
    for row in range(3):
        total = total + row
    if total:
        x = x * 2
    return int(x + total)
"""
USES = """
import importlib
import torch

ops = importlib.import_module({name})

def train():
    for step in range(9):
        ops.limit(torch.ones((), device="cuda"))

train()
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("'package.ops'", ["package/ops.py"]),
        ("'.ops', __package__", ["package/ops.py"]),
        ("'.ops', package=__package__", ["package/ops.py"]),
        ("'.ops', 'other'", []),
        ("'package.' + 'ops'", []),
    ],
)
def test_so_is_one_of_the_project(name, expected):
    files = {"package/__init__.py": "", "package/ops.py": OPS, "package/main.py": USES.format(name=name)}
    assert [path for path in packaged.found(files) if path == "package/ops.py"] == expected
