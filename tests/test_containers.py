"""What is put into a container by another of its names is found by the first."""

from __future__ import annotations

from functools import partial

import checked
import pytest

HEAD = """import torch
from torch import Tensor


def f(xs: list[Tensor], x: Tensor, n: int):
    """


codes = partial(checked.codes, head=HEAD)


def lines(*text: str) -> str:
    return "\n    ".join(text)


@pytest.mark.parametrize(
    "text",
    [
        "outs = [[] for _ in xs]\n    for out, y in zip(outs, xs): out.append(y)\n    outs[0][0] > 0 or f()",
        "outs = [[] for _ in xs]\n    for i, out in enumerate(outs): out.append(xs[i])\n    outs[0][0] > 0 or f()",
        "outs = [[], []]\n    for i, (out, y) in enumerate(zip(outs, xs)): out.append(y)\n    outs[1][0] > 0 or f()",
        "outs = {'a': [], 'b': []}\n    for k, out in outs.items(): out.append(x)\n    outs['a'][0] > 0 or f()",
        "outs = {'a': [], 'b': []}\n    for out in outs.values(): out.extend(xs)\n    outs['b'][0] > 0 or f()",
        "outs = {'a': [], 'b': []}\n    for k in outs: outs[k].append(x)\n    outs['b'][0] > 0 or f()",
        "outs = [[]]\n    last = outs[-1]\n    last.append(x)\n    outs[0][0] > 0 or f()",
        "outs = [[[]]]\n    for row in outs:\n        for cell in row: cell.append(x)\n    outs[0][0][0] > 0 or f()",
    ],
)
def test_what_a_loop_puts_into_the_parts_of_a_container_is_in_it(text: str) -> None:
    assert codes(text) == ["SG204"]


@pytest.mark.parametrize(
    "text",
    [
        "outs = [[] for _ in xs]\n    for i, out in enumerate(outs): out.append(i)\n    return outs[0][0] > 3 and 1",
        "outs, other = [[1]], [[x]]\n    for out in outs: out = other[0]\n    return outs[0][0] > 3 and 1",
        "outs = [[1]]\n    for out in outs:\n        out = []\n        out.append(x)\n    return outs[0][0] > 3 and 1",
        "top = [[]]\n    while top:\n        top = top[0]\n        top.append(n)\n    return top[0] > 3 and 1",
        "a = [[[]]]\n    b = a[0]\n    a = b[0]\n    a.append(n)\n    return a[0] > 3 and 1",
    ],
)
def test_no_container_holds_what_was_put_elsewhere(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "d = dict(zip(['a', 'b'], xs))\n    d['a'] > 0 or f()",
        "d = dict([(str(n), x), ('b', x)])\n    d['a'] > 0 or f()",
        "d = dict(torch.nn.Linear(2, 2).cuda().named_parameters())\n    d['weight'].sum() > 0 or f()",
        "for name, y in dict(enumerate(xs)).items(): y > 0 or f()",
        "d = {**named, 'n': n}\n    d['a'] > 0 or f()",
        "d = {'n': n} | named\n    d['a'] > 0 or f()",
    ],
)
def test_a_dict_holds_what_it_is_made_of(text: str) -> None:
    assert codes(text, head=HEAD.replace("n: int", "n: int, named: dict[str, Tensor] | None = None")) == ["SG204"]


@pytest.mark.parametrize(
    "text",
    [
        "d = dict(zip(xs, range(n)))\n    d[n] > 0 or f()",
        "d = {'n': n} | {'a': x}\n    d['n'] > 0 or f()",
        "d = dict(torch.nn.Linear(2, 2).cuda().named_parameters())\n    for name in d: name.split('.') or f()",
    ],
)
def test_a_dict_holds_nothing_else(text: str) -> None:
    assert codes(text) == []


BARE = """
import torch


class Metric:
    def results(self, n):
        found = {{"precision": -torch.ones(n, device="{device}")}}
        return self.total(found), self.first([torch.ones(n, device="{device}")])

    def total(self, results: dict):
        kept = results["precision"]
        return kept[kept > -1].mean()

    def first(self, xs: list):
        return xs[0].item()
"""


