"""The lattice of values obeys its laws: join is idempotent, commutative and monotone, and loops settle."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from syncguard.infer.domain.contents import tensor_in, without
from syncguard.infer.domain.keys import key_of, outlined
from syncguard.infer.domain.lattice import join, join_all, pooled, same
from syncguard.infer.domain.values import (
    NONE,
    UNKNOWN,
    Const,
    Host,
    Named,
    Seq,
    Table,
    Tensor,
    Union,
    Unknown,
    Value,
    Why,
    options,
)

WHY = Why("parameter", (1, 0, 1, 1))
tensors = st.builds(
    Tensor,
    st.sampled_from(["", "bool", "int", "float"]),
    st.sampled_from(["device", "assumed", "host"]),
    st.integers(-1, 3),
    sure=st.booleans(),
)
simple = st.one_of(
    tensors,
    st.sampled_from(
        [UNKNOWN, Unknown(WHY), Unknown(batch=WHY), Unknown(None, WHY, True), NONE, Named("torch.nn.Linear")]
    ),
    st.builds(Const, st.one_of(st.booleans(), st.integers(0, 3), st.sampled_from(["a", "b"]))),
    st.builds(Host, st.sampled_from(["int", "float", "bool", "str", "size", "array"])),
)
values = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(Seq, st.sampled_from(["list", "tuple"]), st.lists(inner, max_size=3).map(tuple)),
        st.builds(Seq, st.just("list"), st.none(), inner),
        st.builds(Table, st.dictionaries(st.sampled_from(["x", "y"]), inner, max_size=2)),
    ),
    max_leaves=4,
)


@given(values)
def test_join_with_itself_changes_nothing(a: Value) -> None:
    assert same(join(a, a), a)


@given(simple, simple)
def test_join_does_not_care_for_order(a: Value, b: Value) -> None:
    assert same(join(a, b), join(b, a))


@given(simple, simple, simple)
def test_join_does_not_forget_a_tensor(a: Value, b: Value, c: Value) -> None:
    joined = join(join(a, b), c)
    assert (tensor_in(joined) is not None) is any(type(value) is Tensor for value in (a, b, c))


@given(values, values)
def test_joining_again_says_nothing_new(a: Value, b: Value) -> None:
    once = join(a, b)
    assert same(join(once, b), once)
    assert same(join(once, a), once)


@given(st.lists(values, min_size=1, max_size=8))
def test_a_loop_settles(steps: list[Value]) -> None:
    known: Value = steps[0]
    changes = 0
    for value in steps * 3:
        after = join(known, value)
        changes += not same(known, after)
        known = after
    assert all(same(join(known, value), known) for value in steps), changes


@given(tensors, tensors)
def test_two_paths_of_unlike_devices_are_mixed_and_two_callers_are_not(a: Tensor, b: Tensor) -> None:
    joined, together = join(a, b), pooled(a, b)
    assert isinstance(joined, Tensor)
    assert isinstance(together, Tensor)
    if {a.device, b.device} >= {"host"} and a.device != b.device:
        assert joined.device == "mixed"
        assert together.device == "assumed"
    else:
        assert joined.device == together.device != "mixed"


def test_without_leaves_what_is_not_unwanted() -> None:
    tensor = Tensor("bool")
    optional = Union((tensor, NONE))
    assert without(optional, lambda option: option is NONE) is tensor
    assert without(NONE, lambda option: option is NONE) is UNKNOWN
    assert options(tensor) == (tensor,)


@given(st.lists(values, min_size=1, max_size=6))
def test_what_a_function_is_told_of_keeps_every_tensor(parts: list[Value]) -> None:
    whole = join_all(parts)
    told = outlined(whole)
    assert (tensor_in(told) is None) == (tensor_in(whole) is None)
    assert same(outlined(told), told)


def test_callers_who_pass_many_things_without_a_tensor_are_told_of_alike() -> None:
    some = [Host("str"), Host("array"), Seq("list", None, Host("int")), Named("numpy.sum"), Named("numpy.ndarray")]
    kinds = [join_all(some[:4]), join_all(some[1:]), join_all([UNKNOWN, *some[:2]]), join_all([Const("a"), UNKNOWN])]
    assert {key_of([("x", outlined(kind))]) for kind in kinds} == {()}
    for kind in (join_all(some[:2]), Union((NONE, Host("str"))), join_all([*some, Tensor()]), Unknown(batch=WHY)):
        assert outlined(kind) is kind or same(outlined(kind), kind)
