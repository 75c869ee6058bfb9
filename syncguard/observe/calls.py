"""The frame of a function -> a call of it with arguments of the same kinds, as source; "" where that cannot be."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

DeviceOf = Callable[[Any], str]
LONGEST, MOST = 60, 8
BOUND = 10  # of made-up integers: they are often labels or indices


def call_of(frame: FrameType | None, device_of: DeviceOf) -> str:
    """The call, of a plain function with arguments that it has not rebound to something else."""
    if frame is None or frame.f_code.co_name.startswith("<") or "." in frame.f_code.co_qualname:
        return ""
    code = frame.f_code
    if code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return ""
    values = frame.f_locals
    first, last = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    words: list[str] = []
    for number, name in enumerate(code.co_varnames[:last]):
        text = written(values[name], device_of) if name in values else ""
        if not text:
            return ""
        words.append(text if number < first else f"{name}={text}")
    return f"{code.co_name}({', '.join(words)})"


def written(value: Any, device_of: DeviceOf, depth: int = 0) -> str:
    """A value of the same kind as source; "" for what we cannot write."""
    torch: Any = sys.modules.get("torch")
    if value is None or type(value) in (bool, int, float, str):
        text = repr(value)
        return text if len(text) <= LONGEST else ""
    if torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter):
        return _tensor(value, torch, device_of(value))
    if torch is not None and type(value) in (torch.dtype, torch.device):
        return str(value) if type(value) is torch.dtype else repr(str(value))
    if type(value) in (list, tuple) and len(value) <= MOST and depth < 2:
        parts = [written(item, device_of, depth + 1) for item in value]
        if not all(parts):
            return ""
        inside = ", ".join(parts)
        return f"[{inside}]" if type(value) is list else f"({inside},)" if len(parts) == 1 else f"({inside})"
    if type(value) is dict and len(value) <= MOST and depth < 2:
        pairs = [(written(key, device_of, 2), written(item, device_of, depth + 1)) for key, item in value.items()]
        return "{" + ", ".join(f"{k}: {v}" for k, v in pairs) + "}" if all(k and v for k, v in pairs) else ""
    return ""


def _tensor(value: Any, torch: Any, device: str) -> str:
    if value.layout is not torch.strided:
        return ""
    shape = list(value.shape)
    where = f', device="{device}"' if device != "cpu" else ""
    if value.dtype is torch.bool:
        return f"torch.rand({shape}{where}) > 0.5"
    if value.dtype.is_floating_point:
        dtype = "" if value.dtype is torch.float32 else f", dtype={value.dtype}"
        grad = ", requires_grad=True" if value.requires_grad else ""
        return f"torch.rand({shape}{dtype}{where}{grad})"
    if value.dtype.is_complex:
        return f"torch.rand({shape}, dtype={value.dtype}{where})"
    dtype = "" if value.dtype is torch.int64 else f", dtype={value.dtype}"
    return f"torch.randint({BOUND}, {shape}{dtype}{where})"
