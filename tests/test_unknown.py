"""What nobody has read, told by what is done with it."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = """import torch
from somewhere import embed
from torch import Tensor, autograd


def f(x: Tensor, y: Tensor, model, device: torch.device):
    """

codes = partial(checked.codes, head=HEAD)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x[x > 0] = embed(y)", ["SG103"]),
        ("x[:, x[0] > 0] = embed(y)[0]", ["SG103"]),
        ("x[x > 0] = embed()", []),
        ("x[0] = embed(y)", []),
    ],
)
def test_what_is_made_of_tensors_is_written_through_a_mask_as_one(text: str, found: list[str]) -> None:
    assert codes(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("value = model()\n    (slope,) = autograd.grad(value, x)\n    return float(value)", ["SG203"]),
        ("value = model()\n    torch.autograd.backward(value)\n    return 1 if value > 0 else 0", ["SG204"]),
        ("value = model()\n    return float(value)", []),
    ],
)
def test_what_is_differentiated_is_a_tensor(text: str, found: list[str]) -> None:
    assert codes(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("if device.type == 'cpu': x = x.cpu()", ["SG202"]),
        ("if device == torch.device('cpu'): x = x.to('cpu')", ["SG202"]),
        ("if device.type != 'cpu': return x\n    else: return x.cpu()", ["SG202"]),
        ("if device.type == 'cuda': return x\n    elif device.type == 'cpu': return x.cpu()", ["SG202"]),
        ("if device.type == 'cpu': return x.sum().item()", []),
        ("if x.device.type == 'cpu': return x.cpu().numpy()", []),
        ("if model.device.type == 'cpu': return x.cpu()", []),
        ("if device.type == 'cpu' and x.device.type == 'cpu': return x.cpu()", []),
    ],
)
def test_where_something_shall_go_is_not_where_it_is(text: str, found: list[str]) -> None:
    assert codes(text) == found


def test_a_row_without_arguments_is_given_something_unknown() -> None:
    assert checked.codes("import torch\n\n\ndef wait(at):\n    torch.cuda.empty_cache(at)\n") == []


LOSS = """
import {}

def train(step, batches):
    total = 0.0
    for batch in batches:
        loss = step(batch)
        total += loss.item()
    return total
