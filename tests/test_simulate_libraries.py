"""Compilers, scripts, exports and tensors of classes of their own, on the simulated device."""

from __future__ import annotations

import copy
import importlib
import inspect
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, ClassVar

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn.utils._per_sample_grad import call_for_per_sample_grads  # noqa: E402

from syncguard import pack  # noqa: E402
from syncguard.observe.simulate import Seen, Simulation  # noqa: E402

PACK = pack.load()
CUDA = "cuda"


# What no caller names: methods, whose first is the object, and what torch itself calls.
UNNAMED = ("_reduce_ex_internal", "_engine_run_backward", "init_process_group")


def functions_of_torch() -> dict[tuple[str, str], Any]:
    """The functions and methods of the modules of torch that are loaded, by their owner and name."""
    found: dict[tuple[str, str], Any] = {}
    for path, module in list(sys.modules.items()):
        for name, value in list(vars(module).items()) if path.startswith("torch") else ():
            if inspect.isfunction(value):
                found[path, name] = value
            if inspect.isclass(value) and value.__module__.startswith("torch"):
                own = {key: getattr(held, "__func__", held) for key, held in vars(value).items()}
                found |= {(f"{path}.{name}", key): held for key, held in own.items() if inspect.isfunction(held)}
    return found


def test_what_stands_in_for_a_function_takes_its_arguments_by_the_same_names() -> None:
    importlib.import_module("torch._dynamo")
    plain = functions_of_torch()
    with Simulation(PACK, lambda seen: None):
        patched = functions_of_torch()
    checked, missing = 0, []
    for key, function in patched.items():
        original = plain.get(key)
        if original in (None, function) or "syncguard" not in function.__code__.co_filename or key[1] in UNNAMED:
            continue
        ours = inspect.signature(function, follow_wrapped=False).parameters.values()
        theirs = inspect.signature(original).parameters.values()  # torch wraps some that take anything
        first = {next((p.name for p in theirs), "")} & {"self", "cls"}
        named = {p.name for p in [*ours][len(first) :] if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        wanted = {p.name for p in theirs if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)} - first
        assert named <= wanted, key
        unwraps = inspect.isgeneratorfunction(getattr(original, "__wrapped__", None))  # torch's compiler does
        missing += [key] * (unwraps and not hasattr(function, "__wrapped__"))
        assert any(p.kind is p.VAR_KEYWORD for p in ours) or wanted <= named, key
        checked += 1
    assert not missing
    assert checked > 50


class Gate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        if bool(x.sum() > 0):
            return self.layer(x)
        return x

    def help(self) -> int:
        return 5


