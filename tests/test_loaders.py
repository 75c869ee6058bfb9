"""Loaders that nothing but their name tells of, one or several."""

from __future__ import annotations

import pytest
from checked import codes, findings

PHASES = """
import torch

def fit(model, {name}, optimizer):
    for phase in ["train", "val"]:
        for x, y in {taken}:
            print(y.sum().item())
            x = x.to("cuda:0")
            model(x).sum().backward()
            optimizer.step()
"""


@pytest.mark.parametrize(
    ("name", "taken", "found"),
    [
        ("loader", "loader", ["SG301"]),
        ("dataloaders", "dataloaders[phase]", ["SG301"]),
        ("loaders", "loaders[0]", ["SG301"]),
        ("loaders", "loaders.get(phase)", ["SG301"]),
        ("loaders", "[batch for loader in loaders for batch in loader]", ["SG301"]),
        ("data", "data[phase]", ["SG201"]),
    ],
)
def test_what_one_of_several_loaders_gives_is_on_the_host(name: str, taken: str, found: list[str]) -> None:
    assert codes(PHASES.format(name=name, taken=taken)) == found


def test_the_first_batch_of_one_of_them() -> None:
    assert codes("def show(loaders):\n    x, y = next(iter(loaders['val']))\n    print(y.sum().item())\n") == []


def test_the_loaders_of_a_dict_and_their_names() -> None:
    text = """
def show(loaders):
    for name, loader in loaders.items():
        for x, y in loader:
            print(name, y.sum().item())
"""
    assert codes(text) == []


@pytest.mark.parametrize(
    ("around", "heat"),
    [
        ("for name in all_data_loaders:\n        loader = all_data_loaders[name]", "unknown"),
        ("for loader in all_data_loaders:", "unknown"),
        ("for name, loader in all_data_loaders.items():", "unknown"),
        ("for loader in batch_loader:", "hot"),
    ],
)
def test_around_what_one_of_several_loaders_gives_no_turn_is_a_step(around: str, heat: str) -> None:
    name = "batch_loader" if "batch_loader" in around else "all_data_loaders"
    text = f"""import torch

def evaluate(model, {name}, device):
    {around}
        for batch in loader:
            model(batch.to(device))
        torch.cuda.synchronize()
"""
    assert [f.heat for f in findings(text) if f.code == "SG401"] == [heat]


PREPARED = """
import torch
from {library} import {name} as Maker

def fit(model, optimizer, train_loader):
    maker = Maker({settings})
    {prepare}
    for step, (x, y) in enumerate(train_loader):
        loss = model(x.to(maker.device)).sum()
        maker.backward(loss)
        optimizer.step()
"""
SEVERAL = "model, optimizer, train_loader = maker.prepare(model, optimizer, train_loader)"


@pytest.mark.parametrize(
    ("library", "name", "settings", "prepare", "found"),
    [
        ("accelerate", "Accelerator", "", SEVERAL, []),
        ("accelerate", "Accelerator", "", "train_loader = maker.prepare(train_loader)", []),
        ("accelerate", "Accelerator", "", "model, optimizer = maker.prepare(model, optimizer)", ["SG301"]),
        ("accelerate", "Accelerator", "device_placement=False", SEVERAL, ["SG301"]),
        ("accelerate", "Accelerator", "cpu=args.cpu", SEVERAL, []),
        ("lightning.fabric", "Fabric", "", "train_loader = maker.setup_dataloaders(train_loader)", []),
        (
            "lightning.fabric", "Fabric", "",
            "train_loader = maker.setup_dataloaders(train_loader, move_to_device=False)", ["SG301"],
        ),
    ],
)  # fmt: skip
def test_a_loader_may_bring_its_batches_to_the_device_itself(
    library: str, name: str, settings: str, prepare: str, found: list[str]
) -> None:
    assert codes(PREPARED.format(library=library, name=name, settings=settings, prepare=prepare)) == found


def test_what_such_a_loader_brings_is_read_from_the_device() -> None:
    text = PREPARED.format(library="accelerate", name="Accelerator", settings="", prepare=SEVERAL)
    text = text.replace("loss = model(x.to(maker.device)).sum()", "loss = model(x) / y.sum().item()")
    assert codes(text) == ["SG201"]


def test_where_the_cpu_is_asked_for_nothing_waits() -> None:
    text = PREPARED.format(library="accelerate", name="Accelerator", settings="cpu=True", prepare=SEVERAL)
    text = text.replace("x.to(maker.device)", "x").replace("optimizer.step()", "print(y.sum() > 3)")
    assert codes(text) == []


@pytest.mark.parametrize(("pin", "found"), [("", ["SG303"]), (", pin_memory=True", [])])
def test_such_a_loader_copies_what_it_does_not_pin(pin: str, found: list[str]) -> None:
    text = PREPARED.format(library="accelerate", name="Accelerator", settings="", prepare=SEVERAL)
    text = text.replace("    maker = ", f"    train_loader = torch.utils.data.DataLoader(range(8){pin})\n    maker = ")
    assert codes(text) == found


