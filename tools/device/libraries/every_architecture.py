"""transformers: tiny random models of every architecture, by what they do; a training step of each, and a few tokens.

python every_architecture.py 3 12    the third of twelve parts; all without
"""

import inspect
import signal
import sys
import warnings
from pathlib import Path

import torch
import transformers
from transformers.models.auto import modeling_auto as auto

sys.path.append(str(Path(__file__).resolve().parents[2]))
from architectures import KINDS, LARGEST, first, tokens, total
from tiny_inputs import seeded, tiny

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
    for model, generates in list(models().items())[part - 1 :: parts]:
        signal.alarm(SECONDS)
        try:
            tried(getattr(transformers, model), generates)
            print("ran", model, flush=True)
        except Exception as fault:
            print("failed", model, f"{type(fault).__name__}: {fault}".split("\n")[0][:160], flush=True)
            if "CUDA error" in str(fault):  # nothing runs on the device from here on
                return
        finally:
            signal.alarm(0)


def models() -> dict[str, bool]:
    """The classes that the libraries' tables name for a use, one of an architecture each; and whether it generates."""
    found: dict[str, bool] = {}
    for kind in (KINDS + MORE).split():
        for named in getattr(auto, f"MODEL_FOR_{kind}_MAPPING_NAMES", {}).values():
            found.setdefault(named if isinstance(named, str) else named[0], kind in GENERATE)
    return found


def tried(cls: type[torch.nn.Module], generates: bool) -> None:
    """What the model takes is looked for on the host: an index out of range would end the device for all others."""
    model, given = ready(cls)
    given = labelled(model, given)
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


def ready(cls: type[torch.nn.Module]) -> tuple[torch.nn.Module, dict]:
    """A model and what it takes: small sizes, else a backbone of timm, else as it is."""
    ways = (lambda: tiny(cls.config_class), lambda: cls.config_class(**BEHIND, **FEW), lambda: cls.config_class())
    fault = None
    for way in ways:
        try:
            config = way()
            with torch.device("meta"):
                if sum(parameter.numel() for parameter in cls(config).parameters()) > LARGEST:
                    raise ValueError("too large")
            seeded(0)
            model = cls(config).train()
            return model, first(model, model.config, "cpu")[0]
        except TimeoutError:
            raise
        except Exception as other:
            fault = fault or other
    raise fault


def labelled(model: torch.nn.Module, given: dict) -> dict:
    """The same with what it is to learn, if it takes any of the ways there are to say so."""
    size = given["pixel_values"].shape[-2:] if "pixel_values" in given else (32, 32)
    length = given["input_ids"].shape[-1] if "input_ids" in given else 12
    classes, few = torch.tensor([0, 1]), torch.tensor([1, 2])
    boxes = torch.tensor([[0.3, 0.3, 0.2, 0.2], [0.6, 0.5, 0.3, 0.4]])
    masks = (torch.arange(size[0] * size[1]).view(1, *size) % 3 == torch.arange(2).view(2, 1, 1)).float()
    known = {"class_labels": classes, "boxes": boxes, "masks": masks}
    ways = [
        {"labels": [known, known]},
        {"mask_labels": [masks, masks], "class_labels": [classes, classes]},
        {"start_positions": few, "end_positions": few + 1},
        {"labels": torch.arange(2 * length).view(2, length) % 3},
        {"labels": classes},
        {"labels": (torch.arange(2 * size[0] * size[1]).view(2, *size)) % 3},
        {"bool_masked_pos": torch.arange(16).repeat(2, 1) % 2 == 0},
        {"return_loss": True},
    ]
    names = inspect.signature(model.forward).parameters
    for way in ways if "labels" not in given else ():
        if not names.keys() >= way.keys():
            continue
        try:
            seeded(1)
            if total(model(**given, **way)) is not None:
                return given | way
        except TimeoutError:
            raise
        except Exception:
            continue
    return given


def moved(given):
    if isinstance(given, dict):
        return {name: moved(value) for name, value in given.items()}
    if isinstance(given, list):
        return [moved(value) for value in given]
    return given.to(D) if isinstance(given, torch.Tensor) else given


def too_long(*_: object) -> None:
    raise TimeoutError


main(*map(int, sys.argv[1:3] or (1, 1)))
