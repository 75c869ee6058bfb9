"""The rows of rules/ops -> calls of them that can be made on a device: those of rules/samples.toml, and OpInfo's."""

from __future__ import annotations

import ast
import itertools
import sys
import tomllib
import types
import unittest
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch.overrides import resolve_name

from syncguard import pack
from syncguard.pack import Pack

MOST = 2  # of OpInfo's sample inputs, for one row


@dataclass(frozen=True)
class Call:
    """One call of a row: its text, and how to make it again and again. `fault`: why it cannot be made here."""

    row: str
    text: str
    run: Callable[[], Any]
    fault: str = ""


Before = Callable[[str, str], bool]  # of a row and a text, before it is made: whether it is wanted


def _every(row: str, text: str) -> bool:
    return True


def calls(
    rows: Mapping[str, tuple[str, ...]], device: str, opinfo: bool = True, before: Before = _every
) -> Iterator[Call]:
    """The calls of these rows (name -> all spellings) on "cuda" or "cpu", made within whatever mode is on."""
    yield from by_hand(rows, device, before)
    if opinfo:
        yield from by_opinfo(rows, device, before)


def rows_of(rules: Pack) -> dict[str, tuple[str, ...]]:
    """Every hand-written row by its first name, with its other names."""
    found: dict[str, list[str]] = {}
    for name in rules.ops:
        found.setdefault(rules.row_of(name), []).append(name)
    return {row: tuple(sorted(names, key=lambda name: (name != row, name))) for row, names in found.items()}


def rows_by_hand() -> tuple[str, ...]:
    """The rows with a line in rules/samples.toml, in its order."""
    return tuple(tomllib.loads((pack.home() / "samples.toml").read_text("utf-8"))["calls"])


def explained() -> dict[str, str]:
    """The calls against which an oracle speaks although their row is right, and why."""
    table = tomllib.loads((pack.home() / "samples.toml").read_text("utf-8"))
    return {text: str(reason) for text, reason in table["explained"].items()}


def by_hand(rows: Mapping[str, tuple[str, ...]], device: str, before: Before = _every) -> Iterator[Call]:
    """The lines of rules/samples.toml."""
    table = tomllib.loads((pack.home() / "samples.toml").read_text("utf-8"))
    space: dict[str, Any] = {"__name__": "samples"}
    setup = ast.parse(table["setup"].replace('C = "cuda"', f'C = "{device}"'))
    for statement in setup.body:
        with suppress(Exception):  # whatever needs it says that the name is not there
            exec(compile(ast.Module([statement], []), "samples.toml", "exec"), space)  # noqa: S102
    try:
        for row, lines in table["calls"].items():
            if row not in rows:
                continue
            for line in lines if isinstance(lines, list) else [lines]:
                parts = {"make": "", "call": line} if isinstance(line, str) else line
                if before(row, text_of(parts)):
                    yield line_of(row, parts, space)
    finally:
        with suppress(Exception):
            exec(table["after"], space)  # noqa: S102


def text_of(line: Mapping[str, str]) -> str:
    """A call with what it makes first."""
    return "; ".join(filter(None, (*line["make"].split("\n"), line["call"])))


def line_of(row: str, line: Mapping[str, str], space: Mapping[str, Any]) -> Call:
    """A call of a row from its text, over the names of a space."""
    mine = dict(space)
    text = text_of(line)
    code = compile(line["call"], f"sample of {row}", "exec")
    try:
        exec(compile(line["make"], f"sample of {row}", "exec"), mine)  # noqa: S102
    except Exception as fault:
        return Call(row, text, _nothing, _short(fault))
    return Call(row, text, lambda: exec(code, mine))  # noqa: S102


def by_opinfo(rows: Mapping[str, tuple[str, ...]], device: str, before: Before = _every) -> Iterator[Call]:
    """The first sample inputs of the operators that have a row."""
    if not rows:
        return  # torch's database takes seconds to import
    row_of = {name: row for row, names in rows.items() for name in names}
    seen: dict[str, int] = {}
    for op in operators():
        for row in dict.fromkeys(row_of[name] for name in spellings(op) if name in row_of):
            wanted = MOST - seen.get(row, 0)
            if not before(row, label_of(op)) or wanted <= 0:
                continue
            for call in itertools.islice(operator_calls(op, device, torch.float32), wanted):
                seen[row] = seen.get(row, 0) + 1
                yield Call(row, call.text, call.run, call.fault)


def operator_calls(op: Any, device: str, dtype: torch.dtype, most: int = MOST) -> Iterator[Call]:
    """Calls of an operator on its own sample inputs of one dtype; none where it does not take the dtype."""
    label = label_of(op)
    try:
        if not op.supports_dtype(dtype, device):
            return
        samples = [*itertools.islice(op.sample_inputs(device, dtype), most)]
    except Exception as fault:
        yield Call(label, f"{label} {str(dtype)[6:]}", _nothing, _short(fault))
        return
    for number, sample in enumerate(samples):
        yield Call(label, f"{label} {str(dtype)[6:]} sample {number}", _with(op, sample))


def label_of(op: Any) -> str:
    """An operator and its variant."""
    return f"{op.name}{'.' + op.variant_test_name if op.variant_test_name else ''}"


def _with(op: Any, sample: Any) -> Callable[[], Any]:
    return lambda: op(sample.input, *sample.args, **sample.kwargs)


def spellings(op: Any) -> Iterator[str]:
    """The names by which an operator of OpInfo may have a row."""
    for variant in (op.op, op.method_variant):
        try:
            name = resolve_name(variant) if variant is not None else None
        except Exception:  # it hashes what it is given
            name = None
        if name:
            yield name.replace("torch.functional.", "torch.")
    yield f"torch.{op.name}"


@lru_cache(maxsize=1)
def operators() -> tuple[Any, ...]:
    """torch's own database of operators and their sample inputs."""
    stub = types.ModuleType("expecttest")  # which torch.testing._internal asks for and does not need here
    stub.TestCase, stub.assert_expected_inline = unittest.TestCase, None  # type: ignore[attr-defined]
    sys.modules.setdefault("expecttest", stub)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal import common_utils
        from torch.testing._internal.common_methods_invocations import op_db
        from torch.testing._internal.opinfo import core
    # Each list of samples looks through the whole stack for a test of unittest to tell of the last; there is none.
    for module in (common_utils, core):
        vars(module)["extract_test_fn"] = lambda: None
    return tuple(op_db)


def _nothing() -> None:
    return None


def _short(fault: BaseException) -> str:
    return f"{type(fault).__name__}: {str(fault).strip().splitlines()[0] if str(fault).strip() else ''}"[:160]
