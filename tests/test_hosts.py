"""Which functions' tensors are on the host, for what surrounds them."""

import pytest
from checked import codes

from syncguard import config, pipeline
from syncguard.read.project import forget

DRIVER = """
import ray, torch

def total(rewards: torch.Tensor):
    return rewards.sum().item()

@ray.remote{asked}
class Scorer:
    def score(self, rewards: torch.Tensor):
        if (rewards == 1).any():
            print(total(rewards))
        return rewards[rewards > 0]
"""


def found(tmp_path, text):
    forget()
    (tmp_path / "scorer.py").write_text(text)
    settings = config.load([str(tmp_path)], {"heat": "all"}, isolated=True)
    return [(f.site.line, f.code) for f in pipeline.check([str(tmp_path / "scorer.py")], settings).findings]


@pytest.mark.parametrize("asked", ["", "(num_cpus=2)", "(num_cpus=1, num_gpus=0)"])
def test_a_process_that_asks_for_no_gpu_sees_none(tmp_path, asked):
    assert found(tmp_path, DRIVER.format(asked=asked)) == []


WAITS = {(5, "SG201"), (10, "SG204"), (12, "SG102")}


@pytest.mark.parametrize(
    "text",
    [
        DRIVER.replace("ray.remote{asked}", "ray.data"),
        DRIVER.format(asked="(num_gpus=1)"),
        DRIVER.format(asked="(num_gpus=GPUS)"),
        DRIVER.format(asked="") + "\nscorer = Scorer.options(num_gpus=0.5).remote()\n",  # another asks for it
        DRIVER.format(asked="") + "\ntorch.cuda.set_device(0)\n",
        DRIVER.format(asked="") + "\ndef there(rewards, device):\n    return rewards.to(device)\n",
        DRIVER.format(asked="") + "\nclass Net(torch.nn.Linear):\n    pass\n",
    ],
)
def test_one_that_may_see_a_gpu_waits_for_it(tmp_path, text):
    assert set(found(tmp_path, text)) >= WAITS


COLLATES = """
import torch

class {}:
    def torch_call(self, rows):
        def told(row: torch.Tensor):
            return row.tolist()

        return [told(row) for row in rows]
"""


def test_what_collates_has_its_tensors_on_the_host(tmp_path):
    assert found(tmp_path, COLLATES.format("CollatorForWords")) == []
    assert found(tmp_path, COLLATES.format("Words")) == [(7, "SG202")]


PUTS = """
import torch

def put(held, device):
    if isinstance(held, dict):
        return {{name: put(part, device) for name, part in held.items()}}
    return {gives}

def told(model, x):
    x = put(x, "cuda")
    outputs = put(model(x), {where})
    return outputs["logits"].softmax(-1).tolist()
"""


@pytest.mark.parametrize(
    ("gives", "where", "lines"),
    [
        ("held.to(device)", "torch.device('cpu')", [11]),  # the call waits, and not what reads there
        ("held.detach().to(device=device) if torch.is_tensor(held) else held", "'cpu'", [11]),
        ("held.to(device)", "'cuda'", [12]),
        ("held.to(device)", "x.device", [12]),
        ("held.cpu()", "'cuda'", [7]),
        ("held.to('cpu')", "'cuda'", [7]),
        ("held.to(device) * 2", "'cpu'", [11]),  # not what was passed
    ],
)
def test_what_a_function_puts_on_the_host_is_there(tmp_path, gives, where, lines):
    text = PUTS.format(gives=gives, where=where)
    assert [line for line, _ in found(tmp_path, text)] == lines


MADE = """
import torch

def put(held, device):
    if isinstance(held, dict):
        return {{name: put(part, device) for name, part in held.items()}}
    return held.to(device)

def told(model, reader, x):
    x = put(x, "cuda")
    outputs = put(model(x), "{where}")
    found = torch.nonzero(outputs["labels"] == 3)
    boxes = reader.boxes(outputs)
    return found.tolist(), boxes[0].cpu(), [corners(box) for box in boxes]

def corners(box: torch.Tensor):
    return box.int().tolist()
"""


@pytest.mark.parametrize(("where", "lines"), [("cpu", [11]), ("cuda", [12, 14, 17])])
def test_what_is_made_of_what_is_on_the_host_is_there(tmp_path, where, lines):
    assert sorted({line for line, _ in found(tmp_path, MADE.format(where=where))}) == lines


@pytest.mark.parametrize(
    ("name", "lines"), [("lengths", [5]), ("lengths_npu", []), ("npu_lengths", []), ("input_lengths", [5])]
)
def test_what_is_for_another_device_waits_for_no_gpu(tmp_path, name, lines):
    text = f"import torch\n\n\ndef {name}(x: torch.Tensor):\n    return x.cumsum(0).tolist()\n"
    assert [line for line, _ in found(tmp_path, text)] == lines


WRAPPED = """
import ray, torch

class Scorer:
    def score(self, rewards: torch.Tensor):
        return rewards[rewards > 0]

class Scorers:
    def __init__(self):
        self.made = ray.remote(Scorer)
        self.all = [{made} for _ in range(4)]
"""


@pytest.mark.parametrize(
    ("made", "lines"),
    [
        ("self.made.options(name='scorer').remote()", []),
        ("self.made.options(num_gpus=1).remote()", [(6, "SG102")]),
        ("self.make()", [(6, "SG102")]),
    ],
)
def test_what_a_worker_asks_for_is_said_where_it_is_made(tmp_path, made, lines):
    assert found(tmp_path, WRAPPED.format(made=made)) == lines


BESIDE = """
import torch

def kept(masks: torch.Tensor, scores: torch.Tensor):
    return masks[scores > 0.5]

class {name}:
    def {method}(self, x):
        return x
"""


