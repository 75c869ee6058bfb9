"""Write rules/evidence.toml: the attribute names that prove something to be a tensor.

They come from what torch, numpy, pandas and Python have. Run with all three installed: `python tools/evidence.py`.
"""

from __future__ import annotations

import decimal
import functools
import inspect
import io
import json
import pathlib
import socket
import symtable
import weakref

import numpy as np
import pandas as pd
import torch

RULES = pathlib.Path(__file__).parents[1] / "rules"
OTHERS = [
    np.ndarray,
    np.generic,
    pd.DataFrame,
    pd.Series,
    pd.Index,
    list,
    dict,
    set,
    str,
    bytes,
    int,
    float,
    complex,
    tuple,
    torch.nn.Module,
    torch.optim.Optimizer,
    torch.nn.utils.rnn.PackedSequence,
    torch.Size,
    torch.device,
    torch.dtype,
    torch.distributions.Distribution,
    torch.cuda.Event,
    torch.cuda.Stream,
    torch.Generator,
    pathlib.Path,
    torch.distributions.Normal,
    torch.cuda.CUDAGraph,
    torch.amp.GradScaler,
    torch.utils.data.DataLoader,
    torch.nn.ModuleList,
    torch.nn.ModuleDict,
    torch.UntypedStorage,
    torch.TypedStorage,
]
# Names that our own and other libraries' containers of tensors have too, so that they prove nothing.
SHARED = """
to cpu cuda numpy device dtype shape size dim ndim type float half double bfloat16 long int bool clone detach item
tolist data grad is_cuda layout map_ apply_ apply backward register_hook requires_grad requires_grad_ share_memory_
pin_memory is_pinned is_shared record_stream storage untyped_storage new names rename rename_ align_to align_as
refine_names unflatten select split chunk gather stack cat unbind unsqueeze_ squeeze_ view reshape flatten permute
expand expand_as contiguous is_contiguous index index_select masked_select masked_fill masked_fill_ name module
H mH retain_grad is_leaf set_ resize_ resize where add sub mul div add_ sub_ mul_ div_ update char short byte log exp
sqrt square abs neg sign norm coalesce is_sparse sparse_dim dense_dim values indices row col crow_indices
col_indices nnz to_dense to_sparse is_coalesced unique sort topk max min mean sum std var any all triu tril solve
inverse cholesky det logdet diagonal diag fill_ zero_ fill_diagonal_ normal_ uniform_ random_ copy_ lerp lerp_ volatile
xpu mps ipu hpu mtia cdouble cfloat chalf positive moveaxis movedim renorm storage_offset data_ptr element_size nbytes
numel nelement random_from q_scale grad_fn output_nr corrcoef cov histogram rad2deg deg2rad new_tensor new_zeros
new_ones new_empty new_full squeeze unsqueeze narrow matmul mm sigmoid softmax relu tanh t scatter
""".split()
# Classes that come with Python and have methods of the same names: where nothing else is imported, those prove nothing.
PYTHONS = [decimal.Decimal, decimal.Context, weakref.finalize, io.TextIOWrapper, socket.socket, symtable.Function]
# What only tensors, modules and containers of tensors have: asked of something unknown, it moves tensors all the same.
SHARED_WITH_MODULES = ["cpu", "cuda"]
STRONG = """
unsqueeze masked_fill masked_fill_ masked_select index_select new_zeros new_ones new_full new_empty new_tensor
grad_fn index_add_ scatter_ softmax sigmoid element_size data_ptr storage_offset unsqueeze_ squeeze_
detach backward expand_as narrow
""".split()
# What no array and no module has, but many a container of tensors: two of these, or one with a shape, are proof enough.
TOGETHER = """
size() dim() numel() nelement() requires_grad is_leaf is_contiguous() contiguous() permute() unbind() chunk()
register_hook() retain_grad() unflatten() movedim() moveaxis() tril() triu() topk() t() lerp() lerp_() zero_() add_()
sub_() mul_() div_() copy_() normal_() uniform_() fill_diagonal_() matmul() mm()
""".split()


def resolve(name: str) -> tuple[object, object]:
    """The owner and the attribute behind a dotted name."""
    owner: object = None
    found: object = torch
    for part in name.split(".")[1:]:
        owner, found = found, inspect.getattr_static(found, part) if isinstance(found, type) else getattr(found, part)
    return owner, found


def properties() -> list[str]:
    """The rows that are read, not called."""
    rows = json.loads((RULES / "ops" / "results.json").read_text())["results"]
    found = []
    for name in rows:
        if not name.startswith("torch."):
            continue
        try:
            owner, value = resolve(name)
        except (AttributeError, ImportError, RuntimeError):
            continue
        if isinstance(owner, type) and (
            inspect.isdatadescriptor(value)
            or isinstance(value, property | functools.cached_property)
            or not (callable(value) or hasattr(value, "__get__"))
        ):
            found.append(name)
    return sorted(found)


def dtypes() -> dict[str, list[str]]:
    """The class of each dtype's name."""
    found: dict[str, list[str]] = {"bool": [], "int": [], "float": [], "complex": []}
    for name in dir(torch):
        value = getattr(torch, name)
        if isinstance(value, torch.dtype):
            found[
                "complex"
                if value.is_complex
                else "float"
                if value.is_floating_point
                else "bool"
                if value is torch.bool
                else "int"
            ].append(f"torch.{name}")
    return found


def main() -> None:
    tensor = {name for name in dir(torch.Tensor) if not name.startswith("_")}
    others = {name for kind in OTHERS for name in dir(kind)}
    only = sorted((tensor - others - set(SHARED)) | (set(STRONG) & tensor))
    names = sorted(tensor)
    of_python = {name for kind in PYTHONS for name in dir(kind)}
    words = sorted(name for name in only if name in of_python or not ("_" in name or name in STRONG))
    target = RULES / "evidence.toml"
    family = sorted(name for name in SHARED_WITH_MODULES if name in tensor)
    text = f"# Made by tools/evidence.py from torch {torch.__version__.split('+')[0]}; do not edit.\n[evidence]\n"
    for key, values in (
        ("tensor_only", only),
        ("words", words),
        ("tensor_names", names),
        ("family", family),
        ("keywords", ["as_tuple", "dim", "end_dim", "keepdim", "start_dim"]),
        ("together", sorted(TOGETHER)),
        ("shaped", ["ndim", "shape"]),
        ("sized", ["dtype", "ndim", "shape", "size"]),
        ("placed", ["cpu", "cuda", "device", "is_cuda"]),
        ("operands", ["A", "B", "boxes", "input", "mat", "query", "self", "tensor", "x"]),
        ("properties", properties()),
    ):
        lines = [", ".join(f'"{v}"' for v in values[i : i + 12]) for i in range(0, len(values), 12)]
        text += f"{key} = [\n  " + ",\n  ".join(lines) + ",\n]\n"
    text += "\n[dtypes]\n" + "".join(
        f"{key} = [{', '.join(repr(n) for n in values)}]\n".replace("'", '"') for key, values in dtypes().items()
    )
    target.write_text(text)


if __name__ == "__main__":
    main()
