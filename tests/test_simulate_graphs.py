"""CUDA graphs and the sync debug mode on the simulated device: what is captured, replayed, refused and warned of."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from syncguard import pack  # noqa: E402
from syncguard.observe.simulate import Seen, Simulation  # noqa: E402

PACK = pack.load()
CUDA = "cuda"


def test_a_capture_computes_nothing_and_a_replay_everything(seen: list[Seen]) -> None:
    graph, x, total = torch.cuda.CUDAGraph(), torch.ones(3, device=CUDA), torch.zeros(3, device=CUDA)
    before = torch.get_rng_state()
    with torch.cuda.graph(graph):
        assert torch.cuda.is_current_stream_capturing()
        assert torch.cuda.current_stream().is_capturing()
        y = x * 2
        total += y
        noise = torch.rand(3, device=CUDA)
    assert not torch.cuda.is_current_stream_capturing()
    assert torch.equal(torch.get_rng_state(), before)
    assert total.tolist() == [0, 0, 0]
    x.fill_(5)
    graph.replay()
    first = noise.tolist()
    graph.replay()
    assert (y.is_cuda, y.tolist(), total.tolist()) == (True, [10, 10, 10], [20, 20, 20])
    assert noise.tolist() != first
    assert seen[0].hazard == "setup"  # of torch.cuda.graph itself


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_training_in_a_graph_is_exact(kind: str, seen: list[Seen]) -> None:
    def train(graphed: bool) -> list[float]:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 1)).cuda()
        settings: dict[str, Any] = {"capturable": True} if kind == "Adam" else {"momentum": 0.9}
        optimizer = getattr(torch.optim, kind)(model.parameters(), lr=0.1, **settings)
        x, y = torch.zeros(16, 4, device=CUDA), torch.zeros(16, 1, device=CUDA)
        batches = [(torch.randn(16, 4), torch.randn(16, 1)) for _ in range(6)]

        def step() -> Any:
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        with torch.cuda.stream(torch.cuda.Stream()):
            step()
        graph, loss = torch.cuda.CUDAGraph(), None
        if graphed:
            with torch.cuda.graph(graph):
                loss = step()
        losses = []
        for a, b in batches:
            x.copy_(a)
            y.copy_(b)
            if graphed:
                graph.replay()
            else:
                loss = step()
            losses.append(loss.item())
        return losses

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `capturable` without a capture
        assert train(True) == train(False)


@pytest.mark.parametrize(
    "wait",
    [
        lambda x: x.sum().item(),
        lambda x: torch.cuda.synchronize(),
        lambda x: x[x > 0],
        lambda x: torch.ones(2).to(CUDA),
        lambda x: torch.tensor([1.0], device=CUDA),
        lambda x: torch.cuda.current_stream().synchronize(),
    ],
)
def test_a_wait_in_a_capture_is_an_error(wait: Any, seen: list[Seen]) -> None:
    x, graph = torch.ones(2, device=CUDA), torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="not permitted when stream is capturing"), torch.cuda.graph(graph):
        wait(x)
    assert len(seen) == 2
    assert not torch.cuda.is_current_stream_capturing()
    with pytest.raises(RuntimeError, match="without a preceding successful capture"):
        graph.replay()


def test_what_a_capture_permits(seen: list[Seen]) -> None:
    x, pinned, graph = torch.ones(2, device=CUDA), torch.ones(2).pin_memory(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, pool=torch.cuda.graph_pool_handle()):
        y = pinned.to(CUDA, non_blocking=True) + x
        y[torch.arange(2, device=CUDA)] = x
        here = sum(torch.arange(3)).item()  # the host computes in the capture
    pinned.fill_(7)
    graph.replay()
    assert (here, y.tolist()) == (3, [1, 1])
    assert [wait.hazard for wait in seen] == ["setup", "copy-to-host"]


def test_how_not_to_capture(seen: list[Seen]) -> None:
    graph = torch.cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="must be captured on a non-default stream"):
        graph.capture_begin()
    with pytest.raises(RuntimeError, match=r"capture_end\(\) called without"):
        graph.capture_end()
    model = nn.Linear(2, 2).cuda()
    model(torch.ones(1, 2, device=CUDA)).sum().backward()
    optimizer = torch.optim.Adam(model.parameters())
    with pytest.raises(RuntimeError, match="capturable is False"), torch.cuda.graph(graph):
        optimizer.step()


def test_a_capture_that_is_left_open_ends_with_the_simulation() -> None:
    with Simulation(PACK, lambda _: None):
        x = torch.ones(2, device=CUDA)
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda.CUDAGraph().capture_begin()
        x += 1
    assert x.tolist() == [1, 1]
    assert torch.utils._python_dispatch._len_torch_dispatch_stack() == 0


# torch.cuda.set_sync_debug_mode


@pytest.fixture
def debugging(seen: list[Seen]):
    yield lambda mode: torch.cuda.set_sync_debug_mode(mode)
    torch.cuda.set_sync_debug_mode(0)


def test_the_debug_mode_warns_at_the_line_that_waits(debugging: Any, seen: list[Seen]) -> None:
    x = torch.ones(2, device=CUDA)
    debugging("warn")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        x.sum().item()
        line = sys._getframe().f_lineno - 1
        torch.cuda.synchronize()  # no debug mode knows of these
        x.unique(dim=0)
        torch.where(x > 0, x, 0.0)
    assert torch.cuda.get_sync_debug_mode() == 1
    assert [(str(one.message), one.filename, one.lineno) for one in told] == [
        ("called a synchronizing CUDA operation", __file__, line)
    ]
    assert [wait.hazard for wait in seen] == ["item", "synchronize", "unique"]


def test_the_debug_mode_raises(debugging: Any, seen: list[Seen]) -> None:
    x = torch.ones(2, device=CUDA, requires_grad=True)
    debugging("error")
    with pytest.raises(RuntimeError, match="called a synchronizing CUDA operation"):
        x.sum().item()
    torch.cuda.synchronize()
    debugging("default")
    x.sum().item()
    assert [wait.hazard for wait in seen] == ["item", "synchronize", "item"]
    with pytest.raises(RuntimeError, match="expected one of `default`, `warn`, `error`"):
        debugging("loud")
    with pytest.raises(RuntimeError, match="expected one of 0,1,2"):
        debugging(3)


def test_the_debug_mode_ends_with_the_simulation() -> None:
    with Simulation(PACK, lambda _: None):
        torch.cuda.set_sync_debug_mode("error")
    assert not hasattr(torch._C, "_cuda_set_sync_debug_mode") or torch.version.cuda
    with Simulation(PACK, lambda _: None):
        assert torch.cuda.get_sync_debug_mode() == 0