@pytest.mark.parametrize(
    ("name", "method", "lines"),
    [
        ("SegmentImageProcessor", "preprocess", []),
        ("Segmenter", "preprocess", [(5, "SG102")]),
        ("SegmentCollator", "torch_call", [(5, "SG102")]),
        ("SegmentImageProcessor", "forward", [(5, "SG102")]),
    ],
)
def test_functions_beside_what_prepares_data_do_so_too(tmp_path, name, method, lines):
    assert found(tmp_path, BESIDE.format(name=name, method=method)) == lines


NAMED = """
import torch

def lens(batch, host, lens_cpu, sizes):
    longest = int(batch.seq_lens_cpu.max())
    first = host["prefix_lens"].tolist()
    if torch.is_tensor(lens_cpu):
        longest += lens_cpu.max().item()
    if torch.is_tensor(sizes):
        longest += sizes.max().item()
    return longest, first, batch.seq_lens.max().item()
"""


def test_what_is_named_as_kept_on_the_host_is_there_wherever_the_name_stands(tmp_path):
    assert found(tmp_path, NAMED) == [(10, "SG201"), (11, "SG201")]


FETCHED = """
import torch

def lens(batch):
    lens_cpu = torch.stack(batch.lens)
    return lens_cpu.cpu().tolist()
"""


def test_what_is_fetched_under_such_a_name_is_not_there_yet(tmp_path):
    assert found(tmp_path, FETCHED) == [(6, "SG202")]


def test_files_for_devices_of_another_kind_are_named_by_the_device_alone(tmp_path):
    forget()
    for name in ("xla", "exact"):
        (tmp_path / f"{name}.py").write_text("import torch\n\ndef f(x: torch.Tensor):\n    return x.item()\n")
    settings = config.load([str(tmp_path)], {"heat": "all"}, isolated=True)
    assert [f.site.path for f in pipeline.check([str(tmp_path)], settings).findings] == [str(tmp_path / "exact.py")]


TRANSFORM = """
import torch

def crop(target: dict, fields: list[str]):
    keep = (target["boxes"].reshape(-1, 2, 2)[:, 1] > 0.5).all(dim=1)
    return {field: target[field][keep] for field in fields}

def scored(scores: torch.Tensor):
    return scores.tolist()

class Net(torch.nn.Module):
    def forward(self, x):
        return x[x > 0]
"""


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("datasets/transforms.py", {13}),
        ("dataset/augment/flip.py", {13}),
        ("datasets/coco_eval.py", {6, 9, 13}),
        ("data/data_transforms.py", {13}),
        ("data/coco_dataset.py", {13}),
        ("data/dataset_metrics.py", {6, 9, 13}),
        ("models/transforms.py", {6, 9, 13}),
    ],
)
def test_a_package_for_datasets_prepares_them(tmp_path, name, lines):
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    (tmp_path / name.partition("/")[0] / "__init__.py").touch()
    path.write_text(TRANSFORM)
    forget()
    settings = config.load([str(path)], {"heat": "all"}, isolated=True)
    assert {f.site.line for f in pipeline.check([str(path)], settings).findings} == lines


def test_a_folder_that_merely_has_the_name_does_not(tmp_path):
    (tmp_path / "datasets").mkdir()
    assert {line for line, _ in found(tmp_path / "datasets", TRANSFORM)} == {6, 9, 13}


BUFFER = """
import torch

class Buffer{base}:
    def __init__(self, size, width):
        {head}self.rows, self.ends = torch.zeros(size, width), torch.zeros(size)
        self.there = torch.zeros(size, device="cuda")

    def take(self, index: torch.Tensor, other: torch.Tensor):
        rows = {taken}
        return rows, index[index > 3], index.tolist()
"""


@pytest.mark.parametrize(
    ("taken", "lines"),
    [
        ("self.rows[index]", set()),
        ("self.rows[index, 0]", set()),
        ("torch.stack([self.rows[index], self.rows[:, 0]])", set()),
        ("self.there[index]", {11}),
        ("self.rows[other]", {11}),
        ("self.rows[index.cpu()]", {10, 11}),
    ],
)
def test_what_picks_rows_on_the_host_is_there(tmp_path, taken, lines):
    text = BUFFER.format(taken=taken, base="", head="")
    assert {line for line, _ in found(tmp_path, text)} == lines


def test_rows_of_a_module_move_with_it(tmp_path):
    text = BUFFER.format(taken="self.rows[index]", base="(torch.nn.Module)", head="super().__init__(); ")
    assert 11 in {line for line, _ in found(tmp_path, text)}


def test_where_a_class_says_what_factories_do_nobody_knows_where_they_build() -> None:
    text = """
    import torch

    class Runner:
        def __init__(self, size):
            torch.set_default_device("cuda")
            self._allocate(size)
            torch.set_default_device("cpu")

        def _allocate(self, size):
            self.rows = torch.zeros(size, 3)

        def step(self, x: torch.Tensor):
            self.rows[: len(x)] = x
            return x.tolist()
    """
    assert codes(text) == ["SG202"]
    assert codes(text.replace("set_default_device", "set_device")) == ["SG202", "SG202"]


def test_one_row_is_picked_by_a_number_that_was_read() -> None:
    text = """
    import torch

    def matched(names: list[int]):
        known, scores = torch.tensor(names), torch.rand(4, 3, device="cuda")
        place = scores[0].argmax()
        return known[place], scores[0, place], place.item()
    """
    assert codes(text) == ["SG208", "SG208", "SG201"]


@pytest.mark.parametrize(("head", "found"), [("", ["SG102"]), ("import numpy as np", [])])
def test_a_function_that_imports_arrays_computes_with_them(head, found) -> None:
    text = f"""
    import torch

    def positive(x):
        {head}
        return x[x > 0], print
    """
    assert codes(text) == found


