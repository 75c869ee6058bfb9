"""The text that a fix writes: lines, comments and indentation of a call stay, and it binds as what it replaces."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, function, rewritten, same  # noqa: E402

from syncguard.fix.layout import split  # noqa: E402

HEAD = "import torch\nimport torch.nn.functional as F\n\n\n"
X = HEAD + "def f(x: torch.Tensor, y: torch.Tensor):\n"


def two():
    return torch.linspace(-1, 1, 6), torch.arange(1.0, 7.0)


def test_a_call_of_several_lines_keeps_them():
    body = (
        "    if len(x):\n        a = torch.arange(\n            len(x) - 1,  # the last but one\n"
        "            len(x),\n            dtype=torch.long,\n        ).to(x.device)  # moved\n    return a\n"
    )
    after = rewritten(X + body)
    assert after == (X + body).replace(
        "dtype=torch.long,\n        ).to(x.device)", "dtype=torch.long,\n            device=x.device,\n        )"
    )
    same(X + body, after, two)


MOVES = (
    "torch.arange(3,\n        dtype=torch.long).to(x.device)",
    "(\n        torch.arange(3)\n        .view(-1)\n        .to(x.device)\n    )",
    "torch.tensor(\n        # the fill\n        0.5,  # half\n        device=x.device,  # there\n    )",
    "torch.tensor(\n        [1, 2,\n         3],  # three\n        device=x.device,\n    )",
)
THERE = "x.is_cuda"
MOVED = (
    "torch.arange(3,\n        dtype=torch.long, device=x.device)",
    "(\n        torch.arange(3, device=x.device)\n        .view(-1)\n    )",
    "torch.full(\n        # the fill\n        (), 0.5,  # half\n        device=x.device,  # there\n    )",
    (
        'torch.tensor(\n        [1, 2,\n         3],  # three\n        device="cpu",\n'
        f"        pin_memory={THERE},\n    ).to(x.device, non_blocking={THERE})"
    ),
)


@pytest.mark.parametrize(("before", "after"), [*zip(MOVES, MOVED)])
def test_the_device_goes_into_the_call_as_it_stands(before, after):
    program = f"{X}    a = {before}\n    return a\n"
    assert rewritten(program) == f"{X}    a = {after}\n    return a\n"
    same(program, rewritten(program), two)


def test_tabs_stay():
    body = "\tfor _ in range(1):\n\t\ta = torch.arange(\n\t\t\t3,\n\t\t).to(x.device)\n\treturn a\n"
    assert "\t\t\t3,\n\t\t\tdevice=x.device,\n\t\t)\n" in rewritten(X + body)


def test_an_argument_goes_where_the_others_are():
    body = "    a = torch.linalg.inv(\n        x.diag(),  # x\n    )\n    return a\n"
    after = rewritten(X + body, unsafe=True)
    assert "torch.linalg.inv_ex(\n        x.diag(),  # x\n    ).inverse\n" in after


def test_what_is_assigned_keeps_its_lines():
    body = (
        "    z = x * 1\n    if len(x):\n        z[z > 0] = (\n            y[z > 0]  # why\n            + 1\n"
        "        )\n    return z\n"
    )
    after = rewritten(X + body)
    assert "        z.copy_(torch.where(z > 0, (\n            y  # why\n            + 1\n        ), z))\n" in after
    same(X + body, after, two)


def test_a_string_of_several_lines_is_not_indented():
    body = "    for i in range(2):\n        d = {'a': '''\n  text\n''', 'b': x[i].item(), 'c': y[i].item()}\n"
    body += "    return d\n"
    after = rewritten(X + body)
    assert "'''\n  text\n'''" in after
    same(X + body, after, two)


def test_a_line_that_only_its_parentheses_hold_open_gets_its_own():
    body = (
        "    s = x.sum()\n    out = []\n    for i in range(3):\n        out.append(float(\n            s\n"
        "            - y[0]\n        ))\n    return out\n"
    )
    after = rewritten(X + body, unsafe=True)
    compile(after, "program", "exec")
    assert "- y[0])" in after.replace("\n", "").replace("  ", "")
    same(X + body, after, two, exact=False)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("y * int(a + b)", "y * (a + b)"),
        ("y - int(a - b)", "y - (a - b)"),
        ("y * float(a if len(y) else b)", "y * (a if len(y) else b)"),
        ("y ** (-x.mean()).item()", "y ** (-x.mean()).detach()"),
        ("y * x.mean().abs().item() ** 2", "y * x.mean().abs().detach() ** 2"),
    ],
)
def test_a_text_binds_as_what_it_replaces(expression, text):
    program = f"{X}    a = (x > 0).sum()\n    b = (y > 2).sum()\n    return {expression}\n"
    after = rewritten(program, unsafe=True)
    assert text in after
    same(program, after, two, exact=False)


@pytest.mark.parametrize("text", ["f'{x.mean().item()=}'", "f\"{x[{'a': 0}['a']].item():.1f} {y[0].item()}\""])
def test_a_string_says_the_same(text):
    program = f"{X}    return {text}\n"
    after = rewritten(program, unsafe=True) or program
    assert function(after)(*two()) == function(program)(*two())


@pytest.mark.parametrize(
    "comment", ["# type: float", "# noqa: E501", "# type: ignore[arg-type]", "# pylint: disable=C0103"]
)
def test_what_a_tool_is_told_of_a_line_is_not_moved(comment):
    body = f"    s = x.mean().item()\n    t = x.norm().item()  {comment}\n    return s, t\n"
    assert f"    t = x.norm().item()  {comment}\n" in (rewritten(X + body, "read-together", unsafe=True) or X + body)
    assert all(fix.tier == "display" for fix in fixes(X + body, "read-together"))


def test_a_name_that_the_file_uses_elsewhere_is_not_taken_by_a_script():
    program = (
        HEAD
        + "x_list = 3\nx = torch.arange(3.0, device='cuda')\n"
        + "for i in range(3):\n    v = x[i].item() + 1\nprint(x_list)\n"
    )
    after = rewritten(program, unsafe=True) or program
    assert after.count("x_list = ") == 1
    assert "x_list_2 = x.tolist()" in after or after == program


def test_fixes_that_help_only_after_others_are_made_at_once():
    """Whatever was refused before other fixes is tried again: a second run makes none (`rewritten` asks for it)."""
    loop = "        start = time.perf_counter()\n        model(x).sum().backward()\n        torch.cuda.synchronize()\n"
    program = (
        "import time\n"
        + HEAD
        + "def f(n):\n    model = torch.nn.Linear(4, 2).to('cuda')\n    x = torch.rand(8, 4, device='cuda')\n"
        f"    total = 0.0\n    for _ in range(n):\n{loop}        total += time.perf_counter() - start\n"
        f"    first, total = total, 0.0\n    for _ in range(n):\n{loop}        total += time.perf_counter() - start\n"
        "    return first, total\n\n\nf(2)\n"
    )
    after = rewritten(program, unsafe=True)
    assert after.count("elapsed_time") == 2
    assert "perf_counter" not in after


def test_a_safe_fix_stands_before_an_unsafe_one():
    """A mask of two dimensions that selects twice: looked up once is proven, what is written by `where` is bolder."""
    body = "    z = x.reshape(2, 3)\n    m = z > 0\n    w = y.reshape(2, 3)\n    w[m] = z[m] ** 2\n    return w\n"
    found = fixes(X + body)
    assert {fix.tier for fix in found} == {"safe"}
    assert "m_index = torch.where(m)" in rewritten(X + body)
    assert "torch.where(m, z ** 2, w)" in rewritten(X + body, unsafe=True)


LONG = "    first_of_them, second_of_all = other(torch.tensor([1.5, 2], device=x.device), argument=x * 2.0)\n"


def test_a_line_that_would_be_longer_than_the_files_is_broken():
    """As formatters break it: behind the last bracket that will do; what is between on a line, or part by part."""
    program = "import torch\n\n\ndef other(a, argument):\n    return a, argument\n\n\n"
    program += X.removeprefix(HEAD) + LONG + "    return first_of_them, second_of_all\n"
    after = rewritten(program)
    broken = (
        "    first_of_them, second_of_all = other(\n"
        '        torch.tensor([1.5, 2], device="cpu", pin_memory=x.is_cuda).to(x.device, non_blocking=x.is_cuda),\n'
        "        argument=x * 2.0,\n"
        "    )\n"
    )
    assert broken in after
    same(program, after, two)


@pytest.mark.parametrize(
    "line",
    [
        "    a = 1,\n    b, c = torch.tensor([1, len(x)], device=x.device), 'a text that holds no bracket'\n",
        "    a = [torch.tensor([1, n], device=x.device) for n, m in zip(range(1), 'one two three four five six se')]\n",
        "    a = (lambda v, w: torch.tensor([v, w, len(x)], device=x.device))(1, 2), 'six seven eight nine ten'\n",
        '    a = f"{len(x), 1} is a long text of many words", torch.tensor([1, len(x)], device=x.device)\n',
        "    a = torch.tensor([1, len(x)], device=x.device), 0  # a comment\n",
    ],
)
def test_a_broken_line_says_what_it_said(line):
    program = f"{X}{line}    return a\n"
    after = rewritten(program)
    assert after is not None
    same(program, after, two)


WIDE = {
    # Operands, each behind its operator.
    "    a = torch.tensor([1.5, 2.5], device=x.device).sum() * 123456.0 + x.sum() * y.sum() * 123456789.0\n": (
        "    a = (\n"
        '        torch.tensor([1.5, 2.5], device="cpu", pin_memory=x.is_cuda)'
        ".to(x.device, non_blocking=x.is_cuda).sum()\n        * 123456.0\n"
        "        + x.sum() * y.sum() * 123456789.0\n    )\n"
    ),
    # A call of several lines, of which one is too long.
    (
        "    a = other(\n        x, argument=other(torch.tensor([1.5, 2.5], device=x.device).sum() + 1.0,"
        " argument=x.sum() * 1.25)\n    )[0]\n"
    ): "            argument=x.sum() * 1.25,\n",
}


@pytest.mark.parametrize("line", WIDE)
def test_operands_and_statements_of_several_lines_are_broken(line):
    program = "import torch\n\n\ndef other(a, argument):\n    return a, argument\n\n\n"
    program += X.removeprefix(HEAD) + line + "    return a\n"
    after = rewritten(program)
    assert WIDE[line] in after
    assert max(map(len, after.split("\n"))) <= 120
    same(program, after, two)


LINES = [
    "    return first_of_them_all + second_of_all_in_this * third_of_all_the_things - fourth_of_them_all_in_here",
    "    if first_of_them_all.any() and second_of_all_in_this.all() and not third_of_all_the_things.is_here():",
    "    xs = [torch.where(first_of_them_all, second_of_all_in_this, x) for x in third_of_all if x is not None]",
    "    value = first_of_them_all(second_of_all_in_this).third if third_of_all.is_here() else fourth_of_them(a, b)",
    '    values = {"first_of_them_all": second_of_all_in_this.item(), "third_of_all_the_things": third_of_all}',
    "    self.fourth[third_of_all_the_things, 1:] = first_of_them_all(second[:, None], device=third.device, to=True)",
    '    loss_a, loss_b = torch.stack((losses["loss_of_the_first"], losses["loss_of_the_second"], a)).tolist()',
    "    output.copy_(torch.where(mask.reshape(mask.shape + (1,) * (output.ndim - mask.ndim)), a / b.clamp(1), out))",
    "    first_of_them_all = second_of_all_in_this if third_of_all_the_things is not None else -fourth_of_them_all",
    "    while first_of_them_all_in_this_place not in second_of_all_in_this and x is not None or y is not True:",
    # A result that is asked once, and one that is asked again and again.
    '    kept = torch.tensor(chosen, dtype=torch.long, device="cpu", pin_memory=x.is_cuda).to(x.device, copy=y)',
    "    return torch.tensor([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, d - 1]], device=None, dtype=x.dtype).to(x.device)",
    "    self.scale = torch.tensor(self.first_scale_of_all, pin_memory=x.is_cuda).to(device, non_blocking=x)[None]",
    "    a = x.first_of_them_all(one).second_of_all(two, three).third_of_all().fourth_of_all(four, five).fifth(six)",
    "    a.values = x.second_of_them_all.flatten(1).third_of_them_all(1, 2, 3, 4, 5).x.a_long_name_of_attributes",
    "    call(torch.stack(first_of_them_all_in_this.values(), dim=0).float().mean(dim=0, keepdim=True).abs_of_them())",
    "    torch.stack(first_of_them_all_in_this_place.values(), dim=0).float().mean(dim=0, keepdim=True).of_them(12345)",
    "    first_of_them_all, second_of_all_in_this, third_of_all_the_things, fourth_of_them_all_in_here = f(x).tolist()",
    "    return first_of_them_all_in_this_place + second_of_them_all, third_of_them_all_in_this_place, fourth_of_all",
    "    x_list = first_of_them_all_in_this.reshape(second_of_all_in_this_place, -1).flatten(1).tolist()",
]


@pytest.mark.parametrize("most", [60, 88])
@pytest.mark.parametrize("line", LINES)
def test_lines_are_broken_as_a_formatter_does(line, most):
    tail = "\n        pass" if line.endswith(":") else ""
    head = "def f():\n"
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", str(most), "-"]
    done = subprocess.run(command, input=f"{head}{line}{tail}\n", capture_output=True, text=True, check=True)
    assert [*head.splitlines(), *split(line, most), *tail.split("\n")[1:]] == done.stdout.rstrip().split("\n")


def test_the_last_of_arguments_on_lines_of_their_own_has_a_comma():
    body = (
        "    if len(x):\n        first_of_them_all_in_here = torch.tensor(\n"
        "            [[1.5, 0.5, 2.5, 3.5], [2.5, 0.5, 2.5, 3.5], [3.5, 4.5, 5, 6]], device=x.device, dtype=y.dtype\n"
        "        )\n        return first_of_them_all_in_here\n"
    )
    after = rewritten(X + body)
    assert "            pin_memory=x.is_cuda,\n        ).to(x.device, non_blocking=x.is_cuda)\n" in after
    same(X + body, after, two)


def test_a_long_message_with_a_name_goes_on_over_several_lines():
    words = "the first of {them} must not be below the last of them all, nor be above it by more than this"
    rows = split(f'    check(first_of_them_all.any(), f"{words}")', 60)
    assert rows[2] == '        f"the first of {them} must not be below the last "'
    assert rows[3] == '        "of them all, nor be above it by more than this",'


def test_a_long_message_goes_on_over_several_lines():
    words = "the first of them all must not be below the last of them all, nor be above it by more than this"
    line = f'    check(first_of_them_all.any(), "{words}")'
    rows = split(line, 60)
    assert max(map(len, rows)) <= 60
    assert rows[0] == "    check("
    assert rows[2] == '        "the first of them all must not be below the last "'
    assert ast.dump(ast.parse("\n".join(rows).lstrip())) == ast.dump(ast.parse(line.lstrip()))


@pytest.mark.parametrize("line", LINES)
def test_a_part_of_a_line_is_broken_or_stays(line):
    """Such a part stands on a line of its own, in brackets that another line opens or closes."""
    for place in range(1, len(line)):
        for part in (line[:place], line[place:]):
            rows = split(part, 20, within=place % 2 == 0)
            one, other = (re.sub(r"[\s(),]", "", text) for text in (part, "".join(rows)))
            assert one == other


def test_of_findings_that_say_the_same_each_is_tried():
    """The fix of the first brings no less waits and is refused; that of the second is made."""
    body = (
        "    if len(x):\n        a = {first}\n    else:\n        a = torch.tensor([1, len(x)], device=x.device)\n"
        "    return a\n"
    )
    program = X + body.replace("{first}", "torch.tensor([1, len(x)], device=x.device)")
    after = rewritten(program)
    assert after.count("pin_memory") == 2


def test_a_row_of_arguments_stays_a_row():
    body = (
        "    if len(x):\n        a = torch.tensor([1, len(x)]).to(\n            x.device\n        )\n"
        "        b = torch.tensor([2, len(x)]).to(\n            x.device,\n        )\n        return a, b\n"
    )
    after = rewritten(X + body)
    assert "            x.device, non_blocking=x.is_cuda\n        )\n" in after
    assert "            x.device,\n            non_blocking=x.is_cuda,\n        )\n" in after


def test_a_line_that_no_person_wrote_stays_one():
    numbers = ", ".join(map(str, range(2000)))
    program = f"import torch\n\n\ndef f(x: torch.Tensor):\n    return x + torch.tensor([{numbers}]).to(x.device)\n"
    after = rewritten(program, "pin-data")
    assert after is not None
    assert after.count("\n") == program.count("\n")


def test_a_keyword_is_written_as_the_others_are():
    after = rewritten(X + "    return torch.zeros(2, dtype = torch.long).to(x.device)\n")
    assert after == X + "    return torch.zeros(2, dtype = torch.long, device = x.device)\n"
    after = rewritten(X + "    return torch.zeros(2, dtype=torch.long).to(x.device)\n")
    assert after == X + "    return torch.zeros(2, dtype=torch.long, device=x.device)\n"


def test_what_was_too_long_stays_on_its_line():
    """Whoever writes a line of 150 columns does not want one of 160 on three."""
    line = "    return x[m] * 1.0, " + ", ".join(f"y[m] + {n}.0" for n in range(12)) + "\n"
    program = X + "    m = x > 0\n" + line
    assert len(line) > 130
    made = program.replace(line, "    m_index = torch.where(m)\n" + line.replace("[m]", "[m_index]"))
    assert (rewritten(program, unsafe=True) == made) is (len(line.replace("[m]", "[m_index]")) <= 1.25 * len(line))


def test_one_more_argument_stands_below_the_others():
    head = "import torch\n\n\ndef f(data, model, device):\n"
    call = "    loader = torch.utils.data.DataLoader(data, batch_size=4,\n"
    rest = "shuffle=True, num_workers=the_number_of_workers_that_a_machine_may_start)\n"
    loop = "    for x in loader:\n        model(x.to('cuda'))\n"
    space = " " * call.index("data, batch")
    after = rewritten(head + call + space + rest + loop, "pin-pair", unsafe=True) or ""
    assert f"{space}{rest[:-2]},\n{space}pin_memory=" in after


def test_a_block_is_as_far_in_as_others():
    for step in ("\t", "  ", "        "):
        body = (
            "def f(x: torch.Tensor, y: torch.Tensor):\n>found = []\n>for step in range(4):\n"
            ">>n = (x * step).sum().item()\n>>y = y * 2\n>>if step % 2 == 0:\n>>>found.append(n)\n"
            ">>if step % 3 == 0:\n>>>found.append(n)\n>return found, y\n"
        )
        program = HEAD + body.replace(">", step)
        after = rewritten(program, "read-at-gate", unsafe=True) or ""
        assert f"{2 * step}if (step % 2 == 0) or (step % 3 == 0):\n{3 * step}n = " in after
        same(program, after, two)