class Mover(nn.Module):
    """It moves what no parameter holds at a line of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.state = torch.ones(2)

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self.state = fn(self.state)
        return self


def test_a_module_that_moves_what_it_has_at_a_line_of_its_own_is_told_there_alone(simulation) -> None:
    Mover().to(CUDA)
    assert [(wait.op, wait.hazard) for wait in simulation.told] == [("torch.Tensor.to", "copy-to-device")]
    simulation.told.clear()
    nn.Sequential(Mover(), nn.Linear(2, 2)).to(CUDA)  # torch itself moves the layer
    assert [wait.op for wait in simulation.told] == ["torch.Tensor.to", "torch.nn.Module.to"]


def test_the_first_that_is_compiled_turns_validation_off(simulation) -> None:
    scale = torch.ones(2, device=CUDA)
    torch.distributions.Exponential(scale)
    assert [wait.hazard for wait in simulation.told] == ["distribution-validation"]
    torch.compile(lambda x: x)
    torch.distributions.Exponential(scale)
    assert len(simulation.told) == 1
    torch.distributions.Exponential(scale, validate_args=True)
    assert len(simulation.told) == 2


def test_a_compiled_module_is_held_as_torch_holds_it(simulation) -> None:
    plain = Gate().cuda()
    model = torch.compile(plain, mode="reduce-overhead")
    assert type(model).__name__ == "OptimizedModule"
    assert model._orig_mod is plain
    assert model.help() == 5
    assert "_orig_mod.layer.weight" in model.state_dict()
    x = torch.ones(1, 2, device=CUDA)
    assert torch.equal(model(x), plain(x))
    model.eval()
    assert not plain.training
    assert not copy.deepcopy(model)._orig_mod.training
    assert torch.compile(model) is model
    assert torch.compile(plain, disable=True) is plain
    hazards = ["setup", "python-number", "python-number", "tensor-equality"]
    assert [wait.hazard for wait in simulation.told] == hazards
    assert simulation.notes == ["torch.compile: the model ran eagerly"]


def test_a_program_whose_scripts_are_turned_off(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text('import torch\nprint("sum", torch.ones(2, device="cuda").sum().item())\n')
    command = [sys.executable, "-m", "syncguard", "run", "--device", "simulate", str(program)]
    env = os.environ | {"PYTORCH_JIT": "0"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=240, check=False)
    assert done.stdout == "sum 2.0\n", done.stderr
    assert "program.py:2" in done.stderr


def test_a_script_is_saved_and_loaded(simulation, tmp_path) -> None:
    file, x = str(tmp_path / "gate.pt"), torch.ones(1, 2, device=CUDA)
    script = torch.jit.script(Gate().cuda())
    expected = script(x)
    assert [wait.hazard for wait in simulation.told] == ["setup", "python-number"]
    copied = pickle.loads(pickle.dumps(copy.deepcopy(script)))
    assert torch.equal(copied(x), expected)
    copied.save(file)
    assert torch.jit.freeze(script.eval())(x).is_cuda
    assert torch.jit.optimize_for_inference(script)(x).is_cuda
    with pytest.raises(RuntimeError, match="eval mode"):
        torch.jit.freeze(script.train())
    with pytest.raises(RuntimeError, match="expects a ScriptModule"):
        torch.jit.freeze(torch.nn.Linear(2, 2))
    loaded = torch.jit.load(file, map_location=CUDA)
    assert isinstance(loaded, torch.jit.ScriptModule)
    assert torch.jit.freeze(loaded.eval())(x).is_cuda
    assert loaded(x).is_cuda
    assert torch.equal(loaded(x), expected)
    assert not torch.jit.load(file)(x.cpu()).is_cuda
    assert any(note.startswith("torch.jit.load: a loaded script ran as a whole") for note in simulation.notes)
    torch.jit.save(m=torch.jit.script(Gate().cuda()), f=file)
    assert torch.jit.load(f=file)(x.cpu()).shape == (1, 2)


class Checked(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate, self.norm = Gate(), nn.BatchNorm1d(2)

    def forward(self, x):
        if x.shape[-1] != 2:
            raise ValueError("two of them")
        return self.norm(self.gate(x))


def test_a_script_is_a_module_of_its_own_with_the_same_parameters(simulation) -> None:
    plain = Checked().cuda()
    script = torch.jit.script(plain)
    assert isinstance(script, torch.jit.ScriptModule)
    assert isinstance(script.gate, torch.jit.ScriptModule)
    assert not isinstance(plain, torch.jit.ScriptModule)
    assert not isinstance(plain.gate, torch.jit.ScriptModule)
    assert not isinstance(script, torch.jit.RecursiveScriptModule)
    assert torch.jit.script(script) is script
    assert isinstance(copy.deepcopy(script), torch.jit.ScriptModule)
    assert all(ours is theirs for ours, theirs in zip(script.parameters(), plain.parameters(), strict=True))
    script.eval()
    assert (plain.training, plain.norm.training, script.norm.training) == (True, True, False)
    script.train()(torch.ones(2, 2, device=CUDA)).sum().backward()
    assert plain.norm.num_batches_tracked == 1
    assert plain.gate.layer.weight.grad.is_cuda
    traced = torch.jit.trace(nn.Linear(2, 2).cuda(), torch.ones(1, 2, device=CUDA))
    assert isinstance(traced, torch.jit.ScriptModule)


def test_a_script_shows_its_graph(simulation) -> None:
    plain, x = nn.Linear(2, 2).cuda(), torch.ones(1, 2, device=CUDA)
    traced = torch.jit.trace(plain, x)
    assert any(node.kind() == "aten::linear" for node in traced.inlined_graph.nodes())
    assert "linear" in torch.jit.script(plain).code
    assert not hasattr(plain, "graph")
    assert not hasattr(pickle.loads(pickle.dumps(traced)), "graph")


def test_what_python_raises_in_a_script_is_an_error_of_torch_jit(simulation, tmp_path) -> None:
    def picked(x: torch.Tensor, at: int) -> torch.Tensor:
        if at < 0:
            raise ValueError("from the left")
        return x[at]

    script, x = torch.jit.script(picked), torch.ones(2, device=CUDA)
    assert script(x, 1).is_cuda
    with pytest.raises(
        torch.jit.Error, match=r"TorchScript interpreter\.\nbuiltins\.ValueError: from the left"
    ) as left:
        script(x, -1)
    assert isinstance(left.value.__cause__, ValueError)
    with pytest.raises(RuntimeError, match="out of bounds") as beyond:
        script(x, 2)
    assert isinstance(beyond.value.__cause__, IndexError)
    with pytest.raises(ValueError, match="left"):
        picked(x, -1)
    with pytest.raises(torch.jit.Error, match="ValueError: two of them"):
        torch.jit.script(Checked().cuda())(torch.ones(2, 3, device=CUDA))
    script.save(str(tmp_path / "picked.pt"))
    assert torch.jit.load(str(tmp_path / "picked.pt"))(torch.ones(2), 1) == 1


class Picking(nn.Module):
    def forward(self, x):
        return first(x)


@torch.jit.script_if_tracing
def first(x: torch.Tensor) -> torch.Tensor:
    return x[0]


def test_a_script_that_calls_one_is_saved(simulation, tmp_path, monkeypatch) -> None:
    def second(x: torch.Tensor) -> torch.Tensor:
        return x[1]

    monkeypatch.setitem(globals(), "first", torch.jit.script(second))
    torch.jit.script(Picking()).save(str(tmp_path / "picking.pt"))
    assert torch.jit.load(str(tmp_path / "picking.pt"))(torch.arange(2)) == 1


class Mixed(nn.Module):
    """Calls functions of C++ and of Python, of one tensor and of several."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3, 3))

    def forward(self, x: Any) -> Any:
        y = torch.einsum("ij,jk->ik", x, self.weight)
        first, second = torch.broadcast_tensors(y, x[:, :1])
        z = nn.functional.softmax(first + second, dim=-1)
        return nn.functional.layer_norm(z, (3,)), torch.cat([z, y]), torch.norm(z)


