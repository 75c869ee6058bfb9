"""A number, declared or not, or None unless it is given, that a caller gives a tensor of the device."""

from __future__ import annotations

import pytest
from checked import codes
from packaged import found

USE = "import torch\n\n\ndef use(x: torch.Tensor, {declared}):\n    {body}\n"
CALL = "\n\ndef call(x: torch.Tensor):\n    return use(x.cuda(), {given})\n"
TRUTH = "if n:\n        return x * 2"
MORE = "if n is not None and n > 3:\n        return x * 2"
REPEATED = "return [0] * n"
LOOP = "for _ in range(n):\n        x = x * 2"


@pytest.mark.parametrize("body", [TRUTH, MORE, REPEATED, LOOP])
@pytest.mark.parametrize(
    "declared", ["n: int", "n: int = None", "n: int | None = None", "n: float = 3", "n", "n=None", "n=3"]
)
def test_a_number_that_is_given_a_tensor(declared: str, body: str) -> None:
    text = USE.format(declared=declared, body=body)
    code = {REPEATED: "SG203", LOOP: "SG205"}.get(body, "SG204")
    assert codes(text + CALL.format(given="x.cuda().max()")) == [code]
    assert codes(text + CALL.format(given="x.shape[0]")) == []
    head, call = "from .use import use\nimport torch\n", CALL.format(given="x.cuda().max()")
    waits = found({"pkg/__init__.py": "", "pkg/use.py": text, "pkg/call.py": head + call})
    assert [one.code for one in waits.values()] == [code]


@pytest.mark.parametrize("given", ["x.cuda()", "x.cuda().max(0).values"])
def test_who_asks_whether_something_is_given_is_hardly_given_rows(given: str) -> None:
    assert codes(USE.format(declared="n=None", body=TRUTH) + CALL.format(given=given)) == []


@pytest.mark.parametrize("kind", ["[0]", "(0, 1)"])
def test_a_list_beside_what_may_be_a_number(kind: str) -> None:
    text = f"""
        import torch

        def scaled(x: torch.Tensor, wide: bool):
            y = {kind} if wide else 2
            return y * x.cuda().max()
        """
    assert codes(text) == []
