"""Runs tiny random models of one module of transformers; prints what they gave as JSON. `refit.py` starts it.

python tools/tiny_models.py import MODULE...            how the import of each ends
python tools/tiny_models.py models MODULE SECONDS LINE...    a digest of outputs and gradients of each of its models,
                                                        and how many of these lines were run
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import signal
import sys
import types
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

from apart import apart
from tiny_inputs import add, inputs, seeded, tensors, tiny

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")

LARGEST = 30_000_000


def main() -> None:
    warnings.simplefilter("ignore")
    if sys.argv[1] == "import":
        print("\n" + json.dumps({"modules": {name: ended(name) for name in sys.argv[2:]}}))
        return
    # What all of them import is imported once; a fork has it for nothing.
    import torch
    import transformers.modeling_utils
    import transformers.models.auto.modeling_auto  # noqa: F401

    torch.set_num_threads(1)
    for line in sys.stdin:
        name, seconds, lines = json.loads(line)
        found = apart(partial(models, name, seconds, set(lines)), 2 * seconds + 20)
        print(json.dumps({"module": name, **found}), flush=True)


def ended(name: str) -> str:
    try:
        importlib.import_module(name)
    except Exception as fault:
        return f"{type(fault).__name__}: {str(fault)[:80]}"
    return "imported"


# -- models -----------------------------------------------------------------------------------------


def models(name: str, seconds: int, lines: set[int]) -> dict[str, Any]:
    """Every model of a module until time is up."""
    found: dict[str, Any] = {}
    module = importlib.import_module(name)
    run: set[int] = set()
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(seconds)
    try:
        for cls in sorted(classes(module), key=lambda cls: cls.__name__):
            try:
                found[cls.__name__] = ran(cls, watch(module.__file__ or "", lines, run))
            except TimeoutError:
                raise
            except Exception as fault:
                found[cls.__name__] = {"fault": f"{type(fault).__name__}: {str(fault)[:160]}"}
    except TimeoutError:
        pass
    signal.alarm(0)
    return {"models": found, "lines": len(run)}


def out_of_time(*_: object) -> None:
    raise TimeoutError


def classes(module: types.ModuleType) -> Iterator[Any]:
    """The models that a module defines and that say how they are run."""
    from transformers import PreTrainedModel

    for cls in vars(module).values():
        if isinstance(cls, type) and issubclass(cls, PreTrainedModel) and cls.__module__ == module.__name__:
            yield cls


def watch(path: str, lines: set[int], run: set[int]) -> Any:
    """A trace that notes which lines of a file are run."""

    def local(frame: types.FrameType, event: str, arg: object) -> Any:
        if event == "line" and frame.f_lineno in lines:
            run.add(frame.f_lineno)
        return local

    def trace(frame: types.FrameType, event: str, arg: object) -> Any:
        return local if frame.f_code.co_filename == path else None

    return trace if lines else None


def ran(cls: Any, trace: Any) -> dict[str, Any]:
    """One model from a fixed seed: a digest of all that it gives, and the number of gradients in it."""
    import torch

    seeded(0)
    config = tiny(cls.config_class)
    sys.settrace(trace)
    try:
        model = cls(config).train()
    finally:
        sys.settrace(None)
    if sum(parameter.numel() for parameter in model.parameters()) > LARGEST:
        raise ValueError("too large")
    fault: Exception | None = None
    for kept in inputs(model, config):
        seeded(1)
        model.zero_grad()
        sys.settrace(trace)
        try:
            given = model(**kept)
            outputs = [tensor for tensor in tensors(given) if tensor.is_floating_point() or tensor.is_complex()]
            total = sum(part.abs().double().sum() for part in outputs if part.requires_grad)
            if isinstance(total, torch.Tensor):
                total.backward()
        except TimeoutError:
            raise
        except Exception as other:
            fault = fault or other
            continue
        finally:
            sys.settrace(None)
        digest, count = hashlib.sha256(), 0
        for tensor in tensors(given):
            add(digest, tensor)
        for name, parameter in sorted(model.named_parameters()):
            if parameter.grad is not None:
                digest.update(name.encode())
                add(digest, parameter.grad)
                count += 1
        sys.settrace(trace)
        try:
            for other in extras(model, config):
                for tensor in tensors(other):
                    add(digest, tensor)
                digest.update(repr([type(other), other if isinstance(other, (int, float, str)) else None]).encode())
        finally:
            sys.settrace(None)
        return {"digest": digest.hexdigest(), "gradients": count}
    raise fault or ValueError("no inputs")


def extras(model: Any, config: Any) -> Iterator[Any]:
    """What small methods give, which a call with plain inputs does not reach; of one that fails, how."""
    import torch

    def made(call: Any) -> Any:
        try:
            return call()
        except TimeoutError:
            raise
        except Exception as fault:
            return type(fault).__name__

    yield made(lambda: model.dummy_inputs)
    ids = torch.tensor([[5, 90, 90, 91, 92, 93, 90, 6], [93, 90, 93, 91, 91, 92, 7, 8]])
    rows = made(lambda: model.get_input_embeddings()(ids))
    if isinstance(rows, torch.Tensor) and rows.dim() == 3:
        for name in ("get_placeholder_mask", "_get_image_nums_and_video_nums", "get_audio_placeholder_mask"):
            method = getattr(model, name, None)
            if method is None:
                continue
            for count in (None, 4):
                given = {} if count is None else {"image_features": rows.new_zeros(count, rows.shape[-1])}
                yield made(lambda method=method, given=given: method(None, rows, **given))  # type: ignore[misc]
                yield made(lambda method=method, given=given: method(ids, rows, **given))  # type: ignore[misc]
    labels = [torch.zeros(2, dtype=torch.long), torch.ones(3, dtype=torch.long)]
    for part in (model, getattr(model, "criterion", None)):
        if hasattr(part, "get_num_masks"):
            yield made(lambda part=part: part.get_num_masks(labels, torch.device("cpu")))  # type: ignore[misc]


if __name__ == "__main__":
    main()
