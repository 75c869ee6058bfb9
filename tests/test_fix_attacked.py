"""Programs made to mislead the recipes: what is not proven is not offered as safe, what would be wrong not at all."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, function, rewritten, same  # noqa: E402

HEAD = "import torch\nfrom torch.distributions import Normal\n\n\n"
F = HEAD + "def f(x: torch.Tensor, y: torch.Tensor):\n"


@pytest.mark.parametrize(
    "body",
    [
        "    for i in range(len(x)):\n        x[i].mul_(2)\n        found.append(float(x[i]) + 1)\n",
        "    for i in range(len(x)):\n        v = x[i]\n        v += 1\n        found.append(x[i].item() + 1)\n",
        "    z = x.view(-1)\n    for i in range(len(x)):\n        z[i] = 3\n        found.append(x[i].item() + 1)\n",
        "    for i in range(len(x)):\n        torch.add(x, 1, out=x)\n        found.append(x[i].item() + 1)\n",
        "    for v in x:\n        x.add_(1)\n        found.append(v.item() * 2)\n",
        "    for v in x:\n        v.add_(1)\n        found.append(v.item() * 2)\n",
        "    found += [v.item() for v in x.view(-1) if x.add_(1) is not None]\n",
    ],
)
def test_what_a_loop_writes_is_not_read_before_it(body):
    program = F + "    found = []\n" + body + "    return found\n"
    assert not fixes(program, "read-together")
    after = rewritten(program, unsafe=True) or program
    same(program, after, lambda: (torch.arange(4.0), torch.ones(4)))


def test_what_may_share_memory_is_said_to():
    """`y` may be `x`, or a view of it."""
    body = "    for i in range(len(x)):\n        y[0] = i\n        found.append(x[i].item() + 1)\n    return found\n"
    program = F + "    found = []\n" + body
    assert {fix.tier for fix in fixes(program, "read-together")} == {"unsafe"}
    own = program.replace("y[0] = i", "z[0] = i").replace("    found = []\n", "    found, z = [], 0\n    z = y * 1\n")
    assert {fix.tier for fix in fixes(own.replace(", z = [], 0", " = []"), "read-together")} == {"safe"}


@pytest.mark.parametrize(
    "body",
    [
        "    torch = y\n    z = x * 1\n    z[z > 0] = y[z > 0]\n    return z, torch\n",
        "    z = x * 1\n    z[z > 0] = y[z > 0]\n    for torch in y:\n        pass\n    return z\n",
    ],
)
def test_a_variable_named_torch_is_not_torch(body):
    assert not fixes(F + body)


@pytest.mark.parametrize(
    "line",
    ["c = torch.linalg.inv(x)", "c = Normal(x, y).mean", "if (x < 0).any():\n            raise ValueError('a')"],
)
def test_an_error_that_is_waited_for_stays(line):
    assert fixes(F + f"    if len(x):\n        {line}\n    return x\n")
    program = F + f"    try:\n        {line}\n    except (ValueError, RuntimeError):\n        x = y\n    return x\n"
    assert not fixes(program)


def test_checks_that_are_switched_on_by_place_are_switched_off_there():
    assert "Normal(x, y, False)" in rewritten(F + "    return Normal(x, y, True)\n", unsafe=True)
    assert not fixes(F + "    return Normal(*x, True)\n")


@pytest.mark.parametrize("body", [
    "    return {'a': x.mean().item(), 'b': x.add_(1), 'c': x.norm().item()}\n",
    "    return x.mean().item(), change(x), x.norm().item()\n",
])  # fmt: skip
def test_reads_between_which_something_happens_stay_apart(body):
    assert not fixes(F + body, "read-together")


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("    z = x * 1; z[z > 0] = 1 + y[z > 0]\n    return z\n", "z.copy_(torch.where(z > 0, 1 + y, z))"),
        (
            "    \tz = x * 1 # tab\n    \tz[z > 0] = y[z > 0] # tab\n    \treturn z\n",
            "\tz.copy_(torch.where(z > 0, y, z)) # tab",
        ),
        (
            "    名 = x * 1\n    名[名 > 0] = y[名 > 0]  # 漢字\n    return 名\n",
            "名.copy_(torch.where(名 > 0, y, 名))  # 漢字",
        ),
        ("    return (x.mean()\n        .item()  # why\n        + x.norm().item())\n", "(x_mean  # why"),
    ],
)
def test_odd_spellings_are_kept(body, made):
    after = rewritten(F + body, unsafe=True)
    assert made in after
    same(F + body, after, lambda: (torch.linspace(-1, 1, 5), torch.ones(5)))


def test_a_sum_in_an_async_loop_is_read_behind_it():
    body = "    total = 0.0\n    async for y in ys:\n        total += x.mean().item()\n    return total\n"
    after = rewritten(HEAD + "async def f(x: torch.Tensor, ys):\n" + body)
    assert "    total = float(total)\n    return total\n" in after


@pytest.mark.parametrize(
    "body",
    [
        "    global total\n    total = 0.0\n    for y in ys:\n        SUM\n    return total\n",
        "    total = 0.0\n    for y in ys:\n        SUM\n    else:\n        print(total)\n",
        "    total = 0.0\n    for y in ys:\n        SUM\n        yield total\n",
        "    total = 0.0\n    try:\n        for y in ys:\n            SUM\n    finally:\n        print(total)\n",
        "    total = 0.0\n    for y in ys:\n        SUM\n        g = lambda: total\n    return g()\n",
    ],
)
def test_a_sum_that_others_see_stays_a_number(body):
    body = body.replace("SUM", "total += x.mean().item()")
    assert not fixes(HEAD + "def f(x: torch.Tensor, ys):\n" + body, "accumulate-on-device")


@pytest.mark.parametrize("factor", ["y[m] * y[m]", "y[m] / y[m]", "y[m].log()", "torch.sqrt(y[m])", "y[m] ** 2"])
def test_a_derivative_that_may_be_infinite_is_told(factor):
    """0 times infinity is NaN: outside of the mask the gradient was 0."""
    program = F + f"    z = x * 1\n    m = z > 0\n    z[m] = {factor}\n    return z\n"
    found = fixes(program, "where-assign")
    assert {fix.tier for fix in found} == {"unsafe"}
    assert "gradient" in found[0].message
    assert rewritten(program, "where-assign") is None
    given = (torch.tensor([1.0, -1.0]), torch.tensor([2.0, 3.0]))
    assert torch.equal(function(program)(*given), function(rewritten(program, unsafe=True))(*given))


@pytest.mark.parametrize(
    "line",
    [
        "n = sum([len(torch.unique(x[:i])) for i in range(3)])",
        "n = len(x.unique()) if len(x) else 0",
        "n = len(y) and len(x.unique())",
        "n = (lambda v: len(v.unique()))(x)",
    ],
)
def test_what_is_computed_now_and_then_is_not_computed_before(line):
    program = F + f"    {line}\n    return n\n"
    assert not fixes(program, "sort-and-count")
    same(program, rewritten(program, unsafe=True) or program, lambda: (torch.arange(4.0), torch.ones(4)), exact=False)


@pytest.mark.parametrize(
    "line",
    [
        "g = (x[i].item() for i in range(3))",
        "g = (v.item() for v in x)",
        "g = ((i, x[i].item() + 1) for i in range(3))",
        "g = map(float, (x[i].item() for i in range(3)))",
    ],
)
def test_what_a_generator_reads_later_is_not_read_before(line):
    program = F + f"    {line}\n    x.add_(1)\n    return list(g)\n"
    after = rewritten(program, unsafe=True) or program
    same(program, after, lambda: (torch.arange(4.0), torch.ones(4)))
    at_once = program.replace("g = map(float, ", "g = list(").replace("g = (", "g = list(")
    at_once = at_once if "list(float" in at_once or "map" in line else at_once.replace("\n    x.add_", "\n    x.add_")
    same(at_once, rewritten(at_once) or at_once, lambda: (torch.arange(4.0), torch.ones(4)))


@pytest.mark.parametrize("line", ["y[i] = 0", "y.mul_(2)", "a += 1", "a.zero_()"])
def test_a_view_that_is_written_is_not_copied(line):
    program = F + f"    i = x.argmax()\n    a = y[i]\n    {line}\n    return a, y\n"
    assert not fixes(program, "index-select")
    same(program, rewritten(program, unsafe=True) or program, lambda: (torch.arange(4.0), torch.ones(4)))


@pytest.mark.parametrize("sign", ["*", "/", "+", "-"])
def test_what_a_mask_selects_on_both_sides(sign):
    program = F + f"    z = x * 1\n    m = x > 1\n    z[m] {sign}= y[m]\n    z[~m] {sign}= x[~m] + 1\n    return z\n"
    after = rewritten(program, unsafe=True)
    assert "torch.where(m," in after
    same(program, after, lambda: (torch.arange(4.0), torch.full((4,), 2.0)))


@pytest.mark.parametrize(
    "choice",
    [
        "    a = torch.tensor(-1.0) if i == 3 else y[i + 1]\n",
        "    if i == 3:\n        a = torch.tensor(-1.0)\n    else:\n        a = y[i + 1]\n",
        "    n = 9\n    a = y.sum()\n    if x.sum() > 99:\n        a = y[n]\n",
    ],
)
def test_an_element_that_may_not_be_there_is_asked_for_behind_its_test(choice):
    program = F + f"    i = x.argmax()\n{choice}    return a\n"
    assert not fixes(program, "where-choose")
    same(program, rewritten(program, unsafe=True) or program, lambda: (torch.arange(4.0), torch.ones(4)), exact=False)