"""


@pytest.mark.parametrize(
    ("imported", "found"),
    [
        ("trainer", ["SG209"]),
        ("jax", []),
        ("jax.numpy as jnp", []),
        ("jax, torch", ["SG209"]),
        ("jax\nfrom torch.utils.tensorboard import SummaryWriter", []),
        ("jax\nfrom torch.nn import functional as F", ["SG209"]),
        ("tensorflow as tf", []),
    ],
)
def test_a_loss_of_another_library_is_no_tensor(imported: str, found: list[str]) -> None:
    assert checked.codes(LOSS.format(imported)) == found


@pytest.mark.parametrize(("name", "found"), [("net_number=None", []), ("number", []), ("values", ["SG204"])])
def test_a_number_of_something_is_no_tensor(name: str, found: list[str]) -> None:
    text = f"import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x, {name}):\n"
    text += f"        return x if {name.partition('=')[0]} > 1 else -x\n"
    assert checked.codes(text, head="") == found


def test_what_is_split_without_a_size_is_a_text() -> None:
    text = """
    import torch

    def positions(lines):
        rows = []
        for line in lines:
            name, x, y = line.replace("*^", "e").split()
            rows.append([float(x), float(y)])
        return torch.tensor(rows)
    """
    assert checked.codes(text) == []


def test_what_is_told_to_add_is_no_tensor() -> None:
    text = """
    import torch

    def clip(parameters, norms, norm):
        limit = 1.5 * norms.mean()
        if norm > limit:
            norms.add({given})
    """
    assert checked.codes(text.format(given="2.0")) == []
    assert checked.codes(text.replace("norms.add({given})", "return limit")) == ["SG204"]


@pytest.mark.parametrize(
    ("head", "use", "found"),
    [
        ("import torch", "codes[:, : codes.shape[1]]", ["SG204"]),
        ("import torch", "codes[0]", []),
        ("import torch, numpy as np", "np.abs(codes[:, : codes.shape[1]])", []),
        ("import numpy as np", "codes[:, : codes.shape[1]]", []),
    ],
)
def test_what_has_a_shape_and_ranges_is_a_tensor_where_no_arrays_are(head: str, use: str, found: list[str]) -> None:
    text = f"{head}\n\n\ndef f(codes):\n    return 1 if codes[0, 1] == 83 else {use}\n"
    assert checked.codes(text) == found


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ("torch.sqrt(1.0 + steps[0] ** 2.0)", ["SG204"]),
        ("torch.sqrt(1.0 + steps)", ["SG204"]),
        ("torch.stack([steps, y])", ["SG204"]),
        ("model(1.0 + steps[0] ** 2.0)", []),
        ("torch.full((2,), steps[0])", []),
    ],
)
def test_what_is_given_to_torch_after_all_is_a_tensor(given: str, found: list[str]) -> None:
    text = f"steps = model()\n    y = {given}\n    for i in range(9):\n        if steps[i] > 3: y = x"
    assert codes(text) == found


READS = ("cpu().numpy()", "cpu().data.numpy()", "cpu().detach().numpy()", "data.cpu().numpy()")


@pytest.mark.parametrize("read", READS)
def test_what_is_fetched_goes_on_as_an_array(read: str) -> None:
    text = f"import torch\n\n\ndef told(model, x):\n    found = model(x)\n    return torch.exp(x), found['a'].{read}\n"
    assert checked.codes(text) == ["SG202"]


@pytest.mark.parametrize(
    ("of", "found"),
    [
        ("df['from'].unique()", []),
        ("self.train_df.name.sum().tolist()", []),
        ("df.groupby('a').b.max()", []),
        ("self.rows['from'].dropna().unique().tolist()", []),
        ("self.rows.get_column('from').drop_nulls().unique()", []),
        ("self.rows['from'].unique()", ["SG104"]),
    ],
)
def test_what_is_called_a_table_of_pandas_has_columns(of: str, found: list[str]) -> None:
    text = f"import torch\n\n\ndef told(self, df, x):\n    return torch.exp(x), {of}\n"
    assert checked.codes(text) == found


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("x.cpu()", ["SG202"]),
        ("x.detach().cpu().numpy()", ["SG202"]),
        ("x.long().tolist()", ["SG202"]),
        ("x.tolist()", []),
        ("1 if x.max() > 3 else 0", []),
        ("1 if x.amax() > 3 else 0", ["SG204"]),
    ],
)
def test_an_array_or_a_tensor_is_what_has_the_method(use: str, found: list[str]) -> None:
    text = f"import numpy as np\nimport torch\n\n\ndef told(x: np.ndarray | torch.Tensor):\n    return {use}\n"
    assert checked.codes(text) == found


@pytest.mark.parametrize(
    ("use", "found"),
    [
        ("np.array(x.cpu())", ["SG202"]),
        ("np.abs(x.cpu(), out)", ["SG202"]),
        ("x.cpu()", ["SG202"]),
        ("keep(x.max())", []),
    ],
)
def test_an_array_is_made_of_what_was_fetched_as_a_tensor(use: str, found: list[str]) -> None:
    text = f"import numpy as np\nimport torch\n\n\ndef told(x, keep, out):\n    return np.zeros(3), {use}\n"
    assert checked.codes(text) == found


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ("y, torch.zeros(3)", ["SG208"]),
        ("torch.empty(0), y", []),  # nothing goes before whatever else
        ("torch.zeros(3, 2), y", []),
    ],
)
def test_what_is_put_together_has_as_many_dimensions_as_any_part(parts: str, found: list[str]) -> None:
    text = (
        f"import torch\n\n\ndef told(x: torch.Tensor, y: torch.Tensor):\n    return x[torch.cat(({parts}))[0].long()]\n"
    )
    assert checked.codes(text, default_device="cuda") == found


@pytest.mark.parametrize(("name", "found"), [("dropout_prob", []), ("kept", ["SG204"])])
def test_how_much_is_dropped_is_a_number(name: str, found: list[str]) -> None:
    text = f"import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x, {name}):\n"
    text += f"        return x if {name} > 0.5 else -x\n"
    assert checked.codes(text, head="") == found


def test_a_density_is_asked_of_what_is_computed_from_tensors() -> None:
    text = """
    import torch

    class Walk(torch.nn.Module):
        def __init__(self, target, proposal):
            super().__init__()
            self.target, self.proposal = target, proposal

        def forward(self, x):
            moved, ratio = self.proposal(x)
            return self.target.log_prob(moved) + ratio
    """
    assert checked.codes(text) == ["SG501"]


ARRAY_OR_TENSOR = """
import numpy as np
import torch


