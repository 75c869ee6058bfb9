"""What an optimizer's groups are given is an option of its constructor."""

from __future__ import annotations

import pytest
from test_opted import told

STEP = """
    class Plain(torch.optim.Optimizer):
        def __init__(self, params, lr=1e-3, decay=0.0, check=False, clip=None):
            defaults = {{"lr": lr, "decay": decay, "check": check}}
            defaults["clip"] = clip
            super().__init__(params, {given})

        def step(self):
            for index, group in enumerate(self.param_groups):
                for p in group["params"]:
                    decay = group["decay"]
                    if {test}:
                        print(p.sum())
    """
CHECK = "by default `check` is `False`"


@pytest.mark.parametrize("given", ["defaults", "defaults=defaults", "dict(check=check, decay=decay, clip=clip)"])
@pytest.mark.parametrize(
    ("test", "default"),
    [
        ('group["check"]', CHECK),
        ('not group["check"]', ""),
        ('self.param_groups[0]["check"]', CHECK),
        ('group.get("clip") is not None', "by default `clip` is `None`"),
        ("decay > 0", "by default `decay` is `0.0`"),
        ('p.grad["check"]', ""),
        ('group["lr"] is not None', ""),
    ],
)
def test_what_a_group_is_asked_for_is_what_the_constructor_takes(given: str, test: str, default: str) -> None:
    (options,) = told(STEP.format(given=given, test=test))
    assert options == ([f"only where `{test}` holds; {default}"] if default else [])


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ("", True),
        ("def __init__(self, params, check=True):\n            super().__init__(params, 1e-3, 0.0, check)\n", False),
        ("def ask(self):\n            return 1\n", True),
    ],
)
def test_a_class_below_may_give_them_something_else(more: str, named: bool) -> None:
    text = STEP.format(given="defaults", test="False")
    below = f"""
    class Below(Plain):
        {more}
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    if group["check"]:
                        print(p.sum())
    """
    options = told(text.replace("if False:", "if p is None:") + below)[-1]
    assert options == ([f'only where `group["check"]` holds; {CHECK}'] if named else [])
