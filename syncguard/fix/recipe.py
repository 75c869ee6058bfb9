"""A recipe by its name: what turns a finding into a proposal. This page says how to write one.

A recipe is one module in `fix/recipes`, named by the change (`output_size.py` is the recipe `output-size`). A rule
page lists the recipes that may answer its findings, the best first: `fix = ["output-size"]`; the first that proposes
something wins.

    def rewrite(node, finding, region, known) -> Proposal | None:

`node` is the libcst node that the finding stands on (for `if mask.any():` the test, for `loss.item()` the call).
`region` is the outermost function around it, whole: ask it for `statement(node)`, `block(statement)`, `scope(node)`,
`loops(node)`, `code(node)`, and make edits with `swap`, `put`, `before`, `after`, `remove`. Any number of edits,
anywhere in the region, none overlapping. `names.py` answers what a variable is: `reads`, `stores`, `definition`.
`known` is what inference believes: `tensor(node)` (its dtype class, device, rank), `number(node)`, `callee(call)`
("torch.Tensor.item"), `argument(call, "dim")`, `pure(node)`, `torch()` (what the file calls torch). Unknown is the
usual answer; without proof return None, or a lower tier. `Unfit` may be raised anywhere: the code has not the shape.
Nothing is mutated, nothing is kept between calls.

Tiers: `safe` only where values, dtypes, shapes, gradients and effects are equal by construction, and the property
test says so; `unsafe` where they may differ in a way that `message` states in one sentence; `display` for a sketch
that a person must finish. The engine does the rest: it demotes a fix that would lose a comment, adds the imports in
`needs`, parses the result again, and takes back a fix after which the function has as many findings as before.

The test of a recipe stands in `tests/test_fix_<name>.py`: `rewritten(source, recipe=..., unsafe=...)` of
`tests/fixing.py` gives the text after the fix, or None where nothing is offered; `same(before, after, call)` runs
both and compares values, dtypes, shapes, gradients and what happened to the arguments. Write what it must leave alone
first.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

import libcst as cst
import msgspec

from syncguard.fix.known import Known
from syncguard.fix.region import Region, Unfit
from syncguard.terms import Edit, Finding, Tier

__all__ = ["Known", "Proposal", "Region", "Rewrite", "Unfit", "recipe"]


class Proposal(msgspec.Struct, frozen=True):
    """What a recipe would do: one sentence on what changes (unsafe: in what it may differ), and the edits.

    `needs` are statements to import what the new text uses: `import torch.nn.functional as F`. `leaves` is how many
    waits the new text has, at a place that is reached less often; a fix after which more are left is taken back.
    `resort`: it takes more work than the other recipes, and an unsafe one of them is better where the user allows it.
    """

    tier: Tier
    message: str
    edits: tuple[Edit, ...]
    needs: tuple[str, ...] = ()
    leaves: int = 0
    resort: bool = False


Rewrite = Callable[[cst.CSTNode, Finding, Region, Known], Proposal | None]


def recipe(name: str) -> Rewrite:
    """The recipe of this name. LookupError: there is none."""
    module = f"syncguard.fix.recipes.{name.replace('-', '_')}"
    try:
        return import_module(module).rewrite  # type: ignore[no-any-return]
    except ModuleNotFoundError as fault:
        if fault.name != module:
            raise
        raise LookupError(f"there is no recipe `{name}`") from None
