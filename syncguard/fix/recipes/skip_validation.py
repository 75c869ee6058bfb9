"""`Normal(mean, spread)` -> with `validate_args=False`: the arguments, and the values asked about, are not checked."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.names import defined
from syncguard.fix.recipe import Known, Proposal, Region
from syncguard.terms import Edit, Finding

FLAG = "validate_args"
DRAWS = ("torch.distributions.Normal", "torch.distributions.normal.Normal")


def rewrite(node: cst.CSTNode, finding: Finding, region: Region, known: Known) -> Proposal | None:
    """Where the distribution is made, also if the finding stands on what its variable is asked; else how it draws."""
    if not isinstance(node, cst.Call) or region.handled(node):
        return None
    made = node if _checks(node, known) else None
    owner = node.func.value if isinstance(node.func, cst.Attribute) else None
    if made is None and owner is not None:
        found = defined(region, owner)
        made = found if isinstance(found, cst.Call) and _checks(found, known) else None
    if made is None:
        return None
    edit = _told(made, region, known)
    if edit is not None:
        return Proposal("unsafe", "an argument that is not allowed gives NaN or nonsense in place of an error", (edit,))
    return drawn(node, made, region, known) if made is not node else None


def drawn(node: cst.Call, made: cst.Call, region: Region, known: Known) -> Proposal | None:
    """`normal.sample()` reads its deviation even so; `rsample` does not."""
    if not isinstance(node.func, cst.Attribute) or node.func.attr.value != "sample" or known.callee(made) not in DRAWS:
        return None
    rest = "".join(region.code(arg) for arg in node.args)
    text = f"{region.code(node.func.value)}.rsample({rest}).detach()"
    message = "draws other numbers of the same distribution from the same seed"
    return Proposal("unsafe", message, (region.swap(node, text),))


def _checks(node: cst.Call, known: Known) -> bool:
    op = known.op(node)
    return op is not None and FLAG in op.args and not any(arg.star for arg in node.args)


def _told(made: cst.Call, region: Region, known: Known) -> Edit | None:
    """The edit that switches the checks off; None where they are."""
    op = known.op(made)
    place = op.args.index(FLAG) if op is not None else 0
    if len(made.args) > place and made.args[place].keyword is None:
        return region.swap(made.args[place].value, "False")
    for arg in made.args:
        if arg.keyword is not None and arg.keyword.value == FLAG:
            off = isinstance(arg.value, cst.Name) and arg.value.value == "False"
            return None if off else region.swap(arg.value, "False")
    return region.argue(made, f"{FLAG}=False")
