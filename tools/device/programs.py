"""The programs of the rule pages, run on a device: which of their lines waited, what they gave, how long they took."""

from __future__ import annotations

import ast
import io
import logging
import random
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import clocks
import torch

from syncguard.observe.cuda import Device
from syncguard.observe.simulate import Simulation
from syncguard.pack import Example, examples

# These judge a line at which nothing waits: an `if` before the copies, a loader, an early read, a setting.
ASIDE = {"SG210", "SG303", "SG306", "SG404", "SG901", "SG902", "SG903"}
MARK = re.compile(r"#\s*(sync|missed):\s*([A-Z0-9, ]+)")
BREAKING = re.compile("torch.distributed|DataParallel|compile|DataLoader")  # not in the middle of a measurement


def every(rules: Any) -> Iterator[tuple[str, Example]]:
    """Every program of every page that can run here."""
    for rule in rules.rules:
        for program in examples(Path(rule.path).read_text("utf-8")):
            if all(find_spec(name) for name in ("numpy", "pandas") if f"import {name}" in program.text):
                yield rule.code, program


def marks(program: Example) -> tuple[set[int], set[int]]:
    """The lines of a program that must wait, and those that may: marked with any rule, or as a known gap."""
    must, may = set(), set()
    for n, line in enumerate(program.text.split("\n"), 1):
        if match := MARK.search(line):
            may.add(n)
            codes = {code.strip() for code in match[2].split(",")}
            must |= {n} if match[1] == "sync" and codes - ASIDE else set()
    return must, may


def run(program: Example, name: str) -> tuple[Any, Any]:
    """Run a program; what its last call gave, and that call, to be made again."""
    *body, last = ast.parse(program.text).body
    space: dict[str, Any] = {"__name__": "example"}
    torch.manual_seed(0)
    random.seed(0)
    exec(compile(ast.Module(body, []), name, "exec"), space)
    assert isinstance(last, ast.Expr)
    call = compile(ast.Expression(last.value), name, "eval")
    return eval(call, space), lambda: eval(call, space)


def waits(program: Example, rules: Any, dry: bool) -> tuple[dict[int, list[str]], str]:
    """The lines of a program that waited, with their hazards; and why it failed, if it did."""
    name = f"<program {id(program)}>"
    found: dict[int, list[str]] = {}

    def seen(wait: Any) -> None:
        frame: Any = sys._getframe(1)  # noqa: SLF001
        while frame is not None and frame.f_code.co_filename != name:
            frame = frame.f_back
        # A device's backward has a thread of its own, without frames of the program: then it is the forward's line.
        lines = (
            [frame.f_lineno] if frame is not None else [at.line for at in wait.forward if at.code.co_filename == name]
        )
        for line in lines[:1]:
            found.setdefault(line, []).append(wait.hazard)

    engine = Simulation(rules, seen) if dry else Device(rules, seen, layers=("traces", "nodes"))
    fault = ""
    with as_new(), engine:
        try:
            run(program, name)
        except Exception as problem:
            fault = f"{type(problem).__name__}: {problem}".split("\n")[0][:160]
        finally:
            if torch.distributed.is_available() and torch.distributed.is_initialized():
                torch.distributed.destroy_process_group()
    return found, fault


def pairs(rules: Any) -> Iterator[tuple[str, Example, Example, str]]:
    """Every Caught program with its Fixed twin on the page, and with what `check --fix` makes of it."""
    programs = [*every(rules)]
    caught = [(page, one) for page, one in programs if one.section == "caught" and not BREAKING.search(one.text)]
    for (page, before), text in zip(caught, rewritten([before.text for _, before in caught])):
        for other, after in programs:
            if other == page and after.section == "fixed" and called(before.text) == called(after.text):
                yield page, before, after, "page"
        if text != before.text:
            yield page, before, Example("fixed", before.title, text, before.line), "recipe"


def called(text: str) -> str:
    last = ast.parse(text).body[-1]
    call = last.value if isinstance(last, ast.Expr) else None
    return ast.unparse(call.func) if isinstance(call, ast.Call) else ""


def rewritten(texts: list[str]) -> list[str]:
    """Programs as `syncguard check --fix --unsafe-fixes` leaves them; each is alone in its folder."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"p{n}" / "program.py" for n in range(len(texts))]
        for path, text in zip(paths, texts):
            path.parent.mkdir()
            path.write_text(text, "utf-8")
        command = [sys.executable, "-m", "syncguard", "check", folder, "--fix", "--unsafe-fixes", "--heat", "all"]
        subprocess.run([*command, "--isolated"], capture_output=True, check=False)
        return [path.read_text("utf-8") for path in paths]


def compared(before: Example, after: Example, rules: Any, dry: bool) -> dict[str, Any]:
    """Whether two programs give the same, what still waits in the second, and what a call of each takes."""
    try:
        engine = Simulation(rules, lambda seen: None) if dry else nullcontext()
        with as_new(), engine:
            (one, first), (two, second) = run(before, "<before>"), run(after, "<after>")
            result: dict[str, Any] = {"equal": same(one, two), **clocks.taken({"before": first, "after": second}, dry)}
    except Exception as problem:
        return {"fault": f"{type(problem).__name__}: {problem}".split("\n")[0][:160]}
    left, fault = waits(after, rules, dry)
    return result | {"waits": sorted(left)} | ({"fault": fault} if fault else {})


@contextmanager
def as_new() -> Iterator[None]:
    """What programs print, log and are warned of is not for us, and what they set is not for the next one."""
    checks = torch.distributions.Distribution._validate_args  # noqa: SLF001
    dtype, grads = torch.get_default_dtype(), torch.is_grad_enabled()
    root = logging.root
    level, handlers, off = root.level, root.handlers[:], root.manager.disable
    root.handlers[:], root.manager.disable = [logging.StreamHandler(io.StringIO())], logging.NOTSET
    root.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            torch.distributions.Distribution.set_default_validate_args(True)
            yield
    finally:
        torch.distributions.Distribution.set_default_validate_args(checks)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grads)
        torch.autograd.set_detect_anomaly(False)
        torch.set_default_device(None)
        root.handlers[:], root.manager.disable = handlers, off
        root.setLevel(level)


def same(one: Any, two: Any) -> bool:
    """Values, dtypes, shapes and, where there are any, gradients."""
    if isinstance(one, (tuple, list)) and isinstance(two, (tuple, list)):
        return len(one) == len(two) and all(same(a, b) for a, b in zip(one, two))
    if isinstance(one, dict) and isinstance(two, dict):
        return list(one) == list(two) and all(same(one[key], two[key]) for key in one)
    if hasattr(one, "__array_interface__") and isinstance(two, torch.Tensor):
        return same(torch.as_tensor(one), two)
    if isinstance(one, torch.Tensor) and isinstance(two, torch.Tensor):
        try:
            torch.testing.assert_close(two, one, equal_nan=True, check_device=False)
        except AssertionError:
            return False
        return one.grad is None or two.grad is None or same(one.grad, two.grad)
    if isinstance(one, (bool, int, float)) or isinstance(two, (bool, int, float)):
        return abs(float(one) - float(two)) < 1e-4 * max(1.0, abs(float(one)))
    return bool(type(one) is type(two))
