"""What draws for people, compares two objects, or writes them to a file, as far as nothing calls it at every step."""

from __future__ import annotations

import pytest
from checked import findings
from packaged import heats

DRAWS = """
import torch


def frames(video: torch.Tensor):
    return video.tolist()
"""
STEP = """
import torch
from pkg.{} import frames


class Net(torch.nn.Module):
    def forward(self, x):
        frames(x)
"""


@pytest.mark.parametrize(
    ("module", "heat"),
    [
        ("visualization", "cold"),
        ("plotting", "cold"),
        ("nn.init", "cold"),
        ("initial", "unknown"),
        ("visualizers.frames", "cold"),
        ("plotter", "unknown"),
        ("views.frames", "unknown"),
    ],
)
def test_a_file_that_draws_runs_for_people(module: str, heat: str) -> None:
    path = f"pkg/{module.replace('.', '/')}.py"
    files = {"pkg/__init__.py": "", "pkg/visualizers/__init__.py": "", "pkg/views/__init__.py": "", path: DRAWS}
    assert heats(files)[path] == heat
    assert heats({**files, "pkg/net.py": STEP.format(module)})[path] == "hot"


@pytest.mark.parametrize(
    ("folder", "heat"),
    [
        ("_export", "cold"),
        ("unittests", "cold"),
        ("conversion", "cold"),
        ("conversions", "unknown"),
        ("exported", "unknown"),
        ("units", "unknown"),
    ],
)
def test_a_package_for_exports_or_tests(folder: str, heat: str) -> None:
    path = f"pkg/{folder}/reads.py"
    assert heats({"pkg/__init__.py": "", f"pkg/{folder}/__init__.py": "", path: DRAWS})[path] == heat
    assert heats({"pkg/__init__.py": "", path: DRAWS})[path] == heat
    assert (
        heats({f"{folder}/pkg/__init__.py": "", f"{folder}/pkg/reads.py": DRAWS})[f"{folder}/pkg/reads.py"] == "unknown"
    )


@pytest.mark.parametrize(
    ("file", "heat"), [("net_to_onnx", "cold"), ("onnx_export", "cold"), ("onnx", "unknown"), ("to_ones", "unknown")]
)
def test_a_file_that_converts_a_model(file: str, heat: str) -> None:
    assert heats({"pkg/__init__.py": "", f"pkg/{file}.py": DRAWS})[f"pkg/{file}.py"] == heat


HEAD = "import torch\nimport yaml\n\n\n"
OBJECT = """
class Box:
    def __init__(self, low):
        self.low = torch.tensor(low, device="cuda")

    def {head}:
        {body}
"""


@pytest.mark.parametrize(
    ("head", "body", "heat"),
    [
        ("__eq__(self, other)", "return bool((self.low == 1).all())", "cold"),
        ("__hash__(self)", "return hash(self.low.item())", "cold"),
        ("same(self, other)", "return bool((self.low == 1).all())", "unknown"),
        ("__eq__(self, other)", "return self.low[self.low == 1]", "unknown"),  # of each element
        ("to_json(self)", "return {'low': self.low.item()}", "cold"),
        ("assert_low(self)", "assert self.low.item() == 1", "cold"),
        ("_assert_low(self)", "assert self.low.item() == 1", "unknown"),
        ("to_range(self)", "return {'low': self.low.item()}", "unknown"),
        ("keep(self, file)", "yaml.dump(self.low.item(), file)", "cold"),
        ("keep(self, file)", "yaml.load(self.low.item(), file)", "unknown"),
    ],
)
def test_objects_are_seldom_compared_or_written(head: str, body: str, heat: str) -> None:
    found = [one.heat for one in findings(OBJECT.format(head=head, body=body), HEAD) if one.function != "Box.__init__"]
    assert found == [heat]


def test_what_compares_objects_at_every_step_is_hot() -> None:
    step = (
        "\n\ndef train(model, loader, opt):\n    for x in loader:\n        loss = model(x)\n        loss.backward()\n"
    )
    text = OBJECT.format(head="__eq__(self, other)", body="return bool((self.low == 1).all())")
    called = f"{text}{step}        Box(1).__eq__(Box(2))\n"
    assert "hot" in [one.heat for one in findings(called, HEAD) if one.function == "Box.__eq__"]