def made(n, to_torch=True):
    return torch.zeros(n, device="cuda") if to_torch else np.zeros(n)


def flags(n) -> {declared}:
    return made(n)


def told(n):
    if flags(n).all():
        return 1
"""


@pytest.mark.parametrize(
    ("declared", "found"),
    [("torch.Tensor", ["SG204"]), ("torch.Tensor | np.ndarray", []), ("np.ndarray", [])],
)
def test_a_tensor_that_is_declared_is_no_array(declared: str, found: list[str]) -> None:
    assert checked.codes(ARRAY_OR_TENSOR.format(declared=declared)) == found


ONLY_ARRAYS = """
import numpy as np
import torch


class Checked:
    def __call__(self, data: np.ndarray | torch.Tensor):
        return self.rows(data)

    def rows(self, data: np.ndarray):
        return self.has_nan(data[:2])

    def has_nan(self, data: torch.Tensor):
        return bool((data != data).any())
"""


@pytest.mark.parametrize(("device", "found"), [("cuda", ["SG203"]), ("cpu", [])])
def test_an_array_is_declared_of_what_may_be_a_tensor(device: str, found: list[str]) -> None:
    assert checked.codes(ONLY_ARRAYS, default_device=device) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("m = embed().cuda().to(torch.half)\n    print(m)", []),
        ("m = embed().cuda().unsqueeze(0)\n    print(m)", ["SG206"]),
    ],
)
def test_what_is_moved_and_cast_may_be_a_model(text: str, found: list[str]) -> None:
    assert codes(text) == found


@pytest.mark.parametrize(("given", "found"), [("a, *rest", ["SG204"]), ("*rest, a", [])])
def test_what_comes_after_a_star_has_no_place(given: str, found: list[str]) -> None:
    text = f"""return a

def g(a, rest):
    h({given})
    return 1 if a else 0

def h(x: Tensor, n=2):
    pass
"""
    assert codes(text) == found


@pytest.mark.parametrize(
    "text",
    [
        'int(torch.__version__.split("+")[0].split(".")[2], 16)',
        'int(torch.version.cuda.split(".")[0].split("-")[0])',
        'print(torch.__config__.parallel_info().split("\\n")[0])',
        'int(torch.something().split(".")[0])',
        "print(torch.__config__.show())",
    ],
)
def test_what_torch_says_of_itself_is_text(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize("asked", ["__repr__", "__str__"])
def test_what_every_object_has_proves_no_tensor(asked: str) -> None:
    assert codes(f'for part in model:\n        torch.save(part, "m")\n        print(part.{asked}().strip())') == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("value = model()\n    if value.is_cuda: value = value.cpu()", ["SG202"]),
        ("value = model()\n    if not value.is_cuda: value = value.cpu()", []),
        ("value = model()\n    return np.asarray(value.cpu() if value.is_cuda else value)", ["SG202"]),
        ("value = model()\n    return np.asarray(value)", []),
    ],
)
def test_what_is_on_a_gpu_by_its_own_word_is_a_tensor_there(text: str, found: list[str]) -> None:
    assert codes("np.random.seed(0)\n    " + text, head="import numpy as np\n" + HEAD) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("return max([model.norm(part).sqrt() for part in model.parts])", ["SG204"]),
        ("return max([model.norm(part) for part in model.parts])", []),
        ("return max([model.norm(part).sqrt(3) for part in model.parts])", []),
    ],
)
def test_where_torch_alone_has_arrays_a_root_is_taken_of_a_tensor(text: str, found: list[str]) -> None:
    assert checked.codes(text, head=HEAD.replace("from somewhere import embed\n", "")) == found


INPUTS = """
    class Net(torch.nn.Module):
        def forward(self, *inputs):
            return self.shaped(*inputs)

        def shaped(self, *inputs):
            sizes = inputs[1:]
            if sizes[0] == -1:
                return inputs[0].reshape(*sizes)
            return inputs[0].mean().item()
"""


def test_of_all_that_a_forward_is_given_nobody_knows_which_are_tensors() -> None:
    assert [found.site.line for found in checked.findings(INPUTS, head="import torch\n")] == [11]


HANDED = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, points):
        if {test}:
            points = self.prepare(points)
        return self.layer(points)

    def prepare(self, points):
        return points
"""