BASE = """
import torch

class Pipeline:
    def placed(self, inputs, device):
        if isinstance(inputs, dict):
            return {{name: self.placed(value, device) for name, value in inputs.items()}}
        if isinstance(inputs, list):
            return [self.placed(value, device) for value in inputs]
        return inputs.to(device) if isinstance(inputs, torch.Tensor) else inputs

    def forward(self, inputs):
        outputs = self.compute(self.placed(inputs, self.device))
        return self.placed(outputs, device={device})

    def __call__(self, inputs):
        return self.postprocess(self.forward(self.preprocess(inputs)))
"""
MINE = """
from base import Pipeline

class Classifier(Pipeline):
    def preprocess(self, inputs):
        return self.tokenizer(inputs)

    def compute(self, inputs):
        labels = inputs.pop("labels")
        return {"labels": labels, "logits": self.model(**inputs).logits}

    def postprocess(self, outputs):
        logits = outputs["logits"][0]
        return logits.softmax(-1).tolist()
"""


@pytest.mark.parametrize(("device", "waits"), [('torch.device("cpu")', []), ("self.device", [(14, "SG202")])])
def test_what_a_base_class_of_another_file_hands_on_is_where_it_was_put_with_all_that_it_holds(tmp_path, device, waits):
    (tmp_path / "base.py").write_text(BASE.format(device=device))
    assert found(tmp_path, MINE) == waits


COMPUTED = """
import torch

def spread(histories: list[torch.Tensor], horizon: int):
    lags = torch.arange(horizon{there})
    gaps = (lags.unsqueeze(1) - lags.unsqueeze(0)).abs()
    rho = torch.stack([history.mean() for history in histories])
    near = rho.view(-1, 1, 1) ** gaps
    if (near > 0.5).any():
        return near[near > 0.5]
    seen = torch.zeros(horizon, dtype=torch.bool{there})
    return seen[histories[0].long()].nonzero(), seen[histories[0] > 0]
"""


def test_what_is_computed_with_what_was_built_on_the_host_is_there():
    assert codes(COMPUTED.format(there="")) == []
    assert codes(COMPUTED.format(there=", device=histories[0].device")) == ["SG204", "SG102", "SG101", "SG102"]


def test_what_goes_where_another_tensor_is_was_not_kept_on_the_host():
    text = "import torch\n\ndef f(x: torch.Tensor, like):\n    table = torch.zeros(3, 4){}\n    return table[x > 0]\n"
    assert codes(text.format(".type_as(like)")) == ["SG102"]
    assert codes(text.format("")) == []


@pytest.mark.parametrize("made", ["torch.tensor(2.0)", "torch.tensor(2.0).exp()", "torch.zeros(3).sum()"])
def test_a_number_of_the_host_goes_with_any_tensor(made):
    assert codes(f"import torch\n\ndef total(x: torch.Tensor):\n    return (x * {made}).sum().item()\n") == ["SG201"]


PREPARED = """
import torch
from torch import Tensor
from torch.utils.data import DataLoader

def pieces(tokenizer, texts, data, make):
    sample: dict[str, Tensor] = tokenizer(texts, return_tensors="pt")
    first: Tensor = next(iter(DataLoader(data)))
    other: Tensor = make()
    return sample["input_ids"][:, 3:5].tolist(), first.max().item(), other.max().item()
"""


def test_what_was_prepared_on_the_host_stays_there_whatever_type_is_declared(tmp_path):
    assert found(tmp_path, PREPARED) == [(10, "SG201")]


PREPARES = """
import torch

def positions({}, input_ids: torch.Tensor):
    return input_ids[input_ids > {}]
"""


@pytest.mark.parametrize(
    ("given", "size", "waits"),
    [
        ("processor", "processor.image_processor.size", []),
        ("tokenizer", "tokenizer.size", ["SG102"]),
        ("processor, model", "processor.image_processor.size", ["SG102"]),
        ("processor, device", "processor.image_processor.size", ["SG102"]),
    ],
)
def test_who_is_given_a_processor_prepares_on_the_host(given, size, waits):
    assert codes(PREPARES.format(given, size)) == waits


ITSELF = """
import torch

def rows(depth: int, x: torch.Tensor) -> torch.Tensor:
    if depth:
        return rows(depth - 1, x)[:2]
    return {}

def read(x: torch.Tensor):
    return rows(2, x).sum().item()
"""


@pytest.mark.parametrize(
    ("built", "waits"), [("torch.ones(4)", []), ("x + 1", ["SG201"]), ("torch.ones(4) if depth < 0 else x", ["SG201"])]
)
def test_what_a_function_that_calls_itself_builds_on_the_host_is_there(built, waits):
    assert codes(ITSELF.format(built)) == waits


ELSEWHERE = """
import torch

def read(x: torch.Tensor):
    if {}:
        return x.cpu()
    return x.sum().item()
"""


@pytest.mark.parametrize(
    ("test", "waits"),
    [
        ("is_npu_available", ["SG201"]),
        ("is_torch_xla_available()", ["SG201"]),
        ("is_npu()", ["SG201"]),
        ("_is_npu", ["SG201"]),
        ("platform.is_xpu()", ["SG201"]),
        ("not is_npu()", ["SG202"]),
        ("is_npu_or_cuda()", ["SG202", "SG201"]),
        ("is_cuda()", ["SG202", "SG201"]),
        ("torch.backends.mps.is_available()", ["SG201"]),
        ("x.device.type == 'npu'", ["SG201"]),
        ("x.device.type == 'neuron'", ["SG201"]),
        ("is_cuda_available", ["SG202", "SG201"]),
        ("is_output_available()", ["SG202", "SG201"]),
    ],
)
def test_a_device_of_another_kind_is_not_there(test, waits):
    assert codes(ELSEWHERE.format(test)) == waits


SHOWN = """
import torch
from PIL import Image

def shown(mask: {}):
    if isinstance(mask, list):
        mask = mask[0]
        if isinstance(mask, torch.Tensor):
            return mask.cpu()
"""


