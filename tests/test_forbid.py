"""`forbid`, `budget` and `allow` in code, on a simulated device."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

import syncguard  # noqa: E402
from syncguard import SyncError, allow, budget, forbid  # noqa: E402
from syncguard.observe.watch import Watch  # noqa: E402

ROOT = Path(__file__).parent.parent
simulated = pytest.mark.skipif(torch.cuda.is_available(), reason="tested on the device there")


@pytest.fixture
def device():
    """A simulated device for a whole test, and a tensor on it."""
    with budget(10_000, device="simulate"):
        yield torch.arange(4, device="cuda")
    assert Watch.current is None


def test_a_wait_raises_where_it_is_and_says_which_rule(device):
    with pytest.raises(SyncError) as fault, forbid():
        device.sum().item()
    assert fault.value.op == "torch.Tensor.item"
    assert fault.value.code == "SG201"
    path, line, column = fault.value.place.rsplit(":", 2)
    assert path.endswith("test_forbid.py")
    assert "device.sum().item()" in Path(path).read_text().split("\n")[int(line) - 1]
    assert column == "9"
    assert "`torch.Tensor.item` makes the host wait: `device.sum().item()`. See `syncguard explain SG201`" in str(
        fault.value
    )


def test_a_wait_in_a_script_raises_as_elsewhere(device):
    @torch.jit.script
    def total(x: torch.Tensor) -> float:
        return float(x.sum())

    with pytest.raises(SyncError, match=r"float\(x.sum\(\)\)"), forbid():
        total(device)


def test_what_does_not_wait_does_not_raise(device):
    with forbid():
        assert (device + 1).shape == (4,)


def test_simulating_for_a_block_alone():
    with pytest.raises(SyncError), forbid(device="simulate"):
        torch.arange(4, device="cuda").tolist()
    assert Watch.current is None
    assert not torch.cuda.is_available()


@simulated
def test_without_a_device_nothing_is_started_and_nothing_waits():
    with forbid(), budget(0):
        assert Watch.current is None
        assert torch.arange(4).sum().item() == 6


def test_the_innermost_decides(device):
    with forbid():
        with allow("a reason"):
            device.tolist()
            with pytest.raises(SyncError), forbid():
                device.tolist()
            device.tolist()
        with budget(1):
            device.tolist()
            with pytest.raises(SyncError):
                device.tolist()
        with pytest.raises(SyncError):
            device.tolist()


def test_an_outer_budget_counts_what_inner_ones_permit(device):
    @budget(1)
    def once():
        return device.tolist()

    def thrice():
        return once(), once(), once()

    with pytest.raises(SyncError, match="wait 3 where the budget is 2"), budget(2):
        thrice()


def test_a_budget_names_the_waits_before(device):
    @budget(1)
    def twice():
        return device.tolist(), device.any().item()

    with pytest.raises(SyncError) as fault:
        twice()
    assert "wait 2 where the budget is 1" in str(fault.value)
    assert "before it" in str(fault.value)
    assert "`torch.Tensor.tolist`" in str(fault.value)


def test_budgets_of_decorated_functions_begin_anew(device):
    @budget(1)
    def once(x):
        """Words."""
        return x.tolist()

    assert once(device) == once(device) == [0, 1, 2, 3]
    assert (once.__name__, once.__doc__) == ("once", "Words.")


def test_entered_again_and_nested_in_itself(device):
    quiet = forbid()
    for _ in range(2):
        with quiet, quiet:
            device + 1
        device.tolist()
    with quiet:
        with quiet:
            pass
        with pytest.raises(SyncError):
            device.tolist()


def test_a_comment_counts_at_run_time(device):
    with forbid():
        device.tolist()  # syncguard: allow[SG202] the test needs it
        total = 0
        # syncguard: allow[SG209] what `check` calls it in a loop
        total += device.sum().item()
        assert total == 6
        with pytest.raises(SyncError):
            device.tolist()  # syncguard: allow[SG204] another rule


def test_threads_are_apart(device):
    seen = []

    def other():
        seen.append(device.tolist())

    with forbid():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [[0, 1, 2, 3]]


def test_tasks_are_apart(device):
    async def strict(begun, done):
        with forbid():
            begun.set()
            await done.wait()
            with pytest.raises(SyncError):
                device.tolist()

    async def free(begun, done):
        await begun.wait()
        assert device.tolist() == [0, 1, 2, 3]
        done.set()

    async def main():
        begun, done = asyncio.Event(), asyncio.Event()
        await asyncio.gather(strict(begun, done), free(begun, done))

    asyncio.run(main())


def test_async_functions_and_generators(device):
    @forbid()
    async def waits():
        await asyncio.sleep(0)
        return device.tolist()

    @forbid()
    def gives():
        got = yield device + 1
        assert got == "sent"
        yield device.tolist()

    @forbid()
    async def streams():
        yield device + 1
        yield device.tolist()

    with pytest.raises(SyncError):
        asyncio.run(waits())
    items = gives()
    assert next(items).tolist() == [1, 2, 3, 4]  # the consumer is not in the region
    with pytest.raises(SyncError):
        items.send("sent")

    async def consume():
        found = []
        async for item in streams():
            found.append(item.tolist())
        return found

    with pytest.raises(SyncError):
        asyncio.run(consume())


def test_backward_is_inside(device):
    x = torch.ones(4, device="cuda", requires_grad=True)
    loss = x[device > 1].sum()
    with pytest.raises(SyncError), forbid():
        loss.backward()


@pytest.mark.parametrize(
    "make", [lambda: forbid("tpu"), lambda: budget(-1), lambda: budget(1.5), lambda: allow(""), lambda: allow(None)]
)
def test_wrong_arguments_are_refused(make):
    with pytest.raises(ValueError, match=r"device is|a budget is|allow needs"):
        make()


def test_two_devices_at_once_are_refused(device):
    with pytest.raises(RuntimeError, match="runs under `simulate` already"), forbid(device="cuda"):
        pass
    device + 1


def test_a_step_without_a_run_is_nothing():
    syncguard.step()


def test_unknown_names():
    with pytest.raises(AttributeError, match="has no attribute 'forbade'"):
        _ = syncguard.forbade


def test_importing_syncguard_is_light():
    code = (
        "import sys, syncguard\n"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('torch', 'msgspec', 'click', 'syncguard')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert done.stdout == "['syncguard']\n", done.stderr
