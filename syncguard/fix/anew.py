"""A sum that goes on in an attribute or element in, the edits that make it a new one each time out."""

from __future__ import annotations

import libcst as cst

from syncguard.fix.known import Known
from syncguard.fix.region import Region, Unfit
from syncguard.fix.text import BINDING, binding
from syncguard.terms import Edit, Site

SIGNS: dict[type[cst.BaseAugOp], str] = {cst.AddAssign: "+", cst.SubtractAssign: "-"}


def anew(statement: cst.CSTNode, region: Region, known: Known) -> list[Edit]:
    """`self.total += value` as `self.total = self.total + value`. To a tensor is added in place: whoever had the number
    so far would see it grow. None for a tensor that was one before. Unfit: what is added to cannot be asked twice."""
    if not isinstance(statement, cst.AugAssign) or type(statement.operator) not in SIGNS:
        return []
    target, value = statement.target, statement.value
    if not isinstance(target, cst.Attribute | cst.Subscript) or known.tensor(target) is not None:
        return []
    if not known.pure(target):
        raise Unfit("what is added to cannot be asked twice")
    loose = not value.lpar and binding(value) <= BINDING[cst.Add]
    start, (*first, line, column) = region.places[target][2:], region.outer(value)
    text = f" = {region.code(target)} {SIGNS[type(statement.operator)]} {'(' if loose else ''}"
    edits = [Edit(Site(region.path, *start, *first), text)]
    return [*edits, Edit(Site(region.path, line, column, line, column), ")")] if loose else edits
