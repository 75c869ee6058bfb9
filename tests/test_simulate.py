"""The simulated device: where tensors are, what it answers, what it refuses, and what it tells."""

from __future__ import annotations

import copy
import importlib
import io
import pickle
import subprocess
import sys
import threading
from typing import Any

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from syncguard import pack  # noqa: E402
from syncguard.observe.simulate import Seen, Simulation, conditions  # noqa: E402
from syncguard.observe.simulate.arguments import Arguments  # noqa: E402
from syncguard.observe.simulate.marks import DEVICE, move  # noqa: E402

PACK = pack.load()
CUDA = "cuda"
WORDS = "step %d: %.2f"


def layout(x: torch.Tensor, kind: str) -> torch.Tensor:
    """A sparse matrix on the device, made of the host's so that nothing waits."""
    matrix = torch.sparse_coo_tensor([[0, 1], [0, 1]], [1.0, 1.0], (2, 2), is_coalesced=True)
    made = matrix if kind == "coo" else matrix.to_sparse_csr() if kind == "csr" else matrix.to_sparse_csc()
    return move(made, DEVICE)


def write(x: torch.Tensor, index: Any, value: Any) -> None:
    x[index] = value


def hazards(told: list[Seen]) -> list[str]:
    return [wait.hazard for wait in told]


# Conditions: each named one holds of one call and not of its look-alike.


def device(*shape: int, dtype: Any = torch.float32) -> Any:
    return torch.ones(shape, dtype=dtype, device=CUDA)