def test_a_bare_dict_or_list_holds_what_callers_give() -> None:
    assert checked.codes(BARE.format(device="cuda")) == ["SG102", "SG201"]
    assert checked.codes(BARE.format(device="cpu")) == []


@pytest.mark.parametrize(
    ("sizes", "found"),
    [
        ("*x.shape[:2]", ["SG201"]),  # two of them: `top` is what comes third
        ("*x.shape[: 2]", ["SG201", "SG205"]),  # how many there are is read off the plainest way of writing alone
    ],
)
def test_the_first_sizes_are_as_many_as_are_asked_for(sizes: str, found: list[str]) -> None:
    text = (
        f"sizes = {sizes}, x.amax()\n    rows, cols, top = sizes\n    for _ in range(cols): ...\n    return top.item()"
    )
    assert sorted(codes(text, confidence="possible")) == found


@pytest.mark.parametrize(
    ("write", "found"),
    [
        ("out[x.argmax()] = n", ["SG203"]),
        ("out[x.argmax() :] = [n]", ["SG203"]),
        ("out[x > 0] = n", []),  # no list takes a mask: so it is none there
        ("out[n] = n", []),
    ],
)
def test_a_list_reads_the_tensor_that_it_is_written_at(write: str, found: list[str]) -> None:
    assert codes(f"out = [None] * n\n    {write}") == found


def test_a_starred_part_of_a_display_makes_up_what_is_missing() -> None:
    text = "rows, cols, flag, top = *x.shape, True, x.amax()\n    if flag: return cols\n    for _ in range(cols): ..."
    assert codes(f"{text}\n    return top.item()", confidence="possible") == ["SG201"]


def test_a_starred_target_takes_what_the_others_leave() -> None:
    text = "first, *rest, last = 3, x.amax(), 4, x\n    for _ in range(first + rest[1]): ...\n    return rest[0].item()"
    assert codes(text, confidence="possible") == ["SG201"]


TYPED = """
import torch
from typing_extensions import NotRequired, TypedDict


class Batch(TypedDict):
    rows: torch.Tensor
    kept: NotRequired[torch.BoolTensor]
    name: str


def pick(batch: Batch):
    kept = {}
    return batch["rows"] if kept is None else batch["rows"][kept]


def close(batch: Batch):
    return batch.get("name") == "a", batch.get("other") == 1
"""


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ('batch["kept"]', ["SG102"]),
        ('batch.get("kept")', ["SG102"]),
        ('batch.pop("kept", None)', ["SG102"]),
        ('batch.get("name")', []),
        ('batch.get("other")', []),
    ],
)
def test_a_typed_dict_is_asked_for_what_it_declares(asked: str, found: list[str]) -> None:
    assert checked.codes(TYPED.format(asked)) == found


COUNTED = """
import torch
from typing import TypedDict


class Sent(TypedDict):
    rows: torch.Tensor
    counts: {}


def send(x: torch.Tensor):
    rows, counts = buffer.send(x, x.shape)
    return Sent(rows=rows, counts=counts)


def received(sent: Sent):
    return torch.tensor(sent["counts"], device=sent["rows"].device)
"""


@pytest.mark.parametrize(("declared", "found"), [("list[int]", ["SG302"]), ("list[torch.Tensor]", []), ("object", [])])
def test_a_list_that_nobody_knows_holds_the_numbers_that_it_declares(declared: str, found: list[str]) -> None:
    assert checked.codes(COUNTED.format(declared)) == found


KEYED = """
def shown(params: list[torch.Tensor], lr: float):
    group = {{"params": params, "lr": lr}}
    for key, value in group.items():
        {test}
        print(f"{{key}}={{value}}")
"""


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("if key == 'params': continue", []),
        ("if key != 'lr': continue", []),
        ("if key != 'params': continue", ["SG206"]),
        ("if key == 'lr': continue", ["SG206"]),
        ("if key in settings: continue", ["SG206"]),
        ("key = str(lr)\n        if key == 'params': continue", ["SG206"]),
        ("value = params\n        if key == 'params': continue", ["SG206"]),
    ],
)
def test_a_test_of_a_key_tells_what_its_value_is(test: str, found: list[str]) -> None:
    assert checked.codes(KEYED.format(test=test), head="import torch\n") == found