class Wrapped:
    """Holds a tensor, and computes with it in its own Python."""

    def __init__(self, held: Any) -> None:
        self.held = held

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        held = [one.held if isinstance(one, Wrapped) else one for one in args]
        made = torch.zeros(2, device=CUDA)
        return func(*held, **(kwargs or {})), made, held[0].sum().item()


class Refusing:
    @classmethod
    def __torch_function__(cls, *args: Any) -> Any:
        return NotImplemented


def test_a_model_is_traced_as_it_is_plain(simulation) -> None:
    with simulation.suspended():
        plain = str(torch.fx.symbolic_trace(Mixed()).graph)
    model, x = Mixed().to(CUDA), torch.rand(2, 3, device=CUDA)
    traced = torch.fx.symbolic_trace(model)
    assert str(traced.graph) == plain
    for made, expected in zip(traced(x), model(x), strict=True):
        assert made.is_cuda
        assert made.tolist() == expected.tolist()


@pytest.mark.parametrize("function", [torch.add, torch.cartesian_prod, torch.dot])
def test_what_is_no_tensor_answers_for_itself(simulation, function: Any) -> None:
    x = torch.ones(3, device=CUDA)
    made, there, total = function(Wrapped(x), x)
    assert made.is_cuda
    assert there.is_cuda
    assert total == 3
    assert [wait.op for wait in simulation.told] == ["torch.Tensor.item"]
    with pytest.raises(TypeError):
        function(Refusing(), x)


@pytest.mark.parametrize("place", ["cpu", CUDA])
def test_gradients_of_each_sample(simulation, place: str) -> None:
    """Expanded weights raise where they are asked for what they do not know, their rank say."""
    layer = nn.Conv1d(2, 3, 2).to(place)
    call_for_per_sample_grads(layer)(torch.rand(5, 2, 4, device=place)).sum().backward()
    assert [tuple(one.grad_sample.shape) for one in layer.parameters()] == [(5, 3, 2, 2), (5, 3)]
    assert all(one.grad_sample.is_cuda == (place == CUDA) for one in layer.parameters())