@pytest.mark.parametrize(
    ("declared", "waits"),
    [
        ("torch.Tensor | Image.Image | list[torch.Tensor] | list[Image.Image]", []),
        ("torch.Tensor | list[torch.Tensor]", ["SG202"]),
    ],
)
def test_a_tensor_in_a_list_may_be_where_an_image_in_its_place_is(declared, waits):
    assert codes(SHOWN.format(declared)) == waits


RATIOS = """
import torch

def ratios(scheduler, steps):
    alphas = torch.cumprod({}, dim=0)
    return [alphas[{}] for step in steps]
"""


@pytest.mark.parametrize(
    ("betas", "index", "waits"),
    [
        ("scheduler.betas", "step.long().cpu()", ["SG202"]),
        ("torch.rand(4, device='cuda')", "step.long().cpu()", ["SG202", "SG307"]),
        ("scheduler.betas", "torch.arange(4)", ["SG307"]),
    ],
)
def test_an_index_is_fetched_for_what_is_on_the_host(betas, index, waits):
    assert sorted(codes(RATIOS.format(betas, index))) == waits


def test_an_array_may_be_declared_by_the_function_that_makes_one():
    assert codes("import numpy as np, torch\n\ndef rows(x: torch.Tensor, i: np.array):\n    return x[i]\n") == ["SG307"]


@pytest.mark.parametrize(
    ("built", "waits"),
    [
        ("torch.arange(n).expand(2, n)", ["SG108", "SG108", "SG307"]),
        ("torch.arange(n, device=x.device).expand(2, n)", ["SG108", "SG108"]),
        ("torch.arange(4).expand(n, 4) + x.argmax()", ["SG108", "SG307"]),
    ],
)
def test_a_size_from_the_device_does_not_bring_what_it_sizes_there(built, waits):
    text = (
        f"import torch\n\ndef rows(x: torch.Tensor, n: torch.LongTensor):\n    places = {built}\n    return x[places]\n"
    )
    assert sorted(codes(text)) == waits


@pytest.mark.parametrize(
    ("given", "waits"), [("state_steps: list[torch.Tensor]", []), ("losses: list[torch.Tensor]", ["SG201"])]
)
def test_what_a_list_is_called_tells_where_its_tensors_are(given, waits):
    name = given.partition(":")[0]
    assert codes(f"import torch\n\ndef read({given}):\n    return [one.item() for one in {name}]\n") == waits


COMPILING = """
import torch

def compiling():
    if hasattr(torch, "compiler"):
        return torch.compiler.is_compiling()
    {}

def value(x):
    if compiling():
        return x
    return x.item()

def read(x: torch.Tensor):
    return float(value(x.sum()))
"""


@pytest.mark.parametrize(("other", "waits"), [("return False", ["SG201"]), ("return DEBUG", ["SG201", "SG203"])])
def test_a_function_that_asks_whether_it_is_compiled_may_ask_twice(other, waits):
    assert sorted(set(codes(COMPILING.format(other)))) == waits


def test_what_is_only_computed_from_tensors_has_values_as_a_table_has():
    text = """
        import torch
        from torch.optim.optimizer import Optimizer

        def first(params: list[torch.Tensor], found: list[bool]):
            groups = Optimizer._group_tensors_by_device_and_dtype([params], with_indices=True)
            return [found[i] for _, places in groups.values() for i in places]
        """
    assert codes(text) == []


UNPACKED = """
import torch

def pop(table, key):
    found = table.pop(key)
    if isinstance(found, torch.Tensor):
        return found
    return found.data

def steps(table, total: int):
    {name} = pop(table, "key")
    assert total % {name} == 0
    return total // {name}
"""


@pytest.mark.parametrize(("name", "waits"), [("num_batches", []), ("weights", ["SG204"])])
def test_what_may_be_a_tensor_is_none_under_the_name_of_a_number(name, waits):
    assert codes(UNPACKED.format(name=name)) == waits


GIVEN_BACK = """
import torch
from torch.utils.data import Dataset

class Texts(Dataset):
    def __getitem__(self, index: torch.Tensor):
        return index.cpu()

    def told(self, scores: torch.Tensor):
        return scores.cpu().tolist()

    def best(self, found: dict[str, torch.Tensor]):
        return found["scores"][:, 0].cpu(), found["scores"].max().item()

    def kept(self):
        return torch.zeros(3).cpu()
"""


def test_what_a_dataset_fetches_of_what_it_is_given_was_made_by_a_model(tmp_path):
    assert found(tmp_path, GIVEN_BACK) == [(10, "SG202"), (13, "SG202")]


CHECKED = """
import torch
from PIL import Image

def prepared(image, size):
    if isinstance(image, torch.Tensor) and image.min() < -1:
        raise ValueError(size)
    return image

def shown(image: {}, encode, size: int):
    image = prepared(image, size).to("cuda")
    return encode(image)

def shown_again(image: {}, encode):
    return encode(prepared(image, 4).to("cuda"))
"""


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        ("torch.Tensor | Image.Image", "torch.Tensor | Image.Image", 0),
        ("torch.Tensor | Image.Image", "torch.Tensor", 1),
        ("torch.Tensor", "torch.Tensor", 1),
    ],
)
def test_what_may_be_anywhere_for_each_caller_may_be_so_for_who_is_called(first, second, waits):
    assert codes(CHECKED.format(first, second)).count("SG204") == waits


MOVED = """
import torch

def moved(x: torch.Tensor, where: torch.device):
    device = {}
    if x.device == device:
        return x
    return x.to(device)

def read(x: torch.Tensor, where: torch.device):
    return moved(x, where).item()
"""


@pytest.mark.parametrize(
    ("device", "waits"),
    [("torch.device('cpu')", ["SG202"]), ("where", ["SG201"]), ("torch.device('cuda')", ["SG201"])],
)
def test_what_is_found_on_a_device_that_a_name_stands_for_is_there(device, waits):
    assert codes(MOVED.format(device)) == waits


