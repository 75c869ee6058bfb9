"""Files and classes for devices of another kind, for the host and for other libraries: nothing in them waits for a
GPU."""

import pytest
from packaged import found

READS = """
import torch


def read(x: torch.Tensor):
    return x.sum().item()
"""


@pytest.mark.parametrize(
    ("path", "waits"),
    [
        ("kernels/mlx/reads.py", False),
        ("kernels/npu/offload/reads.py", False),
        ("kernels/reads_xpu.py", False),
        ("kernels/cpu/reads.py", False),
        ("kernels/cpu_reads.py", False),
        ("kernels/cpu.py", False),
        ("kernels/cuda/reads.py", True),
        ("kernels/reads.py", True),
        ("offload/cpu/reads.py", True),  # what a GPU has no room for
        ("cpu/offload_reads.py", True),
        ("kernels/cpu_cache.py", True),
    ],
)
def test_a_file_is_named_for_its_device(path, waits):
    assert bool(found({"pkg/__init__.py": "", f"pkg/{path}": READS})) is waits


def test_a_folder_around_the_package_tells_nothing():
    assert found({"mlx/pkg/__init__.py": "", "mlx/pkg/reads.py": READS})


@pytest.mark.parametrize(("name", "waits"), [("get_musa_memory", False), ("get_muse_memory", True)])
def test_a_function_named_for_another_device_waits_for_none(name, waits):
    assert bool(found({"reads.py": READS.replace("read(", f"{name}(")})) is waits


@pytest.mark.parametrize(
    ("name", "waits"),
    [("CPUAttentionBackend", False), ("AscendReader", True), ("XPURunner", False), ("CPUOffloader", True)],
)
def test_a_class_named_for_another_device_waits_for_none(name, waits):
    method = READS.replace("def read(x", f"class {name}:\n    def read(self, x").replace("    return", "        return")
    assert bool(found({"reads.py": method})) is waits


SEEKS = """
import {library} as lib
{more}

def seek(F, level, tol):
    low = F.broadcast_mul(level, tol)
    while F.sum(F.abs(low) > tol) > 0:
        low = low * F.greater(level, low)
    return low
"""


@pytest.mark.parametrize(
    ("library", "more", "waits"),
    [
        ("mxnet", "", False),
        ("paddle", "", False),
        ("paddle", "import torch", True),
        ("arrays", "", True),
        ("mxnet", "import torch", True),
        ("mxnet", "def given(x):\n    import torch\n    return torch.ones(3)\n", True),
    ],
)
def test_a_file_may_be_written_for_another_library(library, more, waits):
    assert bool(found({"seeks.py": SEEKS.format(library=library, more=more)})) is waits
