"""Ten rewrites with which careful people broke code: ours is the right form, or there is none."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import fixes, function, rewritten  # noqa: E402

HEAD = "import torch\n\n\ndef f(self, x: torch.Tensor, y: torch.Tensor, rows: list[int]):\n"


def everything(body: str) -> str:
    """A function after all fixes, the unsafe ones as well."""
    return (rewritten(HEAD + body, unsafe=True) or HEAD + body).removeprefix(HEAD)


def test_a_clip_takes_the_smaller_of_one_and_the_coefficient():
    """DeepSpeed 961bc85625: `torch.max(1, clip_coef)` scaled the gradients up."""
    body = "    clip_coef = 1.0 / (x.norm() + 1e-6)\n    if clip_coef < 1:\n        y.mul_(clip_coef)\n    return y\n"
    assert "    y.mul_(clip_coef.clamp(max=1.0))\n" in everything(body)


def test_the_larger_of_two_reads_parses_and_calls_nothing():
    """rl db7f08d76: a lost comma made a call of a tensor."""
    body = "    return max(self.sigma_end.item(), x.sum().item())\n"
    compile(HEAD + everything(body), "f.py", "exec")
    assert "self.sigma_end(" not in everything(body)


def test_a_greedy_loop_stays_a_loop():
    """torchmetrics eacfd2fcd: matching all at once changed the results."""
    body = """\
    taken = torch.zeros(len(y), dtype=torch.bool, device=x.device)
    for row in x:
        best = (row * ~taken).argmax()
        if row[best] > 0.5 and not taken[best]:
            taken[best] = True
    return taken
"""
    after = everything(body)
    assert "    for row in x:\n" in after
    assert "            taken[best] = True\n" in after
    for seed in range(20):
        torch.manual_seed(seed)
        x, y = torch.rand(4, 3), torch.rand(3)
        one, other = (function(HEAD + text)(None, x, y, []) for text in (body, after))
        assert one.tolist() == other.tolist()


def test_memory_that_is_not_pinned_is_never_copied_without_waiting():
    """torchmetrics 23167cbd8: such a copy raced. A number is filled in on the device, a list asks for CUDA."""
    assert everything(
        "    return torch.tensor(0.5).to(x.device)\n"
    ) == "    return torch.full((), 0.5, device=x.device)\n" or (
        everything("    return torch.tensor(0.5).to(x.device)\n") == "    return torch.tensor(0.5).to(x.device)\n"
    )
    after = everything("    return torch.tensor(rows, device=x.device)\n")
    assert after.count("=x.is_cuda") == 2 or "non_blocking" not in after


def test_a_buffer_that_is_written_again_is_not_sent_without_waiting():
    """Megatron 53a2dd56fec6: the pinned buffer was refilled before the copy had read it."""
    body = (
        "    for row in rows:\n        self.staging[0] = row\n        y = y + self.staging.to(x.device)\n    return y\n"
    )
    assert "non_blocking" not in everything(body)


def test_a_copy_to_the_host_waits():
    """lightning cf32127e7e: the host read before the copy had landed."""
    assert "non_blocking" not in everything("    a, b = x.cpu(), y.cpu()\n    return a.numpy() + b.numpy()\n")


def test_segments_are_not_summed_by_another_kernel():
    """torchrec 26b9facc: fewer waits, and slower."""
    body = "    return [part.sum() for part in x.split(y.tolist())]\n"
    assert everything(body) == body


def test_a_size_is_never_replaced_by_a_bound():
    """vllm-ascend c88d7a0a2: a static upper bound is not the length."""
    body = "    return x[: y.max().item()]\n"
    assert everything(body) == body
    assert not fixes(HEAD + body, "known-size")


def test_pinning_asks_whether_there_is_cuda():
    """sam2 393ae336a: `pin_memory()` fails where there is none."""
    after = everything("    return torch.tensor([1, len(rows)], device=x.device)\n")
    assert "pin_memory=x.is_cuda" in after
    assert "pin_memory()" not in after


def test_a_list_is_not_replaced_by_iterating_the_tensor():
    """kornia dae6de65e: one wait became as many as there are elements."""
    body = "    return [rows[i] for i in y.tolist()]\n"
    assert everything(body) == body
