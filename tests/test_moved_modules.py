"""Modules that are moved to the device: once they are setup, at every step an upload."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
import warm
from checked import codes, findings

HEAD = "import torch\nfrom torch import nn\nclass Own(nn.Module):\n    pass\n"
STEPS = """
    def train(net: nn.Module, x: torch.Tensor, steps, width):
        {above}
        for _ in range(steps):
            {inside}
            net(x).sum().backward()
            {below}
"""


def confidences(above: str = "pass", inside: str = "pass", below: str = "pass") -> list[str]:
    text = textwrap.dedent(STEPS).format(above=above, inside=inside, below=below)
    return [one.confidence for one in findings(text, HEAD, confidence="possible") if one.code == "SG301"]


@pytest.mark.parametrize(
    ("above", "inside", "below", "said"),
    [
        ("pass", "net.cuda()", "net.cpu()", ["likely"]),
        ("pass", "net = net.to('cuda')", "net = net.to('cpu')", ["likely"]),
        ("net.cuda()", "net.cuda()", "net.cpu()", ["likely"]),
        ("pass", "probe = nn.Linear(4, 1).to('cuda')", "probe(x)", ["likely"]),
        ("pass", "probe = nn.Linear(4, bias=False)", "probe.to('cuda')", ["likely"]),
        ("pass", "probe = nn.Sequential(net).to('cuda')", "probe(x)", ["possible"]),
        ("pass", "loss = nn.CrossEntropyLoss().to('cuda')", "loss(x, x)", ["possible"]),
        ("pass", "probe = Own(4).cuda()", "probe(x)", ["possible"]),
        ("pass", "probe = nn.Linear(width, 1).cuda()", "probe(x)", ["possible"]),
        ("probe = nn.Linear(4, 1)", "probe.to('cuda')", "probe(x)", ["possible"]),
        ("pass", "net.to('cuda')", "pass", ["possible"]),
        ("net.to('cuda')", "net.to('cuda')", "pass", []),
        ("net = net.cuda()", "net.cuda()", "pass", []),
        ("probe = nn.Linear(4, 1).cuda()", "probe.cuda()", "probe(x)", []),
        ("net.cuda()", "pass", "net.cpu()", []),
        ("probe = nn.Linear(4, 1).cuda()", "probe(x)", "pass", []),
    ],
)
def test_a_step_that_moves_a_module_uploads_it(above: str, inside: str, below: str, said: list[str]) -> None:
    assert confidences(above, inside, below) == said


def test_a_function_that_moves_a_module_once_sets_up() -> None:
    moves = "\n    ".join(("net = net.cuda()", "nn.Linear(4, 1).cuda()", "net.cpu()", "return net.cuda()"))
    text = f"def ready(net: nn.Module):\n    {moves}\n"
    assert [one.code for one in findings(text, HEAD, confidence="possible")] == ["SG202"]


MOVES = """\
import torch

def train():
    x = torch.rand(8, 4, device="cuda")
    net = torch.nn.Linear(4, 2)
    step = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(4):
        net.to("cuda")
        net(x).sum().backward()
        step.step()
        step.zero_grad()
        if {back}:
            net.cpu()

train()
"""


@pytest.mark.parametrize(("back", "hazard", "code", "count"), [
    ("True", "copy-to-device", "SG301", 4),
    ("False", "setup", "SG301", 1),
])  # fmt: skip
def test_a_run_tells_a_move_from_one_that_moves_nothing(
    tmp_path: Path, back: str, hazard: str, code: str, count: int
) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(MOVES.format(back=back))
    words = ("-m", "syncguard", "run", "--device", "simulate", "--check", "--save", "run.json", "train.py")
    ended, _, err = warm.ran(tmp_path, *words)
    assert ended == 0, err
    (wait,) = (one for one in json.loads((tmp_path / "run.json").read_text())["waits"] if one["place"]["line"] == 8)
    assert (wait["hazard"], wait["code"], wait["count"], wait["static"]) == (hazard, code, count, "confirmed")


ON_HOST = """
import torch

def evaluate(net, data, device, late):
    {put}
    for x in data:
        if net(x).max() > 3:
            break
"""


@pytest.mark.parametrize(
    ("put", "found"),
    [
        ("net = net.cpu()", []),
        ("net = net.cpu().eval()", []),
        ("net = net.to('cpu').train(False).requires_grad_(False)", []),
        ("net.cpu()\n    net.eval()", []),
        ("net.eval()\n    net.to('cpu')", []),
        ("net.eval()", ["SG204"]),
        ("net.cpu()\n    net.to(device)", ["SG204"]),
        ("net = net.cpu()\n    net = net.cuda()", ["SG204"]),
        ("if late:\n        net.cpu()", ["SG204"]),
        ("other = net\n    other.cpu()", ["SG204"]),
    ],
)
def test_what_a_module_makes_that_was_put_on_the_host(put: str, found: list[str]) -> None:
    assert [code for code in codes(ON_HOST.format(put=put)) if code not in ("SG202", "SG305")] == found
