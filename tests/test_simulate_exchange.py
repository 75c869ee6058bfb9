"""The simulated device and what lies around it: other libraries, other processes, pickles, memory, mixed devices."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

import pytest
from running import ran

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from syncguard import pack  # noqa: E402
from syncguard.observe.simulate import Simulation  # noqa: E402

PACK = pack.load()
CUDA = "cuda"


def there(*shape: int, **settings: Any) -> Any:
    return torch.ones(shape, device=CUDA, **settings)


def test_dlpack_keeps_the_place(simulation: Any) -> None:
    x = there(3)
    shared = torch.from_dlpack(x)
    shared[0] = 7
    assert (shared.is_cuda, x[0].item()) == (True, 7)
    assert torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(x)).is_cuda
    assert not torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(torch.ones(3))).is_cuda
    assert not torch.from_dlpack(numpy.ones(3)).is_cuda
    assert torch.from_dlpack(torch.ones(3), device=CUDA).is_cuda
    assert not torch.from_dlpack(x, device="cpu").is_cuda
    assert x.__dlpack_device__() == (2, 0)
    with pytest.raises(ValueError, match="without copying"):
        torch.from_dlpack(x, device="cpu", copy=False)


@pytest.mark.parametrize(
    ("read", "fault"),
    [
        (lambda x: x.numpy(), TypeError),
        (lambda x: numpy.asarray(x), TypeError),
        (lambda x: numpy.array([x[0], x[1]]), TypeError),
        (lambda x: x.__array__(), TypeError),
        (lambda x: x + numpy.ones(3), TypeError),
        (lambda x: numpy.from_dlpack(x), (BufferError, RuntimeError)),
        (lambda x: x.cpu().__cuda_array_interface__, AttributeError),
        (lambda x: x.clone().requires_grad_().__cuda_array_interface__, RuntimeError),
    ],
)
def test_numpy_cannot_read_the_device(read: Any, fault: Any, simulation: Any) -> None:
    with pytest.raises(fault):
        read(there(3))


def test_the_array_interface_of_cuda(simulation: Any) -> None:
    x = there(2, 3)
    found = x.T.__cuda_array_interface__
    assert found == {"typestr": "<f4", "shape": (3, 2), "strides": (4, 12), "data": (x.data_ptr(), False), "version": 2}
    assert there(2, dtype=torch.int64).__cuda_array_interface__["typestr"] == "<i8"
    assert hasattr(x, "__cuda_array_interface__")
    assert not hasattr(torch.ones(2), "__cuda_array_interface__")


@pytest.mark.parametrize(
    ("call", "waits"),
    [
        (lambda x: pickle.dumps(x), 1),
        (lambda x: pickle.Pickler(io.BytesIO()).dump({"a": [x, x[:1]]}), 2),
        (lambda x: pickle.dumps(nn.Linear(2, 2, device=CUDA)), 2),
        (lambda x: torch.save({"a": x}, io.BytesIO()), 1),
        (lambda x: pickle.dumps(torch.ones(2)), 0),
        (lambda x: copy.copy(x), 0),
        (lambda x: copy.deepcopy({"a": [x]}), 0),
        (lambda x: copy.deepcopy(nn.Linear(2, 2, device=CUDA)), 0),
    ],
)
def test_pickling_waits_and_copying_does_not(call: Any, waits: int, simulation: Any) -> None:
    call(there(3))
    assert [wait.hazard for wait in simulation.told] == ["copy-to-host"] * waits


QUEUE = """\
import torch
import torch.multiprocessing as mp


def work(given, made, shared):
    x = given.get()
    shared.add_(x.sum())
    made.put(x * 2)
    given.get()


if __name__ == "__main__":
    context = mp.get_context("spawn")
    given, made, shared = context.Queue(), context.Queue(), torch.zeros(2, device="cuda")
    process = context.Process(target=work, args=(given, made, shared))
    process.start()
    given.put(torch.ones(3, device="cuda"))
    x = made.get()
    print(x.device, (x + torch.ones(3, device="cuda")).tolist(), shared.tolist())
    given.put(None)
    process.join()