@pytest.mark.parametrize(("test", "found"), [("points", []), ("not points", []), ("points.sum() > 0", ["SG204"])])
def test_what_is_asked_for_its_own_truth_may_be_no_tensor_wherever_it_goes(test: str, found: list[str]) -> None:
    assert checked.codes(HANDED.format(test=test)) == found


ASKED = """
import torch

class Net(torch.nn.Module):
    def forward(self, batch):
        held = self.prepare(batch["x"]){asked}
        return held.tolist()
"""


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("", ["SG202"]),
        (".float()", ["SG202"]),
        (".astype('int32')", []),
        (".to_numpy()", []),
        (".reset_index().sum()", []),
        (".detach().astype('int32').sum(axis=0)", []),
    ],
)
def test_what_is_asked_for_what_no_tensor_has_is_an_array(asked: str, found: list[str]) -> None:
    assert checked.codes(ASKED.format(asked=asked)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x[x != PAD] + 1", ["SG102"]),
        ("x[other.PAD == x] + 1", ["SG102"]),
        ("x[x == Kind.BUSY.value] + 1", ["SG102"]),
        ("float(x * other.EPS)", ["SG203"]),
        ("float(Scales.EPS - x)", ["SG203"]),
        ("1 if x == Kind.BUSY else 0", []),
        ("1 if x == Kind else 0", []),
        ("1 if x == other.scale else 0", []),
        ("float(x * other.scale)", []),
    ],
)
def test_what_is_called_as_a_number_is_one_beside_a_tensor(text: str, found: list[str]) -> None:
    assert checked.codes(f"return {text}\n", HEAD.replace("embed", "PAD, Kind, Scales, other")) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("flow = embed(y).part(0).cpu()\n    return torch.sum((flow - 1) ** 2).item()", ["SG202"]),
        ("flow = embed(y)[0].cpu()\n    np.stack(x)\n    return torch.sum((flow - 1) ** 2).item()", ["SG202"]),
        ("flow = embed.part(0).cpu()\n    np.stack([1])\n    return torch.sum((flow - 1) ** 2).item()", ["SG202"]),
        ("flow = embed.part(0)\n    np.stack([1])\n    return torch.sum((flow - 1) ** 2).item()", ["SG201"]),
        ("net = embed.make_net(0).cpu()\n    net.cuda()\n    return net(x)", []),
        ("net = embed.Net(0).cpu()\n    net.cuda()\n    return net(x)", []),
    ],
)
def test_what_is_brought_to_the_host_stays_there(text: str, found: list[str]) -> None:
    assert codes(text, head="import numpy as np\n" + HEAD) == found


@pytest.mark.parametrize(("name", "found"), [("model", []), ("text_encoder", []), ("weight", ["SG202"])])
def test_a_model_may_say_of_itself_what_tensors_say(name: str, found: list[str]) -> None:
    text = f"""
    def unpack({name}):
        if {name}.is_quantized:
            {name}.to("cpu")
        return {name}
    """
    assert checked.codes(text, "import torch\n") == found


@pytest.mark.parametrize(
    ("imported", "found"),
    [("ase.calculators.calculator", []), ("pymatgen.core", []), ("somewhere.else_", ["SG204"])],
)
def test_what_a_library_of_arrays_keeps_is_no_tensor(imported: str, found: list[str]) -> None:
    text = f"""
import torch
from {imported} import Calculator

def calculate(atoms, device):
    Calculator.calculate(atoms)
    if atoms.pbc.any():
        return torch.zeros(3, device=device)
"""
    assert checked.codes(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("return model(x).inverse()", []),
        ("return model(x).root.cholesky(upper=False)", []),
        ("return model.pose.inverse()", []),
        ("return (model(x) @ y).inverse()", ["SG503"]),
        ("pose = model(x)\n    pose[pose > 0] = 1\n    return torch.stack([pose]).inverse()", ["SG503"]),
        ("return x.inverse() @ y.cholesky()", ["SG503", "SG503"]),
        ("return torch.inverse(model(x))", ["SG503"]),
    ],
)
def test_what_is_inverted_may_be_another_thing_than_a_matrix(text: str, found: list[str]) -> None:
    assert codes(text) == found


