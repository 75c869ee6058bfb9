"""The names that fixes give to what they read."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import rewritten, same  # noqa: E402

HEAD = "import torch\n\n\n"
X = HEAD + "def f(x: torch.Tensor, y: torch.Tensor):\n"


def two():
    return torch.linspace(-1, 1, 6), torch.arange(1.0, 7.0)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ('    return {"a/mean": x.mean().item(), "a/max": x.max().item()}\n', "mean_value, max_value"),
        (
            '    return {"a/low": x.min().item(), "b/low": y.min().item(), "a/top": x.max().item()}\n',
            "a_low, b_low, top",
        ),
        ("    return x[0].item() + y[-1].item(), x[1].item()\n", "x_0, y_last, x_1"),
        ("    i, j = 2, 3\n    return x[i].item(), x[j].item()\n", "x_i, x_j"),
    ],
)
def test_a_number_is_called_by_what_it_is_for(body, names):
    after = rewritten(X + body, "read-together", unsafe=True)
    assert f"    {names} = torch.stack(" in after
    same(X + body, after, two)


def test_a_name_that_nobody_needs_any_more_serves_again():
    first, other = "        m = x > 0\n        a = x[m], y[m]\n", "        m = x > 1\n        a = y[m], x[m]\n"
    body = f"    if len(x) > 3:\n{first}    else:\n{other}"
    after = rewritten(X + body + "    return a\n", unsafe=True)
    assert after.count("m_index = torch.where(m)") == 2
    same(X + body + "    return a\n", after, two)


@pytest.mark.parametrize(
    "body",
    [
        "    m = y > 2\n    m_index = torch.where(m)\n    m = x > 0\n    a = x[m], y[m]\n    return a, m_index\n",
        (
            "    m = y > 2\n    m_index = torch.where(m)\n    g = lambda: m_index\n    m = x > 0\n    a = x[m], y[m]\n"
            "    return a, g()\n"
        ),
        (
            "    out = []\n    m_index = torch.where(y > 2)\n    for k in range(2):\n        out.append(x[m_index])\n"
            "        m = x > k\n        out.append((x[m], y[m]))\n    return out\n"
        ),
        "    m_index = 3\n    m = x > 0\n    return x[m], y[m]\n",
    ],
)
def test_a_name_that_somebody_needs_is_not_taken(body):
    after = rewritten(X + body, unsafe=True)
    assert "m_index_2 = torch.where(m)" in after
    same(X + body, after, two)