HOLDS = {
    "missing": (dict, lambda: {"x": 0}),
    "none": (lambda: {"x": None}, dict),
    "some": (lambda: {"x": 0.1}, lambda: {"x": 0.0}),
    "mean": (lambda: {"x": "mean"}, lambda: {"x": "sum"}),
    "given": (lambda: {"x": 0}, lambda: {"x": None}),
    "alone": (lambda: {"x": 1}, lambda: {"x": 1, "y": 2}),
    "tensor": (lambda: {"x": [1, device(2)]}, lambda: {"x": [torch.ones(2)]}),
    "number": (lambda: {"x": True}, lambda: {"x": device()}),
    "data": (lambda: {"x": [1, [2.0]]}, lambda: {"x": [device(), 1]}),
    "host": (lambda: {"x": torch.ones(2)}, lambda: {"x": device(2)}),
    "built": (lambda: {"x": torch.ones(2)}, lambda: {"x": [1.0, 2.0]}),
    "of_host": (lambda: {"x": {"w": torch.ones(2)}}, lambda: {"x": {"w": device(2), "n": 1}}),
    "true": (lambda: {"x": True}, lambda: {"x": 1}),
    "false": (dict, lambda: {"x": True}),
    "not_false": (dict, lambda: {"x": False}),
    "mask": (lambda: {"x": (0, device(2, dtype=torch.bool))}, lambda: {"x": torch.ones(2, dtype=torch.bool)}),
    "mask_beside": (
        lambda: {"x": (device(2, dtype=torch.bool), device(2, dtype=torch.int64))},
        lambda: {"x": (device(2, dtype=torch.bool), 0)},
    ),
    "zero_dim": (lambda: {"x": device(dtype=torch.int64)}, lambda: {"x": device(1, dtype=torch.int64)}),
    "integers": (lambda: {"x": device(1, dtype=torch.int64)}, lambda: {"x": device(dtype=torch.int64)}),
    "slice_bound": (lambda: {"x": slice(None, device(dtype=torch.int64))}, lambda: {"x": slice(0, 3)}),
    "zero_dim_mask": (lambda: {"x": device(dtype=torch.bool)}, lambda: {"x": device(1, dtype=torch.bool)}),
    "host_index": (lambda: {"x": [0, 1]}, lambda: {"x": (0, 1)}),
    "host_mask": (lambda: {"x": torch.ones(2, dtype=torch.bool)}, lambda: {"x": torch.tensor(True)}),
    "to_host": (lambda: {"x": torch.device("cpu")}, lambda: {"x": "cuda:0"}),
    "to_device": (lambda: {"x": device(1)}, lambda: {"x": "cpu"}),
    "pinned": (lambda: {"x": torch.ones(2).pin_memory()}, lambda: {"x": torch.ones(2)}),
    "pageable": (lambda: {"x": torch.ones(2)}, lambda: {"x": device(2)}),
    "host_number": (lambda: {"x": torch.tensor(1.0)}, lambda: {"x": torch.ones(2)}),
    "host_values": (lambda: {"x": torch.ones(2)}, lambda: {"x": torch.tensor(1.0)}),
    "device_values": (
        lambda: {"x": device(), "index": 0},
        lambda: {"x": device(1), "index": torch.zeros(1, dtype=torch.int64)},
    ),
    "dense": (lambda: {"x": device(2)}, lambda: {"x": device(2).to_sparse()}),
    "surely_dense": (lambda: {"x": device(2)}, lambda: {"x": device(2).to_sparse()}),
    "data_or_unknown": (lambda: {"x": [1, [2.0]]}, lambda: {"x": device(2)}),
    "listed": (lambda: {"x": [device(), 1]}, lambda: {"x": device(2)}),
    "single": (lambda: {"x": device()}, lambda: {"x": [device()]}),
    "proven": (lambda: {"x": torch.ones(2)}, lambda: {"x": [device()]}),
    "evaluating": (lambda: {"x": torch.nn.Linear(1, 1).eval()}, lambda: {"x": torch.nn.Linear(1, 1)}),
    "many": (lambda: {"of": device(64), "x": device(64)}, lambda: {"of": device(64), "x": device(16)}),
    "long": (lambda: {"x": device(2, 2049)}, lambda: {"x": device(2049, 2)}),
    "compared": (lambda: {"of": device(2), "x": device(2)}, lambda: {"of": device(2), "x": device(3)}),
    "sparse": (lambda: {"x": device(2).to_sparse()}, lambda: {"x": device(2)}),
    "by_columns": (lambda: {"x": device(2, 2).to_sparse_csc()}, lambda: {"x": device(2, 2).to_sparse_csr()}),
    "by_rows": (lambda: {"x": device(2, 2).to_sparse_csr()}, lambda: {"x": device(2, 2).to_sparse_csc()}),
    "oblong": (lambda: {"x": device(2, 3, 4)}, lambda: {"x": device(2, 3, 3)}),
    "large": (lambda: {"x": torch.empty(1 << 20)}, lambda: {"x": torch.empty(1 << 19)}),
    "no_range": (lambda: {"min": 2, "x": 2.0}, lambda: {"min": 0, "x": 1}),
    "not_bfloat16": (lambda: {"x": device(2)}, lambda: {"x": device(2, dtype=torch.bfloat16)}),
    "uncoalesced": (
        lambda: {"x": torch.sparse_coo_tensor(torch.zeros(1, 2, dtype=torch.int64), torch.ones(2), (2,))},
        lambda: {"x": device(2).to_sparse()},
    ),
    "negative": (lambda: {"x": -1}, lambda: {"x": 8}),
    "singular": (lambda: {"A": device(2, 2), "x": "nuc"}, lambda: {"A": device(2, 2), "x": "fro"}),
    "zero_dim_target": (lambda: {"self": device(2, 2), "x": (0, 1)}, lambda: {"self": device(2, 2), "x": 0}),
}


def test_every_condition_of_the_rows_is_here() -> None:
    assert set(conditions.CONDITIONS) == set(pack.CONDITIONS) == set(HOLDS)


@pytest.mark.parametrize("name", HOLDS)
def test_a_condition_holds_of_one_call_and_not_of_its_look_alike(name: str, seen: list[Seen]) -> None:
    held, not_held = (make() for make in HOLDS[name])
    assert conditions.hold(((name, "x"),), Arguments((), (), held))
    assert not conditions.hold(((name, "x"),), Arguments((), (), not_held))


def test_conditions_agree_with_what_the_analyzer_takes_them_for() -> None:
    from syncguard.infer.operations import conditions as predicted

    assert set(predicted.CONDITIONS) == set(conditions.CONDITIONS)
    assert predicted.WHOLE == conditions.WHOLE


