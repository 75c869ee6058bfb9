"""Programs made to mislead the recipes, of a second round: what changes with the loop, what is seen otherwise than by
its name, what a called function does, what may be a list."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, rewritten, same  # noqa: E402

HEAD = "import time\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
GATE = "    n = x.sum().item()\n    {}\n    if k % 10 == 0:\n        print(n)\n    return {}\n"


def tiers(program: str, recipe: str) -> set[str]:
    return {fix.tier for fix in fixes(HEAD + program, recipe)}


@pytest.mark.parametrize("line", ["k = eval('n + 1')", "exec('k = n')", "k = vars()['n']", "k = locals()", "k = dir()"])
def test_what_sees_all_variables_makes_no_fix_safe(line):
    program = "def f(x: torch.Tensor, k: int):\n" + GATE.format(line, "k")
    assert tiers(program, "read-at-gate") <= {"unsafe"}


@pytest.mark.parametrize("line", ["k = vars(x)", "x.eval()", "k = [locals for _ in x]"])
def test_what_sees_one_variable_changes_nothing(line):
    program = "def f(x: torch.Tensor, k: int):\n    x = x * 1\n" + GATE.format("k = k + 1", line.partition(" = ")[2])
    assert rewritten(HEAD + program) is not None


@pytest.mark.parametrize(
    "loss",
    [
        "F.mse_loss(m(x.to(f'cuda:{i}')), x.to(f'cuda:{i}'))",
        "F.mse_loss(m(x), x.cuda(i))",
        "(x.to(next(m.parameters()).device) * 2).mean()",
        "F.l1_loss(x, x).to(f'cuda:{i}')",
    ],
)
@pytest.mark.parametrize("line", ["total += {}.item()", "found.append({}.item())"])
def test_losses_of_several_devices_are_not_added_up_on_one(loss, line):
    program = (
        "def f(models, x: torch.Tensor):\n    total, found = 0.0, []\n    for i, m in enumerate(models):\n        "
    )
    program += line.format(loss) + "\n    return total, found\n"
    assert "safe" not in tiers(program, "accumulate-on-device")


def test_losses_of_one_device_are():
    body = (
        "    total = 0.0\n    for x, y in loader:\n        x, y = x.to(device), y.to(device)\n        out = model(x)\n"
    )
    body += "        total += F.cross_entropy(out, y.to(out.device)).item()\n    return total\n"
    assert tiers("def f(model, loader, device):\n" + body, "accumulate-on-device") == {"safe"}


@pytest.mark.parametrize(
    "mode", ["torch.inference_mode(x.size(0) > step)", "torch.inference_mode() if step else torch.no_grad()"]
)
def test_a_sum_of_several_modes_stays_a_number(mode):
    """A tensor made in inference mode is not written into outside of it."""
    body = f"    total = 0.0\n    for step in range(3):\n        with {mode}:\n            total += x.mean().item()\n"
    program = "def f(x: torch.Tensor):\n    x = x.float()\n" + body + "    return total\n"
    assert not tiers(program, "accumulate-on-device")


CLOCK = "def tick():\n    return time.time()\n\n\ndef tock():\n    return tick()\n\n\n"
CHECK = "def check(n):\n    if n < 2:\n        raise IndexError(n)\n\n\n"
TWICE = "def f(n: int):\n    x = torch.arange(n, device='cuda')\n    a = x.{}.item()\n    {}\n    b = x{}.item()\n"
TWICE += "    return a, b\n"


@pytest.mark.parametrize("call", ["tick()", "tock()"])
def test_no_read_goes_past_a_function_that_takes_the_time(call):
    program = CLOCK + TWICE.format("max()", f"n = {call}", ".sum()")
    assert not tiers(program, "read-ahead")
    program = CLOCK + "def f(x: torch.Tensor, k: int):\n    x = x * 1\n" + GATE.format(f"t = {call}", "t")
    assert not tiers(program, "read-at-gate")


def test_no_read_that_may_fail_goes_past_a_function_that_may_guard_it():
    assert tiers(CHECK + TWICE.format("max()", "check(n)", "[1]"), "read-ahead") == {"unsafe"}
    assert tiers(CHECK + TWICE.format("max()", "check(n)", ".min()"), "read-ahead") == {"safe"}
    assert tiers(TWICE.format("max()", "n = abs(n)", "[1]"), "read-ahead") == {"safe"}


LIST = "def f(xs{}):\n    {}\n    found = []\n    for i in range(3):\n        found.append(xs[i].item() + 1)\n"
LIST += "    return found\n"


@pytest.mark.parametrize(
    ("annotation", "line", "tier"),
    [
        ("", "xs = xs", "unsafe"),
        ("", "n = len(xs)", "unsafe"),
        ("", "n = xs.shape", "safe"),
        ("", "n = xs - 1", "safe"),
        (": torch.Tensor", "n = len(xs)", "safe"),
    ],
)
def test_what_may_be_a_list_of_tensors_is_no_tensor_for_sure(annotation, line, tier):
    program = LIST.format(annotation, line).replace("def f(", "def f(self, ").replace("\n", "\n    ").rstrip() + "\n"
    program = "class M(nn.Module):\n    " + program.replace("def f(", "def forward(")
    assert tiers(program, "read-together") == {tier}


def test_rows_of_a_list_are_not_sliced():
    program = "class M(nn.Module):\n    def forward(self, xs):\n        return xs[0].item(), xs[1].item()\n"
    assert "xs[:2]" not in (rewritten(HEAD + program, unsafe=True) or "")


@pytest.mark.parametrize(
    ("body", "made"),
    [
        ("    a = x[0].item() // 3 + int(x[0].item() % 3 > 0)\n    return a\n", "    x_0 = x[0].item()\n"),
        ("    return [x.sum().item(), x.sum().item()]\n", "    x_sum = x.sum().item()\n"),
        ("    a = x.sum().item()\n    b = float(x.sum())\n    return a, b\n", "    x_sum = x.sum().item()\n"),
        ("    return [x.sum().item(), x.max().item(), x.sum().item()]\n", "torch.stack((x.sum(), x.max())).tolist()"),
    ],
)
def test_what_is_read_twice_is_read_once(body, made):
    program = HEAD + "def f(x: torch.Tensor):\n    x = x.long()\n" + body
    after = rewritten(program)
    assert made in (after or "")
    same(program, after, lambda: (torch.arange(5.0),))


def test_of_what_may_be_complex_a_mean_is_no_float_for_sure():
    body = "    if x.is_complex():\n        print(x.dtype)\n    return x.mean().item(), x.norm().item()\n"
    program = HEAD + "def f(x: torch.Tensor):\n" + body
    assert rewritten(program) is None
    assert rewritten(program.replace("x.is_complex()", "x.numel()")) is not None


SUM = """\
def f(x: torch.Tensor, k: int):
    x = x.float()
    found = []
    total = 0
    for step in range(len(x)):
        total += x[: step + 1].mean().item()
        if step % k == 0:
            found.append(total / k)
            total = 0
    return found