def test_compilers_are_reset(simulation) -> None:
    torch.compiler.reset()
    trees = importlib.import_module("torch._inductor.cudagraph_trees")
    assert isinstance(trees.AllocatorState, type)


def test_a_program_is_exported_as_one_of_the_cpu(simulation) -> None:
    layer, x = nn.Linear(2, 2).cuda(), torch.ones(1, 2, device=CUDA)
    exported = torch.export.export(layer, (x,)).module()
    assert torch.equal(exported(x), layer(x))
    assert exported(x).is_cuda
    assert simulation.notes == ["torch.export: the program was exported as one of the CPU"]


def test_while_it_is_suspended_torch_is_as_it_was(simulation) -> None:
    with torch.device(CUDA):
        with simulation.suspended():
            assert not torch.cuda.is_available()
            assert torch._C._len_torch_function_stack() == 0
            assert nn.Linear.forward.__code__.co_filename.startswith(torch.__path__[0])
        assert torch.ones(1).is_cuda


class Held(torch.Tensor):
    """A tensor of one other, as tensor libraries write them."""

    @staticmethod
    def __new__(cls, inner):
        made = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype, device=inner.device)
        made.inner = inner
        return made

    def __tensor_flatten__(self):
        return ["inner"], None

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        plain = [arg.inner if isinstance(arg, cls) else arg for arg in args]
        made = func(*plain, **(kwargs or {}))
        return cls(made) if isinstance(made, torch.Tensor) else made


def test_a_tensor_that_holds_others_is_where_they_are(simulation) -> None:
    there, here = Held(torch.ones(3, device=CUDA)), Held(torch.ones(3))
    assert there.is_cuda
    assert there.device.type == CUDA
    assert not here.is_cuda
    assert (there * 2).is_cuda
    assert (there * 2).inner.is_cuda
    assert not (here * 2).inner.is_cuda
    assert there[0].inner.is_cuda
    with pytest.raises(RuntimeError, match="same device"):
        there + here
    there.sum().item()
    assert [wait.hazard for wait in simulation.told] == ["item"]


def test_nested_tensors(simulation) -> None:
    nested = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged, device=CUDA)
    assert nested.is_cuda
    assert (nested * 2).sum().item() == 36


def test_streams_by_keyword(simulation) -> None:
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream=stream):
        assert torch.cuda.current_stream() is stream
    with torch.cuda.StreamContext(None):
        assert torch.cuda.current_stream() == torch.cuda.default_stream()


def test_memory_of_the_host_is_shared(simulation) -> None:
    assert torch.ones(2).share_memory_().is_shared()
    assert torch.ones(2, device=CUDA).share_memory_().is_cuda


def test_warnings_are_the_programs(simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules[__name__], "__warningregistry__", {}, raising=False)
    always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    x = torch.ones(1, device=CUDA, requires_grad=True)
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("default")
            first = [float(x) for _ in range(3)]
            line = sys._getframe().f_lineno - 1
            second = float(x)
        with warnings.catch_warnings():
            warnings.filterwarnings("error", module=__name__.replace(".", r"\."))
            with pytest.raises(UserWarning, match="requires_grad=True to a scalar"):
                float(x)
    finally:
        torch.set_warn_always(always)
    assert (first, second) == ([1, 1, 1], 1)
    assert [(one.filename, one.lineno) for one in told] == [(__file__, line), (__file__, line + 2)]


def test_what_a_compiler_adds_is_taken_away() -> None:
    before: dict[str, Any] = {name: getattr(torch.jit, name) for name in ("script", "save", "load")}
    calls = torch.jit.RecursiveScriptModule.__call__
    with Simulation(PACK, lambda _: None):
        pass
    assert {name: getattr(torch.jit, name) for name in before} == before
    assert torch.jit.RecursiveScriptModule.__call__ is calls
    assert "__instancecheck__" not in vars(type(torch.jit.ScriptModule))


