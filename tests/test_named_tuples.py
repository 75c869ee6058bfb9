"""What a tuple with names is made of is in its fields, however it was declared."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = """import collections
import torch
from collections import namedtuple
from torch import Tensor


class Pair(namedtuple("Pair", ["value", "count"])):
    def __repr__(self):
        return "".join(k + str(v) for k, v in self._asdict().items())


class Named(collections.namedtuple("Named", "value count")):
    __slots__ = ()


class Triple(Pair):
    kind = "triple"


Plain = namedtuple("Plain", "value count")


def f(x: Tensor):
    pair, named, triple, plain = Pair(x, 3), Named(count=3, value=x), Triple(x, 3), Plain(x, 3)
    """


codes = partial(checked.codes, head=HEAD)
OWN = ["SG206"]  # in Pair.__repr__


@pytest.mark.parametrize("name", ["pair", "named", "triple", "plain"])
@pytest.mark.parametrize(
    "text",
    [
        "if {}.value > 0: return 1",
        "if {}[0] > 0: return 1",
        "if {}._asdict()['value'] > 0: return 1",
        "a, b = {}\n    if a > 0: return 1",
        "if {}._replace(count=1).value > 0: return 1",
    ],
)
def test_a_tensor_is_found_in_its_field(name: str, text: str) -> None:
    assert codes(text.format(name)) == [*OWN, "SG204"]


@pytest.mark.parametrize("name", ["pair", "named", "triple", "plain"])
@pytest.mark.parametrize(
    "text",
    [
        "if {}.count > 0: return 1",
        "if {}[1] > 0: return 1",
        "if {}._asdict()['count'] > 0: return 1",
        "a, b = {}\n    if b > 0: return 1",
        "if {}: return 1",
    ],
)
def test_a_number_stays_one(name: str, text: str) -> None:
    assert codes(text.format(name)) == OWN


def test_what_names_no_fields_is_like_any_other_class() -> None:
    text = "fields = ['value']\n\n\nclass Some(namedtuple('Some', fields)):\n    pass\n\n\nSome(x)\n"
    assert codes(f"import torch\nfrom collections import namedtuple\nx = torch.ones(3)\n{text}", head="") == []
