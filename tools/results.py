"""Torch's own stubs, signatures and observed results -> rules/ops/results.json: what every public torch callable returns.

Run with a Python that has torch: `python tools/results.py` writes the file, `python tools/results.py --check` compares it with what torch does.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from fitted import bound, fit, holds
from observed import Seen, observe
from torch.overrides import resolve_name

from syncguard.pack import load

ROOT = Path(__file__).parent.parent
OUT = ROOT / "rules" / "ops" / "results.json"
STUBS = Path(torch.__file__).parent / "_C"

MODULES = """torch torch.functional torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.utils.parametrize
torch.nn.utils.parametrizations torch.nn.utils.stateless torch.nn.utils.fusion torch.nn.utils.prune torch.nn.utils.clip_grad torch.nn.utils.convert_parameters
torch.nn.utils.weight_norm torch.nn.utils.spectral_norm torch.nn.parallel torch.nn.parameter torch.nn.attention torch.nn.attention.flex_attention
torch.nn.attention.bias torch.nn.modules torch.linalg torch.fft torch.special torch.distributions torch.distributions.kl
torch.distributions.constraints torch.distributions.transforms torch.distributions.utils torch.amp torch.amp.autocast_mode torch.amp.grad_scaler
torch.cuda torch.cuda.amp torch.cuda.memory torch.cuda.nvtx torch.cuda.graphs torch.cuda.streams torch.cuda.random torch.cuda.comm
torch.accelerator torch.accelerator.memory torch.cpu torch.mps torch.distributed torch.distributed.distributed_c10d torch.distributed.nn
torch.distributed.nn.functional torch.distributed.fsdp torch.distributed.checkpoint torch.distributed.checkpoint.state_dict
torch.distributed.algorithms torch.distributed.tensor torch.distributed.tensor.parallel torch.distributed.device_mesh torch.distributed.optim
torch.distributed.pipelining torch.distributed._functional_collectives torch.distributed.elastic.multiprocessing.errors torch.optim torch.optim.lr_scheduler
torch.optim.swa_utils torch.optim.optimizer torch.utils torch.utils.data torch.utils.data.distributed torch.utils.data.dataset
torch.utils.data.dataloader torch.utils.data.sampler torch.utils.data._utils.collate torch.utils.checkpoint torch.utils.dlpack torch.utils.benchmark
torch.utils.tensorboard torch.utils.hooks torch.utils.flop_counter
torch.utils._pytree torch.utils.module_tracker torch.autograd torch.autograd.functional torch.autograd.forward_ad torch.autograd.graph
torch.autograd.profiler torch.autograd.function torch.autograd.grad_mode torch.autograd.anomaly_mode torch.autograd.gradcheck torch.func
torch.sparse torch.nested torch.random torch.backends torch.backends.cuda torch.backends.cudnn torch.backends.mps torch.backends.mkldnn
torch.backends.mkl torch.backends.openmp torch.backends.opt_einsum torch.backends.cpu torch.testing torch.compiler torch.jit torch.overrides
torch.library torch.profiler torch.masked torch.signal torch.signal.windows torch.export torch.multiprocessing torch.hub torch.futures
torch.serialization torch.storage torch.quasirandom 
torch.return_types """.split()
PRIVATE = """torch._assert torch._assert_async torch._check torch._check_tensor_all torch._check_is_size torch._grouped_mm torch._scaled_mm torch._int_mm
torch._cslt_sparse_mm torch._nested_tensor_from_mask torch._shape_as_tensor torch._unique2 torch._weight_norm torch._softmax torch._log_softmax torch._sample_dirichlet
torch._is_all_true torch._is_any_true torch._fused_moving_avg_obs_fq_helper torch._functional_assert_async torch._dynamo.graph_break torch._dynamo.mark_dynamic
torch._dynamo.reset torch._dynamo.disable torch._dynamo.is_compiling torch._fused_adam_ torch._fused_adamw_ torch._fused_sgd_
torch._amp_foreach_non_finite_check_and_unscale_ torch._amp_update_scale_ torch._segment_reduce torch._higher_order_ops.cond torch._higher_order_ops.while_loop torch._higher_order_ops.scan
torch._higher_order_ops.associative_scan torch._higher_order_ops.map torch._higher_order_ops.flex_attention""".split()
SHOWN = ("Generator", "Size", "Stream", "Event", "device", "dtype", "finfo", "iinfo")
OPERATORS = """__add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __truediv__ __rtruediv__ __itruediv__ __floordiv__ __rfloordiv__
__ifloordiv__ __mod__ __rmod__ __imod__ __pow__ __rpow__ __ipow__ __matmul__ __rmatmul__ __imatmul__ __and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__
__rxor__ __ixor__ __lshift__ __rlshift__ __ilshift__ __rshift__ __rrshift__ __irshift__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __neg__ __pos__ __abs__
__invert__ __iter__ __len__ __reversed__ __deepcopy__ cfloat cdouble""".split()
COLLECTIVES = """isend irecv all_reduce all_reduce_coalesced all_gather all_gather_coalesced all_gather_into_tensor all_gather_single all_to_all
all_to_all_single broadcast reduce reduce_scatter reduce_scatter_single reduce_scatter_tensor gather scatter barrier"""
MADE = {
    "torch.cuda.current_stream": "torch.cuda.Stream",
    "torch.cuda.default_stream": "torch.cuda.Stream",
    "torch.cuda.ExternalStream": "torch.cuda.Stream",
    "torch.accelerator.current_stream": "torch.Stream",
    "torch.nn.utils.rnn.pack_padded_sequence": "torch.nn.utils.rnn.PackedSequence",
    "torch.nn.utils.rnn.pack_sequence": "torch.nn.utils.rnn.PackedSequence",
    "torch.xpu.current_stream": "torch.Stream",
    **{f"torch.distributed.{name}": "torch.distributed.Work" for name in COLLECTIVES.split()},
}  # functions that make an instance: they stand for its class
FIXED = """
torch.max torch.min torch.Tensor.max torch.Tensor.min: tensor promote if given other; tensor promote if tensor dim; named(values=tensor, indices=tensor int) if given dim; tensor 0d
torch.median torch.nanmedian torch.Tensor.median torch.Tensor.nanmedian: named(values=tensor, indices=tensor int) if given dim; tensor 0d
torch.nonzero torch.Tensor.nonzero: list(tensor int 1d) if true as_tuple; tensor int 2d
torch.where: list(tensor int 1d) if alone condition; tensor promote
torch.div torch.divide torch.Tensor.div torch.Tensor.divide: tensor promote if given rounding_mode; tensor float
torch.bincount torch.Tensor.bincount: tensor float 1d if given weights; tensor int 1d
torch.unique torch.Tensor.unique torch.unique_consecutive torch.Tensor.unique_consecutive: tuple(tensor, tensor int, tensor int 1d) if true return_inverse, true return_counts; tuple(tensor, tensor int) if true return_inverse; tuple(tensor, tensor int 1d) if true return_counts; tensor
torch.linspace torch.logspace: tensor float 1d factory
torch.nn.functional.embedding: tensor float
torch.atleast_1d torch.atleast_2d torch.atleast_3d: tensor
torch.broadcast_tensors torch.meshgrid torch.Tensor.unbind: list(tensor)
torch.Tensor.size: int if given dim; size
torch.Tensor.stride: int if given dim; list(int)
torch.Tensor.item: number
torch.Tensor.tolist: list(number)
torch.Tensor.to: tensor samerank
torch.Tensor.type: str if alone self; tensor samerank
torch.Tensor.numpy torch.Tensor.__array__: array
torch.Tensor.__iter__: list(tensor)
torch.Tensor.__len__: int
torch.lu torch.Tensor.lu: tuple(tensor, tensor int, tensor int) if true get_infos; tuple(tensor, tensor int)
torch.nn.MaxPool1d.forward torch.nn.MaxPool2d.forward torch.nn.MaxPool3d.forward: tuple(tensor samerank, tensor int samerank) if true return_indices; tensor samerank
torch.Tensor.__getitem__: tensor
torch.Tensor.__setitem__: none
torch.Tensor.__reversed__ torch.Tensor.__deepcopy__: tensor samerank
torch.sum torch.Tensor.sum torch.nansum torch.Tensor.nansum torch.prod torch.Tensor.prod: tensor count reduce kwarg
torch.cumsum torch.Tensor.cumsum torch.cumprod torch.Tensor.cumprod: tensor count samerank kwarg
torch.cat torch.concat torch.concatenate torch.stack torch.hstack torch.vstack torch.dstack torch.column_stack torch.row_stack torch.cartesian_prod: tensor
torch.block_diag: tensor promote
torch.full: tensor bool factory if true fill_value; tensor promote factory
torch.tensor torch.as_tensor torch.asarray torch.scalar_tensor torch.arange torch.range: tensor promote factory
torch.Tensor.new_tensor: tensor promote like
torch.nn.functional.cross_entropy torch.nn.functional.nll_loss torch.nn.functional.binary_cross_entropy torch.nn.functional.binary_cross_entropy_with_logits torch.nn.functional.mse_loss torch.nn.functional.l1_loss torch.nn.functional.smooth_l1_loss torch.nn.functional.huber_loss torch.nn.functional.kl_div torch.nn.functional.ctc_loss torch.nn.functional.cosine_embedding_loss torch.nn.functional.hinge_embedding_loss torch.nn.functional.margin_ranking_loss torch.nn.functional.multi_margin_loss torch.nn.functional.multilabel_margin_loss torch.nn.functional.multilabel_soft_margin_loss torch.nn.functional.poisson_nll_loss torch.nn.functional.gaussian_nll_loss torch.nn.functional.soft_margin_loss torch.nn.functional.triplet_margin_loss torch.nn.functional.triplet_margin_with_distance_loss: tensor float
torch.nn.functional.one_hot: tensor int
torch.std torch.var torch.Tensor.std torch.Tensor.var: tensor float reduce
torch.logsumexp torch.Tensor.logsumexp: tensor float
torch.argmax torch.argmin torch.Tensor.argmax torch.Tensor.argmin torch.count_nonzero torch.Tensor.count_nonzero: tensor int reduce
torch.any torch.all torch.Tensor.any torch.Tensor.all: tensor bool reduce
torch.isnan torch.isinf torch.isfinite torch.isposinf torch.isneginf torch.isreal torch.Tensor.isnan torch.Tensor.isinf torch.Tensor.isfinite torch.Tensor.isposinf torch.Tensor.isneginf torch.Tensor.isreal: tensor bool samerank
torch.randint torch.randperm: tensor int factory
torch.Tensor.shape: size
torch.numel torch.Tensor.numel torch.Tensor.nelement torch.Tensor.dim torch.Tensor.ndimension torch.Tensor.get_device torch.Tensor.element_size torch.Tensor.data_ptr torch.Tensor.storage_offset: int
torch.from_numpy torch.frombuffer: tensor host
torch.Tensor.cpu: tensor samerank host
torch.Tensor.pin_memory: tensor samerank pinned
torch.tril_indices torch.triu_indices: tensor int 2d factory
torch.is_tensor torch.is_complex torch.is_floating_point torch.is_nonzero torch.equal torch.allclose torch.is_storage torch.is_grad_enabled torch.is_inference_mode_enabled torch.is_autocast_enabled: bool
torch.FloatTensor torch.DoubleTensor torch.HalfTensor torch.BFloat16Tensor: tensor float host
torch.LongTensor torch.IntTensor torch.ShortTensor torch.ByteTensor torch.CharTensor: tensor int host
torch.BoolTensor: tensor bool host
torch.cuda.FloatTensor torch.cuda.DoubleTensor torch.cuda.HalfTensor torch.cuda.BFloat16Tensor: tensor float device
torch.cuda.LongTensor torch.cuda.IntTensor torch.cuda.ShortTensor torch.cuda.ByteTensor torch.cuda.CharTensor: tensor int device
torch.cuda.BoolTensor: tensor bool device
torch.Tensor: tensor float host
torch.nn.Parameter torch.nn.Buffer torch.nn.UninitializedParameter: tensor samerank
torch.nn.utils.rnn.pad_sequence: tensor
torch.nn.utils.rnn.pad_packed_sequence: tuple(tensor, tensor int 1d host)
torch.nn.utils.rnn.unpad_sequence torch.nn.utils.rnn.unpack_sequence: list(tensor)
torch.nn.utils.clip_grad_norm_ torch.nn.utils.clip_grad_norm torch.nn.utils.get_total_norm: tensor float 0d
torch.nn.utils.clip_grad_value_ torch.nn.utils.clip_grads_with_norm_: none
torch.nn.utils.parameters_to_vector: tensor float 1d
torch.autograd.grad: list(tensor)
torch.distributions.Distribution.sample torch.distributions.Distribution.rsample torch.distributions.Distribution.log_prob torch.distributions.Distribution.entropy torch.distributions.Distribution.cdf torch.distributions.Distribution.icdf torch.distributions.Distribution.mean torch.distributions.Distribution.variance torch.distributions.Distribution.stddev torch.distributions.Distribution.mode torch.distributions.Distribution.perplexity: tensor float
torch.distributions.Categorical.sample torch.distributions.Categorical.mode: tensor int
torch.distributions.kl_divergence torch.distributions.kl.kl_divergence: tensor float
torch.utils.checkpoint.checkpoint torch.utils.checkpoint.checkpoint_sequential: unknown
torch.load torch.hub.load: unknown
torch.stft torch.Tensor.stft: tensor complex if true return_complex; tensor float
torch.Tensor.sum_to_size: tensor
torch.distributions.RelaxedBernoulli.temperature torch.distributions.RelaxedOneHotCategorical.temperature: unknown
torch.embedding_bag: tuple(tensor float, tensor int, tensor int, tensor int)
torch.Tensor.__add__ torch.Tensor.__radd__ torch.Tensor.__sub__ torch.Tensor.__rsub__ torch.Tensor.__mul__ torch.Tensor.__rmul__ torch.Tensor.__floordiv__ torch.Tensor.__rfloordiv__ torch.Tensor.__mod__ torch.Tensor.__rmod__ torch.Tensor.__pow__ torch.Tensor.__rpow__ torch.Tensor.__matmul__ torch.Tensor.__rmatmul__ torch.Tensor.__and__ torch.Tensor.__rand__ torch.Tensor.__or__ torch.Tensor.__ror__ torch.Tensor.__xor__ torch.Tensor.__rxor__: tensor promote
torch.Tensor.__lshift__ torch.Tensor.__rlshift__ torch.Tensor.__rshift__ torch.Tensor.__rrshift__: tensor int
torch.Tensor.__truediv__ torch.Tensor.__rtruediv__ torch.Tensor.__div__ torch.Tensor.__rdiv__: tensor float
torch.Tensor.__eq__ torch.Tensor.__ne__ torch.Tensor.__lt__ torch.Tensor.__le__ torch.Tensor.__gt__ torch.Tensor.__ge__: tensor bool
torch.Tensor.__iadd__ torch.Tensor.__isub__ torch.Tensor.__imul__ torch.Tensor.__itruediv__ torch.Tensor.__ifloordiv__ torch.Tensor.__imod__ torch.Tensor.__ipow__ torch.Tensor.__imatmul__ torch.Tensor.__iand__ torch.Tensor.__ior__ torch.Tensor.__ixor__ torch.Tensor.__ilshift__ torch.Tensor.__irshift__ torch.Tensor.__idiv__: self
torch.Tensor.__neg__ torch.Tensor.__pos__ torch.Tensor.__invert__ torch.Tensor.T torch.Tensor.H torch.Tensor.mT torch.Tensor.mH torch.Tensor.grad torch.Tensor.data torch.Tensor.detach torch.Tensor.clone torch.Tensor.contiguous torch.clone torch.detach torch.Tensor.requires_grad_ torch.Tensor.t torch.t: tensor samerank
torch.Tensor.__abs__: tensor samerank
torch.Tensor.real torch.Tensor.imag: tensor float samerank
torch.Tensor.cfloat torch.Tensor.cdouble: tensor complex samerank
torch.Tensor.cuda torch.Tensor.xpu torch.Tensor.mps torch.Tensor.hpu torch.Tensor.mtia: tensor samerank device
torch.Tensor.backward torch.autograd.backward torch.Tensor.retain_grad torch.Tensor.record_stream: none
torch.Tensor.share_memory_: self
torch.Tensor.to_sparse_coo: tensor
torch.Tensor.is_shared: bool
torch.Tensor.tolist: list(number)
torch.softmax torch.log_softmax torch.Tensor.softmax torch.Tensor.log_softmax torch.nn.functional.softmax torch.nn.functional.log_softmax torch.nn.functional.softmin torch.special.softmax torch.special.log_softmax: tensor float samerank kwarg
torch.linalg.norm torch.linalg.vector_norm torch.linalg.matrix_norm: tensor float reduce kwarg
torch.nn.Module.parameters torch.nn.Module.buffers: list(tensor)
torch.nn.Module.named_parameters torch.nn.Module.named_buffers: list(tuple(str, tensor))
torch.nn.Module.modules torch.nn.Module.children: list(module)
torch.nn.Module.named_modules torch.nn.Module.named_children: list(tuple(str, module))
torch.nn.Module.to torch.nn.Module.cuda torch.nn.Module.cpu torch.nn.Module.eval torch.nn.Module.train torch.nn.Module.half torch.nn.Module.float torch.nn.Module.double torch.nn.Module.bfloat16 torch.nn.Module.type torch.nn.Module.to_empty torch.nn.Module.requires_grad_ torch.nn.Module.apply torch.nn.Module.share_memory: self
torch.nn.Module.zero_grad torch.nn.Module.register_buffer torch.nn.Module.register_parameter torch.nn.Module.add_module: none
torch.nn.Linear.forward torch.nn.Conv1d.forward torch.nn.Conv2d.forward torch.nn.Conv3d.forward torch.nn.ConvTranspose1d.forward torch.nn.ConvTranspose2d.forward torch.nn.ConvTranspose3d.forward torch.nn.LayerNorm.forward torch.nn.RMSNorm.forward torch.nn.GroupNorm.forward torch.nn.BatchNorm1d.forward torch.nn.BatchNorm2d.forward torch.nn.BatchNorm3d.forward torch.nn.SyncBatchNorm.forward torch.nn.InstanceNorm1d.forward torch.nn.InstanceNorm2d.forward torch.nn.InstanceNorm3d.forward torch.nn.Transformer.forward torch.nn.TransformerEncoder.forward torch.nn.TransformerDecoder.forward torch.nn.TransformerEncoderLayer.forward torch.nn.TransformerDecoderLayer.forward torch.nn.Dropout.forward torch.nn.GELU.forward torch.nn.SiLU.forward torch.nn.Tanh.forward torch.nn.Sigmoid.forward torch.nn.Softmax.forward torch.nn.LogSoftmax.forward: tensor float samerank
torch.nn.Bilinear.forward torch.nn.EmbeddingBag.forward torch.nn.CosineSimilarity.forward torch.nn.PairwiseDistance.forward: tensor float
torch.nn.LSTM.forward: tuple(tensor float, tuple(tensor float, tensor float))
torch.nn.GRU.forward torch.nn.RNN.forward: tuple(tensor float, tensor float)
torch.nn.LSTMCell.forward: tuple(tensor float, tensor float)
torch.nn.GRUCell.forward torch.nn.RNNCell.forward: tensor float
torch.nn.MultiheadAttention.forward: tuple(tensor float, tensor float)
torch.nn.AdaptiveLogSoftmaxWithLoss.forward: named(output=tensor float, loss=tensor float 0d)
torch.nn.Sequential.forward torch.nn.Module.forward torch.nn.Module.__call__: unknown
torch.nn.Identity.forward torch.nn.ReLU.forward: tensor samerank
torch.nn.CrossEntropyLoss.forward torch.nn.NLLLoss.forward torch.nn.MSELoss.forward torch.nn.L1Loss.forward torch.nn.SmoothL1Loss.forward torch.nn.HuberLoss.forward torch.nn.BCELoss.forward torch.nn.BCEWithLogitsLoss.forward torch.nn.KLDivLoss.forward torch.nn.CTCLoss.forward torch.nn.GaussianNLLLoss.forward torch.nn.PoissonNLLLoss.forward torch.nn.CosineEmbeddingLoss.forward torch.nn.HingeEmbeddingLoss.forward torch.nn.MarginRankingLoss.forward torch.nn.MultiMarginLoss.forward torch.nn.MultiLabelMarginLoss.forward torch.nn.MultiLabelSoftMarginLoss.forward torch.nn.SoftMarginLoss.forward torch.nn.TripletMarginLoss.forward torch.nn.TripletMarginWithDistanceLoss.forward: tensor float
torch.optim.Optimizer.zero_grad torch.optim.Optimizer.load_state_dict torch.optim.Optimizer.add_param_group torch.optim.lr_scheduler.LRScheduler.step: none
torch.optim.lr_scheduler.LRScheduler.get_last_lr torch.optim.lr_scheduler.LRScheduler.get_lr: list(float)
torch.GradScaler.scale: tensor
torch.GradScaler.get_scale torch.GradScaler.get_growth_factor torch.GradScaler.get_backoff_factor: float
torch.GradScaler.unscale_ torch.GradScaler.update: none
torch.broadcast_shapes: size
torch.chain_matmul: tensor float 2d
torch._assert torch._check torch._check_is_size torch._check_tensor_all torch.set_printoptions torch.clear_autocast_cache torch.set_default_device torch.set_default_dtype torch.set_grad_enabled: none
torch.get_device: int
torch.get_autocast_dtype torch.get_autocast_cpu_dtype torch.get_autocast_gpu_dtype torch.get_default_dtype: dtype
torch.is_anomaly_enabled torch.is_anomaly_check_nan_enabled torch.is_autocast_cache_enabled torch.is_autocast_cpu_enabled: bool
torch.cuda.is_available torch.cuda.is_initialized torch.cuda.is_current_stream_capturing torch.accelerator.is_available torch.distributed.is_available torch.distributed.is_initialized torch.compiler.is_compiling torch.jit.is_scripting torch.jit.is_tracing torch.is_deterministic_algorithms_warn_only_enabled torch.are_deterministic_algorithms_enabled: bool
torch.cuda.device_count torch.cuda.current_device torch.cuda.memory_allocated torch.cuda.max_memory_allocated torch.cuda.memory_reserved torch.cuda.max_memory_reserved torch.accelerator.device_count torch.distributed.get_rank torch.distributed.get_world_size torch.initial_seed torch.seed torch.get_num_threads: int
torch.cuda.mem_get_info: tuple(int, int)
torch.cuda.Event.elapsed_time torch.Event.elapsed_time: float
torch.cuda.Event.query torch.cuda.Stream.query torch.Event.query torch.Stream.query: bool
torch.cuda.Event.synchronize torch.cuda.Event.wait torch.cuda.Stream.synchronize torch.cuda.Stream.wait_stream torch.cuda.Stream.wait_event torch.Event.synchronize torch.Stream.synchronize torch.cuda.synchronize torch.cuda.empty_cache torch.cuda.ipc_collect: none
torch.get_rng_state torch.random.get_rng_state torch.cuda.get_rng_state: tensor int 1d host
torch.compile torch.vmap torch.func.grad torch.func.vmap torch.func.jacrev torch.func.jacfwd torch.func.hessian torch.compiler.disable: unknown
torch.cond torch.while_loop: unknown
torch.save: none
torch.utils.data.default_collate: unknown
torch.distributions.Normal.rsample torch.distributions.Normal.log_prob torch.distributions.Uniform.log_prob: tensor float
torch.Tensor.dim_order: list(int)
torch.special.digamma torch.special.erf torch.special.erfc torch.special.erfinv torch.special.exp2 torch.special.expit torch.special.expm1 torch.special.gammaln torch.special.i0 torch.special.log1p torch.special.logit torch.special.multigammaln torch.special.psi torch.special.sinc torch.nn.functional.sigmoid torch.nn.functional.tanh: tensor float samerank
torch.special.gammainc torch.special.gammaincc torch.special.xlogy torch.special.logsumexp: tensor float
torch.special.round torch.sparse.mm torch.sparse.addmm torch.sparse.sampled_addmm torch.linalg.matmul torch.nested.to_padded_tensor: tensor
torch.linalg.matrix_exp torch.nn.functional.upsample torch.nn.functional.upsample_bilinear torch.nn.functional.upsample_nearest torch.sparse.softmax torch.sparse.log_softmax: tensor float samerank
torch.fft.fftfreq torch.fft.rfftfreq: tensor float 1d factory
torch.nn.init.constant torch.nn.init.dirac torch.nn.init.eye torch.nn.init.kaiming_normal torch.nn.init.kaiming_uniform torch.nn.init.normal torch.nn.init.orthogonal torch.nn.init.sparse torch.nn.init.uniform torch.nn.init.xavier_normal torch.nn.init.xavier_uniform: self
torch.nn.utils.weight_norm torch.nn.utils.spectral_norm torch.nn.utils.remove_weight_norm torch.nn.utils.remove_spectral_norm: self
torch.nn.FractionalMaxPool2d.forward torch.nn.FractionalMaxPool3d.forward: tuple(tensor samerank, tensor int samerank) if true return_indices; tensor samerank
torch.distributed.destroy_process_group torch.distributed.all_gather_object torch.distributed.broadcast_object_list torch.distributed.gather_object torch.distributed.scatter_object_list torch.distributed.send_object_list torch.distributed.monitored_barrier torch.cuda.init torch.cuda.set_stream: none
torch.distributed.get_backend: str
torch.cuda.is_bf16_supported: bool
torch.jit.script torch.jit.trace: unknown
"""
KINDS = {
    "Tensor": "tensor", "torch.Tensor": "tensor", "Parameter": "tensor", "_bool": "bool", "bool": "bool", "_int": "int", "int": "int", "SymInt": "int", "_float": "float",
    "float": "float", "Number": "number", "_complex": "number", "complex": "number", "str": "str", "None": "none", "Size": "size", "torch.Size": "size",
    "_size": "size", "device": "device", "torch.device": "device", "_device": "device", "dtype": "dtype", "torch.dtype": "dtype", "_dtype": "dtype", "Self": "self",
    "Module": "module", "nn.Module": "module", "np.ndarray": "array", "numpy.ndarray": "array", "ndarray": "array", "GeneratorExit": "unknown",
}  # fmt: skip


def main() -> int:
    warnings.simplefilter("ignore")
    if "--check" in sys.argv:
        return check()
    table = build()
    OUT.write_text(written(table))
    print(f"{len(table['results'])} results, {len(table['classes'])} classes, {len(table['aliases'])} aliases -> {OUT}")
    return 0


def check() -> int:
    """Call everything again and compare the pack's answers, hand rows included, with what comes back."""
    pack = load()
    right, wrong, names = 0, dict[str, list[str]](), set[str]()
    for seen in observe():
        op = pack.op(seen.name)
        if op is None or op.returns in ("", "unknown", "new"):
            continue
        call = bound(seen, ",".join(op.args))
        names.add(seen.name)
        if holds(op.returns, call):
            right += 1
        else:
            wrong.setdefault(f"{seen.name}: {op.returns}", []).append(f"{call.given} -> {call.result}")
    for claim, calls in sorted(wrong.items(), key=lambda item: -len(item[1])):
        print(f"{claim}\n    {len(calls)} calls, such as {calls[0][:300]}")
    missed = sum(map(len, wrong.values()))
    print(f"{len(names)} callables, {right + missed} calls, {missed} of {len(wrong)} callables not as predicted")
    return 1 if missed > (right + missed) // 100 else 0