def test_streams_of_a_prefetcher(simulation) -> None:
    stream, x = torch.cuda.Stream(), torch.ones(2).pin_memory()
    with torch.cuda.stream(stream):
        there = x.cuda(non_blocking=True)
    torch.cuda.current_stream().wait_stream(stream)
    there.record_stream(torch.cuda.current_stream())
    nn.Linear(1, 1, device=CUDA).weight.record_stream(stream)
    assert simulation.told == []


class Product(nn.Module):
    def forward(self, x, y, z):
        listed = torch.einsum("ij,jk->ik", (x, y)), torch.block_diag(*[x, y]), torch.cat([x, y])
        return listed, torch.einsum("ij,jk,kl->il", x, y, z), torch.stack([x, y]), torch.functional.norm(x)


TRACED = str(torch.fx.symbolic_trace(Product()).graph)


def test_what_stands_in_for_a_tensor_decides_for_itself(simulation) -> None:
    """A proxy of torch.fx is traced, in functions that are written in Python too."""
    assert str(torch.fx.symbolic_trace(Product()).graph) == TRACED


class Named(torch.Tensor):
    """A subclass with torch's own way with functions."""


class Counted(torch.Tensor):
    """A subclass with its own."""

    calls = 0

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls += 1
        return super().__torch_function__(func, types, args, kwargs or {})


@pytest.mark.parametrize("kind", [Named, Counted])
def test_a_subclass_of_tensor_is_shown_and_split_as_on_the_cpu(simulation, kind) -> None:
    def tried(device: str) -> list[str]:
        x = torch.arange(6.0, device=device).view(2, 3).as_subclass(kind)
        made = [
            x.unflatten(1, (3, 1)),
            *x.split(1),
            torch.functional.norm(x),
            x.unique(),
            *torch.broadcast_tensors(x, x[0]),
        ]
        shown = [repr(x), str(x), f"{x[0, 1]}" if kind is Counted else "", repr(x[0, 0])]
        told = [text.replace(", device='cuda:0'", "") for text in shown]
        return [*told, *(f"{type(one).__name__} {one.tolist()}" for one in made)]

    assert tried(CUDA) == tried("cpu")
    x = torch.ones(2, device=CUDA).as_subclass(kind)
    assert x.is_cuda
    assert repr(x) == f"{kind.__name__}([1., 1.], device='cuda:0')"


def test_a_class_that_carries_functions_out_itself_is_asked_as_often_as_on_the_cpu_and_waits_once() -> None:
    seen: list[Seen] = []

    def tried(device: str) -> tuple[list[str], str]:
        Telling.calls.clear()
        x = torch.ones(2, device=device).as_subclass(Telling)
        shown = repr(x)
        x.sum().item()
        torch.split(x, 1)
        return list(Telling.calls), shown.replace(", device='cuda:0'", "")

    with Simulation(PACK, seen.append):
        simulated = tried(CUDA)
    assert simulated == tried("cpu")
    assert [wait.hazard for wait in seen] == ["print-tensor", "item"]


class Telling(torch.Tensor):
    """A subclass that keeps what it was asked for, and computes with plain tensors."""

    calls: ClassVar[list[str]] = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append(func.__name__)
        with torch._C.DisableTorchFunctionSubclass():
            return func(*(arg.as_subclass(torch.Tensor) if isinstance(arg, cls) else arg for arg in args))


def test_a_profiler_of_the_program_has_the_host_and_waits_where_it_ends(capfd) -> None:
    seen: list[Seen] = []
    wanted = torch.profiler.ProfilerActivity
    with Simulation(PACK, seen.append) as simulation:
        x = torch.ones(3, device=CUDA)
        for activities in ([wanted.CPU, wanted.CUDA], [wanted.CUDA]):
            with torch.profiler.profile(activities=activities) as profile:
                x.sin()
            assert any(event.key == "aten::sin" for event in profile.key_averages())
        assert [wait.hazard for wait in seen] == ["synchronize", "synchronize"]
        assert simulation.notes == ["torch.profiler: the program's own profile has the host only"]
        with torch.autograd.profiler.emit_nvtx():
            x.sin()
        with torch.cuda.profiler.profile():
            x.sin()
    assert "CUDA event" not in capfd.readouterr().err
