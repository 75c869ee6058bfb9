"""What a function says of the arguments of a call: one and the same, of a dtype, of a module that nothing moves."""

from __future__ import annotations

import pytest
from checked import codes

HEAD = "import copy\nimport torch\nfrom torch import nn\n"


@pytest.mark.parametrize(("line", "found"), [
    ("torch.equal(x, x)", []),
    ("x.equal(x)", []),
    ("torch.equal(self.last, self.last)", []),
    ("torch.equal(x, y)", ["SG207"]),
    ("torch.equal(x, x.clone())", ["SG207"]),
    ("torch.equal(xs[0], xs[1])", ["SG207"]),
    ("torch.allclose(x, x)", ["SG207"]),
])  # fmt: skip
def test_a_tensor_equals_itself_without_a_wait(line: str, found: list[str]) -> None:
    text = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("last", torch.zeros(2))

            def forward(self, x: torch.Tensor, y: torch.Tensor, xs: list[torch.Tensor]):
                return {line}
    """
    assert codes(text, HEAD) == found


@pytest.mark.parametrize(("made", "given", "found"), [
    ("a = torch.rand(8, 4, device=x.device, dtype=torch.bfloat16)", "a", []),
    ("a = x.bfloat16()", "a", []),
    ("pass", "x.to(torch.bfloat16)", []),
    ("a = x.half()", "a", ["SG505"]),
    ("a = torch.rand(8, 4, device=x.device)", "a", ["SG505"]),
    ("a = x.bfloat16()\n            a = a.float()", "a", ["SG505"]),
    ("pass", "x", ["SG505"]),
])  # fmt: skip
def test_products_of_groups_in_bfloat16_read_nothing(made: str, given: str, found: list[str]) -> None:
    text = f"""
        def f(x: torch.Tensor, b: torch.Tensor, offs: torch.Tensor):
            {made}
            return torch._grouped_mm({given}, b, offs=offs)
    """
    assert codes(text, HEAD, confidence="possible") == found


@pytest.mark.parametrize(("made", "used", "found"), [
    ("nn.Linear(4, 4)", "net(torch.rand(2, 4))", []),
    ("nn.Linear(4, 4)", "torch.optim.SGD(net.parameters())", []),
    ("nn.Linear(4, 4)", "net.to('cuda')", ["SG202"]),
    ("nn.Linear(4, 4).cuda()", "pass", ["SG202"]),
    ("nn.Linear(4, 4, device='cuda')", "pass", ["SG202"]),
    ("nn.Linear(4, 4)", "learn(net)", ["SG202"]),
    ("nn.Linear(4, 4)", "other = net", ["SG202"]),
    ("net", "pass", ["SG202"]),
])  # fmt: skip
def test_what_a_function_makes_and_never_moves_is_saved_from_the_host(made: str, used: str, found: list[str]) -> None:
    text = f"""
        def f(net: nn.Module, learn):
            net = {made}
            {used}
            torch.save(net.state_dict(), "net.pt")
    """
    assert codes(text, HEAD) == found


def test_with_a_default_device_a_module_is_made_there() -> None:
    text = "def f():\n    net = nn.Linear(4, 4)\n    torch.save(net.state_dict(), 'net.pt')\n"
    assert codes(text, HEAD) == []
    assert codes(text, HEAD, default_device="cuda") == ["SG202"]