@pytest.mark.parametrize(
    ("added", "code"),
    [
        ("torch.topk(y.view(-1), int(n))[0].sum()", "SG203"), ("int(n)", "SG209"), ("int(n) * 2.0", "SG209"),
        ("y.view(-1)[: int(n)].sum() / n", "SG203"),
    ],
)  # fmt: skip
def test_a_number_that_goes_into_a_tensor_is_not_collected(added: str, code: str) -> None:
    text = f"""
    def total(xs: list[Tensor]):
        loss = 0
        for y in xs:
            n = (y > 0).sum()
            loss += {added}
        return loss
    """
    assert checked.codes(text, "import torch\nfrom torch import Tensor\n") == [code]


@pytest.mark.parametrize(
    "text",
    [
        "outs = {}\n    for y in xs: outs.setdefault(n, []).append(y)\n    outs[n][0] > 0 or f()",
        "outs = {}\n    outs.setdefault('a', {}).update(b=x)\n    outs['a']['b'] > 0 or f()",
        "outs = {'a': []}\n    outs.get('a').append(x)\n    outs['a'][0] > 0 or f()",
    ],
)
def test_what_is_put_into_what_a_key_is_asked_for_is_under_it(text: str) -> None:
    assert codes(text) == ["SG204"]


KEYS = """found = {"x": x, "n": n, "none": None}
    made = {made}
    return made[KEY] > 3 and n
"""


@pytest.mark.parametrize(
    ("made", "waits"),
    [
        ("{k: v for k, v in found.items()}", "x"),
        ("{k: v for k, v in found.items() if v is not None}", "x"),
        ("{k: v.sum() if torch.is_tensor(v) else v for k, v in found.items()}", "x"),
        ("{k: float(v) for k, v in found.items()}", ""),
        ("{k: v for v, k in found.items()}", ""),
        ("{k: v for k, v in {**found, **xs}.items()}", "x"),
    ],
)
def test_what_goes_through_a_dict_keeps_what_is_under_each_key(made: str, waits: str) -> None:
    text = KEYS.replace("{made}", made)
    assert [k for k in ("x", "n", "none") if "SG204" in codes(text.replace("KEY", f"'{k}'"))] == waits.split()


NOTED = """import torch
from collections import defaultdict

class Notes:
    def __init__(self):
        self.seen = defaultdict(list)

    def add(self, **found):
        for key, value in found.items():
            self.seen[key].append(value)

    def mean(self, key):
        return sum(self.seen[key]) / len(self.seen[key])

def train(x: torch.Tensor, notes: Notes, rest):
    notes.add({given})
    if notes.mean("a") > 3:
        return x
"""


@pytest.mark.parametrize(
    ("given", "found"),
    [("a=x, b=3", ["SG204"]), ("a=x.sum(), **rest", []), ("a=x.shape[0]", []), ("a=x.item()", ["SG201"])],
)
def test_what_calls_of_the_file_give_by_any_name_is_what_a_method_keeps(given: str, found: list[str]) -> None:
    assert checked.codes(NOTED.format(given=given)) == found


def test_the_first_turn_of_a_loop_tells_nothing_of_where_its_list_is() -> None:
    text = lines(
        "outs, part = [], []",
        "for i in range(n):",
        "    if len(part) > 3:",
        "        outs.append({})",
        "        part = []",
        "    part.append(torch.tensor([i]))",
        "return outs[0].sum() > 3 and n",
    )
    assert codes(text.format("torch.cat(part)")) == []
    assert codes(text.format("torch.stack(part).to(x.device)")) == ["SG301", "SG204"]


EMPTY = """
    def read(texts, x: Tensor, other):
        kept: {declared} = {empty}
        for t in texts:
            {put}
        return {asked}
    """
MADE = "torch.tensor(float(len(t)))"


@pytest.mark.parametrize(("made", "codes"), [(MADE, []), ("x.sum()", ["SG203"]), ("other(t)", ["SG203"])])
@pytest.mark.parametrize(
    ("declared", "empty", "put", "asked"),
    [
        ("list[Tensor]", "[]", "kept.append({})", "int(kept[0])"),
        ("dict[str, Tensor]", "{}", "kept[t] = {}", "int(kept[texts])"),
        ("dict[str, list[Tensor]]", "{}", "kept.setdefault(t, []).append({})", "int(kept[texts][0])"),
    ],
)
def test_what_is_put_into_what_was_empty_tells_more_than_what_was_declared(
    declared: str, empty: str, put: str, asked: str, made: str, codes: list[str]
) -> None:
    text = EMPTY.format(declared=declared, empty=empty, put=put.format(made), asked=asked)
    assert checked.codes(text, "import torch\nfrom torch import Tensor\n") == codes