# Where tensors are.


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2).cuda(),
        lambda: torch.ones(2).cuda(0),
        lambda: torch.ones(2).to("cuda"),
        lambda: torch.ones(2).to(0),
        lambda: torch.ones(2).to(device="cuda:0"),
        lambda: torch.ones(2).to(torch.device("cuda"), torch.float64, True),
        lambda: torch.ones(2).to(torch.ones(1, device=CUDA)),
        lambda: torch.ones(2).type("torch.cuda.FloatTensor"),
        lambda: torch.ones(2).type_as(torch.ones(1, device=CUDA)),
        lambda: torch.ones(2, device="cuda"),
        lambda: torch.ones(2, device=0),
        lambda: torch.ones_like(torch.ones(2), device="cuda"),
        lambda: torch.ones(2, device=CUDA).new_zeros(3),
        lambda: torch.tensor([1.0], device="cuda"),
        lambda: torch.as_tensor([1.0], device=torch.device("cuda", 0)),
        lambda: torch.cuda.FloatTensor([1.0]),
        lambda: torch.normal(0.0, 1.0, (2,), device="cuda"),
        lambda: torch.ones(2, device=CUDA)[0:1].T.contiguous(),
        lambda: torch.ones(2).cuda() + torch.tensor(1.0),
        lambda: F.relu(torch.ones(2, device=CUDA)),
        lambda: torch.stack([torch.ones(2, device=CUDA)]),
        lambda: torch.ones(4, device=CUDA).chunk(2)[1],
        lambda: torch.ones(4, device=CUDA).max(0).values,
        lambda: nn.Linear(2, 2).to("cuda").weight,
        lambda: nn.Linear(2, 2).cuda().bias,
        lambda: nn.Linear(2, 2, device="cuda").weight.data,
        lambda: nn.BatchNorm1d(2).to(0).running_mean,
        lambda: copy.deepcopy(nn.Linear(2, 2).cuda()).weight,
        lambda: copy.deepcopy(torch.ones(2, device=CUDA)),
        lambda: copy.copy(torch.ones(2, device=CUDA)),
        lambda: pickle.loads(pickle.dumps(torch.ones(2, device=CUDA))),
        lambda: torch.zeros(2, device=CUDA).to_sparse(),
        lambda: torch.func.vmap(lambda x: x * 2)(torch.ones(2, device=CUDA)),
        lambda: torch.ops.aten.add.Tensor(torch.ones(2, device=CUDA), 1),
    ],
)
def test_on_the_device(make: Any, seen: list[Seen]) -> None:
    tensor = make()
    assert tensor.device == torch.device("cuda", 0)
    assert (tensor.is_cuda, tensor.is_cpu, tensor.get_device()) == (True, False, 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.ones(2, device=CUDA).cpu(),
        lambda: torch.ones(2, device=CUDA).to("cpu"),
        lambda: torch.ones(2, device=CUDA).to(torch.ones(1)),
        lambda: torch.ones(2, device=CUDA).new_zeros(2, device="cpu"),
        lambda: torch.zeros_like(torch.ones(2, device=CUDA), device="cpu"),
        lambda: nn.Linear(2, 2).cuda().cpu().weight,
        lambda: torch.from_numpy(torch.ones(2, device=CUDA).cpu().numpy()),
        lambda: torch.ones(2),
    ],
)
def test_on_the_host(make: Any, seen: list[Seen]) -> None:
    tensor = make()
    assert (tensor.device.type, tensor.is_cuda, tensor.get_device()) == ("cpu", False, -1)


def test_default_devices(seen: list[Seen]) -> None:
    with torch.device("cuda"):
        assert torch.ones(2).is_cuda
        assert nn.Linear(2, 2).weight.is_cuda
        assert not torch.ones(2, device="cpu").is_cuda
    assert not torch.ones(2).is_cuda
    torch.set_default_device("cuda")
    try:
        assert F.one_hot(torch.arange(3)).is_cuda
        assert torch.get_default_device() == torch.device("cuda", 0) or torch.get_default_device().type == "cuda"
    finally:
        torch.set_default_device(None)
    assert not torch.rand(2).is_cuda


def test_a_swap_of_data_moves_a_parameter(seen: list[Seen]) -> None:
    parameter = nn.Parameter(torch.ones(2))
    parameter.data = parameter.data.cuda()
    assert parameter.is_cuda
    assert parameter.data.is_cuda