SAMPLES = """
import torch

def sizes(dataset, others, flags: torch.Tensor):
    return [{taken}.item() for n in range(len(dataset))]
"""


@pytest.mark.parametrize(
    ("taken", "found"),
    [
        ('dataset[n]["size"]', []),
        ('dataset[0]["size"]', []),
        ("dataset[n].size", []),
        ('dataset["size"]', ["SG201"]),
        ("dataset[flags > 0].sum()", ["SG102", "SG201"]),
        ('others[n]["size"]', ["SG201"]),
    ],
)
def test_a_sample_of_a_dataset_is_on_the_host(taken: str, found: list[str]) -> None:
    assert codes(SAMPLES.format(taken=taken)) == found


KEPT = """
import torch
from accelerate import Accelerator
from lightning.fabric import Fabric

class Trainer:
    def __init__(self, model, data):
        self.model = model
        self.maker = {maker}
        self.maker.launch()
        self.loader = torch.utils.data.DataLoader(data, pin_memory=True)
        {made}

    def setup(self):
        {later}

    def fit(self):
        for x, y in self.loader:
            print(y.sum().item())
            self.model(x.to(self.maker.device))
"""
PREPARES = "self.loader = self.maker.prepare(self.loader)"
SETS_UP = "self.loader = self.maker.setup_dataloaders(self.loader)"


@pytest.mark.parametrize(
    ("maker", "made", "later", "found"),
    [
        ("Accelerator()", PREPARES, "pass", ["SG201"]),
        ("Accelerator()", "pass", PREPARES, ["SG201"]),
        ("Accelerator()", "self.model, self.loader = self.maker.prepare(model, self.loader)", "pass", ["SG201"]),
        ("Fabric()", SETS_UP, "pass", ["SG201"]),
        ('Fabric(accelerator="cuda")', "pass", SETS_UP, ["SG201"]),
        ("Accelerator()", "self.other = self.maker.prepare(self.loader)", "pass", ["SG303"]),
        ("Accelerator(cpu=True)", PREPARES, "pass", []),
        ('Fabric(accelerator="cpu")', SETS_UP, "pass", []),
        ('Fabric("cpu")', "pass", SETS_UP, []),
        ("Accelerator(device_placement=False)", PREPARES, "pass", ["SG303"]),
        ("Accelerator()", PREPARES.replace("r)", "r, device_placement=[False])"), "pass", ["SG303"]),
        (
            "Accelerator()",
            "self.model, self.loader = self.maker.prepare(model, self.loader, device_placement=[True, False])",
            "pass", ["SG303"],
        ),
        (
            "Accelerator()",
            "self.model, self.loader = self.maker.prepare(model, self.loader, device_placement=[False, True])",
            "pass", ["SG201"],
        ),
    ],
)  # fmt: skip
def test_what_an_attribute_is_prepared_to_be_is_what_all_methods_see(
    maker: str, made: str, later: str, found: list[str]
) -> None:
    assert codes(KEPT.format(maker=maker, made=made, later=later)) == found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("loader.load_data()", ["SG301"]),
        ("self.train_loader.batches()", ["SG301"]),
        ("loader.prefetched()", ["SG202", "SG301"]),  # nobody knows where
        ("store.load_data()", ["SG202", "SG301"]),
    ],
)
def test_what_wraps_a_loader_gives_its_batches(given: str, found: list[str]) -> None:
    text = f"""
        import torch

        class Scores:
            def of(self, loader, store, net, device):
                kept = []
                for batch in {given}:
                    kept.append((batch["same"].cpu().numpy(), net(batch["x"].to(device))))
                return kept
    """
    assert [code for code in codes(text) if code in ("SG202", "SG301")] == found