"""


def test_a_sum_that_nobody_reads_after_its_loop_is_not_read_there():
    after = rewritten(HEAD + SUM) or ""
    assert "            found.append(float(total) / k)\n            total = 0\n    return found\n" in after
    same(HEAD + SUM, after, lambda: (torch.arange(5.0), 2))
    early = SUM.replace("        total += x[: step + 1].mean().item()\n", "") + ""
    early = early.replace("            total = 0\n", "        total += x[: step + 1].mean().item()\n")
    after = rewritten(HEAD + early) or ""
    assert "found.append(float(total) / k)" in after
    same(HEAD + early, after, lambda: (torch.arange(5.0), 2))


def test_where_a_mask_is_true_a_number_is_filled_in_and_no_tensor():
    body = "    for u in x.unique():\n        y[x == u] = u.item()\n        y[k] = u.item()\n        y[0] = u.item()\n"
    program = "def f(x: torch.Tensor, y: torch.Tensor, k):\n    y = x * 0\n" + body + "    return y\n"
    made = [edit.text for fix in fixes(HEAD + program, "keep-tensor") for edit in fix.edits]
    assert len(made) == 1, "of three keys one is a place for sure"


def test_a_loop_binds_what_its_body_begins_with():
    body = "    found = 0\n    for place in x.nonzero():\n        n = place.item()\n        found += n * n\n"
    program = HEAD + "def f(x: torch.Tensor):\n" + body + "    return found, n\n"
    after = rewritten(program)
    assert "    for n in x.nonzero().flatten().tolist():\n        found += n * n\n" in (after or "")
    same(program, after, lambda: (torch.arange(5.0),))


def test_a_number_that_no_float_holds_is_not_filled_in():
    program = HEAD + f"def f(x: torch.Tensor):\n    return x * torch.tensor({2**70}, dtype=x.dtype, device=x.device)\n"
    assert {fix.tier for fix in fixes(program, "fill-on-device")} <= {"unsafe"}


def test_a_file_that_speaks_of_torchscript_is_written_for_it():
    body = "    return x[0].item() + x[1].item()\n"
    note = "    # TorchScript knows no `tolist`\n"
    assert rewritten(HEAD + "def f(x: torch.Tensor):\n    x = x.float()\n" + body) is not None
    assert rewritten(HEAD + "def f(x: torch.Tensor):\n    x = x.float()\n" + note + body) is None


@pytest.mark.parametrize("sort", ["sorted(xs, key={})", "max(xs, key={})", "min(*xs, key={})"])
def test_what_is_compared_is_no_tensor(sort):
    program = HEAD + "def f(n):\n    xs = [torch.rand(n, device='cuda') for _ in range(n)]\n    return "
    program += sort.format("lambda v: v.mean().item()") + "\n"
    assert fixes(program, "keep-tensor") == []
