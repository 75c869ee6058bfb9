"""Trains tiny random transformers plain on the CPU and on the simulated device, and tells whether they stay the same.

    python tools/architectures.py [NAME...] --work FILE [--limit 60] [--write]

Of each architecture (all of transformers', or these) one model with small sizes: two steps of forward, backward,
clipped gradients and AdamW, then eight tokens from `generate` where it has that. Equal are: every loss, all parameters
after the steps, the tokens; bit by bit. What is done is kept in FILE and not run again. `--write` puts the sums into
docs/suites.json, from which `make docs` makes docs/suites.md. It runs in a Python that has torch, transformers and what
SyncGuard needs to run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import sys
import warnings
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from apart import apart
from kept import keep
from tiny_inputs import add, inputs, seeded, tensors, tiny

sys.path.append(str(Path(__file__).resolve().parents[1]))
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")
# MKL sums differently where memory is aligned differently, unless it is told not to.
os.environ.update(OMP_NUM_THREADS="1", MKL_CBWR="COMPATIBLE")
warnings.simplefilter("ignore")
# By what it does first; of an architecture that does several things, the first is run.
KINDS = (
    "CAUSAL_LM SEQ_TO_SEQ_CAUSAL_LM IMAGE_TEXT_TO_TEXT MASKED_LM SEQUENCE_CLASSIFICATION IMAGE_CLASSIFICATION "
    "AUDIO_CLASSIFICATION OBJECT_DETECTION CTC SPEECH_SEQ_2_SEQ SEMANTIC_SEGMENTATION"
)
EXPERTS = "num_local_experts num_experts n_routed_experts moe_num_experts expert_num".split()
LARGEST = 30_000_000
STEPS, TOKENS = 2, 8


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help="an architecture: llama, mixtral; by default all")
    parser.add_argument("--work", type=Path, required=True, help="the file of what is done")
    parser.add_argument("--limit", type=int, default=60, help="seconds for an architecture")
    parser.add_argument("--write", action="store_true", help="put the sums into docs/suites.json")
    options = parser.parse_args()
    # What all of them import is imported once; a fork has it for nothing.
    import torch
    import transformers.modeling_utils

    torch.set_num_threads(1)
    lines = options.work.read_text().splitlines() if options.work.exists() else []
    known = {row["name"]: row for row in map(json.loads, lines)}
    for name, model in architectures().items():
        if name in known or (options.name and name not in options.name):
            continue
        row = {"name": name, "model": model, **apart(partial(both, model), options.limit)}
        known[name] = row
        with options.work.open("a") as stream:
            stream.write(json.dumps(row) + "\n")
        print(name, model, verdict(row), flush=True)
    found = sums(known)
    print(json.dumps(found, indent=1))
    if options.write:
        versions = {
            "version": transformers.__version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        }
        keep("transformers", versions, "python tools/architectures.py --work FILE --write", found)
    return int(bool(found["other"]))


def architectures() -> dict[str, str]:
    """The model that each architecture is tried with."""
    from transformers.models.auto import modeling_auto as auto

    found: dict[str, str] = {}
    for kind in KINDS.split():
        for name, model in getattr(auto, f"MODEL_FOR_{kind}_MAPPING_NAMES").items():
            found.setdefault(name, model if isinstance(model, str) else model[0])
    return found


def both(name: str) -> dict[str, Any]:
    """A model of this name on both sides, in one process."""
    import transformers

    from syncguard import pack
    from syncguard.observe.simulate import Simulation

    cls = getattr(transformers, name)
    plain = trained(cls, "cpu")
    waits: Counter[str] = Counter()
    try:
        with Simulation(pack.load(), lambda seen: waits.update([seen.op])):
            simulated = trained(cls, "cuda")
    except Exception as fault:
        return {"fault": f"simulated: {type(fault).__name__}: {str(fault)[:160]}"}
    experts = any(getattr(plain["config"].get_text_config(), key, None) for key in EXPERTS)
    same = {key: plain[key] == simulated[key] for key in ("losses", "parameters", "tokens")}
    why = "" if isinstance(plain["tokens"], list) else plain["tokens"]
    return {**same, "generated": not why, "why": why, "experts": experts, "waits": waits.total()}


def trained(cls: Any, device: str) -> dict[str, Any]:
    """What a model gives from a fixed seed: losses, a digest of its parameters, tokens."""
    import torch

    seeded(0)
    config = tiny(cls.config_class)
    model = cls(config)
    if sum(parameter.numel() for parameter in model.parameters()) > LARGEST:
        raise ValueError("too large")
    model = model.to(device).train()
    given, loss = first(model, config, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(STEPS):
        seeded(1)
        loss = total(model(**given))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item().hex())
    if "nan" in losses:
        raise ValueError("its loss is not a number")
    digest = hashlib.sha256()
    for _, parameter in sorted(model.named_parameters()):
        add(digest, parameter.detach().cpu())
    return {"config": config, "losses": losses, "parameters": digest.hexdigest(), "tokens": tokens(model, given)}


def first(model: Any, config: Any, device: str) -> tuple[dict[str, Any], Any]:
    """The likeliest inputs that the model takes, and the loss that it has of them."""
    fault: Exception | None = None
    for kept in inputs(model, config):
        given = {name: value.to(device) for name, value in kept.items()}
        try:
            seeded(1)
            return given, total(model(**given))
        except TimeoutError:
            raise
        except Exception as other:
            fault = fault or other
    raise fault or ValueError("no inputs")


def total(given: Any) -> Any:
    """The loss of what a model gives; where it has none, a sum of all that can be learned from."""
    loss = getattr(given, "loss", None)
    if loss is None:
        learned = [part for part in tensors(given) if part.is_floating_point() and part.requires_grad]
        loss = sum(part.abs().double().sum() for part in learned)
    return loss


def tokens(model: Any, given: dict[str, Any]) -> list[Any] | str:
    """What it generates, greedily; where it cannot, why."""
    import torch

    if not (hasattr(model, "can_generate") and model.can_generate()):
        return "it does not generate"
    kept = {name: value for name, value in given.items() if name not in ("labels", "decoder_input_ids", "bbox")}
    try:
        with torch.no_grad():
            made = model.eval().generate(**kept, max_new_tokens=TOKENS, do_sample=False, decoder_start_token_id=1)
    except TimeoutError:
        raise
    except Exception as fault:
        return f"{type(fault).__name__}: {str(fault)[:100]}"
    return [part.cpu().tolist() for part in tensors(made)]


def verdict(row: dict[str, Any]) -> str:
    if "fault" in row:
        return str(row["fault"])
    other = [key for key in ("losses", "parameters", "tokens") if not row[key]]
    return f"DIFFERENT: {', '.join(other)}" if other else f"equal{', generates' if row['generated'] else ''}"


def sums(known: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """How many architectures were run, and which of them differ."""
    ran = {name: row for name, row in known.items() if "fault" not in row}
    other = {name: verdict(row) for name, row in ran.items() if verdict(row).startswith("DIFFERENT")}
    other |= {name: row["fault"] for name, row in known.items() if row.get("fault", "").startswith("simulated: ")}
    return {
        "tried": len(known),
        "equal": len([name for name in ran if name not in other]),
        "generate": sum(row["generated"] for row in ran.values()),
        "experts": sum(row["experts"] for row in ran.values()),
        "waits": sum(row["waits"] for row in ran.values()),
        "other": other,
        "not run": {name: row["fault"] for name, row in known.items() if "fault" in row and name not in other},
    }


if __name__ == "__main__":
    sys.exit(main())
