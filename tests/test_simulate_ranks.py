"""Two simulated ranks over gloo: data parallel, sharded and tensor parallel; their losses are those of a CPU."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow
TRAIN = """\
import os, sys
import torch
import torch.distributed as dist
from torch import nn

how, local = sys.argv[1], int(os.environ["LOCAL_RANK"])
device = torch.device("cuda", local) if torch.cuda.is_available() else torch.device("cpu")
if device.type == "cuda":
    assert torch.cuda.device_count() == 2
    torch.cuda.set_device(device)
    assert torch.ones(1, device="cuda").device == device
dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).to(device)
if how == "data":
    model = nn.parallel.DistributedDataParallel(model, device_ids=[local] if device.type == "cuda" else None)
if how == "sharded":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(device.type, (2,))
    fully_shard(model[0], mesh=mesh)
    fully_shard(model, mesh=mesh)
if how == "drawn":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    with torch.device("meta"):
        model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
    fully_shard(model, mesh=init_device_mesh(device.type, (2,)))
    model.to_empty(device=device)
    model[0].reset_parameters()
    model[2].reset_parameters()
if how == "tensor":
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh(device.type, (2,))
    model = parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
if how == "wrapped":
    from torch.distributed.fsdp import FullyShardedDataParallel

    model = FullyShardedDataParallel(model, device_id=device)
optimizer, losses = torch.optim.AdamW(model.parameters(), lr=1e-2), []
for step in range(3):
    seed = step if how == "tensor" else 10 * dist.get_rank() + step
    x = torch.randn(4, 8, generator=torch.Generator().manual_seed(seed)).to(device)
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total = loss.detach().clone()
    dist.all_reduce(total)
    losses.append(total.item())
if dist.get_rank() == 0:
    print(losses)
dist.destroy_process_group()
"""


def ranks(folder: Path, how: str, *ours: str) -> str:
    """What rank 0 prints. torch itself crashes now and then when a plain rank ends on a loaded machine: tried again."""
    (folder / "train.py").write_text(TRAIN)
    for _ in range(4):
        done = tried(folder, how, *ours)
        if "terminate called without an active exception" not in done.stderr:
            break
    assert done.returncode == 0, done.stderr
    return done.stdout


def tried(folder: Path, how: str, *ours: str) -> subprocess.CompletedProcess[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", f"--master-port={port}", *ours]
    env = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "TMPDIR": str(folder)}  # torchrun leaves some
    command += ["train.py", how]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("how", ["data", "sharded", "drawn", "tensor", "wrapped"])
def test_losses_are_those_of_a_plain_cpu(how, tmp_path):
    # The wrapper of the first kind refuses a CPU, and shards the same sum.
    plain = ranks(tmp_path, "data" if how == "wrapped" else how)
    assert ranks(tmp_path, how, "-m", "syncguard", "run", "-q", "--device", "simulate") == plain
