"""Torch's own sample inputs -> each run simulated, against what its row predicts and against a plain CPU.

    python tools/opinfo.py                      # every sample of every operator: ten minutes of one core
    python tools/opinfo.py --most 40 nn.        # at most 40 of each dtype, of the operators whose name begins so

Float32 (with gradients), int64 and bool. The prediction is the analyzer's (infer/conditions.py over what it would know
of the arguments), the observation is the simulation's. Operators run in processes of their own, a few at a time, so
that one that dies costs only itself. What tests/opinfo.toml explains does not count.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from alike import differing, leaves  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402

from syncguard import pack  # noqa: E402
from syncguard.infer.domain.sureness import NO, tensor_sureness  # noqa: E402
from syncguard.infer.domain.values import NONE, Const, Host, Seq, Table, Tensor, Value  # noqa: E402
from syncguard.infer.operations.arguments import Arguments  # noqa: E402
from syncguard.infer.operations.conditions import sureness  # noqa: E402
from syncguard.observe.samples import operators  # noqa: E402
from syncguard.observe.simulate import Seen, Simulation  # noqa: E402
from syncguard.observe.simulate.named import name_of  # noqa: E402

KINDS = (torch.float32, torch.int64, torch.bool)
KNOWN = tomllib.loads((ROOT / "tests" / "opinfo.toml").read_text("utf-8"))
BATCH = 12  # operators of one process


@dataclass
class Told:
    """What one operator did: sample inputs, those that a plain CPU refuses, outermost calls, disagreements."""

    op: str
    samples: int = 0
    refused: int = 0
    calls: int = 0
    waited: int = 0
    wrong: dict[str, int] = field(default_factory=dict)
    accepted: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def tried(self) -> bool:
        return bool(self.calls) or self.op in KNOWN["uncalled"] or self.samples == self.refused


def label(op: Any) -> str:
    return f"{op.name}{'.' if op.variant_test_name else ''}{op.variant_test_name}"


def tell(op: Any, rules: pack.Pack, most: int | None) -> Told:
    """Run the samples of an operator plain and simulated."""
    found, heard, begun = Told(label(op)), list[Seen](), time.perf_counter()
    wrong: Counter[str] = Counter()
    for dtype in KINDS:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        plain = results(op, "cpu", dtype, most)
        with Simulation(rules, heard.append) as simulation:
            spy = Spy(simulation, heard)
            simulated = results(op, "cuda", dtype, most, spy)
        found.samples += len(simulated)
        found.refused += sum(isinstance(result, type) for result in plain)
        found.calls += spy.calls
        found.waited += spy.waited
        wrong.update(spy.wrong)
        if op.name not in KNOWN["uncompared"]:
            wrong.update(f"{str(dtype)[6:]} {text}" for text in differing(plain, simulated))
    found.wrong = {text: n for text, n in wrong.items() if text not in KNOWN["accepted"]}
    found.accepted = {text: n for text, n in wrong.items() if text in KNOWN["accepted"]}
    found.seconds = round(time.perf_counter() - begun, 1)
    return found


class Spy(TorchFunctionMode):
    """Stands before the simulated device: predicts the waits of each outermost call, and hears of those seen."""

    def __init__(self, simulation: Simulation, told: list[Seen]) -> None:
        super().__init__()
        self.verdict, self.told = simulation.verdict, told
        self.wrong: list[str] = []
        self.calls = self.waited = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = name_of(func, self.verdict)
        row = self.verdict.row(name)
        self.told.clear()
        values = [known(arg) for arg in args], {key: known(value) for key, value in kwargs.items()}
        result = func(*args, **kwargs)
        self.calls += 1
        self.waited += bool(self.told)
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


def results(op: Any, device: str, dtype: Any, most: int | None, spy: Spy | None = None) -> list[Any]:
    """What the operator gives for each sample, with gradients where it has them; of an exception its type."""
    found: list[Any] = []
    derived = dtype.is_floating_point and op.supports_autograd
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        for sample in islice(op.sample_inputs(device, dtype, requires_grad=derived), most):
            torch.manual_seed(1)
            try:
                with spy or nullcontext():
                    result = op.op(sample.input, *sample.args, **sample.kwargs)
            except Exception as fault:
                found.append(type(fault))
                continue
            found.append([result, gradients(sample, result)] if derived else result)
            if spy is not None:
                spy.wrong += elsewhere(sample, found[-1])
    return found


def gradients(sample: Any, result: Any) -> Any:
    """Of all that came out to all that went in; the type of the exception where that raises."""
    given = [t for t in leaves([sample.input, *sample.args, *sample.kwargs.values()]) if t.requires_grad and t.is_leaf]
    made = [t for t in leaves(result) if t.requires_grad]
    if not given or not made:
        return None
    try:
        return list(torch.autograd.grad(made, given, [torch.ones_like(t) for t in made], allow_unused=True))
    except Exception as fault:
        return type(fault)


def elsewhere(sample: Any, result: Any) -> Iterator[str]:
    """Results and gradients that are not where the arguments say: on the device, if any of them is or names it."""
    given = (sample.input, *sample.args, *sample.kwargs.values())
    asked = sample.kwargs.get("device")
    there = torch.device(asked).type == "cuda" if asked is not None else any(tensor.is_cuda for tensor in leaves(given))
    yield from (f"a result is on {tensor.device}" for tensor in leaves(result) if tensor.is_cuda != there)


def worker(names: Sequence[str], most: int | None) -> None:
    """One process: a line of JSON for each operator, when it is begun and when it is done."""
    rules, every = pack.load(), {label(op): op for op in operators()}
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    for name in names:
        print(json.dumps({"begun": name}), flush=True)
        try:
            print(json.dumps(asdict(tell(every[name], rules, most))), flush=True)
        except Exception as fault:
            said = f"{type(fault).__name__}: {fault}".split("\n")[0][:160]
            print(json.dumps(asdict(Told(name, wrong={f"the samples cannot be made: {said}": 1}))), flush=True)


def told(names: list[str], most: int | None) -> Iterator[Told]:
    """Every operator; of one that kills its process, that it did."""
    while names:
        command = [sys.executable, __file__, "--worker", "--most", str(most or 0), *names[:BATCH]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        begun = ""
        for line in done.stdout.splitlines():
            said = json.loads(line) if line.startswith("{") else {}
            begun = said.get("begun", begun)
            if "op" in said:
                names.remove(said["op"])
                yield Told(**said)
                begun = ""
        if done.returncode or begun:
            dead = begun or names[0]
            names.remove(dead)
            yield Told(dead, wrong={f"the process died with {done.returncode}: {done.stderr[-200:]!r}": 1})


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("prefixes", nargs="*", help="only operators whose name begins with one of these")
    parser.add_argument("--most", type=int, default=0, help="samples of one operator and dtype; 0 for all")
    parser.add_argument("--json", type=Path, help="keep what was found of each operator, a line each")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    most = asked.most or None
    if asked.worker:
        worker(asked.prefixes, most)
        return 0
    names = [label(op) for op in operators()]
    names = [name for name in names if not asked.prefixes or name.startswith(tuple(asked.prefixes))]
    if not names:
        parser.error(f"no operator's name begins with {' or '.join(asked.prefixes)}")
    found: list[Told] = []
    for one in told(names, most):
        found.append(one)
        for text, times in one.wrong.items():
            print(f"{one.op}: {text} ({times}x)", flush=True)
        if not one.tried and not one.wrong:
            one.wrong["no call reached torch"] = 1
            print(f"{one.op}: no call reached torch", flush=True)
        if asked.json:
            with asked.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(one)) + "\n")
    print(summary(found))
    return int(any(one.wrong for one in found))


def summary(found: list[Told]) -> str:
    samples, refused = sum(one.samples for one in found), sum(one.refused for one in found)
    return (
        f"{len(found)} operators, {samples:,} sample inputs ({refused:,} of them a plain CPU refuses too),"
        f" {sum(one.calls for one in found):,} calls, {sum(one.waited for one in found):,} of them waited;"
        f" {sum(bool(one.wrong) for one in found)} operators disagree,"
        f" {sum(bool(one.accepted) for one in found)} in what is explained"
    )


if __name__ == "__main__":
    sys.exit(main())
