"""A file that is named as tests are, and holds none: what it does counts."""

import pytest
from packaged import heats

RUN = """
import argparse
import torch


def augmented(net: torch.nn.Module, loader: torch.utils.data.DataLoader):
    return [net(batch.cuda()).argmax().item() for batch in loader]
"""
READS = "from .test_time import augmented"
ASKS = "\n\nif __name__ == '__main__':\n    args = argparse.ArgumentParser().parse_args()\n"
TESTS = "\n\ndef test_it():\n    assert augmented(None, [])\n"


@pytest.mark.parametrize(
    ("path", "brings", "more", "told"),
    [
        ("pkg/test_time.py", READS, "", "unknown"),
        ("pkg/test_time.py", f"{READS}, rows\n", "", "unknown"),
        (
            "pkg/test_time.py",
            "try:\n    from .test_time import augmented\nexcept ImportError:\n    pass\n",
            "",
            "unknown",
        ),
        ("pkg/test_time.py", "from pkg.test_time import augmented", "", "unknown"),
        ("pkg/test_time.py", "from . import rows, test_time", "", "unknown"),
        ("pkg/test_time.py", "from .test_times import augmented", "", "cold"),
        ("pkg/test_time.py", "", "", "cold"),
        ("pkg/test_time.py", "", ASKS, "unknown"),
        ("pkg/test_time.py", "", ASKS + TESTS, "cold"),
        ("pkg/tests/test_time.py", "", ASKS, "cold"),
        ("pkg/time_test.py", "", ASKS, "unknown"),
        ("pkg/time_test.py", "", ASKS + TESTS, "cold"),
        ("pkg/time_test.py", "", "", "cold"),
    ],
)
def test_what_holds_no_tests_is_none(path: str, brings: str, more: str, told: str) -> None:
    files = {"pkg/__init__.py": brings, path: RUN + more, "pkg/rows.py": "rows = 3\n"}
    assert heats(files)[path] == told