def written(table: dict[str, Any]) -> str:
    """JSON with one entry a line."""
    parts = [f'"torch": {json.dumps(table["torch"])}']
    for key in ("results", "classes", "aliases"):
        lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(table[key].items()))
        parts.append(f'"{key}": {{\n{lines}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


def build() -> dict[str, Any]:
    """The whole table; `aliases` maps other public spellings of a function or class to the one that has the entry."""
    objects = public()
    aliases = {name: first(names) for thing, names in objects for name in (*names, *defined(thing)) if name != first(names)}
    results: dict[str, list[str]] = {}
    classes: dict[str, str] = {}
    home = {id(thing): first(names) for thing, names in objects}
    for thing, names in objects:
        name = first(names)
        if inspect.isclass(thing):
            results[name] = ["new", arguments(thing.__init__, name)]
            base = next((home[id(b)] for b in thing.__mro__[1:] if id(b) in home), None)
            if base:
                classes[name] = base
            results |= members(thing, name)
        else:
            results[name] = [annotated(thing), arguments(thing, name)]
    for name, made in MADE.items():
        returns = "new if true async_op; none" if name.rpartition(".")[2] in COLLECTIVES.split()[2:] else "new"
        results[name], classes[name] = [returns, results.get(name, ("", ""))[1]], made
    for name in aliases:
        if aliases[name] in classes or results[aliases[name]][0] == "new":
            classes[name] = aliases[name]
    results |= stubbed("_VariableFunctions.pyi", "", "torch") | stubbed("_nn.pyi", "", "torch.nn.functional")
    results |= stubbed("__init__.pyi", "TensorBase", "torch.Tensor")
    for name in aliases:
        if results.get(name, ("new",))[0] != "new":
            del results[name]
    results |= {
        f"torch.Tensor.{name}": ["tensor", "self,other"] for name in OPERATORS if f"torch.Tensor.{name}" not in results
    }
    learn(results, classes, aliases)
    for name, entry in results.items():
        where = place(name, entry[1])
        if entry[0] == "tensor" and where:
            entry[0] = f"tensor float {where}" if where == "factory" else f"tensor {where}"
    results |= {name: [text, *results.get(name, ("", ""))[1:]] for name, text in fixed() if name not in aliases}
    return {"torch": torch.__version__.partition("+")[0], "results": results, "classes": classes, "aliases": aliases}


def learn(results: dict[str, list[str]], classes: dict[str, str], aliases: dict[str, str]) -> None:
    """What was seen is more exact than a stub; a method that its class inherits gets an entry where it differs."""
    for name, calls in gathered(aliases).items():
        owner, method = name, ""
        while owner and f"{owner}{method}" not in results:
            head, _, tail = owner.rpartition(".") if not method else (owner, "", "")
            owner, method = classes.get(head, ""), method or f".{tail}"
        key = f"{owner}{method}"
        if key not in results or results[key][0] == "new":
            continue
        args = results[key][1]
        text = fit([bound(seen, args) for seen in calls], ".forward" in name, place(name, args))
        if results[key][0].startswith("list(") and text.startswith("tuple("):
            text = f"list({text[6:-1].partition(',')[0]})"
        if text and text != results[key][0] and not unknown_inside(text):
            results[name] = [text, args, *results[key][2:]]


def gathered(aliases: dict[str, str]) -> dict[str, list[Seen]]:
    found: dict[str, list[Seen]] = {}
    for seen in observe():
        found.setdefault(aliases.get(seen.name, seen.name), []).append(seen)
    return found


def place(name: str, args: str) -> str:
    """Where dtype= and device= decide."""
    if "dtype" not in args.split(",") or name in ("torch.Tensor.to", "torch.Tensor.view", "torch.Tensor.type"):
        return ""
    short = name.rpartition(".")[2]
    if short.endswith("_like") or short.startswith("new_"):
        return "like"
    return (
        "factory"
        if "device" in args.split(",") and not {"input", "self", "tensors"} & set(args.split(","))
        else "kwarg"
    )


def unknown_inside(text: str) -> bool:
    return any(word in text for word in ("unknown", "()", "(, "))


def fixed() -> list[tuple[str, str]]:
    """The entries that are written by hand, because a result depends on the way of the call or cannot be tried here."""
    pairs = [line.split(":", 1) for line in FIXED.strip().splitlines() if line and not line.startswith("#")]
    return [(name, text.strip()) for names, text in pairs for name in names.split()]


def public() -> list[tuple[Any, list[str]]]:
    """Every public function and class of torch with all its spellings."""
    found: dict[int, tuple[Any, list[str]]] = {}
    for path in MODULES:
        try:
            module = importlib.import_module(path)
        except ImportError:
            continue
        for name in sorted(
            {n for n in dir(module) if not n.startswith("_")}
            | {n for n in getattr(module, "__all__", ()) if not n.startswith("__")}
        ):
            note(found, f"{path}.{name}", getattr(module, name, None))
    for path in PRIVATE:
        owner, _, name = path.rpartition(".")
        note(found, path, getattr(importlib.import_module(owner), name, None))
    return list(found.values())


def defined(thing: Any) -> list[str]:
    """Where a thing is defined, and what TorchFunctionMode calls it."""
    called = resolve_name(thing) if inspect.isroutine(thing) else None
    names = [f"{thing.__module__}.{thing.__qualname__}"] if inspect.isclass(thing) or inspect.isfunction(thing) else []
    return [name for name in (*names, called or "") if name.startswith("torch.") and "<" not in name and not name.endswith(".")]


def note(found: dict[int, tuple[Any, list[str]]], name: str, thing: Any) -> None:
    ours = str(getattr(thing, "__module__", None) or type(thing).__module__).startswith(
        ("torch", "functorch")
    ) or inspect.isbuiltin(thing)
    short = name.removeprefix("torch.")
    inner = (
        inspect.isclass(thing)
        and hasattr(torch._C, short)
        and short not in SHOWN
        and not short.endswith(("Tensor", "Storage", "Error"))
    )
    if (
        callable(thing)
        and ours
        and not inner
        and not isinstance(thing, (ModuleType, torch.dtype))
        and not str(type(thing)).startswith("<class 'typing")
    ):
        found.setdefault(id(thing), (thing, []))[1].append(name)


def first(names: list[str]) -> str:
    """The spelling that people use: few dots, no private or implementation module."""
    return min(
        names,
        key=lambda n: (n.startswith(("torch.functional.", "torch._C.")), ".modules." in n, n.count("."), len(n), n),
    )


def members(thing: type, name: str) -> dict[str, list[str]]:
    """The methods and properties that a class defines itself."""
    found: dict[str, list[str]] = {}
    if (name.endswith("Tensor") and name != "torch.Tensor") or name.startswith("torch.return_types"):
        return found
    for key, value in vars(thing).items():
        if key.startswith("_") and key not in (
            "__call__",
            "__len__",
            "__iter__",
            "__getitem__",
            "__enter__",
            "__next__",
            "__contains__",
        ):
            continue
        if isinstance(value, property):
            found[f"{name}.{key}"] = [annotated(value.fget), "self", "property"]
        elif isinstance(value, (staticmethod, classmethod)):
            found[f"{name}.{key}"] = [annotated(value.__func__), arguments(value.__func__, "")]
        elif callable(value) and not inspect.isclass(value):
            found[f"{name}.{key}"] = [annotated(value), arguments(value, "")]
    return found


def annotated(thing: Any) -> str:
    """The result kind by annotation; unknown where there is none."""
    note = getattr(thing, "__annotations__", {}).get("return", "unknown")
    try:
        text = note if isinstance(note, str) else "None" if note is None else inspect.formatannotation(note)
        return kind(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ValueError, TypeError):
        return "unknown"


def arguments(thing: Any, name: str) -> str:
    """Argument names in positional order, from the signature or the first line of the docstring."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (ValueError, TypeError):
        return documented(getattr(thing, "__doc__", None) or "")
    names = [("*" if p.kind is p.VAR_POSITIONAL else "") + p.name for p in parameters if p.kind is not p.VAR_KEYWORD]
    return ",".join(names[1:] if name and names[:1] == ["self"] else names)


def documented(text: str) -> str:
    """Argument names out of `linalg.norm(A, ord=None, *, out=None) -> Tensor`."""
    line = text.strip().partition("\n")[0].partition("->")[0].strip().replace("*, ", "").replace("*size, ", "*size, ")
    try:
        call = ast.parse(f"def _{line[line.index('(') :]}: ...").body[0]
    except (SyntaxError, ValueError):
        return ""
    found = call.args
    names = [a.arg for a in (*found.posonlyargs, *found.args)]
    return ",".join(names + ([f"*{found.vararg.arg}"] if found.vararg else []) + [a.arg for a in found.kwonlyargs])


def stubbed(file: str, owner: str, prefix: str) -> dict[str, list[str]]:
    """Results and arguments from one of torch's stub files."""
    body = ast.parse((STUBS / file).read_text("utf-8")).body
    if owner:
        body = next(node for node in body if isinstance(node, ast.ClassDef) and node.name == owner).body
    found: dict[str, list[str]] = {}
    overloads: dict[str, list[ast.FunctionDef]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef) and (
            owner or not node.name.startswith("_") or f"{prefix}.{node.name}" in PRIVATE
        ):
            overloads.setdefault(node.name, []).append(node)
        elif owner and isinstance(node, ast.AnnAssign) and not node.target.id.startswith("_"):
            found[f"{prefix}.{node.target.id}"] = [kind(node.annotation), "self", "property"]
    for name, nodes in overloads.items():
        if attribute(prefix, name):
            found[f"{prefix}.{name}"] = [merged_kind(nodes, name), merged_arguments(nodes, owner)]
    return found


def attribute(prefix: str, name: str) -> bool:
    owner: Any = torch
    for part in prefix.split(".")[1:]:
        owner = getattr(owner, part)
    return hasattr(owner, name)


def merged_kind(nodes: list[ast.FunctionDef], name: str) -> str:
    kinds = list(dict.fromkeys(kind(node.returns) for node in nodes if node.returns))
    inplace = name.endswith("_") and not name.startswith("_") and kinds == ["tensor"]
    return "self" if inplace else kinds[-1] if kinds else "unknown"


def merged_arguments(nodes: list[ast.FunctionDef], owner: str) -> str:
    """Positional names of the longest overload, then the other names (those that are deprecated start with another argument)."""
    usual = [n for n in nodes if owner or not (n.args.args and n.args.args[0].arg == "self")] or nodes
    if any(n.args.args[1:2] and n.args.args[1].arg in ("alpha", "beta") for n in usual) and len(usual) > 1:
        usual = [n for n in usual if not (n.args.args[1:2] and n.args.args[1].arg in ("alpha", "beta"))] or usual
    starred = next((n.args.vararg.arg for n in usual if n.args.vararg), "")
    positional = max(([a.arg for a in (*n.args.posonlyargs, *n.args.args)] for n in usual), key=len)
    positional = [("*" if a == starred else "") + a for a in positional] if starred in positional else positional
    positional += [f"*{starred}"] if starred and f"*{starred}" not in positional else []
    if starred and positional[-1] != f"*{starred}":
        positional = positional[: positional.index(f"*{starred}") + 1]
    others = [a.arg for n in usual for a in (*n.args.posonlyargs, *n.args.args, *n.args.kwonlyargs)]
    return ",".join(dict.fromkeys([*positional, *(a for a in others if f"*{a}" not in positional)]))


def kind(node: ast.expr | None) -> str:
    """A return annotation as a result expression."""
    match node:
        case None:
            return "unknown"
        case ast.Constant(value=None):
            return "none"
        case ast.Constant(value=str(text)):
            return kind(ast.parse(text, mode="eval").body)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            kinds = [k for k in (kind(left), kind(right)) if k != "none"]
            return kinds[0] if len(kinds) == 1 or len(set(kinds)) == 1 else "unknown"
        case ast.Subscript(
            value=ast.Name(id=("tuple" | "Tuple")) | ast.Attribute(attr="Tuple"), slice=ast.Tuple(elts=parts)
        ):
            if isinstance(parts[-1], ast.Constant) and parts[-1].value is ...:
                return f"list({kind(parts[0])})"
            return f"tuple({', '.join(map(kind, parts))})"
        case ast.Subscript(value=ast.Name(id=("list" | "List" | "Sequence" | "Iterator" | "Iterable")), slice=part):
            return f"list({kind(part)})"
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=part):
            return kind(part)
        case ast.Attribute(attr=name) if "return_types" in ast.unparse(node):
            return structseq(name)
        case ast.Name() | ast.Attribute():
            text = ast.unparse(node)
            return KINDS.get(
                text, KINDS.get(text.removeprefix("torch."), KINDS.get(text.rpartition(".")[2], "unknown"))
            )
    return "unknown"


def structseq(name: str) -> str:
    shape = getattr(torch.return_types, name)
    fields = [
        key
        for key in vars(shape)
        if (not key.startswith(("_", "n_"))
        and type(vars(shape)[key]).__name__ == "member_descriptor")
        or (type(vars(shape)[key]).__name__ == "getset_descriptor"
        and not key.startswith("_"))
    ]
    return f"named({', '.join(f'{key}=tensor' for key in fields)})"


if __name__ == "__main__":
    sys.exit(main())
