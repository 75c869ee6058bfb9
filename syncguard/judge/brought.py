"""A finding that a call in another file brings about in, as warm as that call out: what makes its function hot by
another way may pass something else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from syncguard.judge.around.called import Function, Where, innermost
from syncguard.judge.caused import PASSES
from syncguard.terms import Fact, Finding

OWN_LOOP: Final = "the loop "  # what takes the steps, as it is told

Files = Mapping[str, tuple[Function, ...]]  # what each file tells the others of its functions


def as_brought(finding: Finding, files: Files, hot: Mapping[Where, tuple[Fact, ...]]) -> Finding:
    """A hot finding whose path does not lead by the call that brings it about, with the heat of that call."""
    call = _call(finding)
    if call is None or finding.heat != "hot" or any(_same(fact, call) for fact in finding.hot_path):
        return finding
    caller = innermost(files.get(call.path, ()), call.line)
    if caller is None:
        return finding
    way = caller.path if caller.heat == "hot" else hot.get((call.path, caller.name), ())
    made = [one for one in caller.calls if one.line == call.line]
    rarely = bool(made) and all(one.rare for one in made)
    stepped = next((Fact(one.step, one.step_line) for one in made if one.step and not one.rare), None)
    way = (stepped,) if stepped is not None else way
    if way and not rarely:
        return replace(finding, hot_path=(*(_from(fact, call.path) for fact in way), call))
    if (
        caller.heat in ("cold", "unknown")
        and len(finding.hot_path) == 1
        and finding.hot_path[0].text.startswith(OWN_LOOP)
    ):
        return finding  # it stands in a loop of the steps, whoever starts that
    return replace(finding, heat="amortized" if rarely else caller.heat, hot_path=caller.path)


def brought_often(finding: Finding, functions: Sequence[Function]) -> bool:
    """Whether a call of this file, which brings a wait about in another one, is made at every step, as far as the file
    itself tells."""
    call = _call(finding)
    caller = innermost(functions, call.line) if call is not None else None
    if call is None or caller is None:
        return False
    made = [one for one in caller.calls if one.line == call.line and not one.rare]
    return bool(made) and (caller.heat == "hot" or any(one.step for one in made))


def _call(finding: Finding) -> Fact | None:
    """The call of another file that brings a wait about."""
    return next((fact for fact in reversed(finding.because) if fact.path and fact.text.endswith(PASSES)), None)


def _same(fact: Fact, call: Fact) -> bool:
    return (fact.path, fact.line) == (call.path, call.line)


def _from(fact: Fact, path: str) -> Fact:
    return replace(fact, path=fact.path or path)
