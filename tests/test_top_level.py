"""What functions see of the names that their file's top level binds, where it calls them itself."""

from __future__ import annotations

import checked
import pytest

MAIN = """
def main():
    for _ in range(scale):
        torch.cuda.synchronize()


{call}
"""
CALLS = ["main()", 'if __name__ == "__main__":\n    main()', "raise SystemExit(main())", "import sys\nsys.exit(main())"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "forks",
    [
        "scale = 1",
        "if os.environ.get('SCALE'):\n    scale = 2\nelse:\n    scale = 1",
        "try:\n    import scaling\nexcept ImportError:\n    scaling = None\nscale = 2",
        "for scale in range(3):\n    pass",
        "scale = 1\nwhile scale < 8:\n    scale *= 2",
        "assert os.name\nscale = 1",
    ],
)
def test_what_is_bound_after_paths_that_part(forks: str, call: str) -> None:
    head = f"import os\n\n{forks}\nimport torch\n"
    assert checked.codes(head + MAIN.format(call=call)) == ["SG401"]


def test_what_is_bound_in_the_arm_that_calls() -> None:
    call = 'if __name__ == "__main__":\n    import torch\n    scale = 1\n    main()'
    assert checked.codes(MAIN.format(call=call)) == ["SG401"]