def test_gradients_are_where_their_tensors_are(seen: list[Seen]) -> None:
    layer, hooked = nn.Linear(2, 2).cuda(), []
    x = torch.ones(3, 2, requires_grad=True)
    layer.weight.register_hook(hooked.append)
    y = layer(x.cuda())
    y.register_hook(hooked.append)
    y.sum().backward()
    assert layer.weight.grad is not None
    assert x.grad is not None
    assert layer.weight.grad.is_cuda
    assert not x.grad.is_cuda
    assert all(grad.is_cuda for grad in hooked)
    (again,) = torch.autograd.grad(layer(x.cuda()).sum(), [layer.weight])
    assert again.is_cuda


def test_a_function_of_ones_own(seen: list[Seen]) -> None:
    places = []

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            places.extend([grad.device.type, x.device.type])
            if grad.sum() > 0:
                return grad * 2
            return grad

    x = torch.ones(2, device=CUDA, requires_grad=True)
    Double.apply(x).sum().backward()
    line = sys._getframe().f_lineno - 1
    assert places == ["cuda", "cuda"]
    (wait,) = seen
    assert (wait.hazard, wait.phase) == ("tensor-as-condition", "backward")
    assert wait.forward is not None
    assert (wait.forward[0].code.co_filename, wait.forward[0].line) == (__file__, line)


def test_a_dispatch_mode_of_ones_own(seen: list[Seen]) -> None:
    places = []

    class Count(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = func(*args, **(kwargs or {}))
            if func is torch.ops.aten.mul.Tensor:
                places.append(made.device.type)
                made.count_nonzero().item()
            return made

    x = device(2)
    with Count():
        y = x * 2
        here = [value.device.type for value in (x.new_tensor([1.0]), torch.zeros(1), device(1), x.clone())]
        assert len(x[x > 0]) == 2
    assert (places, y.device.type, here) == (["cuda"], "cuda", ["cuda", "cpu", "cuda", "cuda"])
    assert hazards(seen) == ["item", "host-data", "mask-read"]


def test_the_backward_of_a_mask_waits_again(seen: list[Seen]) -> None:
    x = torch.ones(4, device=CUDA, requires_grad=True)
    y = x[x > 0]
    line = sys._getframe().f_lineno - 1
    y.sum().backward()
    assert [(wait.hazard, wait.phase) for wait in seen] == [("mask-read", "forward"), ("mask-read", "backward")]
    assert seen[1].forward is not None
    assert seen[1].forward[0].line == line


def test_the_backward_of_a_mask_on_the_host_waits_although_the_mask_does_not(seen: list[Seen]) -> None:
    x = torch.ones(4, device=CUDA, requires_grad=True)
    y = x[torch.tensor([True, False, True, False])]
    early = [wait for wait in seen if wait.phase == "forward"]
    assert (not early) or torch.__version__ < "2.9"
    y.sum().backward()
    assert [(wait.hazard, wait.phase) for wait in seen[len(early) :]] == [("host-index", "backward")]


def test_threads_are_inside(seen: list[Seen]) -> None:
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.ones(2, device=CUDA).sum().item()))
    thread.start()
    thread.join()
    assert found == [2.0]
    assert hazards(seen) == ["item"]


def test_two_places_do_not_mix(seen: list[Seen]) -> None:
    x = torch.ones(2, device=CUDA)
    with pytest.raises(RuntimeError, match="same device"):
        x + torch.ones(2)
    with pytest.raises(RuntimeError, match="same device"):
        F.linear(torch.ones(1, 2), x[None])
    with pytest.raises(TypeError, match=r"Tensor\.cpu"):
        x.numpy()
    assert (x + torch.tensor(1.0)).is_cuda
    assert x.copy_(torch.ones(2)) is x


def test_files_keep_the_device(seen: list[Seen]) -> None:
    file = io.BytesIO()
    torch.save({"on": torch.ones(2, device=CUDA), "off": torch.ones(2)}, file)
    for place, on in ((None, True), ("cpu", False), ("cuda", True), (lambda storage, _: storage, False)):
        file.seek(0)
        loaded = torch.load(file, map_location=place)
        assert loaded["on"].is_cuda is on, place
    file.seek(0)
    assert torch.load(file, map_location="cuda")["off"].is_cuda


