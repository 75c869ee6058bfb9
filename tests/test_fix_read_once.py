"""A number for which the host asks again and again is read once: where it is made, or where it is first asked."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import codes, fixes, rewritten, same  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor, log=len):\n"
N = "    n = (x > 1).sum()\n"
CROP = "    x = x[..., :n]\n    y = y[..., n:] * 2\n    return x, y, torch.zeros(2, n)\n"


def tensors():
    return torch.arange(6.0), torch.linspace(-1, 1, 6)


def test_what_only_bounds_slices_is_made_a_number():
    after = rewritten(HEAD + N + CROP, "read-once")
    assert after == HEAD + N.replace("sum()", "sum().item()") + CROP
    assert codes(after) == ["SG201"]
    for x in (torch.arange(6.0), torch.tensor([]), torch.tensor([5.0])):
        same(HEAD + N + CROP, after, lambda x=x: (x, torch.rand(3)))


@pytest.mark.parametrize(
    ("body", "new"),
    [
        (
            "    if n > 5:\n        log(f'{n}')\n    return x / n\n",
            "    n_value = n.item()\n    if n_value > 5:\n        log(f'{n_value}')\n    return x / n\n",
        ),
        (
            "    if n.item() > 5:\n        log([n.item()])\n    return n\n",
            "    n_value = n.item()\n    if n_value > 5:\n        log([n_value])\n    return n\n",
        ),
        (
            "    a = 1.0 / n.item()\n    b = int(n)\n    return a, b, float(n)\n",
            "    a = 1.0 / n\n    b = n\n    return a, b, float(n)\n",
        ),
        (
            "    for i in range(n):\n        log(x[:n])\n    return [x[i:n] for i in range(3)]\n",
            "    for i in range(n):\n        log(x[:n])\n    return [x[i:n] for i in range(3)]\n",
        ),
    ],
)
def test_it_is_read_where_it_is_made_or_first_asked(body, new):
    made = N if "n_value" in new else N.replace("sum()", "sum().item()")
    after = rewritten(HEAD + N + body, "read-once")
    assert after == HEAD + made + new
    same(HEAD + N + body, after, tensors)


@pytest.mark.parametrize(
    "body",
    [
        "    return x[:n]\n",  # once is once
        "    if n > 5:\n        raise ValueError(f'{n}')\n    return x\n",  # the second is of a failure
        "    if len(x):\n        x = x[:n]\n    else:\n        y = y[:n]\n    return x, y\n",  # of these one is run
        "    x = x[:n] if len(x) else x\n    return x, y[:n]\n",
        "    a = x[:n]\n    n = n + 1\n    return a, y[:n]\n",
        "    a = x[:n]\n    n += 1\n    return a, y[:n]\n",
        "    a = x[:n]\n    n.add_(1)\n    return a, y[:n]\n",
        "    n = x.amax(0)\n    return x[:n], y[:n]\n",  # more than one, if x is a table
        "    while n > 3:\n        n = n - 1\n    return n\n",
        "    if n > y.sum():\n        return n > y.max()\n    return n\n",  # the others are read all the same
        "    try:\n        return x[:n], y[:n]\n    except ValueError:\n        return None\n",
        "    def g():\n        nonlocal n\n        n = x.sum().long()\n    a = x[:n]\n    g()\n    return a, y[:n]\n",
    ],
)
def test_what_changes_or_may_not_be_read_twice_stays(body):
    assert not fixes(HEAD + N + body, "read-once")


@pytest.mark.parametrize(
    "body",
    [
        "    if n > 5:\n        print(n)\n    return x\n",  # it says `tensor(6)`
        "    m = x.long().max()\n    return x[: m + 1], y[: m + 1]\n",  # of 64 bits, though not for sure
        "    m = x.long().max()\n    if m > 300:\n        log(f'{m}')\n    return x\n",
        "    m = x.long().flatten()[0]\n    a = x[:m]\n    log(x)\n    return a, y[:m]\n",
    ],
)
def test_what_may_differ_is_said(body):
    (tier,) = {fix.tier for fix in fixes(HEAD + N + body, "read-once")}
    assert tier == "unsafe"


def test_what_another_name_writes_is_seen():
    """A view of what is written between where it is made and where it is first asked."""
    body = "    m = x.long().flatten()\n    n = m[0]\n    m += 1\n    return x[:n], y[:n]\n"
    for fix in fixes(HEAD + body, "read-once"):
        assert not any(".item()" in edit.text and "n_value" not in edit.text for edit in fix.edits)
    after = rewritten(HEAD + body, "read-once", unsafe=True)
    if after is not None:
        same(HEAD + body, after, tensors)


@pytest.mark.parametrize(
    "body",
    [
        N + "    if n:\n        y = y + 1\n    if not n:\n        y = y * 2\n    return y\n",
        N + "    assert n >= 0, f'{n}'\n    if n > 2:\n        y = y + 1\n    return y\n",
        "    n = x.sum()\n    if n:\n        y = y + 1\n    if not n:\n        y = y * 2\n    return y\n",
        "    n = x.half().max()\n    if n > 2:\n        y = y + 1\n    if n == 5:\n        y = y + 2\n    return y\n",
    ],
)
def test_no_other_fix_takes_the_number_for_a_tensor(body):
    """It becomes a number where it is made: nothing that was found of a tensor is still so where it is used."""
    for unsafe in (False, True):
        after = rewritten(HEAD + body, unsafe=unsafe)
        assert after is not None
        same(HEAD + body, after, tensors)


@pytest.mark.parametrize(
    "body",
    [
        "    n = m = (x > 1).sum()\n    a = x[:n]\n    m += 1\n    return a, y[:n]\n",
        N + "    a = x[:n]\n    match len(x):\n        case 0:\n            b = y[:n]\n"
        "        case n:\n            b = y[:n]\n    return a, b\n",
        N + "    a = x[:n]\n    match [len(x)]:\n        case [*n]:\n            n = n[0]\n    return a, y[:n]\n",
        N + "    a = x[:n]\n    match {0: 1, 2: 3}:\n        case {0: n}:\n            pass\n    return a, y[:n]\n",
    ],
)  # fmt: skip
def test_what_an_alias_or_a_pattern_changes_stays(body):
    after = rewritten(HEAD + body, unsafe=True) or HEAD + body
    assert "m += 1" not in body or after == HEAD + body
    same(HEAD + body, after, tensors)


@pytest.mark.parametrize(
    "lines",
    [
        "    d = {}\n    d['n'] = n\n    a = x[:n]\n    d['n'] += 1\n",
        "    d = {}\n    d.setdefault('n', n)\n    a = x[:n]\n    d['n'] += 1\n",
        "    d = {'e': {}}\n    d['e']['n'], e = n, 1\n    a = x[:n]\n    d['e']['n'] += 1\n",
        "    d = []\n    d.append(n)\n    a = x[:n]\n    d[0] += 1\n",
        "    d = []\n    d.append(n)\n    a = x[:n]\n    torch._foreach_add_(d, 1)\n",
    ],
)
def test_what_was_put_into_a_list_may_be_written_there(lines):
    body = N + lines + "    return a, y[:n]\n"
    assert {fix.tier for fix in fixes(HEAD + body, "read-once")} == {"unsafe"}
    plain = body.replace("d['n'] += 1", "d['n'] = 1").replace("d[0] += 1", "d[0] = 1")
    assert "foreach" in lines or "['e']" in lines or {f.tier for f in fixes(HEAD + plain, "read-once")} == {"safe"}


def test_a_slice_that_somebody_keeps_is_of_the_tensor():
    body = N + "    rows = np.s_[:n]\n    return x[:n], y[:n], rows.stop\n"
    after = rewritten("import numpy as np\n" + HEAD + body, "read-once")
    assert "    n_value = n.item()\n    return x[:n_value], y[:n_value], rows.stop\n" in after
    same("import numpy as np\n" + HEAD + body, after, tensors)
