"""What a file does when it is started to try what stands in it runs once, and what is its own as often."""

from __future__ import annotations

import pytest

from tests.test_heat import heats

NET = """
    class Net(torch.nn.Module):
        def forward(self, x):
            return [x + 1, x + 2]


    if __name__ == "__main__":
        {rest}
        net = Net().cuda()
        for one in net({given}):
            print(one.mean())
    """


@pytest.mark.parametrize(
    ("given", "rest", "heat"),
    [
        ("torch.zeros(1, 2, 3)", "", "cold"),
        ("torch.ones((2, 3))", "", "cold"),
        ("torch.randn(4)", "", "cold"),
        ("read(path)", "", "unknown"),
        ("torch.zeros(n)", "", "unknown"),
        ("torch.ones(3)", "loader = DataLoader(path)", "unknown"),
    ],
)
def test_what_is_tried_is_tried_once(given: str, rest: str, heat: str) -> None:
    assert heats(NET.format(given=given, rest=rest)) == [heat]


def test_a_script_makes_tensors_for_its_work() -> None:
    text = """
        x = torch.zeros(3, device="cuda")
        for n in range(1000):
            print(x.mean())
        """
    assert heats(text) == ["unknown"]


CHECK = """
    def {name}(net, limit):
        if net.weight.max() > limit:
            raise ValueError
        {body}


    {caller}
    """


@pytest.mark.parametrize(
    ("name", "caller", "heat"),
    [
        ("_check", "if __name__ == '__main__':\n        _check(read(), 3)", "cold"),
        ("_check", "def main():\n        _check(read(), 3)", "cold"),
        ("check_it", "if __name__ == '__main__':\n        check_it(read(), 3)", "unknown"),
        ("_check", "for net in read():\n        _check(net, 3)", "unknown"),
        ("_check", "def use(net):\n        _check(net, 3)\n\n    use(read())", "unknown"),
        ("_check", "_check(read(), 3)\n    run(_check)", "unknown"),
    ],
)
def test_what_is_its_own_runs_as_often_as_it_is_called(name: str, caller: str, heat: str) -> None:
    text = "    from torch import nn\n" + CHECK.format(name=name, caller=caller, body="").replace(
        "(net,", "(net: nn.Linear,", 1
    )
    assert heats(text) == [heat]


def test_its_loops_may_run_long() -> None:
    body = "while net.bias.max() > 3:\n            net.step()"
    text = CHECK.format(name="_fit", caller="_fit(read(), 3)", body=body).replace("(net,", "(net: torch.nn.Linear,", 1)
    assert heats(text) == ["cold", "unknown"]