MODULE = """
import torch

def run(net: torch.nn.Module, device, cpu):
    {}
    for param in net.parameters():
        param.detach().cpu()
    return torch.save(net.state_dict(), "net.pt")
"""


@pytest.mark.parametrize(
    ("move", "waits"),
    [
        ("pass", ["SG202", "SG202"]),
        ("net = net.cpu()", ["SG202"]),
        ("net.to('cpu')", ["SG202"]),
        ("net = net.cpu(); net.to(device)", ["SG202", "SG202", "SG202"]),
        ("net.cpu(); net = net.cuda()", ["SG202", "SG202", "SG202"]),
        ("net.cpu(); net.cuda()", ["SG202", "SG202", "SG202"]),
    ],
)
def test_what_a_module_on_the_host_holds_is_there(move, waits):
    assert codes(MODULE.format(move)) == waits


def test_so_does_one_that_only_its_move_shows_to_hold_tensors():
    assert codes(MODULE.format("net = net.to('cpu')").replace(": torch.nn.Module", "")) == ["SG202"]


LOGGED = """
import torch

def logged(x: torch.Tensor, more):
    metrics: dict[str, float] = {{"mean": x.mean().item(){}}}
    return [value.item() if isinstance(value, torch.Tensor) else value for value in metrics.values()]
"""


@pytest.mark.parametrize(
    ("more", "waits"), [("", 1), (", 'max': x.max().item()", 2), (", 'max': x.max()", 2), (", 'max': more", 2)]
)
def test_a_number_that_was_read_is_no_tensor(more, waits):
    assert codes(LOGGED.format(more)) == ["SG201"] * waits


FOR_THE_HOST = """
import torch


def shift_gpu(x: torch.Tensor, n: torch.Tensor):
    return x + n


def {name}(x: torch.Tensor, n: torch.Tensor):
    return x[n[0].item()]


def shift(x: torch.Tensor, n: torch.Tensor):
    {call}
"""
RETURNS = "return shift_gpu(x, n) if x.is_cuda else {name}(x, n)"
LEAVES = "if x.device.type == 'cuda':\n        return shift_gpu(x, n)\n    return {name}(x, n)"
CHOOSES = "do = shift_gpu if x.device.type == 'cuda' else {name}\n    return do(x, n)"
MAY = "return {name}(x, n) if x.is_cuda else {name}(x, n)"
BOTH = RETURNS + "\n\n\ndef other(x, n):\n    return {name}(x, n)"


@pytest.mark.parametrize(
    ("name", "call", "found"),
    [
        *[(name, call, []) for name in ("shift_cpu", "_shift") for call in (RETURNS, LEAVES, CHOOSES)],
        *[(name, call, ["SG201"]) for name in ("shift_cpu", "_shift") for call in (MAY, BOTH, "pass")],
        *[(name, RETURNS, ["SG201"]) for name in ("slow_shift", "to_cpu", "shift_to_cpu")],  # others may call it
    ],
)
def test_what_is_called_for_the_host_alone_is_for_the_host(name: str, call: str, found: list[str]) -> None:
    assert codes(FOR_THE_HOST.format(name=name, call=call.format(name=name))) == found


@pytest.mark.parametrize(
    ("made", "waits"),
    [
        ("torch.Generator()", False),
        ("torch.Generator().manual_seed(0)", False),
        ('torch.Generator(device="cuda")', True),
        ("torch.Generator(place)", True),
        ("None", True),
    ],
)
def test_numbers_are_drawn_where_their_generator_is(made, waits):
    text = f"""
    import torch
    def order(n, place):
        return torch.randperm(n, generator={made}).tolist()
    """
    assert codes(text, default_device="cuda") == ["SG202"] * waits


TOKENS = """
import torch
from torch import Tensor

def shortest_first(ids: Tensor):
    return ids[ids.sum(1).argsort()]

class Texts:
    def __init__(self, texts, tokenizer):
        self.ids = shortest_first(tokenizer(texts{how})["input_ids"])

    def words(self, at):
        return self.ids[at].tolist()
"""


@pytest.mark.parametrize(("how", "found"), [(', return_tensors="pt"', []), ("", ["SG202"])])
def test_what_a_tokenizer_makes_stays_on_the_host_in_a_function(how, found):
    assert codes(TOKENS.format(how=how)) == found


SCHEDULE = """
import torch

class Schedule:
    def start(self, n, device):
        self.sigmas = torch.linspace(0, 1, n, device=device)
        {between}
        self.sigmas = self.sigmas.to("cpu")

    def step(self, i, x):
        return x if self.sigmas[i] > 0 else 2 * x

    def report(self):
        return self.sigmas.shape
"""


@pytest.mark.parametrize(
    ("between", "found"),
    [
        ("self.index = 0", ["SG202"]),
        ("last = self.sigmas[-1].clone()", ["SG202"]),
        ("self.report()", ["SG202", "SG204"]),
        ("print(self)", ["SG202", "SG204"]),
        ("super().start(n, device)", ["SG202", "SG204"]),
        ("if n > 3: return", ["SG202", "SG204"]),
        ("def late(): return self.sigmas", ["SG202", "SG204"]),
    ],
)
def test_what_is_replaced_before_anybody_sees_it_is_not_kept(between, found):
    assert codes(SCHEDULE.format(between=between)) == found


@pytest.mark.parametrize(("made", "found"), [("fetch_dataloader(8)", ["SG301"]), ("load_dataset('x')", [])])
def test_a_module_of_ones_own_may_be_called_as_a_library_is(made: str, found: list[str]) -> None:
    text = f"""
    import datasets

    def train(model, optimizer):
        rows = datasets.{made}
        for batch in rows:
            image, truth = [x.cuda() for x in batch]
            model(image, truth).backward()
            optimizer.step()
    """
    assert codes(text.replace("rows", "train_loader"), "import torch\n") == found


