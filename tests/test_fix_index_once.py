"""An index from the host that picks from several tensors goes to the device once."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import codes, fixes, rewritten, same  # noqa: E402

HEAD = "import numpy as np\nimport torch\n\n\ndef f(x: torch.Tensor, y: torch.Tensor, log=len):\n"
THERE = "    x = x.to('cuda')\n    y = y.to('cuda')\n"
ORDER = "    i = np.arange(len(x))[::2]\n"
USED = "    a = x[i] * 2\n    if len(a) > 1:\n        a = a + y.abs()[i]\n    y[i] = a\n    return a, y\n"


def tensors():
    return torch.arange(6.0), torch.linspace(-1, 1, 6)


def test_what_only_picks_is_made_on_the_device():
    after = rewritten(HEAD + THERE + ORDER + USED, "index-once", unsafe=True)
    made = ORDER.replace("np.arange(len(x))[::2]", "torch.as_tensor(np.arange(len(x))[::2], device=x.device)")
    assert after == HEAD + THERE + made + USED
    assert "SG307" not in codes(after)
    for n in (6, 1, 0):
        same(HEAD + THERE + ORDER + USED, after, lambda n=n: (torch.rand(n), torch.rand(n)))


def test_what_is_needed_on_the_host_stays_there():
    body = "    i = torch.randperm(len(x))\n    log(i.tolist())\n    return x[i], y[None][:, i], i[:2]\n"
    after = rewritten(HEAD + THERE + body, "index-once", unsafe=True)
    assert "    i_there = i.to(x.device)\n    return x[i_there], y[None][:, i_there], i[:2]\n" in after
    # `log` may write into `i`, and does so before it is sent
    assert after.index("log(") < after.index("i_there")


@pytest.mark.parametrize(
    "body",
    [
        ORDER + "    return x[i]\n",  # once is once
        "    i = np.array(log(x)) > 2\n    return x[i], y[i]\n",  # of a mask the device would count the true elements
        "    i = torch.arange(6) > 2\n    return x[i], y[i]\n",
        "    i = np.array([1, 2])\n    return x[i], y[i]\n",  # of no element it has another dtype
        ORDER + "    a = x[i]\n    i = i + 1\n    return a, y[i % 3]\n",
        ORDER + "    a = x[i] if len(x) else 0\n    return a, [y[i] for _ in range(2)]\n",
        ORDER + "    z = torch.zeros(6)\n    return z[i], z[i], x[i]\n",  # the host picks from what is there
    ],
)
def test_indices_of_one_tensor_masks_and_what_changes_stay(body):
    assert not fixes(HEAD + THERE + body, "index-once")


@pytest.mark.parametrize(
    "made",
    [
        "np.nonzero(np.arange(len(x)) > 2)",  # a tuple
        "np.random.randint(0, 1)",  # a number
        "np.arange(len(x), dtype=np.int16)",  # torch takes it for an index, but no tensor of it
        "np.arange(len(x), dtype=float)",
        "np.arange(0.0, 3.0)",
        "np.arange(2, dtype=np.uint8)",  # a mask
        "np.random.permutation(np.arange(len(x)) > 2)",
        "torch.arange(len(x), dtype=torch.uint8)",
        "(torch.arange(len(x)) > 2).byte()",
    ],
)
def test_what_is_no_index_as_a_tensor_stays(made):
    body = f"    i = {made}\n    a = x[i]\n    return a, y[i]\n"
    assert not fixes(HEAD + THERE + body, "index-once")


@pytest.mark.parametrize("made", ["np.random.randint(0, len(x), 3)", "np.random.permutation(np.arange(len(x)))"])
def test_what_is_one_goes(made):
    body = f"    np.random.seed(0)\n    i = {made}\n    a = x[i]\n    return a, y[i]\n"
    after = rewritten(HEAD + THERE + body, "index-once", unsafe=True)
    assert after is not None
    same(HEAD + THERE + body, after, tensors)
