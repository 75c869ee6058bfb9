"""What a hot function stands behind where it is called at every step, though it is called elsewhere now and then."""

from __future__ import annotations

import pytest
from test_opted import told

DEEP = "only where `deep` holds; by default `deep` is `False`"
HOT = "in this file hot "
NET = """
    class Net(torch.nn.Module):
        def forward(self, x, deep=False):
            if deep:
                x = self.outer(x)
            {second}
            return x

        def outer(self, x):
            return self.places(x)

        def prepare(self, x):
            return self.places(x)

        def places(self, x: torch.Tensor):
            return x.sum().item()
    """


@pytest.mark.parametrize(
    ("second", "options"),
    [
        ("", [f"{HOT}{DEEP}"]),
        ("x = self.places(x)", []),
        ("x = self.prepare(x)", []),
        ("if deep: x = self.places(x)", [f"{HOT}{DEEP}"]),
    ],
)
def test_the_calls_that_make_it_hot_count_alone(second: str, options: list[str]) -> None:
    assert told(NET.format(second=second)) == [options]


def test_an_argument_that_is_left_out_on_the_way_is_named() -> None:
    text = """
        class Net(torch.nn.Module):
            def forward(self, x, coords: torch.Tensor | None = None):
                if coords is None:
                    coords = self.places(x)
                return x + coords

            def places(self, x: torch.Tensor):
                return x.new_full((2,), x.sum().item())

        def prepare(net: Net, x):
            return net.places(x)
        """
    assert told(text) == [[f"{HOT}only where `coords` is not given"]]