TOLD = """import torch
from somewhere import Lazy, wrapped
from torch import Tensor


class Normal:
    def __init__(self, covariance: {declared}):
        self.covariance = covariance

    @property
    def lazy(self){returns}:
        if self.covariance.ndim > 2:
            return wrapped(self.covariance)
        return self.covariance

    def root(self):
        return self.lazy.cholesky()
"""


@pytest.mark.parametrize(
    ("declared", "returns", "found"),
    [
        ("Tensor | Lazy", " -> Lazy", []),
        ("Tensor | Lazy", " -> Tensor", ["SG503"]),
        ("Tensor | Lazy", "", ["SG503"]),
        ("Tensor", " -> Lazy", ["SG503"]),
    ],
)
def test_what_is_said_to_be_of_another_library_is_no_tensor(declared: str, returns: str, found: list[str]) -> None:
    assert checked.codes(TOLD.format(declared=declared, returns=returns)) == found


def test_a_shape_was_not_read_from_the_device() -> None:
    text = """
    import torch
    from somewhere import Ragged


    def best(scores: torch.Tensor, shape, beam: int):
        size = scores.size(-1)
        top, places = Ragged(shape, scores)[0].topk(beam)
        return (places // size).tolist()
    """
    assert checked.codes(text) == ["SG202"]


@pytest.mark.parametrize(("default", "found"), [("cpu", []), ("cuda", ["SG102", "SG204"])])
def test_what_may_be_an_array_is_a_tensor_where_the_user_says_that_all_is_on_the_device(default, found) -> None:
    text = """import numpy as np
import torch


def kept(rows: np.ndarray | torch.Tensor, seen: torch.Tensor | np.ndarray):
    seen = seen == 3
    return rows[seen] if seen.any() else rows
"""
    assert sorted(checked.codes(text, default_device=default)) == found


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("random.sample([1, 2, 3], n)", ["SG203"]),
        ("random.sample([1, 2, 3], k=n)", ["SG203"]),
        ("list(itertools.islice([1, 2, 3], n))", ["SG205"]),
        ("list(itertools.repeat(3, n))", ["SG205"]),
        ("list(itertools.repeat(n, 3))", []),
        ("random.sample([n, n], 1)", []),
    ],
)
def test_what_takes_some_items_reads_how_many(call: str, found: list[str]) -> None:
    text = f"import itertools\nimport random\n\nimport torch\n\n\ndef told(n: torch.Tensor):\n    return {call}\n"
    assert checked.codes(text) == found


@pytest.mark.parametrize(
    ("read", "found"),
    [
        ('stats["mean"].item()', []),
        ("stats.mean.item()", []),
        ("mean.item() + std.tolist()[0]", []),
        ('model.stats["mean"].item()', ["SG201"]),
        ('stats["mean"].cpu().numpy()', ["SG202"]),
        ('other["mean"].item()', ["SG201"]),
    ],
)
def test_what_is_restored_from_a_file_may_be_an_array(read: str, found: list[str]) -> None:
    text = f"""
import pickle

import torch


def step(model, x, path):
    with open(path, "rb") as file:
        stats = pickle.load(file)
    other = torch.load(path)
    mean, std = stats["mean"], stats["std"]
    return model(x) * {read}
"""
    assert checked.codes(text) == found
    assert checked.codes(text, confidence="possible")


def test_what_comes_of_itself_is_restored_from_nothing() -> None:
    text = """
import torch


def step(table, x):
    x = x.rows().sum().item()
    x = table.rows(x).all().any().item()
    return x.parts().max().item()
"""
    assert checked.codes(text) == checked.codes(text.replace("all().any()", "any()"))


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ("means = df.groupby('k').mean()", []),
        ("grouped = rows.groupby('k')\n    means = grouped.mean()", []),
        ("means = rows['a'], rows['b']", ["SG201"]),
        ("means = rows(df)", ["SG201"]),
    ],
)
def test_by_another_name_a_table_of_pandas_is_one_still(steps: str, found: list[str]) -> None:
    text = f"import pandas\nimport torch\n\n\ndef told(df, rows):\n    {steps}\n    return means['v'].sum().item()\n"
    assert checked.codes(text) == found


def test_what_is_taken_for_another_class_is_the_same_tensor() -> None:
    text = """import torch

class Marked(torch.Tensor):
    def some(self):
        y = self.as_subclass(torch.Tensor)
        return y[y > 0]

    def shown(self):
        return str(self.as_subclass(torch.Tensor))
"""
    assert checked.codes(text) == ["SG102", "SG206"]