RESIZES = """
import torch
import torch.nn.functional as F

class ImageProcessor:
    @staticmethod
    def resize(image: torch.Tensor, size):
        return F.interpolate(image, size)

    def read(self, path) -> torch.Tensor:
        return torch.zeros(1, 3, 4, 4)
"""
PIPE = """
class Pipe(torch.nn.Module):
    def __init__(self, unet):
        super().__init__()
        self.unet = unet
        self.image_processor = ImageProcessor()

    def forward(self, x: torch.Tensor, given: torch.Tensor):
        small = self.image_processor.resize(self.unet(x).clamp(0, 1), (3, 3))
        read = self.image_processor.resize(self.image_processor.read("x"), (3, 3))
        put = self.image_processor.resize(given, (3, 3))
        return small.cpu(), read.cpu(), put.cpu()
"""


@pytest.mark.parametrize("apart", [False, True])
def test_what_prepares_on_the_host_computes_on_the_device_with_what_a_model_gave(tmp_path, apart):
    """What is only declared to be a tensor may be what a loader gives."""
    if apart:
        (tmp_path / "processing.py").write_text(RESIZES)
    head = "import torch\nfrom processing import ImageProcessor\n" if apart else RESIZES
    lines = (head + PIPE).splitlines()
    (line,) = [number for number, text in enumerate(lines, 1) if "small.cpu()" in text]
    assert found(tmp_path, head + PIPE) == [(line, "SG202")]


def test_what_torch_keeps_for_itself_and_is_asked_for_is_no_tensor():
    text = """
    import torch
    from torch.distributed.distributed_c10d import _get_default_store

    def first(x: torch.Tensor):
        return _get_default_store().add("k", 1) == 1 and x.sum() > 0
    """
    assert codes(text) == []


@pytest.mark.parametrize(("declared", "wanted"), [("device: str", []), ("device", ["SG202"]), ("kind: str", ["SG202"])])
def test_a_declared_device_is_the_cpu_only_where_nothing_else_is_asked_for(declared: str, wanted: list[str]) -> None:
    text = f"""
    import dataclasses
    import torch

    @dataclasses.dataclass
    class Settings:
        {declared} = "cpu"

    class Agent:
        def __init__(self, settings: Settings):
            self.settings = settings

        def update(self, buffer):
            batch = buffer.sample(3)
            return batch["seen"].to(self.settings.{declared.partition(":")[0]}).long()
    """
    assert codes(text) == wanted


REQUEST = """
import torch
from pydantic import BaseModel

class Request({base}):
    ids: torch.Tensor | None = None
    parts: dict[str, torch.Tensor] | None = None

    def start(self, tokenizer, text):
        self.ids = tokenizer(text, return_tensors={kind})["input_ids"]

    def extend(self, tokenizer, ids: torch.Tensor):
        self.ids = torch.cat([self.ids, ids], dim=-1)
        return self.ids.squeeze(0).tolist()

    def ends(self):
        return self.ids.eq(3).all() or self.parts["ids"].any()
{more}
"""


@pytest.mark.parametrize("base", ["", "BaseModel"])
def test_what_keeps_what_a_tokenizer_makes_and_names_no_device_is_on_the_host(tmp_path, base):
    assert found(tmp_path, REQUEST.format(base=base, kind='"pt"', more="")) == []


@pytest.mark.parametrize(
    ("base", "more"),
    [
        ("", "    def start_there(self, device):\n        self.ids = self.ids.to(device)"),
        ("", "    def there(self):\n        return self.ids.device"),
        ("", '    place = "cuda"\n    def move(self):\n        self.ids = torch.zeros(3, device="cuda")'),
        ("", "    def forward(self, x):\n        return x"),
        ("torch.nn.Module", ""),
        ("transformers.Trainer", ""),
    ],
)
def test_what_names_one_may_keep_it_there(tmp_path, base, more):
    text = REQUEST.format(base=base, kind='"pt"', more=more).replace(
        "import torch\n", "import torch, transformers\n", 1
    )
    assert {code for _, code in found(tmp_path, text)} >= {"SG202", "SG204"}


def test_a_tokenizer_that_makes_no_tensors_tells_nothing(tmp_path):
    text = REQUEST.format(base="", kind="3", more="").replace("return_tensors", "padding")
    assert {code for _, code in found(tmp_path, text)} == {"SG202", "SG204"}


STRATEGY = """
import torch

class Strategy:
    def {name}(self, text: str) -> list[torch.Tensor]:
        raise NotImplementedError

def kept(strategy: Strategy, captions):
    tokens, mask = strategy.{name}(captions)
    return mask.cpu().numpy()
"""


@pytest.mark.parametrize(
    ("name", "found"), [("tokenize", []), ("tokenize_prompt", []), ("encode", ["SG202"]), ("tokenize_image", ["SG202"])]
)
def test_what_texts_are_cut_into_is_on_the_host(name: str, found: list[str]) -> None:
    assert codes(STRATEGY.format(name=name)) == found


COUNTED = """
import torch

class Trainer:
    def __init__(self):
        self.{count}, self.kept = 0, None

    def step(self, x: torch.Tensor):
        if self.{count} > 1000:
            self.kept = x.cpu()
        self.{count} += 1
        return x
"""


@pytest.mark.parametrize(("count", "found"), [("global_step", ["SG202"]), ("limit", ["SG202", "SG306"])])
def test_a_count_of_steps_is_no_size(count: str, found: list[str]) -> None:
    assert sorted(codes(COUNTED.format(count=count))) == found


TURNED = """
import torch

def rollout(policy, x: torch.Tensor, sizes: list[int]):
    for {turn}:
        if {count} > 100:
            x = x.cpu()
        x = policy(x)
    return x
"""


