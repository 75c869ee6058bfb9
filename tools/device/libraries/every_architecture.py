"""transformers: tiny random models of every architecture, by what they do; a training step of each, and a few tokens.

python every_architecture.py 3 12    the third of twelve parts; all without
"""

import inspect
import json
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import torch
import transformers
from transformers.models.auto import modeling_auto as auto

sys.path.append(str(Path(__file__).resolve().parents[2]))
from architectures import KINDS, LARGEST, tokens, total
from tiny_inputs import inputs, seeded, tiny

D = "cuda"
SECONDS = 40  # for one of them
MORE = (
    " TOKEN_CLASSIFICATION QUESTION_ANSWERING NEXT_SENTENCE_PREDICTION PRETRAINING TIME_SERIES_PREDICTION"
    " INSTANCE_SEGMENTATION UNIVERSAL_SEGMENTATION DEPTH_ESTIMATION MASK_GENERATION KEYPOINT_DETECTION"
    " KEYPOINT_MATCHING MASKED_IMAGE_MODELING ZERO_SHOT_OBJECT_DETECTION ZERO_SHOT_IMAGE_CLASSIFICATION"
    " VIDEO_CLASSIFICATION AUDIO_FRAME_CLASSIFICATION AUDIO_XVECTOR TEXT_TO_WAVEFORM TEXT_TO_SPECTROGRAM"
    " DOCUMENT_QUESTION_ANSWERING TABLE_QUESTION_ANSWERING VISUAL_QUESTION_ANSWERING IMAGE_TO_IMAGE RETRIEVAL"
    " MULTIMODAL_LM TIME_SERIES_CLASSIFICATION TIME_SERIES_REGRESSION"
)
GENERATE = {"CAUSAL_LM", "SEQ_TO_SEQ_CAUSAL_LM", "IMAGE_TEXT_TO_TEXT", "SPEECH_SEQ_2_SEQ", "TEXT_TO_WAVEFORM"}
BEHIND = {"backbone": "resnet18", "use_timm_backbone": True, "use_pretrained_backbone": False}
FEW = dict.fromkeys(("encoder_layers", "decoder_layers"), 2) | dict.fromkeys(("d_model", "num_queries"), 32)
warnings.simplefilter("ignore")


def main(part: int, parts: int) -> None:
    """Say of each how it went, a line each."""
    signal.signal(signal.SIGALRM, too_long)
    mine = list(models().items())[part - 1 :: parts]
    found = ways(part, parts)
    for model, generates in mine:
        signal.alarm(SECONDS)
        try:
            tried(getattr(transformers, model), found[model], generates)
            print("ran", model, flush=True)
        except Exception as fault:
            print("failed", model, f"{type(fault).__name__}: {fault}".split("\n")[0][:160], flush=True)
            if "CUDA error" in str(fault):  # nothing runs on the device from here on
                return
        finally:
            signal.alarm(0)


def ways(part: int, parts: int) -> dict[str, list[int]]:
    """How each can be called, found on the host, where an index out of range ends the device for none; and in a process
    of its own, so that no line counts as run that ran there alone. A text says why a model cannot be called.
    """
    done = subprocess.run(
        [sys.executable, __file__, str(part), str(parts), "look"], stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.split("\n")[-2])


def look(part: int, parts: int) -> None:
    """Print, for each model, how to make it, which inputs it takes, and with which labels."""
    signal.signal(signal.SIGALRM, too_long)
    found = {}
    for model in list(models())[part - 1 :: parts]:
        signal.alarm(SECONDS)
        try:
            found[model] = ready(getattr(transformers, model))
        except Exception as fault:
            found[model] = f"{type(fault).__name__}: {fault}".split("\n")[0][:160]
        finally:
            signal.alarm(0)
    print(f"\n{json.dumps(found)}")