@pytest.mark.parametrize(
    "put",
    [
        "more(kept, x)",
        "[kept.append(y) for y in x]",
        "for out in (kept, x): out.append(x)",
        "d = {'a': kept}",
        "other = kept",
    ],
)
def test_what_others_may_fill_is_what_was_declared(put: str) -> None:
    text = f"""
    def read(texts, x: Tensor, more):
        kept: list[Tensor] = []
        kept.append(torch.zeros(()))
        {put}
        return int(kept[0])
    """
    assert checked.codes(text, "import torch\nfrom torch import Tensor\n") == ["SG203"]


def test_what_an_object_keeps_others_may_fill() -> None:
    text = """
    class Kept:
        def __init__(self):
            self.kept: list[Tensor] = []

        def own(self):
            self.kept.append(torch.zeros(()))

        def read(self):
            return self.kept[-1].item()
    """
    assert checked.codes(text, "import torch\nfrom torch import Tensor\n") == ["SG201"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("pair[0] > 3 or f()", []),
        ("pair[1][0] > 3 or f()", ["SG204"]),
        ("pair[-1][0] > 3 or f()", ["SG204"]),
        ("number, parts = pair\n    number > 3 or f()", []),
        ("number, parts = pair\n    parts[0] > 3 or f()", ["SG204"]),
    ],
)
@pytest.mark.parametrize("made", ["(n, [])", "[n, []]"])
@pytest.mark.parametrize("put", ["pair[1].append(x)", "pair[-1].append(x)", "pair[1] += xs"])
def test_what_one_item_takes_up_is_in_that_item(made: str, put: str, asked: str, found: list[str]) -> None:
    if put.endswith("xs") and made.startswith("("):
        return  # a tuple takes no item
    assert codes(f"pair = {made}\n    {put}\n    {asked}") == found


def test_what_an_item_becomes_that_nobody_knows_the_number_of_is_in_all() -> None:
    assert codes("pair = [n, 2]\n    pair[n] = x\n    pair[0] > 3 or f()") == ["SG204"]


PICKS = "key = 'mask' if n else 'masks'\n    kept = dict(x=n)\n    kept[key] = x > n\n    "
EACH = "kept = dict(x=n)\n    for key in ('mask', 'masks'):\n        kept[key] = x > n\n    "


@pytest.mark.parametrize("put", [PICKS, EACH, PICKS.replace("'mask' if n else 'masks'", "'mask'")])
@pytest.mark.parametrize(("asked", "found"), [("kept['cache'] or f()", []), ("kept['mask'] or f()", ["SG204"])])
def test_a_key_that_is_one_of_some_texts_fills_only_these(put: str, asked: str, found: list[str]) -> None:
    assert codes(put + asked) == found


@pytest.mark.parametrize("bound", ["key = f()", "key = 'a'\n    if n: key = f()", "pass"])
def test_any_other_key_may_fill_each(bound: str) -> None:
    assert codes(f"{bound}\n    kept = dict(x=n)\n    kept[key] = x > n\n    kept['cache'] or f()") == ["SG204"]


@pytest.mark.parametrize("put", [PICKS, EACH])
def test_what_lies_under_one_of_some_texts_is_known_as_well(put: str) -> None:
    held = put.replace("x > n", "torch.tensor([True, False])")
    assert codes(held + "x[kept['mask']]") == codes("x[torch.tensor([True, False])]") == []


@pytest.mark.parametrize(("key", "found"), [("weight", ["SG204"]), ("epoch", []), ("global_step", [])])
def test_a_count_that_a_checkpoint_keeps_is_a_number_whatever_its_items_are_declared(key, found):
    text = f"def f(checkpoint: dict[str, torch.Tensor]):\n    return checkpoint['{key}'] + 1 > 3 or g()\n"
    assert checked.codes(text, "import torch\n\n\n") == found
