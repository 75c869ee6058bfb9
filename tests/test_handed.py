"""A method that overrides a library's, which its loop gives tensors -> these are on the device, by name and method."""

from __future__ import annotations

import pytest
from checked import codes, findings

ONLY = """
    import torch
    {head}

    class Only({base}):
        def __init__(self, input_ids, scores):
            self.kept = input_ids[torch.ones(3, dtype=torch.bool)]

        def {method}(self, input_ids, scores):
            others = torch.ones(scores.size(), dtype=torch.bool)
            scores[others] = 0.0
            return scores
"""


def test_scores_are_on_the_device() -> None:
    text = ONLY.format(head="from transformers import LogitsProcessor", base="LogitsProcessor", method="__call__")
    assert codes(text) == ["SG302"]  # the number; the mask of the host goes through pinned memory


@pytest.mark.parametrize(
    ("head", "base", "method"),
    [
        ("from transformers import LogitsProcessor", "LogitsProcessor", "apart"),
        ("from elsewhere import LogitsProcessor", "LogitsProcessor", "__call__"),
        ("", "object", "__call__"),
    ],
)
def test_what_others_call_may_be_anything(head: str, base: str, method: str) -> None:
    assert codes(ONLY.format(head=head, base=base, method=method)) == []


def test_what_tells_when_to_stop_reads_the_ids() -> None:
    assert codes("""
        import transformers

        class Stop(transformers.StoppingCriteria):
            def __call__(self, input_ids, scores, **kwargs):
                return input_ids[0, -1].item() == 3
    """) == ["SG201"]


@pytest.mark.parametrize(
    ("base", "declared", "found"),
    [
        ("torch.optim.Optimizer", "closure", ["SG203"]),
        ("torch.optim.LBFGS", "closure=None", ["SG203"]),
        ("torch.optim.Optimizer", "closure: Callable[[], float]", []),
        ("object", "closure", []),
    ],
)
def test_what_an_optimizer_is_given_computes_a_loss(base: str, declared: str, found: list[str]) -> None:
    text = f"""
        from typing import Callable

        import torch

        class Searching({base}):
            def step(self, {declared}):
                def tried(t):
                    return float(closure())

                return min(tried(0.5), tried(1.0))
    """
    assert codes(text) == found


STATE = """
    from typing import Any

    import torch

    class Masked({base}):
        state: {declared}

        def prepare(self):
            for p in self.param_groups[0]["params"]:
                state = self.state[p]
                if "kept" not in state:
                    state["kept"] = torch.rand_like(p) > 0.5

        def step(self, closure=None):
            for p in self.param_groups[0]["params"]:
                state = self.state[p]
                p.grad[state["kept"]] = p.grad.flip(0)
"""


@pytest.mark.parametrize("declared", ["dict", "dict[str, Any]", "dict[torch.Tensor, dict[str, Any]]"])
def test_what_an_optimizer_keeps_for_each_parameter_is_known_whatever_is_declared(declared: str) -> None:
    assert codes(STATE.format(base="torch.optim.Optimizer", declared=declared)) == ["SG103"]


def test_what_another_class_declares_is_all_that_is_known_of_it() -> None:
    assert codes(STATE.format(base="object", declared="dict")) == []


def test_each_loss_is_waited_for() -> None:
    found = findings("""
        import torch

        class Twice(torch.optim.Optimizer):
            def step(self, closure):
                before = closure().item()
                after = closure().item()
                return after - before
    """)
    assert [(one.code, one.heat) for one in found] == [("SG201", "hot")] * 2


DISTILL = """
    import torch
    from {library} import {base}

    class Distill({base}):
        def {method}(self, model, {name}{declared}, return_outputs=False):
            labels = {name}["labels"]
            out = model(**{name})
            mask = labels != -100
            return out.logits[mask].mean()
"""


@pytest.mark.parametrize(
    ("library", "base", "method", "name", "declared", "found"),
    [
        ("transformers", "Trainer", "compute_loss", "inputs", "", ["SG102"]),
        ("transformers", "Seq2SeqTrainer", "prediction_step", "inputs", "", ["SG102"]),
        ("trl", "SFTTrainer", "training_step", "inputs", "", ["SG102"]),
        ("transformers", "Trainer", "compute_loss", "rows", "", ["SG102"]),
        ("transformers", "Trainer", "compute_loss", "inputs", ": dict", ["SG102"]),
        ("transformers", "Trainer", "compute_loss", "inputs", ": 'dict[str, object]'", ["SG102"]),
        ("transformers", "Trainer", "compute_loss", "inputs", ": 'dict[str, float]'", []),
        ("transformers", "Trainer", "prepare", "inputs", "", []),
        ("transformers", "TrainerCallback", "compute_loss", "inputs", "", []),
    ],
)
def test_what_a_trainer_gives_a_step_is_on_the_device(
    library: str, base: str, method: str, name: str, declared: str, found: list[str]
) -> None:
    text = DISTILL.format(library=library, base=base, method=method, name=name, declared=declared)
    assert codes(text) == found


WATCH = """
    import lightning as L

    class Watch(L.Callback):
        def {hook}(self, trainer, pl_module, outputs, batch, batch_idx):
            found = {read}
            if found > 1e6:
                trainer.should_stop = True
"""


@pytest.mark.parametrize(
    ("hook", "read", "found"),
    [
        ("on_train_batch_end", 'outputs["loss"]', ["SG204"]),
        ("on_train_batch_end", 'outputs.get("loss")', ["SG204"]),
        ("on_train_batch_end", 'outputs["accuracy"]', []),
        ("on_train_batch_end", 'batch["loss"]', []),
        ("on_validation_batch_end", 'outputs["loss"]', []),
        ("on_train_batch_end", 'outputs["accuracy"].item()', ["SG201"]),
    ],
)
def test_the_loss_that_a_hook_behind_a_step_is_given(hook: str, read: str, found: list[str]) -> None:
    told = findings(WATCH.format(hook=hook, read=read))
    assert [finding.code for finding in told] == found
    for finding in told:
        said = f"`outputs` is a parameter of `{hook}`, which is given a batch, or what a step has made of one"
        assert finding.because[0].text == said


STEP = """
    import torch
    import lightning as L

    class Net(L.LightningModule):
        def {method}(self, batch{declared}, batch_idx: int):
            {taken}
            return x[mask].sum()
"""
BY_KEY = 'x, mask = batch["x"], batch["mask"]'


@pytest.mark.parametrize(
    ("method", "declared", "taken", "found"),
    [
        ("training_step", "", BY_KEY, ["SG102"]),
        ("training_step", ": dict", BY_KEY, ["SG102"]),
        ("validation_step", ": 'dict[str, object]'", BY_KEY, ["SG102"]),
        ("training_step", ": 'dict[str, str]'", BY_KEY, []),
        ("training_step", ": tuple", "x, mask = batch", ["SG102"]),
        ("training_step", ": list", "x, mask = batch", ["SG102"]),
        ("training_step", ": 'list[str]'", "x, mask = batch", []),
        ("forward", ": dict", BY_KEY, ["SG102"]),
        ("forward", ": list", "x, mask = batch", []),
        ("other", ": dict", BY_KEY, []),
    ],
)
def test_what_is_only_declared_to_be_a_dict_holds_what_it_would_undeclared(
    method: str, declared: str, taken: str, found: list[str]
) -> None:
    assert codes(STEP.format(method=method, declared=declared, taken=taken)) == found
