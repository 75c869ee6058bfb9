"""A test of what kind of tensor something is in, whether it asks for another precision than that which is usual, or for
a kind that few are, out."""

from __future__ import annotations

from syncguard.infer.branches.subjects import ME, held_at, last_name
from syncguard.infer.domain.values import Named
from syncguard.infer.routine import Frame
from syncguard.read import core
from syncguard.read.core import Node
from syncguard.read.tags import ATTR, NAME


def of_precision(test: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome says that numbers are of 16 bits, say: `x.dtype == torch.float16`, `is_fp16_enabled()`."""
    match test:
        case core.Do(what="==" | "!=" | "is" | "is not" as what, args=(left, right)):
            asked, equal = (right, left), (what in ("==", "is")) is outcome
            if _is_dtype(right):
                asked = (left, right)
            return _is_dtype(asked[1]) and _named("rare_dtypes" if equal else "usual_dtypes", asked[0], frame)
        case core.Do(what="in" | "not in" as what, args=(left, core.Seq(items=items))):
            key = "rare_dtypes" if (what == "in") is outcome else "usual_dtypes"
            return _is_dtype(left) and bool(items) and all(_named(key, item, frame) for item in items)
        case core.Call(fn=fn):
            return outcome and frame.world.places.is_("names", "precisions", last_name(fn))
    return False


def of_few(test: Node, outcome: bool, frame: Frame) -> bool:
    """Whether this outcome says that a tensor is sparse, say: `grad.is_sparse`, `torch.is_complex(x)`, `x.layout !=
    torch.strided`."""
    match test:
        case core.Attr(of=of, name=name) | core.Call(fn=core.Attr(of=of, name=name)):
            own = type(of) is NAME and of.id in ME
            return outcome and not own and frame.world.places.is_("names", "rare_kinds", name)
        case core.Do(what="==" | "!=" | "is" | "is not" as what, args=(core.Attr(name="layout"), asked)):
            return _named("rare_layouts" if (what in ("==", "is")) is outcome else "usual_layouts", asked, frame)
        case core.Do(what="in" | "not in" as what, args=(core.Attr(name="layout"), core.Seq(items=items))):
            key = "rare_layouts" if (what == "in") is outcome else "usual_layouts"
            return bool(items) and all(_named(key, item, frame) for item in items)
    return False


def _is_dtype(node: Node) -> bool:
    return type(node) is ATTR and node.name == "dtype"


def _named(key: str, node: Node, frame: Frame) -> bool:
    of = held_at(node.of, frame) if type(node) is ATTR else None
    return type(of) is Named and type(node) is ATTR and frame.world.places.is_("names", key, f"{of.name}.{node.name}")