def test_what_the_device_answers(seen: list[Seen]) -> None:
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 1
    assert torch.cuda.get_device_properties(0).total_memory > 0
    assert isinstance(torch.ones(2, device=CUDA), torch.cuda.FloatTensor)
    assert not isinstance(torch.ones(2), torch.cuda.FloatTensor)
    assert "cuda:0" in repr(torch.ones(2, device=CUDA))
    assert torch.ones(2).pin_memory().is_pinned()
    assert torch.Generator("cuda").device.type == "cuda"
    assert torch.rand(2, device=CUDA, generator=torch.Generator("cuda").manual_seed(1)).is_cuda
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(torch.cuda.Stream()):
        start.record()
        end.record()
    assert start.elapsed_time(end) >= 0
    assert seen[-1].hazard == "print-tensor"
    torch.cuda.synchronize()
    end.synchronize()
    assert hazards(seen)[-2:] == ["synchronize", "synchronize"]


@pytest.mark.parametrize("device", ["cpu", CUDA])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (np.zeros(2), "numpy"),
        (torch.zeros(2), "a variable"),
        (np.ones(2).view(type("Own", (np.ndarray,), {})), "numpy"),
    ],
)
def test_what_is_a_tensor_or_an_array_already_is_not_pinned(data: Any, said: str, device: Any) -> None:
    with pytest.raises(RuntimeError, match=f"Can't pin tensor constructed from {said}") as alone:
        torch.tensor(data, device="cpu", pin_memory=True)
    with Simulation(PACK, lambda _: None):
        with pytest.raises(RuntimeError, match="Can't pin") as simulated:
            torch.tensor(data=data, device=device, pin_memory=True)
        assert str(simulated.value).splitlines()[0] == str(alone.value).splitlines()[0]
        assert not torch.tensor(data, pin_memory=False).is_pinned()
        for row in ([1, 2], [np.ones(1)], [torch.ones(())], np.float32(1), range(2)):
            assert torch.tensor(row, pin_memory=True).is_pinned()


MUCH = {
    "made": lambda x: torch.empty(2**55, device=CUDA),
    "computed": lambda x: x.expand(2**50, 2).contiguous(),
    "in Python": lambda x: F.pad(x, (0, 2**55)),
    "in a method": lambda x: x.new_zeros(2**55),
}


@pytest.mark.parametrize("how", MUCH)
def test_a_device_that_is_full_says_so_as_cuda_does(seen: list[Seen], how: str) -> None:
    with pytest.raises(torch.OutOfMemoryError, match=r"CUDA out of memory. Tried to allocate \d+\.00 GiB") as fault:
        MUCH[how](device(2))
    assert isinstance(fault.value, torch.cuda.OutOfMemoryError)
    with pytest.raises(RuntimeError, match="DefaultCPUAllocator"):
        torch.empty(2**55)


def test_everything_is_put_back() -> None:
    before = {name: value for owner in (torch, torch.cuda, torch._C) for name, value in vars(owner).items()}
    with Simulation(PACK, lambda _: None):
        assert torch.cuda.is_available()
    after = {name: value for owner in (torch, torch.cuda, torch._C) for name, value in vars(owner).items()}
    assert {name for name in before if before[name] is not after.get(name)} == set()
    assert not torch.ones(2).is_cuda
    with pytest.raises((AssertionError, RuntimeError)):
        torch.ones(2, device=CUDA)


# What it tells.


