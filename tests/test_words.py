"""What a finding names: the value that is stored, the subject of a `match`, a loop without its body."""

from __future__ import annotations

import textwrap

import pytest

from syncguard import pipeline
from syncguard.config import Config
from syncguard.terms import Finding

HEAD = "import torch\n\n\n"


def found(text: str) -> list[Finding]:
    config = Config(heat="all", stdin_filename="example.py")
    return list(pipeline.check(["-"], config, HEAD + textwrap.dedent(text)).findings)


@pytest.mark.parametrize(
    ("store", "message"),
    [
        ("kept[0] = x.sum()", "`kept[0]` copies `x.sum()` to the host and waits"),
        ("y, kept[0] = x, x.sum()", "`kept[0]` copies `x.sum()` to the host and waits"),
        ("kept[0] = y = x", "`kept[0]` copies `x` to the host and waits"),
    ],
)
def test_a_stored_value_is_named(store: str, message: str) -> None:
    text = f"""
        def collect(x: torch.Tensor):
            kept = torch.zeros(3, device="cpu")
            {store}
            return kept
        """
    assert [finding.message for finding in found(text)] == [message]


def test_the_subject_of_a_match_is_named() -> None:
    findings = found(
        """
        def choose(x: torch.Tensor):
            match x.sum():
                case 0 | 1:
                    return 1
            if not x.sum() or not (x.sum() > 2):
                return 2
        """
    )
    subjects = [finding.message.partition(" asks")[0] for finding in findings]
    assert subjects == ["`x.sum()`", "`x.sum()`", "`x.sum()`", "`x.sum() > 2`"]
    assert [(finding.site.line, finding.site.column) for finding in findings[:2]] == [(7, 14), (7, 18)]


def test_a_loop_is_quoted_without_its_body() -> None:
    findings = found(
        """
        from torch.utils.data import DataLoader


        def epoch(data, device):
            for x, y in DataLoader(data):
                x = x.to(device)
        """
    )
    copied = next(finding for finding in findings if finding.code == "SG301")
    assert copied.because[0].text.startswith("`for x, y in DataLoader(data)` takes batches")


@pytest.mark.parametrize("line", ['block.to("cpu")', "block.cpu()"])
def test_what_modules_have_too_is_no_proof_of_a_tensor(line: str) -> None:
    (finding,) = found(f"def swap(blocks):\n    for block in blocks:\n        torch.relu({line})\n")
    assert finding.because[0].text == f"`{line}` moves a tensor, or a module that holds some"


def test_two_uses_that_prove_a_tensor_together_are_told_so() -> None:
    (finding,) = found("def total(x):\n    y = x.to(x.device)\n    return y.reshape(x.shape[0], -1).sum().item()\n")
    assert finding.because[0].text == "`x` is asked for `.device` and for a shape: only a tensor has both"


@pytest.mark.parametrize(
    ("declared", "use"),
    [
        ('Optional["torch.Tensor"]', "x"),
        ('"Optional[torch.Tensor]"', "x"),
        ("\"dict[str, 'torch.Tensor']\"", "x['a']"),
    ],
)
def test_a_type_in_a_text_is_quoted_where_the_text_stands(declared: str, use: str) -> None:
    (finding,) = found(f"from typing import Optional\n\n\ndef told(n, x: {declared}):\n    return {use}.item()\n")
    assert finding.because[0].line == finding.site.line - 1
    assert "torch.Tensor" in finding.because[0].text


def test_what_a_stream_is_asked_of_is_said_to_be_no_tensor() -> None:
    (finding,) = found("""
        def step(self, x: torch.Tensor):
            self.device_module.current_stream().synchronize()
        """)
    (reason,) = finding.because
    assert reason.text.endswith("is the result of `torch.cuda.Stream.synchronize`")