"""


@pytest.mark.slow
def test_tensors_go_to_other_processes_and_back(tmp_path) -> None:
    (tmp_path / "train.py").write_text(QUEUE)
    code, out, err = ran("-m", "syncguard", "run", "--device", "simulate", "train.py", cwd=tmp_path, patience=180)
    assert (code, out) == (0, "cuda:0 [3.0, 3.0, 3.0] [3.0, 3.0]\n"), err


def test_memory_is_that_of_the_process(simulation: Any) -> None:
    held, most = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()
    assert 2**20 < held <= most <= torch.cuda.max_memory_reserved()
    free, total = torch.cuda.mem_get_info()
    assert 0 < free < total == torch.cuda.get_device_properties(0).total_memory
    assert torch.cuda.memory_stats()["allocated_bytes.all.current"] > 0
    assert torch.cuda.memory_stats_as_nested_dict()["reserved_bytes"]["all"]["peak"] >= most
    assert "PyTorch CUDA memory summary" in torch.cuda.memory_summary()
    assert torch.cuda.memory._snapshot()["segments"] == []
    with torch.cuda.use_mem_pool(torch.cuda.MemPool()):
        assert there(2).is_cuda
    assert torch.cuda.get_allocator_backend() == "native"
    assert torch.cuda.cudart().cudaProfilerStart() == 0
    assert simulation.told == []


def test_accelerators_and_backends(simulation: Any) -> None:
    assert torch.get_device_module() is torch.cuda
    assert torch.get_device_module(there(1).device) is torch.cuda
    assert torch.accelerator.current_accelerator() == torch.device(CUDA)
    if hasattr(torch.accelerator, "get_memory_info"):
        assert torch.accelerator.get_memory_info()[0] > 0
    assert torch.backends.cuda.is_built()
    assert torch.backends.cudnn.is_available()
    assert torch.backends.cudnn.version() > 8000
    assert torch.backends.cuda.cufft_plan_cache[0].max_size > torch.backends.cuda.cufft_plan_cache.size
    assert torch.backends.cudnn.is_acceptable(there(1))
    out, _ = nn.LSTM(2, 2).cuda()(there(1, 1, 2))
    assert out.is_cuda


INDEX = "indices should be either on cpu or on the same device as the indexed tensor"


@pytest.mark.parametrize(
    ("mix", "said"),
    [
        (lambda x, y: x + y, "same device"),
        (lambda x, y: torch.cat([x, y]), "same device"),
        (lambda x, y: y[x.long()], INDEX),
        (lambda x, y: y[x > 0], INDEX),
        (lambda x, y: y.__setitem__(x > 0, 1.0), INDEX),
        (lambda x, y: x.__setitem__(torch.arange(3, device=CUDA), y), "same device"),
        (lambda x, y: F.conv1d(y[None, None], x[None, None]), r"Input type \(torch.FloatTensor\) and weight type"),
        (lambda x, y: nn.LSTM(3, 2).cuda()(y[None, None]), "found input tensor at cpu and parameter tensor at cuda"),
        (lambda x, y: nn.GRU(3, 2).cuda()(x[None, None], torch.zeros(1, 1, 2)), "and hidden tensor at cpu"),
        (lambda x, y: setattr(x, "grad", y), "assigned grad has data located on a different device"),
        (lambda x, y: torch.rand(2, device=CUDA, generator=torch.Generator()), "Expected a 'cuda' device type"),
        (lambda x, y: torch.randperm(3, generator=torch.Generator(CUDA)), "Expected a 'cpu' device type"),
        (lambda x, y: torch.multinomial(x, 1, generator=torch.Generator()), "Expected a 'cuda' device type"),
    ],
)
def test_what_does_not_fit_is_refused_as_a_device_does(mix: Any, said: str, simulation: Any) -> None:
    with pytest.raises(RuntimeError, match=said):
        mix(there(3), torch.ones(3))


def test_what_fits(simulation: Any) -> None:
    x, y = there(3), torch.ones(3)
    assert (x + torch.tensor(1.0)).is_cuda
    assert x[torch.arange(2)].is_cuda
    x[torch.arange(2)] = 1.0
    x[0:2] = y[:2]
    x.grad = there(3)
    packed = nn.utils.rnn.pack_padded_sequence(there(2, 3, 1), torch.tensor([3, 2]), batch_first=True)
    assert nn.LSTM(1, 2).cuda()(packed)[0].data.is_cuda
    generator = torch.Generator(CUDA).manual_seed(1)
    assert torch.rand(2, device=CUDA, generator=generator).is_cuda
    assert pickle.loads(pickle.dumps(generator)).device.type == CUDA
    generator.set_offset(4)
    assert generator.get_offset() == 4


def test_what_takes_the_shape_of_another_stays_where_it_is(simulation: Any) -> None:
    x, y = there(2, 3), torch.from_numpy(numpy.ones(6))
    assert not y.view_as(x).is_cuda
    assert not y.reshape_as(x).is_cuda
    assert there(1, 3).expand_as(torch.ones(2, 3)).is_cuda
    assert torch.empty(0).resize_as_(x).shape == (2, 3)
    assert [t.is_cuda for t in torch.atleast_2d(x, torch.ones(3))] == [True, False]


def test_what_is_made_of_memory_in_another_place_is_a_copy(simulation: Any) -> None:
    host, device, index = torch.ones(2), there(2), torch.tensor([[0, 1]])
    for make in (torch.as_tensor, torch.asarray):
        assert make(host, device=CUDA).is_cuda
        assert not make(device, device="cpu").is_cuda
        assert make(host) is host
        assert make(device, device=CUDA).data_ptr() == device.data_ptr()
    made = torch.sparse_coo_tensor(index, host, (3,), device=CUDA)
    assert made.is_cuda
    assert made.coalesce().values().is_cuda
    assert torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), host[:1], device=CUDA).is_cuda
    assert torch.nested.as_nested_tensor([host, host[:1]], device=CUDA).is_cuda
    assert not host.is_cuda
    assert not index.is_cuda
    leaf = torch.ones(2, requires_grad=True)
    torch.as_tensor(leaf, device=CUDA).sum().backward()
    assert leaf.grad is not None
    assert not leaf.grad.is_cuda


def test_a_default_class_of_the_device_makes_the_device_the_default(simulation: Any) -> None:
    for kind in (torch.cuda.FloatTensor, "torch.cuda.FloatTensor"):
        torch.set_default_tensor_type(kind)
        assert torch.zeros(2).is_cuda
        torch.set_default_tensor_type(torch.FloatTensor)
        assert not torch.zeros(2).is_cuda
        assert torch.zeros(2).dtype is torch.float32


def test_a_module_of_the_host_stays_there_without_a_wait() -> None:
    seen: list[Any] = []
    with Simulation(PACK, seen.append):
        module = nn.Sequential(nn.Linear(2, 2))
        module.to("cpu").cpu()
        assert seen == []
        module.to(CUDA).to("cpu")
        module.cuda().cpu()
    assert [wait.hazard for wait in seen] == ["setup", "copy-to-host"] * 2


def test_derivatives_of_derivatives(simulation: Any) -> None:
    x = there(3)
    assert torch.func.hessian(lambda x: (x**3).sum())(x).diagonal().tolist() == [6, 6, 6]
    assert torch.func.jacfwd(lambda x: x**2)(x).is_cuda
    assert torch.func.vmap(torch.func.grad(lambda x: x.square().sum()))(there(4, 3)).is_cuda
    assert simulation.notes == []


def branches(x: Any) -> Any:
    return x * 2 if x.sum() > 0 else x


def test_breaks_of_a_graph_are_counted_as_on_a_device(simulation: Any) -> None:
    explained = torch._dynamo.explain(branches)(there(3))
    assert (explained.graph_break_count, explained.graph_count) == (1, 2)
    assert torch._dynamo.explain(nn.Linear(2, 2).cuda(), there(1, 2)).graph_break_count == 0
    assert simulation.notes == ["torch._dynamo.explain: the function was explained as one of the CPU"]
    with pytest.raises(NotImplementedError, match="where the function itself asks for the device"):
        torch._dynamo.explain(lambda x: x + torch.ones(3, device=CUDA))(there(3))


def test_a_table_of_the_host_is_copied_when_it_is_loaded(simulation: Any) -> None:
    model = nn.Sequential(nn.Linear(2, 2, device=CUDA))
    model.load_state_dict(model.state_dict())
    model.load_state_dict({name: value.detach().cpu() for name, value in model.state_dict().items()})
    assert [wait.hazard for wait in simulation.told] == ["copy-to-host", "copy-to-host", "copy-to-device"]


def test_what_is_packed_for_backward_is_where_it_is_made(simulation: Any) -> None:
    """A hook that packs one tensor of a call leaves the place of those that the call packs after it."""
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.cpu() if t.ndim else t, lambda t: t):
        most = (there(3, requires_grad=True) * 2).max()
    assert most.is_cuda


@pytest.mark.parametrize(
    ("make", "on"),
    [
        (lambda one, number: torch.full((2,), one), False),
        (lambda one, number: torch.arange(number), False),
        (lambda one, number: torch.zeros(number), False),
        (lambda one, number: torch.linspace(one, one, 3), False),
        (lambda one, number: torch.tensor([one, one]), False),
        (lambda one, number: torch.as_tensor([one, one]), False),
        (lambda one, number: torch.as_tensor(one), True),
        (lambda one, number: torch.full((2,), one, device=CUDA), True),
        (lambda one, number: torch.sparse_coo_tensor(number[None, None], one[None], (2,)), True),
        (lambda one, number: torch.nested.nested_tensor([one[None], one[None]]), True),
        (lambda one, number: torch.nested.nested_tensor([torch.ones(1), torch.ones(2)], device=CUDA), True),
        (lambda one, number: torch.nested.nested_tensor([[1.0], [2.0, 3.0]]), False),
    ],
)
def test_a_size_or_an_item_is_read_and_does_not_say_where_the_result_is(make: Any, on: bool, simulation: Any) -> None:
    one, number = there(), torch.ones((), dtype=torch.int64, device=CUDA)
    assert make(one, number).is_cuda is on


def test_a_number_of_numpy_is_a_number(simulation: Any) -> None:
    x = there(3)
    x[numpy.int64(1)]
    assert simulation.told == []
    x[numpy.array([1])]
    assert [wait.hazard for wait in simulation.told] == ["host-index"]
    x[0:2] = torch.ones(2)
    x[0:2] = torch.tensor(1.0)
    assert [wait.hazard for wait in simulation.told] == ["host-index", "copy-to-device"]
