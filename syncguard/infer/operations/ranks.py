"""The arguments of a call and the rule for the rank of its result in, that rank out."""

from __future__ import annotations

from typing import Final

from syncguard.infer.domain.values import NONE, UNKNOWN, Const, Host, Seq, Tensor, Value
from syncguard.infer.operations.arguments import Arguments, is_false, is_true
from syncguard.infer.operations.devices import first_of
from syncguard.infer.operations.promotion import nested

DIMS: Final = ("dim", "axis", "dims", "axes")
KEPT: Final = ("keepdim", "keepdims")


def rank_of(rule: str, args: Arguments, tensors: list[Tensor]) -> int:
    """The number of dimensions of a result, by the rule of its row; -1 where that is not known."""
    match rule:
        case "":
            return size_rank(args) if "size" in args.named or "shape" in args.named else -1
        case "samerank":
            return _common_rank(tensors) if type(first_of(args)) is Seq else tensors[0].rank if tensors else -1
        case "more":
            return tensors[0].rank + 1 if tensors and tensors[0].rank >= 0 else -1
        case "broadcast":
            ranks = [tensor.rank for tensor in tensors]
            return max(ranks) if ranks and min(ranks) >= 0 else -1
        case "nested":
            return nested(args.get("data") or UNKNOWN)
        case "written":
            return written_rank(args.get("equation"))
        case "reduce" | "drop":
            return reduced(rule, args, tensors[0].rank if tensors else -1)
    return int(rule[0])


def size_rank(args: Arguments) -> int:
    """The number of sizes that a call gives; -1 where that is not written out."""
    given = args.get("size") or args.get("shape")
    if type(given) is Seq and given.items is not None:
        inner = given.items[0] if len(given.items) == 1 else None
        return size_rank_of(inner) if type(inner) is Seq else len(given.items)
    return 1 if type(given) is Const or (type(given) is Host and given.kind in ("int", "number")) else -1


def size_rank_of(value: Seq) -> int:
    return len(value.items) if value.items is not None else -1


def _common_rank(tensors: list[Tensor]) -> int:
    """The rank of all tensors in a list, as far as it is known of one that has elements."""
    ranks = {tensor.rank for tensor in tensors if not tensor.void} - {-1}
    return ranks.pop() if len(ranks) == 1 else -1


def written_rank(equation: Value | None) -> int:
    """How many dimensions `"bij,pij->bp"` names behind its arrow."""
    text = equation.value if type(equation) is Const else None
    if not isinstance(text, str) or "->" not in text or "." in text:
        return -1
    return len(text.rpartition("->")[2].replace(" ", ""))


def reduced(rule: str, args: Arguments, rank: int) -> int:
    """The rank after a reduction over the dimensions that a call names; -1 where they or the rank are not known."""
    kept = next((value for name in KEPT if (value := args.get(name)) is not None), None)
    if kept is not None and not is_false(kept):
        return rank if is_true(kept) else -1
    dims = next((value for name in DIMS if (value := args.get(name)) is not None and value != NONE), None)
    if dims is None:
        return 0 if rule == "reduce" else max(rank - 1, -1)
    lost = len(dims.items) if type(dims) is Seq and dims.items is not None else int(_is_number(dims))
    return max(rank - lost, 0) if rank >= 0 and lost else -1


def _is_number(value: Value) -> bool:
    return (type(value) is Const and type(value.value) is int) or (
        type(value) is Host and value.kind in ("int", "size")
    )
