"""What a function does whenever it is called that is seldom done makes it run seldom, as far as its file tells."""

from __future__ import annotations

import textwrap

import pytest
from checked import findings

HEAD = """
import torch
from torch import fx, nn
from torch.fx import GraphModule
from transformers import AutoModel


"""


def heats(text: str) -> list[str]:
    return [finding.heat for finding in findings(textwrap.dedent(text), HEAD)]


@pytest.mark.parametrize(
    ("done", "heat"),
    [
        ("state = torch.load(path)", "cold"),
        ("model = AutoModel.from_pretrained(path)", "cold"),
        ("for one in paths:\n        state = torch.load(one)", "cold"),
        ("states = [torch.load(one) for one in paths]", "cold"),
        ("if path:\n        state = torch.load(path)", "unknown"),
        ("weight = nn.Parameter(x)", "cold"),
        ("layer.weight = torch.nn.Parameter(x)", "cold"),
        ("layer.register_parameter(path, x)", "cold"),
        ("layer.weight = nn.Parameter(x, requires_grad=False).to(x.dtype)", "cold"),
        ("layer = nn.Linear(3, 4).to(x.device)", "unknown"),
        ("nn.init.normal_(layer.weight, 0.0, 0.1)", "cold"),
        ("new = nn.Linear(3, 4)", "cold"),
        ("if layer is None:\n        weight = nn.Parameter(x)", "unknown"),
        ("weight = layer.weight", "unknown"),
        ("x = nn.ReLU()(x)", "unknown"),
        ("x = nn.functional.linear(x, layer.weight)", "unknown"),
    ],
)
def test_reads_a_checkpoint_or_makes_parameters(done: str, heat: str) -> None:
    text = """
        def used(x: torch.Tensor, layer, path, paths):
            {}
            return x.max().item()
        """
    assert heats(text.format(done.replace("\n", "\n        "))) == [heat]


@pytest.mark.parametrize(
    ("more", "heat"),
    [
        ("new = nn.Conv2d(3, 4, 1)", "cold"),
        ("module.weight = nn.Parameter(module.weight)", "cold"),
        ("pass", "unknown"),
    ],
)
def test_what_makes_parameters_of_each_layer_reads_each(more: str, heat: str) -> None:
    text = """
        def replaced(modules: list[nn.Conv2d]):
            for module in modules:
                if isinstance(module, nn.Conv2d):
                    {}
                    print(module.weight.std().item())
        """
    assert heats(text.format(more)) == [heat]


def test_what_is_in_the_loop_that_reads_may_run_long() -> None:
    text = """
        def shown(x: torch.Tensor, paths):
            for path in paths:
                state = torch.load(path)
                print(x.max().item())
        """
    assert heats(text) == ["unknown"]


@pytest.mark.parametrize(
    ("params", "done", "heat"),
    [
        ("model: GraphModule", "pass", "cold"),
        ("model: 'GraphModule'", "pass", "cold"),
        ("model: fx.GraphModule", "pass", "cold"),
        ("node: torch.fx.Node", "pass", "cold"),
        ("model", "model.graph.lint()\n            model.recompile()", "cold"),
        ("model: nn.Module", "pass", "unknown"),
        ("graph", "graph.nodes()", "unknown"),
    ],
)
def test_a_graph_is_rewritten_once(params: str, done: str, heat: str) -> None:
    text = """
        def rewritten({}, x: torch.Tensor):
            {}
            return x.max().item()
        """
    assert heats(text.format(params, done)) == [heat]


def test_what_helps_to_rewrite_one_is_as_cold() -> None:
    text = """
        class Merge:
            def apply(self, model: GraphModule, x: torch.Tensor):
                model.recompile()
                return self._scale(x), self.shift(x)

            def _scale(self, x: torch.Tensor):
                return x.max().item()

            def shift(self, x: torch.Tensor):
                return x.min().item()
        """
    assert heats(text) == ["cold", "cold"]


@pytest.mark.parametrize(
    ("given", "heat"), [("torch.jit.trace", "cold"), ("fx.symbolic_trace", "cold"), ("use", "unknown")]
)
def test_what_is_traced_runs_once(given: str, heat: str) -> None:
    text = """
        def traced(x: torch.Tensor):
            return x.max().item()


        {}(traced)
        """
    assert heats(text.format(given)) == [heat]


@pytest.mark.parametrize(
    ("name", "heat"),
    [
        ("on_test_start", "cold"),
        ("on_validation_end", "amortized"),
        ("on_test_batch_start", "hot"),
        ("cross_validate", "cold"),
        ("calculate_fid", "cold"),
        ("_compute_fid", "cold"),
        ("confidence", "unknown"),
        ("profile", "cold"),
        ("apply_colormap", "cold"),
        ("decodes", "cold"),
        ("decode", "unknown"),
    ],
)
def test_a_function_is_as_warm_as_its_name_says(name: str, heat: str) -> None:
    text = """
        class Hooks:
            def {}(self, x: torch.Tensor):
                return x.max().item()
        """
    assert heats(text.format(name)) == [heat]


@pytest.mark.parametrize(("base", "heat"), [("BaseMetric", "amortized"), ("object", "unknown")])
def test_what_a_metric_computes_in_the_end(base: str, heat: str) -> None:
    text = """
        from mmengine.evaluator import BaseMetric


        class Depth({}):
            def compute_metrics(self, results):
                return self._rmse(results[0])

            def _rmse(self, x: torch.Tensor):
                return x.max().item()
        """
    assert heats(text.format(base)) == [heat]