@pytest.mark.parametrize(
    ("turn", "count", "found"),
    [
        ("i in range(9)", "i", ["SG202"]),
        ("i in range(x.shape[0])", "i", ["SG202"]),
        ("i, size in enumerate(sizes)", "i", ["SG202"]),
        ("i, size in enumerate(sizes)", "size", ["SG202", "SG306"]),
        ("size in sizes", "size", ["SG202", "SG306"]),
        ("i in range(9)", "x.shape[0] + i", ["SG202", "SG306"]),
    ],
)
def test_the_number_of_a_turn_is_no_size(turn: str, count: str, found: list[str]) -> None:
    assert sorted({*codes(TURNED.format(turn=turn, count=count))}) == found


FILLED = """
import torch

def camera(fovy: torch.Tensor{more}):
    found = torch.zeros(len(fovy), 4)
    found[:, 0] = 1 / torch.tan(fovy)
    return {gives}

class Net(torch.nn.Module):
    def {method}(self, x: torch.Tensor, y):
        return camera({given})
"""


@pytest.mark.parametrize(
    ("more", "gives", "method", "given", "waits"),
    [
        ("", "found", "view", "x", []),
        ("", "found", "forward", "x", ["SG202"]),
        ("", "found", "view", "torch.rand(3, device='cuda')", ["SG202"]),
        ("", "found.to(fovy.device)", "view", "x", ["SG202", "SG301"]),
        (", device=None", "found", "view", "x", ["SG202"]),
    ],
)
def test_what_fills_a_tensor_on_the_host_and_names_no_device_is_given_what_is_there(
    more: str, gives: str, method: str, given: str, waits: list[str]
) -> None:
    assert codes(FILLED.format(more=more, gives=gives, method=method, given=given)) == waits


def test_what_another_file_fills_a_tensor_with_at_every_step_is_fetched(tmp_path):
    body = "from camera import camera\nimport torch\n\n\nclass Net(torch.nn.Module):\n    def {}(self, x):\n        "
    function = FILLED.format(more="", gives="found", method="view", given="x").partition("class ")[0]
    for method, told in (("forward", True), ("other", False)):
        forget()
        (tmp_path / "camera.py").write_text(function)
        (tmp_path / "net.py").write_text(body.format(method) + "return camera(x)\n")
        settings = config.load([str(tmp_path)], {}, isolated=True)
        paths = [f.site.path for f in pipeline.check([str(tmp_path)], settings).findings]
        assert any(path.endswith("camera.py") for path in paths) is told


JUDGES = """
import torch

class {name}{base}:
    def __init__(self, tokenizer, score, {more}):
        self.tokenizer, self.score, self.{more} = tokenizer, score, {more}

    def __call__(self, data):
        scores = torch.zeros_like(data.batch["ids"], dtype=torch.float32)
        for i, row in enumerate(data):
            count = row.batch["mask"].sum()
            text = self.tokenizer.{asked}(row.batch["ids"][:count])
            scores[i, count - 1] = self.score(text)
        return {gives}
"""


@pytest.mark.parametrize(
    ("changes", "quiet"),
    [
        ({}, True),
        ({"gives": "scores.to(torch.float16)"}, False),
        ({"gives": "scores, torch.zeros(3, device=scores.device)"}, True),
        ({"gives": "scores, torch.zeros(3, device=self.device)"}, False),
        ({"name": "Texts"}, False),
        ({"more": "model"}, False),
        ({"more": "device"}, False),
        ({"asked": "encode"}, False),
        ({"base": "(torch.nn.Module)"}, False),
        ({"base": "(Metric)"}, False),
    ],
)
def test_what_scores_texts_has_them_on_the_host(tmp_path, changes, quiet):
    told = {"name": "RewardManager", "base": "", "more": "limit", "asked": "decode", "gives": "scores", **changes}
    forget()
    (tmp_path / "scorer.py").write_text("from metrics import Metric\n" + JUDGES.format(**told))
    settings = config.load([str(tmp_path)], {}, isolated=True)
    assert (not pipeline.check([str(tmp_path / "scorer.py")], settings).findings) is quiet


@pytest.mark.parametrize(("name", "there"), [("QwenChatTemplate", False), ("QwenTemplate", True)])
def test_a_template_of_chats_prepares_texts(name: str, there: bool) -> None:
    text = f"""
import torch


class {name}:
    def places(self, input_ids: torch.Tensor):
        return (input_ids == 3).nonzero().tolist()
"""
    assert codes(text) == (["SG101", "SG202"] if there else [])


@pytest.mark.parametrize(
    ("aim", "found_there"),
    [("get_device_id()", ["SG301"]), ("get_device_name()", ["SG301"]), ("find_home()", []), ("x.device", [])],
)
def test_what_a_function_brings_to_where_the_device_is_said_to_be_was_on_the_host(
    aim: str, found_there: list[str]
) -> None:
    text = f"""
import torch
from tensordict import TensorDict
from mine import find_home, get_device_id, get_device_name


def count(data: TensorDict, x):
    return data["mask"].sum().to({aim})
"""
    assert codes(text) == found_there


KERNEL = """{imported}
import torch

@{decorated}
def add(x, y: torch.Tensor, size):
    @{inner}
    def program(out: torch.Tensor, start: torch.Tensor):
        if start[0] > 0:
            out[0] = 1
    return program

def run(x: torch.Tensor):
    add(x, x, 3)(x, x)
"""


@pytest.mark.parametrize(
    ("imported", "decorated"),
    [
        ("import triton", "triton.jit"),
        ("try:\n    import triton\nexcept ImportError:\n    triton = None", "triton.jit(debug=True)"),
        ("try:\n    from tilelang import language as T\nexcept ImportError:\n    T = None", "T.prim_func"),
    ],
)
@pytest.mark.parametrize("inner", ["same", "other"])
def test_no_line_runs_as_python_that_another_compiler_reads(imported, decorated, inner):
    inside = decorated if inner == "same" else "torch.no_grad()"
    assert codes(KERNEL.format(imported=imported, decorated=decorated, inner=inside)) == []


def test_a_decorator_of_ones_own_compiles_nothing():
    assert codes(KERNEL.format(imported="from functools import cache", decorated="cache", inner="cache")) == ["SG204"]


