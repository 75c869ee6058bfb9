"""Op rows against the torch that is installed: their names, their evidence, and what a call really gives."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: F401, in the calls below
from torch import nn

from syncguard import pack
from syncguard.terms import SETUP

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from fitted import bound, holds  # noqa: E402
from observed import Seen, Watch, shown  # noqa: E402

PACK = pack.load()
HERE = (
    "torch",
    *sys.stdlib_module_names,
)  # the roots of names that can be looked up; other libraries need not be there
ELSEWHERE = {
    "torch.Tensor.hpu",  # only on a machine that has one
    "torch.ops.torchvision.nms",  # only where torchvision has been imported
    "torch.distributions.Uniform.high",  # of an instance
    "torch.distributions.Uniform.low",
    "torch.optim.Optimizer.param_groups",
    "torch.optim.Optimizer.state",
    "torch.nn.DataParallel.module",
    "torch.nn.parallel.DistributedDataParallel.module",
}


def constraints(kind: type) -> dict[str, Any]:
    """The parameters that a distribution declares, and keeps."""
    declared = vars(kind).get("arg_constraints", {})
    return declared if isinstance(declared, dict) else {}


def found(name: str) -> bool:
    """Is there such a thing? What a function returns is not looked into."""
    parts = name.split(".")
    if parts[:2] == ["torch", "npu"]:  # a plug-in puts it there
        return True
    if name.startswith("torch.utils.tensorboard."):  # needs a library of its own to be imported
        source = Path(torch.__file__).parent / "utils" / "tensorboard" / "writer.py"
        return f"    def {parts[-1]}(" in source.read_text()
    for n in range(len(parts), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(parts[:n]))
        except ImportError:
            continue
        for part in parts[n:]:
            if inspect.isroutine(thing):
                return True
            if not hasattr(thing, part):  # what a class declares, its instances have
                bases = getattr(thing, "__mro__", ())
                return any(part in {**inspect.get_annotations(base), **constraints(base)} for base in bases)
            thing = getattr(thing, part)
        return True
    return False


def test_every_name_is_found():
    gone = [
        name
        for name, op in PACK.ops.items()
        if name.partition(".")[0] in HERE and name not in ELSEWHERE and not (op.since or op.until) and not found(name)
    ]
    assert gone == []


def test_generated_names_are_found():
    assert PACK.torch == torch.__version__.partition("+")[0]
    gone = [name for name in sorted(PACK.made)[::17] if not found(name)]
    assert gone == []


def test_every_operator_of_unknown_size_or_answer_has_a_row():
    tags = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
    tagged = set()
    for full in torch._C._dispatch_get_all_op_names():
        name, _, overload = full.removeprefix("aten::").partition(".")
        packet = getattr(torch.ops.aten, name, None) if full.startswith("aten::") else None
        operator = getattr(packet, overload or "default", None)
        if operator is not None and tags & set(operator.tags):
            tagged.add(f"aten::{name}")
    rows = {word for op in PACK.ops.values() if op.waits for word in re.findall(r"aten::\w+", op.aten)}
    assert len(tagged) > 15
    assert sorted(tagged - rows) == []


def test_every_row_has_evidence():
    for name, op in PACK.ops.items():
        assert op.evidence, name
        assert all(item["at"].strip() and item["state"] in pack.STATES for item in op.evidence), name
        # What a source says holds for a version of it.
        assert all(item.get("torch") for item in op.evidence if item["state"] == "source" and name in PACK.made), name


def test_every_hazard_is_judged():
    hazards = {wait.hazard for op in PACK.ops.values() for wait in op.waits} - {SETUP}
    assert {hazard for hazard in hazards if hazard not in PACK.by_hazard(hazard).hazards} == set()
    assert len(hazards) > 25


def test_every_result_is_readable():
    for name, (text, *_) in PACK.made.items():
        assert pack.results(text), name


# What looks as if it waited, and does not.
NEVER = """
torch.any torch.all torch.Tensor.any torch.Tensor.all torch.sum torch.mean torch.amax torch.argmax torch.sort
torch._assert_async torch.nonzero_static torch.cumsum torch.gather torch.scatter
torch.Tensor.scatter_ torch.take_along_dim torch.Tensor.size torch.Tensor.dim torch.Tensor.numel torch.Tensor.__len__
torch.Tensor.detach torch.Tensor.data_ptr torch.Tensor.is_cuda torch.Tensor.device torch.Tensor.dtype
torch.Tensor.shape torch.Tensor.record_stream torch.bernoulli
torch.cuda.get_rng_state torch.cuda.set_rng_state torch.random.fork_rng torch.bucketize torch.meshgrid
torch.cartesian_prod torch.nn.functional.nll_loss torch.nn.functional.mse_loss
torch.nn.functional.kl_div torch.nn.functional.binary_cross_entropy_with_logits
torch.nn.functional.embedding torch.nn.LSTM.forward
torch.nn.MultiheadAttention.forward torch.nn.utils.rnn.pad_sequence torch.optim.SGD.step
torch.optim.AdamW.zero_grad torch.nn.Module.state_dict torch.optim.Optimizer.state_dict
torch.utils.checkpoint.checkpoint torch.compile torch.utils.dlpack.from_dlpack torch.distributed.all_reduce
torch.distributed.all_gather torch.distributed.broadcast torch.distributed.reduce_scatter_tensor
torch.distributed.all_to_all_single torch.distributed.Work.wait torch.distributed.get_rank
torch.distributed._functional_collectives.all_reduce torch.nn.parallel.DistributedDataParallel.no_sync
torch.utils.data.random_split torch.utils.data.RandomSampler torch.cuda.memory_allocated
torch.cuda.max_memory_allocated torch.cuda.memory_stats torch.cuda.reset_peak_memory_stats torch.cuda.utilization
torch.cuda.temperature torch.cuda.memory._record_memory_history torch.cuda.Event.query torch.cuda.Event.record
torch.cuda.Event.elapsed_time torch.cuda.Stream.wait_stream torch.cuda.Stream.wait_event torch.cuda.current_stream
torch.cuda.is_available torch.set_default_device torch.profiler.profile.step builtins.len builtins.sum
builtins.isinstance builtins.id builtins.list einops.rearrange flash_attn.flash_attn_func
xformers.ops.memory_efficient_attention accelerate.Accelerator.backward torch_scatter.segment_csr
""".split()


# What waits in one form, and not in the form that is meant here: each wait has a condition.
SELDOM = """
torch.where torch.topk torch.rand torch.randn torch.randperm torch.searchsorted torch.Tensor.masked_fill
torch.Tensor.masked_fill_ torch.Tensor.index_fill_ torch.linalg.inv_ex torch.linalg.cholesky_ex torch.linalg.solve_ex
torch.linalg.lu_factor_ex torch.Tensor.to torch.Tensor.cuda torch.nn.functional.one_hot torch.repeat_interleave
torch.nn.functional.ctc_loss torch.Tensor.__setitem__ torch.Tensor.__getitem__ torch.nn.utils.clip_grad_norm_
torch_geometric.utils.scatter torch_scatter.scatter_sum torch_geometric.utils.degree torchvision.utils.make_grid
torchmetrics.classification.BinaryAccuracy.update torch.nn.functional.cross_entropy torch.nn.CrossEntropyLoss.forward
torch.nn.BatchNorm2d.forward torch.nn.utils.rnn.pad_packed_sequence torch.multinomial
torch.nn.functional.scaled_dot_product_attention torch.clamp torch.Tensor.clip_ torch.Tensor.uniform_
torch.index_select torch.isin torch.mode torch.norm torch.linalg.matrix_norm torch._grouped_mm torch.equal
torch.manual_seed
""".split()


@pytest.mark.parametrize("name", NEVER)
def test_what_never_waits_has_a_row_without_waits(name):
    op = PACK.op(name)
    assert op is not None
    assert op.known, "no row of its own"
    assert op.waits == ()


@pytest.mark.parametrize("name", SELDOM)
def test_what_waits_seldom_has_conditions(name):
    op = PACK.op(name)
    assert op is not None
    assert op.waits
    assert all(wait.when for wait in op.waits)


# Real calls: the pack's result fits what comes back, by kind, dtype class and rank.
x, y, v, m = torch.rand(3, 4), torch.rand(3, 4), torch.rand(4), torch.eye(3) + 0.1
i, j, b = torch.arange(12).view(3, 4), torch.tensor([2, 0, 1]), torch.rand(3, 4) > 0.5
c, s = torch.rand(3, 4) + 1j, torch.tensor(2.0)
image, linear, norm = torch.rand(2, 3, 8, 8), nn.Linear(4, 2), torch.distributions.Normal(v, v + 1)
CALLS = """
torch.eq(x, y); torch.ne(x, 1); torch.lt(i, 3); torch.ge(x, y); torch.isnan(x); torch.isfinite(i)
torch.isclose(x, y); torch.logical_and(b, b); torch.logical_not(x); torch.isin(i, j); torch.signbit(x)
torch.isreal(c); b.logical_or(b); torch.sin(x); torch.exp(i); torch.sqrt(i); torch.sigmoid(b); torch.tanh(x)
torch.log1p(x); torch.rsqrt(x); torch.erf(x); torch.abs(x); torch.abs(i); torch.neg(i); torch.floor(x)
torch.round(x); torch.sign(i); torch.clamp(i, 0, 3); x.relu(); torch.add(x, y); torch.add(i, 1); torch.sub(x, i)
torch.mul(b, i); torch.div(i, i); torch.pow(x, 2); torch.fmod(x, 2); torch.true_divide(i, 2); torch.atan2(x, y)
torch.maximum(x, y); torch.bitwise_and(i, i); torch.remainder(i, 2); torch.sum(x); torch.sum(b); torch.sum(i, 0)
x.sum(dim=1); x.sum(dtype=torch.float64); torch.mean(x); torch.mean(x, 0); torch.prod(i); torch.amax(x, 0)
torch.amin(x); torch.std(x); torch.var(x, 1); torch.norm(x); torch.logsumexp(x, 0); torch.argmax(x)
torch.argmin(x, 1); torch.count_nonzero(i); torch.any(b); torch.all(b, 0); x.mean(); x.std(0); i.prod()
torch.max(x); torch.max(x, 0); torch.max(x, y); torch.min(i, 1); torch.median(x); torch.median(x, 0); torch.mode(i)
torch.topk(x, 2); torch.sort(x); torch.sort(i, descending=True); torch.argsort(x); torch.kthvalue(x, 1)
torch.cummax(x, 0); torch.cumsum(x, 0); torch.cumsum(b, 0); torch.cumprod(x, 1); torch.diff(x); torch.aminmax(x)
torch.histc(x, 4); torch.zeros(2, 3); torch.ones(4); torch.empty(2); torch.full((2,), 1.0); torch.eye(3)
torch.arange(4); torch.arange(1.0); torch.zeros(2, dtype=torch.int64); torch.ones(2, dtype=torch.bool)
torch.linspace(0, 1, 5); torch.tensor([1, 2]); torch.tensor([[0.5]]); torch.tensor(True); torch.as_tensor([1.0])
torch.rand(2); torch.randn(2, 2); torch.randint(3, (2,)); torch.randperm(4); torch.zeros_like(x); torch.ones_like(i)
torch.full_like(x, 2); torch.rand_like(x); torch.empty_like(b); torch.zeros_like(x, dtype=torch.bool)
x.new_zeros(2); i.new_ones(2, 2); x.new_full((2,), 1); x.new_tensor([1.0]); torch.cat([x, y]); torch.cat([x, i])
torch.stack([v, v]); torch.chunk(x, 2); torch.split(x, 2); x.unbind(0); x.chunk(2); torch.reshape(x, (-1,))
x.view(2, 6); x.flatten(); x.t(); x.transpose(0, 1); torch.permute(x, (1, 0)); x.unsqueeze(0); x.squeeze()
x.expand(2, 3, 4); x.repeat(2, 1); x.contiguous(); x.detach(); x.clone(); torch.tile(x, (2,)); x.flip(0)
torch.roll(x, 1); torch.tril(m); torch.triu(m); torch.diag(v); torch.diagonal(m); torch.gather(x, 1, i[:, :2] % 4)
torch.index_select(x, 0, j); torch.take(x, j); x.masked_fill(b, 0.0); torch.where(b, x, y); torch.where(b, x, 0.0)
torch.where(b); x.scatter(1, i % 4, 0.0); x.index_add(0, j, x); torch.masked_select(x, b); torch.nonzero(b)
torch.nonzero(b, as_tuple=True); torch.unique(i); torch.unique(i, return_counts=True); torch.bincount(j)
torch.argwhere(b); torch.bincount(j, weights=v[:3]); torch.unique(i, return_inverse=True)
torch.unique_consecutive(i); torch.numel(x); torch.matmul(x, v); torch.mm(m, m); torch.bmm(x[None], x.T[None])
torch.dot(v, v); torch.outer(v, v); torch.einsum("ij->i", x); torch.addmm(m, m, m); torch.kron(m, m)
torch.cdist(x, y); torch.trace(m); torch.det(m); torch.inverse(m); torch.equal(x, y); torch.linalg.norm(x)
torch.linalg.inv(m); torch.linalg.solve(m, m); torch.linalg.qr(m); torch.linalg.eigh(m); torch.linalg.svd(m)
torch.linalg.cholesky_ex(m); torch.linalg.slogdet(m); torch.linalg.vector_norm(x); torch.allclose(x, y)
torch.fft.fft(x); torch.fft.rfft(x); torch.view_as_real(c); torch.complex(x, y); torch.angle(c); torch.real(c)
c.abs(); F.relu(x); F.gelu(x); F.softmax(x, -1); F.log_softmax(x, 1); F.softmax(i, 0, dtype=torch.float32)
F.dropout(x); F.one_hot(j); F.cross_entropy(x, j); F.mse_loss(x, y); F.nll_loss(x, j); F.binary_cross_entropy(x, y)
F.l1_loss(x, y, reduction="none"); F.linear(x, x); F.layer_norm(x, (4,)); F.normalize(x); F.pad(x, (1, 1))
F.embedding(j, m); F.cosine_similarity(x, y); F.conv2d(image, image); F.max_pool2d(image, 2)
F.interpolate(image, scale_factor=2); F.unfold(image, 2); F.scaled_dot_product_attention(x[None], x[None], x[None])
F.logsigmoid(x); F.pairwise_distance(x, y); F.glu(x); x + y; x + 1; i + 1.0; 2 * i; i / 2; i // 2; x % 2; x ** 2; -x
~b; x > y; i == 3; x != y; b & b; b | b; x @ v; 1 - x; x.float(); x.long(); i.double(); b.int(); x.bool(); x.half()
x.cpu(); i.to("cpu"); x.size(); x.size(0); x.shape; x.dim(); x.numel()
x.is_floating_point(); x.dtype; x.T; s.item(); v.tolist(); x.element_size()
x.is_contiguous(); x.stride(); x.data_ptr(); x[0]; x[b]; x[:, 1]; i.max(); b.any(); x.clone().add_(1)
x.clone().zero_(); x.clone().fill_(2); x.clone().clamp_(0, 1); x.clone().copy_(y); v.clone().uniform_()
torch.special.expit(x); torch.special.gammaln(x); torch.logit(x); torch.nan_to_num(x); torch.lerp(x, y, 0.5)
torch.hypot(x, y); torch.searchsorted(v.sort().values, x); torch.bucketize(x, v.sort().values)
torch.multinomial(v, 2); torch.bernoulli(x); torch.meshgrid(v, v, indexing="ij"); torch.broadcast_tensors(x, v)
torch.atleast_2d(v); torch.cov(x); torch.quantile(x, 0.5); torch.repeat_interleave(v, 2); torch.cartesian_prod(v, v)
torch.combinations(v); torch.block_diag(m, m); torch.logspace(0, 1, 3)
"""
EXPRESSIONS = [text.strip() for line in CALLS.strip().splitlines() for text in line.split(";")]


@pytest.mark.parametrize(
    ("name", "places"),
    [
        ("torch.allclose", (0, 1)), ("torch.where", (0,)), ("torch.searchsorted", (0,)), ("torch.bucketize", (1,)),
        ("torch.add", ()), ("torch.as_tensor", ()), ("torch.stack", ()), ("torch.nn.functional.pad", (0,)),
        ("torch.nn.functional.embedding", (0, 1)), ("torch.linalg.solve", (0, 1)), ("torch.Tensor.gather", (2,)),
        ("torch.Tensor.copy_", ()), ("torch.Tensor.masked_fill", (1,)), ("torch.Tensor.index_add_", (2, 3)),
    ],
)  # fmt: skip
def test_places_where_nothing_but_a_tensor_is_taken(name: str, places: tuple[int, ...]) -> None:
    assert pack.load().op(name).takes == places


def test_results_are_what_torch_returns():
    wrong, names = [], set()
    for text in EXPRESSIONS:
        torch.manual_seed(0)
        with Watch() as watch:
            eval(text)
        for seen in watch.seen:
            op = PACK.op(seen.name)
            if op is None or op.returns in ("", "unknown"):
                continue
            names.add(op.name)
            if not holds(op.returns, bound(seen, ",".join(op.args))):
                wrong.append(f"{text}: {op.name} is `{op.returns}`, gave {seen.result}")
    assert wrong == []
    generated = {name for name in names if name not in PACK.ops or not PACK.ops[name].returns}
    assert len(names) > 250
    assert len(generated) > 150


# Calls that do not pass through torch's dispatch of functions.
OTHERS = {
    "torch.is_tensor": lambda: torch.is_tensor(x),
    "torch.numel": lambda: torch.numel(x),
    "torch.get_default_dtype": torch.get_default_dtype,
    "torch.is_grad_enabled": torch.is_grad_enabled,
    "torch.from_numpy": lambda: torch.from_numpy(v.numpy()),
    "torch.nn.Linear.forward": lambda: linear(x),
    "torch.nn.Module.parameters": lambda: list(linear.parameters()),
    "torch.nn.Module.named_parameters": lambda: [list(pair) for pair in linear.named_parameters()],
    "torch.nn.Module.zero_grad": linear.zero_grad,
    "torch.nn.utils.clip_grad_norm_": lambda: nn.utils.clip_grad_norm_(linear.parameters(), 1.0),
    "torch.nn.utils.parameters_to_vector": lambda: nn.utils.parameters_to_vector(linear.parameters()),
    "torch.nn.utils.rnn.pad_sequence": lambda: nn.utils.rnn.pad_sequence([v, v]),
    "torch.distributions.Normal.sample": norm.sample,
    "torch.distributions.Normal.log_prob": lambda: norm.log_prob(v),
    "torch.distributions.Normal.entropy": norm.entropy,
    "torch.autograd.grad": lambda: torch.autograd.grad(linear(x).sum(), list(linear.parameters())),
    "torch.utils.data.get_worker_info": torch.utils.data.get_worker_info,
    "torch.cuda.is_available": torch.cuda.is_available,
    "torch.cuda.device_count": torch.cuda.device_count,
    "torch.distributed.is_initialized": torch.distributed.is_initialized,
    "torch.nn.init.zeros_": lambda: nn.init.zeros_(x.clone()),
}


@pytest.mark.parametrize("name", OTHERS)
def test_results_of_other_calls(name):
    op = PACK.op(name)
    assert op is not None
    if op.returns not in ("", "unknown", "new", "self"):
        seen = Seen(name, (), {}, shown(OTHERS[name]()))
        assert holds(op.returns, bound(seen, "")), f"`{op.returns}`, gave {seen.result}"