@pytest.mark.parametrize(
    ("call", "op", "hazard"),
    [
        (lambda x: x.sum().item(), "torch.Tensor.item", "item"),
        (lambda x: int(x.sum()), "builtins.int", "python-number"),
        (lambda x: bool(x.sum()), "builtins.bool", "python-number"),
        (lambda x: 1 if x.sum() else 0, "torch.Tensor.__bool__", "tensor-as-condition"),
        (lambda x: max(x[0], x[1]), "builtins.max", "tensor-as-condition"),
        (lambda x: f"{x.sum()}", "torch.Tensor.__format__", "print-tensor"),
        (lambda x: "%.2f" % x.sum(), "torch.Tensor.__format__", "print-tensor"),  # noqa: UP031
        (lambda x: WORDS % (1, x.sum()), "torch.Tensor.__format__", "print-tensor"),
        (lambda x: [7] * x.long().sum(), "torch.Tensor.__index__", "python-number"),
        (lambda x: str(x), "builtins.str", "print-tensor"),
        (lambda x: [x.max()].count(x.sum()), "torch.Tensor.__contains__", "tensor-equality"),
        (lambda x: x[x > 0], "torch.Tensor.__getitem__", "mask-read"),
        (lambda x: torch.nonzero(x), "torch.nonzero", "nonzero"),
        (lambda x: torch.ops.aten.nonzero(x), "torch.nonzero", "nonzero"),
        (lambda x: F.one_hot(x.long()), "torch.nn.functional.one_hot", "one-hot"),
        (lambda x: x.cpu(), "torch.Tensor.cpu", "copy-to-host"),
        (lambda x: x.to("cpu"), "torch.Tensor.to", "copy-to-host"),
        (lambda x: torch.ones(2).to(x), "torch.Tensor.to", "copy-to-device"),
        (lambda x: torch.linalg.inv(torch.diag(x)), "torch.linalg.inv", "linalg-check"),
        (lambda x: torch.cuda.synchronize(), "torch.cuda.synchronize", "synchronize"),
        (lambda x: pickle.dumps(x), "pickle.dumps", "copy-to-host"),
        (lambda x: nn.Linear(2, 2).to(x.device), "torch.nn.Module.to", "setup"),
        (lambda x: nn.Linear(2, 2).cuda(), "torch.nn.Module.cuda", "setup"),
        (lambda x: torch.equal(x, x.clone()), "torch.equal", "tensor-equality"),
        (lambda x: x.sum().__setitem__(..., 0.0), "torch.Tensor.__setitem__", "host-data"),
        (lambda x: torch.histc(x, 4, 1, 1), "torch.histc", "bincount"),
        (lambda x: torch.linalg.lu_factor_ex(x[None]), "torch.linalg.lu_factor_ex", "hidden-read"),
        (lambda x: torch.lu(x[None]), "torch.lu", "hidden-read"),
        (lambda x: torch.empty(1 << 20).to(x, non_blocking=True), "torch.Tensor.to", "copy-to-device"),
        (lambda x: torch.empty(1 << 20).cuda(non_blocking=True), "torch.Tensor.cuda", "copy-to-device"),
        (lambda x: layout(x, "coo").to_sparse_csc(), "torch.Tensor.to_sparse_csc", "hidden-read"),
        (lambda x: layout(x, "csr").to_sparse_csc(), "torch.Tensor.to_sparse_csc", "hidden-read"),
        (lambda x: torch.sparse.mm(layout(x, "csr"), layout(x, "csr")), "torch.sparse.mm", "hidden-read"),
        (lambda x: torch.isin(x, torch.arange(64.0, device=CUDA)), "torch.isin", "unique"),
        (lambda x: write(x.sum(), x.sum() > 0, 0.0), "torch.Tensor.__setitem__", "mask-write"),
        (lambda x: write(x, torch.tensor([True, False]), 0.0), "torch.Tensor.__setitem__", "host-data"),
        (lambda x: write(x, [], 0.0), "torch.Tensor.__setitem__", "host-data"),  # the number is copied all the same
    ],
)
def test_a_wait_is_told_once_by_its_name(call: Any, op: str, hazard: str, seen: list[Seen]) -> None:
    x = torch.ones(2, device=CUDA)
    call(x)
    assert [(wait.op, wait.hazard) for wait in seen] == [(op, hazard)]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x[x > 0].shape if False else x.masked_fill(x > 0, 0.0),
        lambda x: torch.where(x > 0, x, 0.0),
        lambda x: x.__setitem__(..., 0.0),
        lambda x: torch.histc(x, 4, 0, 1),
        lambda x: torch.linalg.lu_factor_ex(torch.diag(x)),
        lambda x: torch.lu(torch.diag(x)),
        lambda x: torch.cholesky_inverse(torch.diag(x)),
        lambda x: torch.empty(1 << 19).to(x, non_blocking=True),
        lambda x: torch.empty(1 << 20).pin_memory().cuda(non_blocking=True),
        lambda x: layout(x, "csc").to_sparse_csc(),
        lambda x: torch.sparse.mm(layout(x, "coo"), torch.diag(x)),
        lambda x: torch.sparse.sum(layout(x, "coo")),
        lambda x: F.one_hot(x.long(), 3),
        lambda x: x.to("cpu", non_blocking=True),
        lambda x: nn.Linear(2, 2).to(x.device, non_blocking=True),
        lambda x: torch.equal(x, x),
        lambda x: torch.equal(x.detach().view(-1), x.flatten()),
        lambda x: torch.equal(x, x[:1]),
        lambda x: torch.isin(x, torch.arange(4.0, device=CUDA)),
        lambda x: write(x, x > 0, 0.0),
        lambda x: x[torch.tensor([True, False])],
        lambda x: torch.ones(2).pin_memory().to(x.device, non_blocking=True),
        lambda x: x.to("cuda", torch.float64).to(x),
        lambda x: nn.Linear(2, 2, device=x.device)(x).sum().backward(),
        lambda x: F.cross_entropy(x[None], x[:1].long()),
        lambda x: nn.utils.clip_grad_norm_([nn.Parameter(x.clone())], 1.0),
        lambda x: x.long().bincount if x.numel() == 2 else None,
    ],
)
def test_look_alikes_are_silent(call: Any, seen: list[Seen]) -> None:
    call(torch.ones(2, device=CUDA))
    assert seen == []


