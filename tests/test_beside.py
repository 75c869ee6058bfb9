"""What runs beside the work, as far as its own file tells: references, objects sent as texts, pictures, benchmarks."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from syncguard import pipeline
from syncguard.config import Config

GATHERED = """
    import pickle

    import torch.distributed as dist


    def gathered(data, sizes):
        tensor = torch.ByteTensor(torch.ByteStorage.from_buffer(pickle.dumps(data))).to("cuda")
        found = [torch.empty_like(tensor) for _ in sizes]
        dist.all_gather(found, tensor)
        return [pickle.loads(one.cpu().numpy().tobytes()) for one in found]
    """
SHOWN = """
    import cv2


    def shown(image: torch.Tensor):
        cv2.imshow("image", image.cpu().numpy())
        cv2.waitKey({})
    """
SUMMED = """
    def {}(x: torch.Tensor, ends: torch.Tensor):
        return x[: ends.max().item()].sum()
    """


def heats(text: str, name: str = "example.py") -> set[str]:
    config = Config(heat="all", stdin_filename=name)
    return {f.heat for f in pipeline.check(["-"], config, "import torch\n\n\n" + textwrap.dedent(text)).findings}


def test_objects_are_sent_as_texts_seldom() -> None:
    assert heats(GATHERED) == {"cold"}
    assert heats(GATHERED.replace("dist.all_gather(found, tensor)", "")) == {"unknown"}
    loop = "\n\n    def train(model, batches):\n        for x in batches:\n            model(x).backward()\n"
    assert heats(GATHERED + loop + "            gathered({}, [1])\n") == {"hot"}


@pytest.mark.parametrize(
    ("folder", "heat"), [("deprecated", "cold"), ("_deprecated", "cold"), ("legacy", "unknown"), ("plain", "unknown")]
)
def test_what_is_deprecated_is_called_seldom(folder: str, heat: str, tmp_path: Path) -> None:
    package = tmp_path / "deprecated" / "project" / folder  # a folder that is no package says nothing
    (package / "pipelines").mkdir(parents=True)
    (package / "__init__.py").touch()
    name = str(package / "pipelines" / "blend.py")
    assert heats(SUMMED.format("blend"), name) == {heat}
    loop = "\n\n    def train(model, batches):\n        for x in batches:\n            model(x).backward()\n"
    assert heats(SUMMED.format("blend") + loop + "            blend(x, x)\n", name) == {"hot"}


@pytest.mark.parametrize(("wait", "heat"), [("0", "cold"), ("", "cold"), ("1", "unknown")])
def test_what_waits_for_somebody_to_look_runs_seldom(wait: str, heat: str) -> None:
    assert heats(SHOWN.format(wait)) == {heat}


@pytest.mark.parametrize(
    ("name", "heat"), [("segment_sum_ref", "cold"), ("naive_segment_sum", "cold"), ("segment_sum", "unknown")]
)
def test_what_others_are_compared_with_runs_seldom(name: str, heat: str) -> None:
    assert heats(SUMMED.format(name)) == {heat}


def test_a_reference_in_the_place_of_a_kernel_is_hot() -> None:
    call = (
        "    class Net(torch.nn.Module):\n        def forward(self, x, ends):\n            return summed_ref(x, ends)\n"
    )
    assert heats(SUMMED.format("summed_ref").rstrip() + "\n\n\n" + call) == {"hot"}
    assert heats("class Policy:\n    def score_ref(self, x: torch.Tensor):\n        return x.item()\n") == {"unknown"}


@pytest.mark.parametrize(
    ("name", "heat"),
    [("benchmark_ops.py", "cold"), ("benchmarks/ops.py", "cold"), ("bench_x.py", "cold"), ("workbench.py", "unknown")],
)
def test_what_stands_in_a_file_of_benchmarks_runs_seldom_but_for_its_steps(name: str, heat: str) -> None:
    assert heats(SUMMED.format("summed"), name) == {heat}
    step = "def run(model, batches):\n    for x in batches:\n        loss = model(x)\n        loss.backward()\n"
    assert heats(step + "        print(loss.item())\n", name) == {"hot"}


@pytest.mark.parametrize(("package", "heat"), [(False, "cold"), (True, "unknown")])
def test_benchmarks_that_are_a_package_are_imported(tmp_path, package: bool, heat: str) -> None:
    place = tmp_path / "benchmarks"
    place.mkdir()
    (place / "ops.py").write_text("import torch\n" + textwrap.dedent(SUMMED.format("summed")))
    if package:
        (place / "__init__.py").touch()
    report = pipeline.check([str(place / "ops.py")], Config(heat="all", cache=False))
    assert {finding.heat for finding in report.findings} == {heat}


def test_another_file_makes_hot_what_runs_beside_the_work_here(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ops.py").write_text("import torch\n" + textwrap.dedent(SUMMED.format("summed_ref")))
    (tmp_path / "net.py").write_text(
        "import torch\n\nfrom ops import summed_ref\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x, ends):\n"
        "        return summed_ref(x, ends)\n"
    )
    told = {f.heat for f in pipeline.check(["."], Config(heat="all", cache=False)).findings}
    assert told == {"hot"}


def test_what_is_defined_in_a_test_is_part_of_it() -> None:
    text = """
        def test_all(xs):
            def case(x):
                def close(a: torch.Tensor, b):
                    return (a - b).abs().max().item()

                return close(x, x)

            for x in xs:
                assert case(x) == 0
        """
    assert heats(text) == {"cold"}


@pytest.mark.parametrize(
    ("owner", "name", "heat"),
    [
        ("CocoEvaluator", "evaluate", "amortized"),
        ("Solver", "evaluate", "unknown"),
        ("SmoothedValue", "synchronize_between_processes", "amortized"),
    ],
)
def test_what_an_evaluation_ends_with_runs_once_in_it(owner: str, name: str, heat: str) -> None:
    text = f"class {owner}:\n    def {name}(self, device):\n        return torch.zeros(1, device=device).item()\n"
    assert heats(text) == {heat}
