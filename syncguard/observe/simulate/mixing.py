"""Which functions take tensors of both places, and what a device says of the others."""

from __future__ import annotations

from syncguard.observe.simulate.marks import CUDA

MIXING = (
    "copy_ __getitem__ __setitem__ index_put index_put_ data set_ _foreach_copy_ new_tensor tensor as_tensor asarray"
    " tensor_split ctc_loss _ctc_loss lstm gru rnn_tanh rnn_relu"
    " fill_ _nested_view_from_jagged masked_scatter_ module_load swap_tensors"
    " _has_compatible_shallow_copy_type is_same_size _make_subclass _make_wrapper_subclass typename is_set_to"
    " _fused_adam_ _fused_adamw_ _fused_sgd_ _fused_adagrad_ __dlpack__ broadcast_tensors _unsafe_index"
    " _unsafe_index_put _index_put_impl_ result_type can_cast promote_types is_tensor _is_alias_of"
    " _nested_view_from_jagged"
).split()


def mixes(name: str) -> bool:
    """May this function be given tensors of both places?"""
    return name.rpartition(".")[2] in MIXING or "_foreach_" in name


def refuse(name: str) -> None:
    """What a device says to tensors of two places."""
    raise RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {CUDA} and cpu! "
        f"(when checking the arguments of {name}, on the device that SyncGuard simulates)"
    )
