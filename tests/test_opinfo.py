"""Every sample input of torch's own OpInfo database, run simulated: the waits are those that the op's row predicts.

The prediction is the analyzer's (infer/conditions.py over what it would know of the arguments), the observation is the
simulation's. The default run takes every STRIDE-th operator; `-m slow` takes them all.
"""

from __future__ import annotations

import tomllib
import warnings
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("expecttest", reason="torch.testing._internal needs it")
pytest.importorskip("numpy")

from torch.overrides import TorchFunctionMode  # noqa: E402

from syncguard import pack  # noqa: E402
from syncguard.infer.conditions import NO, Arguments, sureness, tensor_sureness  # noqa: E402
from syncguard.infer.values import NONE, Const, Host, Seq, Table, Tensor, Value  # noqa: E402
from syncguard.observe.simulate import Seen, Simulation  # noqa: E402
from syncguard.observe.simulate.mode import name_of  # noqa: E402

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

PACK = pack.load()
KINDS = (torch.float32, torch.int64, torch.bool)
STRIDE = 23
MOST = 40  # samples of one operator and dtype; a few pooling operators have thousands
KNOWN = tomllib.loads((Path(__file__).parent / "opinfo.toml").read_text("utf-8"))
OPERATORS = [
    pytest.param(
        op,
        id=f"{op.name}{'.' if op.variant_test_name else ''}{op.variant_test_name}",
        marks=() if n % STRIDE == 0 else pytest.mark.slow,
    )
    for n, op in enumerate(op_db)
]


class Spy(TorchFunctionMode):
    """Stands before the simulated device: predicts the waits of each outermost call, and hears of those seen."""

    def __init__(self, simulation: Simulation, told: list[Seen]) -> None:
        super().__init__()
        self.verdict, self.told = simulation.verdict, told
        self.wrong: list[str] = []
        self.calls = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = name_of(func, self.verdict)
        row = self.verdict.row(name)
        self.told.clear()
        values = [known(arg) for arg in args], {key: known(value) for key, value in kwargs.items()}
        result = func(*args, **kwargs)
        self.calls += 1
        if row is not None or not hasattr(func, "__code__"):  # one written in Python without a row tells of its inside
            predicted = self.predict(row, *values, known(result)) if row is not None else set()
            seen = {wait.hazard for wait in self.told if wait.phase == "forward"}
            if predicted != seen:
                self.wrong.append(f"{name}: predicted {sorted(predicted)}, seen {sorted(seen)}")
        return result

    def predict(self, row: Any, args: list[Value], keywords: dict[str, Value], result: Value) -> set[str]:
        arguments = Arguments(row.args, args, keywords, "host")
        places = {
            "always": lambda: True,
            "self": lambda: bool(args) and tensor_sureness(args[0]) != NO,
            "result": lambda: tensor_sureness(result) != NO,
            "argument": lambda: any(tensor_sureness(value) != NO for value in arguments.values()),
        }
        return {
            wait.hazard
            for wait in self.verdict.waits(row)
            if places[wait.on]() and sureness(wait.when, arguments) != NO
        }


def known(value: Any) -> Value:
    """What a perfect analyzer would know of a value."""
    if isinstance(value, torch.Tensor):
        kind = "bool" if value.dtype in (torch.bool, torch.uint8) else "float" if value.is_floating_point() else "int"
        kind = "complex" if value.is_complex() else kind
        place = "device" if value.is_cuda else "host"
        return Tensor(kind, place, value.ndim, pinned=place == "host" and value.is_pinned())
    if value is None:
        return NONE
    if isinstance(value, (bool, int, float, complex, str)):
        return Const(value)
    if isinstance(value, (list, tuple)):
        return Seq("tuple" if isinstance(value, tuple) else "list", tuple(known(item) for item in value))
    if isinstance(value, dict):
        return Table({key: known(item) for key, item in value.items()})
    if isinstance(value, slice):
        return Seq("slice", tuple(known(bound) for bound in (value.start, value.stop, value.step)))
    if isinstance(value, torch.device):
        return Host(f"device:{'device' if value.type == 'cuda' else 'host'}")
    return Host("array" if hasattr(value, "__array_interface__") else "object")


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.filterwarnings("ignore")
def test_samples_wait_as_their_rows_say(op: Any) -> None:
    told: list[Seen] = []
    kinds = [dtype for dtype in KINDS if dtype in op.supported_dtypes("cpu")]
    plain = [results(op, "cpu", dtype) for dtype in kinds]
    with Simulation(PACK, told.append) as simulation:
        spy = Spy(simulation, told)
        simulated = [results(op, "cuda", dtype, spy) for dtype in kinds]
    wrong = set(spy.wrong)
    if op.name not in KNOWN["uncompared"]:
        wrong = wrong.union(*map(differing, plain, simulated))
    assert (
        spy.calls or op.name in KNOWN["uncalled"] or all(isinstance(result, type) for each in plain for result in each)
    )
    assert {text for text in wrong if text not in KNOWN["accepted"]} == set()


def results(op: Any, device: str, dtype: Any, spy: Any = None) -> list[Any]:
    """What the operator gives for each sample; the type of the exception where it raises."""
    found = []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for sample in islice(op.sample_inputs(device, dtype, requires_grad=False), MOST):
            torch.manual_seed(1)
            try:
                if spy is None:
                    found.append(op.op(sample.input, *sample.args, **sample.kwargs))
                else:
                    with spy:
                        found.append(op.op(sample.input, *sample.args, **sample.kwargs))
            except Exception as fault:
                found.append(type(fault))
    return found


def differing(plain: list[Any], simulated: list[Any]) -> set[str]:
    if len(plain) != len(simulated):  # some have samples of their own for a device
        return set()
    return {
        f"sample {number}: {kind_of(one)} on the CPU, {kind_of(other)} simulated"
        for number, (one, other) in enumerate(zip(plain, simulated))
        if not same(one, other)
    }


def kind_of(result: Any) -> str:
    return result.__name__ if isinstance(result, type) else "a value"


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        if one.layout is not torch.strided or one.is_quantized:
            return one.layout is other.layout
        return one.dtype is other.dtype and one.shape == other.shape and bits(one) == bits(other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other or one is other or type(one) is type(other)


def bits(tensor: Any) -> bytes:
    flat = torch.empty(tensor.numel(), dtype=tensor.dtype)
    return flat.copy_(tensor.detach().reshape(-1)).view(torch.uint8).numpy().tobytes()