@pytest.mark.parametrize("fused", [None, True])
@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.AdamW, torch.optim.Adam, torch.optim.RMSprop])
def test_training_is_exact(kind: Any, fused: Any) -> None:
    if fused and kind is torch.optim.RMSprop:
        pytest.skip("has no fused form")

    def train(device: str) -> list[float]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 16), nn.Dropout(0.1), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 3)).to(
            device
        )
        optimizer = kind(model.parameters(), lr=1e-2, fused=fused) if fused else kind(model.parameters(), lr=1e-2)
        found = []
        for _ in range(4):
            x, y = torch.randn(5, 8, device=device), torch.randint(3, (5,), device=device)
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            found.append(loss.detach().cpu().item())
        return found

    with torch.random.fork_rng(devices=[]):
        plain = train("cpu")
        with Simulation(PACK, lambda _: None):
            assert train(CUDA) == plain


def test_mixed_precision(seen: list[Seen]) -> None:
    model = nn.Linear(4, 2).cuda()
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler("cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        out = model(torch.ones(3, 4, device=CUDA))
        assert torch.is_autocast_enabled("cuda")
    assert out.dtype is torch.float16
    seen.clear()
    scaler.scale(out.float().sum()).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert [wait.op for wait in seen] == ["torch.GradScaler.step"]
    with torch.autocast("cpu"):
        assert model.cpu()(torch.ones(3, 4)).dtype is torch.bfloat16


def test_scripts_run_eagerly() -> None:
    simulation = Simulation(PACK, lambda _: None)
    with simulation:

        @torch.jit.script
        def twice(x):
            return x * 2

        assert twice(torch.ones(1, device=CUDA)).is_cuda
    assert simulation.notes == ["torch.jit: scripts and traces ran eagerly"]


def test_compiling_is_said_once() -> None:
    simulation = Simulation(PACK, lambda _: None)
    with simulation:
        for _ in range(2):
            assert torch.compile(lambda x: x + 1)(torch.ones(1, device=CUDA)).is_cuda
        torch.compile(dynamic=True)(lambda x: x)
    assert simulation.notes == ["torch.compile: the model ran eagerly"]


def test_workers_of_a_loader(seen: list[Seen]) -> None:
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    loader = torch.utils.data.DataLoader(data, batch_size=4, num_workers=2, pin_memory=True)
    found = []
    for (x,) in loader:
        assert x.is_pinned()
        found.append(x.to("cuda", non_blocking=True).sum())
    assert float(sum(found)) == 28.0
    assert hazards(seen) == ["python-number"]


def test_checkpointing(seen: list[Seen]) -> None:
    from torch.utils.checkpoint import checkpoint

    def block(x: Any) -> Any:
        return F.dropout(x, 0.5) * 2 if x.sum() > 0 else x

    x = torch.ones(4, device=CUDA, requires_grad=True)
    for reentrant in (True, False):
        seen.clear()
        checkpoint(block, x, use_reentrant=reentrant).sum().backward()
        assert [wait.phase for wait in seen] == ["forward", "backward"]
    assert x.grad is not None
    assert x.grad.is_cuda


def test_what_is_loaded_later_is_judged(seen: list[Seen]) -> None:
    sys.modules.pop("torch.distributed.nn.functional", None)
    sys.modules.pop("torch.ao.quantization.observer", None)
    from torch.ao.quantization import MinMaxObserver

    observer = MinMaxObserver().cuda()
    observer(torch.ones(2, device=CUDA))
    observer.calculate_qparams()
    assert "torch.ao.quantization" in seen[-1].op


@pytest.mark.parametrize("loaded", [False, True])
def test_custom_extensions(loaded: bool) -> None:
    if loaded:  # by torch.compile, say
        importlib.import_module("torch.utils.cpp_extension")
    with pytest.raises(ModuleNotFoundError):
        __import__("an_extension.kernels")
    with Simulation(PACK, lambda _: None, step_over=["an_extension"]):
        from an_extension.kernels import fused_norm

        assert fused_norm(torch.ones(2, device=CUDA), eps=1e-5).is_cuda
        assert not fused_norm("no tensor")
        from torch.utils import cpp_extension

        assert cpp_extension.load(name="an_extension", sources=["norm.cu"]).norm(torch.ones(2)).shape == (2,)
    with pytest.raises(ModuleNotFoundError):
        __import__("an_extension.kernels")


def test_an_operator_without_a_kernel_for_the_cpu() -> None:
    library = torch.library.Library("syncguard_test", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x, "CUDA")
    with Simulation(PACK, lambda _: None), pytest.raises(NotImplementedError, match="run --step-over syncguard_test"):
        torch.ops.syncguard_test.twice(torch.ones(2, device=CUDA))
    with Simulation(PACK, lambda _: None, step_over=["syncguard_test"]):
        assert torch.ops.syncguard_test.twice(torch.ones(2, device=CUDA)).is_cuda


STEP = """
import os
import torch
import torch.distributed as dist
from syncguard import pack
from syncguard.observe.simulate import Simulation

told = []
with Simulation(pack.load(), told.append) as simulation:
    dist.init_process_group("nccl", device_id=torch.device("cuda", 0))
    rank = dist.get_rank()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2).cuda(), device_ids=[0])
    model(torch.ones(3, 4, device="cuda") * (rank + 1)).sum().backward()
    total = torch.ones(2, device="cuda") * rank
    dist.all_reduce(total)
    assert total.is_cuda and not told
    dist.barrier()
    grad = model.module.weight.grad.cpu().sum().item()
    dist.destroy_process_group()
print(f"rank {rank} {grad} {[wait.op for wait in told]} {simulation.notes}\\n", end="", flush=True)
"""


@pytest.mark.slow
def test_two_ranks(tmp_path: Any) -> None:
    script = tmp_path / "step.py"
    script.write_text(STEP)
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    said = sorted(line for line in done.stdout.splitlines() if line.startswith("rank "))
    rest = "36.0 ['torch.distributed.barrier', 'torch.Tensor.cpu'] ['torch.distributed: gloo ran in place of nccl']"
    assert said == [f"rank {rank} {rest}" for rank in (0, 1)], done.stderr


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x, n: torch.nn.utils.rnn.pack_padded_sequence(x, n, enforce_sorted=False), "1D CPU int64 tensor"),
        (lambda x, n: torch.nn.utils.rnn.pack_padded_sequence(x, n.cpu(), enforce_sorted=False), ""),
        (lambda x, n: torch.tensor_split(x, n), "to be on cpu"),
        (lambda x, n: x.tensor_split(indices=(1, 2)), ""),
        (lambda x, n: x.apply_(lambda one: one + 1), "only implemented on CPU"),
        (lambda x, n: x.cpu().apply_(lambda one: one + 1), ""),
        (lambda x, n: x.map_(x, lambda one, other: one), "only implemented on CPU"),
        (lambda x, n: torch.histogram(x, 4), "'CUDA' backend"),
        (lambda x, n: torch.histogram(x.cpu(), 4), ""),
        (lambda x, n: torch.histc(x, 4), ""),
    ],
)  # fmt: skip
def test_what_only_the_host_computes_is_refused(simulation, call, said) -> None:
    x, lengths = torch.ones(3, 2, 4, device=CUDA), torch.tensor([3, 2], device=CUDA)
    if not said:
        call(x, lengths)
        return
    with pytest.raises((RuntimeError, NotImplementedError), match=said):
        call(x, lengths)