def models() -> dict[str, bool]:
    """The classes that the libraries' tables name for a use, one of an architecture each; and whether it generates."""
    found: dict[str, bool] = {}
    for kind in (KINDS + MORE).split():
        for named in getattr(auto, f"MODEL_FOR_{kind}_MAPPING_NAMES", {}).values():
            found.setdefault(named if isinstance(named, str) else named[0], kind in GENERATE)
    return found


def tried(cls: type[torch.nn.Module], way: list[int], generates: bool) -> None:
    """A step, and some tokens."""
    if isinstance(way, str):
        raise ValueError(way)
    made, taken, learnt = way
    model = built(cls, made)
    given = list(inputs(model, model.config))[taken]
    if learnt >= 0:
        given |= labels(given)[learnt]
    model.to(D)
    given = moved(given)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    seeded(1)
    total(model(**given)).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
    if generates:
        tokens(model, given)


def ready(cls: type[torch.nn.Module]) -> list[int]:
    """Which way to make a model gives one that can be called, with which inputs, and which labels (-1: none)."""
    faults = []
    for made in range(3):
        try:
            model = built(cls, made)
        except TimeoutError:
            raise
        except Exception as fault:
            faults.append(fault)
            continue
        for taken, given in enumerate(inputs(model, model.config)):
            fault = refused(model, given)
            if fault is None:
                names = inspect.signature(model.forward).parameters.keys()
                every = labels(given) if "labels" not in given else []
                fit = [n for n, more in enumerate(every) if names >= more.keys() and not refused(model, given | more)]
                return [made, taken, fit[0] if fit else -1]
            faults.append(fault)
    raise faults[0]


def refused(model: torch.nn.Module, given: dict) -> Exception | None:
    """Why a model cannot learn from this."""
    try:
        seeded(1)
        total(model(**given)).backward()
    except TimeoutError:
        raise
    except Exception as fault:
        return fault
    finally:
        model.zero_grad()
    return None


def built(cls: type[torch.nn.Module], made: int) -> torch.nn.Module:
    """Small in all that it has names for; else behind a backbone of timm's; else as it is by itself."""
    config = (
        tiny(cls.config_class) if made == 0 else cls.config_class(**BEHIND, **FEW) if made == 1 else cls.config_class()
    )
    with torch.device("meta"):
        if sum(parameter.numel() for parameter in cls(config).parameters()) > LARGEST:
            raise ValueError("too large")
    seeded(0)
    return cls(config).train()


def labels(given: dict) -> list[dict]:
    """The ways there are to say what is to be learnt."""
    size = given["pixel_values"].shape[-2:] if "pixel_values" in given else (32, 32)
    length = given["input_ids"].shape[-1] if "input_ids" in given else 12
    classes, few = torch.tensor([0, 1]), torch.tensor([1, 2])
    boxes = torch.tensor([[0.3, 0.3, 0.2, 0.2], [0.6, 0.5, 0.3, 0.4]])
    masks = (torch.arange(size[0] * size[1]).view(1, *size) % 3 == torch.arange(2).view(2, 1, 1)).float()
    known = {"class_labels": classes, "boxes": boxes, "masks": masks}
    return [
        {"labels": [known, known]},
        {"mask_labels": [masks, masks], "class_labels": [classes, classes]},
        {"start_positions": few, "end_positions": few + 1},
        {"labels": torch.arange(2 * length).view(2, length) % 3},
        {"labels": classes},
        {"labels": (torch.arange(2 * size[0] * size[1]).view(2, *size)) % 3},
        {"bool_masked_pos": torch.arange(16).repeat(2, 1) % 2 == 0},
        {"return_loss": True},
    ]


def moved(given):
    if isinstance(given, dict):
        return {name: moved(value) for name, value in given.items()}
    if isinstance(given, list):
        return [moved(value) for value in given]
    return given.to(D) if isinstance(given, torch.Tensor) else given


def too_long(*_: object) -> None:
    raise TimeoutError


if __name__ == "__main__":
    (look if sys.argv[3:] else main)(*map(int, sys.argv[1:3] or (1, 1)))