@pytest.mark.parametrize(("named", "waits"), [("triton", []), ("tools", [(5, "SG204")])])
def test_a_module_of_the_project_hands_on_a_compiler_by_its_name(tmp_path, named, waits):
    (tmp_path / "__init__.py").touch()
    (tmp_path / "parts.py").write_text(f"try:\n    import {named}\nexcept ImportError:\n    {named} = None\n")
    head = f"import torch\nfrom .parts import {named}\n@{named}.jit\n"
    assert found(tmp_path, f"{head}def add(x: torch.Tensor):\n    if x[0] > 0:\n        return 1\n") == waits


@pytest.mark.parametrize("shaped", ["view_as", "reshape_as", "expand_as"])
def test_the_shape_of_another_tensor_moves_nothing(shaped):
    text = (
        f"import numpy as np, torch\ndef f(xs, like: torch.Tensor):\n    y = torch.from_numpy(xs).{shaped}(like)\n    "
    )
    assert codes(text + "return y.to(like)") == ["SG301"]
    assert codes(text + "return y[0] > 0 and y") == []


@pytest.mark.parametrize(("default", "found"), [("cpu", []), ("cuda", ["SG201", "SG204"])])
def test_a_dataset_keeps_its_data_where_the_user_says_that_all_is(default: str, found: list[str]) -> None:
    text = """
    import torch

    class Rows(torch.utils.data.Dataset):
        def __init__(self):
            self.rows, self.labels = map(torch.detach, self.read())
            self.classes = self.labels.max().item() + 1

        def read(self):
            return torch.rand(8, 2), torch.arange(8)

        def __getitem__(self, at: torch.Tensor):
            return self.rows if at == 0 else self.labels
    """
    assert codes(text, default_device=default) == found


@pytest.mark.parametrize(
    ("declared", "test", "found"),
    [
        (": torch.Tensor", "isinstance(rows, torch.Tensor)", ["SG201"]),
        (": torch.Tensor", "torch.is_tensor(rows)", ["SG201"]),
        ("", "isinstance(rows, torch.Tensor)", []),
        (": torch.Tensor", "len(rows)", []),
    ],
)
def test_what_is_given_instead_of_a_tensor_says_little_of_where_tensors_are(
    declared: str, test: str, found: list[str]
) -> None:
    text = f"""
    import torch

    class Rows:
        def __init__(self, rows{declared}):
            if {test}:
                rows = rows.to(torch.float32)
            else:
                rows = torch.as_tensor(rows, device="cpu")
            print(rows.sum().item())
    """
    assert codes(text) == found


@pytest.mark.parametrize(
    ("default", "found"), [("cpu", []), ("cuda", ["SG102", "SG201", "SG201", "SG204", "SG204", "SG505", "SG505"])]
)
def test_a_loader_gives_what_is_made_where_the_user_says_that_all_is(default: str, found: list[str]) -> None:
    text = """
    from somewhere import ahead
    from torch.utils.data import DataLoader
    from tqdm import tqdm

    class Rows(DataLoader):
        pass

    def read(loader: DataLoader, rows: Rows):
        for x, y in loader:
            kept = x[y > 0]
            if (y == 1).any():
                break
        for batch in tqdm(rows):
            if batch["y"].sum() > 0:
                count = batch["length"].max().item()
        for x, y in ahead(loader):
            total = y.max().item()
            x = x.to("cuda")
    """
    assert sorted(codes(text, default_device=default, ignore=("SG3",))) == found


STREAMER = """
import torch
from {library} import BaseStreamer


class Spoken(BaseStreamer):
    def __init__(self, decoder, device):
        self.decoder, self.device, self.kept = decoder, device, None

    def unpadded(self, ids):
        mask = torch.ne(ids, 2)
        return ids[mask].to(self.device)

    def put(self, value):
        self.kept = value if self.kept is None else torch.cat([self.kept, value])
        return self.unpadded(self.kept)
"""


@pytest.mark.parametrize(("library", "codes"), [("transformers.generation.streamers", {"SG301"}), ("own", {"SG102"})])
def test_a_generation_puts_what_it_has_fetched_into_a_streamer(tmp_path, library, codes):
    assert {code for _, code in found(tmp_path, STREAMER.format(library=library))} == codes


PROGRAM = """
import torch
from lib import load

device = {}

class Net(torch.nn.Module):
    def forward(self, x):
        return x.nonzero()

def run(net, x):
    return net.run(x.to(device)).detach().cpu()

net = load().to(device)
for i in range(100):
    out = net.run(torch.randn(3).to(device)).detach().cpu()
    print(net.loss(out).item())
"""


def test_a_program_whose_own_library_names_another_device_may_run_there(tmp_path):
    (tmp_path / "lib.py").write_text("def load():\n    return build().cuda()\n")
    assert [line for line, _ in found(tmp_path, PROGRAM.format("'cpu'"))] == [9, 12, 12, 14]
    (tmp_path / "lib.py").write_text("def load():\n    return build()\n")
    assert [line for line, _ in found(tmp_path, PROGRAM.format("'cpu'"))] == [9]


@pytest.mark.parametrize(
    ("device", "lines"),
    [
        ("'cpu'", [9]),  # of a model nobody knows where it runs
        ("torch.device('cpu')", [9]),
        ("'cuda'", [9, 12, 16, 16, 17]),
        ("'cpu'\nif torch.cuda.is_available():\n    device = 'cuda'", [11, 14, 18, 18, 19]),
        ("'cpu'\ndevice = input()", [10, 13, 17, 18]),
        ("'cpu'\nimport accelerate", [10, 13, 13, 15]),
        ("'cpu'\nfrom transformers import Trainer", [10, 13, 13, 15]),
    ],
)
def test_a_program_that_names_the_cpu_and_no_other_device_runs_there(tmp_path, device, lines):
    assert [line for line, _ in found(tmp_path, PROGRAM.format(device))] == lines