CHECKS = """
import torch
from torch.utils.data import DataLoader

class Trainer:
    def __init__(self, rows, more, device):
        self.loader = DataLoader(rows, batch_size=8)
        self.checks = DataLoader(more, batch_size=8)

    def fit(self, model, device):
        for x in self.loader:
            model(x.to(device)).backward()
"""


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ("", 1),
        ("\n\ndef check(trainer, device):\n    return [x.to(device) for x in trainer.checks]\n", 2),
        ('\n    def of(self, phase):\n        return getattr(self, f"{phase}s")\n', 2),
        ('\n    def of(self):\n        return getattr(self, "loader")\n', 1),
    ],
)
def test_a_loader_that_its_file_only_keeps_is_no_matter_of_its_moves(more: str, found: int) -> None:
    assert codes(CHECKS + more).count("SG303") == found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ('print(batch["mask"].sum().item())', ["SG201"]),
        ('print(batch["other"].sum().item())', []),
        ('print(batch.get("mask").sum().item())', ["SG201"]),
        (
            'mask = batch.pop("mask", None)\n        if mask is not None and mask.any():\n            print(1)',
            ["SG204"],
        ),
        ('print(batch.get("n").sum().item())', []),
        ('batch["n"] = 3\n        print(batch["mask"].sum().item())', ["SG201"]),
        ('batch["mask"] = torch.zeros(3)\n        print(batch["mask"].sum().item())', []),
        ('batch = next(loader)\n        print(batch["mask"].sum().item())', []),
        ('batch["mask"] = batch["mask"].cpu()\n        print(batch["mask"].sum().item())', ["SG202"]),
        ('if batch["mask"].any():\n            print(1)', ["SG204"]),
    ],
)
@pytest.mark.parametrize("given", ["loader", "torch.utils.data.DataLoader(loader, pin_memory=True)"])
def test_what_is_moved_under_a_text_is_there_under_that(lines: str, found: list[str], given: str) -> None:
    text = f"""
import torch

def fit(model, loader):
    for batch in {given}:
        batch["mask"] = batch["mask"].cuda(non_blocking=True)
        {lines}
        model(batch["mask"]).sum().backward()
"""
    assert [code for code in codes(text) if code not in ("SG301", "SG303", "SG304")] == found


def test_what_is_moved_where_a_test_says_so_may_be_anywhere() -> None:
    text = """
import torch

def fit(model, loader, there):
    for batch in loader:
        if there:
            batch["mask"] = batch["mask"].cuda(non_blocking=True)
        print(batch["mask"].sum().item())
        model(batch["mask"]).sum().backward()
"""
    assert "SG201" not in codes(text)


BATCHES = """
import torch
from torch.utils.data import DataLoader


class Batch:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def to(self, device, {default}):
        self.x = self.x.to(device, non_blocking={asked})
        self.y = self.y.to(device, non_blocking={asked})
        return self

    def pin_memory(self):
        return Batch(self.x.pin_memory(), self.y.pin_memory())


class Collate:
    def __call__(self, rows):
        xs, ys = zip(*rows)
        return Batch(torch.stack(xs), torch.stack(ys))


def fit(data, model, optimizer):
    for batch in DataLoader(data, batch_size=4, collate_fn={collate}, {pin}):
        if batch.y.max() > 3:
            continue
        batch = batch.to("cuda")
        model(batch.x).sum().backward()
        optimizer.step()
        print(batch.y.sum().item())
"""
FUNCTION = "lambda rows: Batch(torch.stack(rows), torch.stack(rows))"


@pytest.mark.parametrize(
    ("default", "asked", "collate", "pin", "found"),
    [
        ("copy=False", "True", "Collate()", "pin_memory=True", ["SG201"]),
        ("copy=False", "True", FUNCTION, "pin_memory=True", ["SG201"]),
        ("wait=True", "not wait", FUNCTION, "pin_memory=True", ["SG201"]),
        ("later=True", "later", FUNCTION, "pin_memory=True", ["SG201"]),
        ("later=False", "later", FUNCTION, "pin_memory=True", ["SG303", "SG201"]),
        ("copy=False", "False", FUNCTION, "pin_memory=True", ["SG303", "SG201"]),
        ("copy=False", "True", FUNCTION, "shuffle=True", ["SG303", "SG201"]),
        ("copy=False", "True", "collate", "pin_memory=True", ["SG303", "SG201"]),
    ],
)
def test_the_class_of_a_batch_says_whether_moving_it_waits(
    default: str, asked: str, collate: str, pin: str, found: list[str]
) -> None:
    assert codes(BATCHES.format(default=default, asked=asked, collate=collate, pin=pin)) == found


IN_A_DICT = """
import torch

torch.set_default_device("cuda")


class Runner:
    def __init__(self, model, dataloaders):
        self.model, self.dataloaders = model, dataloaders

    def run(self):
        for {taken} in self.dataloaders{asked}:
            self.model.train()
            started = iter({loader})
"""


@pytest.mark.parametrize(
    ("taken", "asked", "loader"),
    [
        ("name, one", ".items()", "one"),
        ("one", ".values()", "one"),
        ("name", ".keys()", "self.dataloaders[name]"),
        ("one", "", "one"),
    ],
)
def test_loaders_that_are_kept_are_a_dict_where_they_are_asked_as_one(taken: str, asked: str, loader: str) -> None:
    assert codes(IN_A_DICT.format(taken=taken, asked=asked, loader=loader)) == ["SG505"]


OWN = """
import torch
from torch.utils.data import DataLoader

torch.set_default_device("cuda")


class Own(DataLoader):
    {body}


def run(data):
    for x in Own(data):
        torch.cuda.nvtx.mark("batch")
"""


@pytest.mark.parametrize(
    ("body", "line"),
    [("pass", 13), ("def __iter__(self):\n        return super().__iter__()", 10)],
)
def test_a_pass_begins_where_its_class_says(body: str, line: int) -> None:
    assert [(found.code, found.site.line) for found in findings(OWN.format(body=body))] == [("SG505", line)]
