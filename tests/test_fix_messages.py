"""What an assertion on the device says: what the host knows, and nothing of what it would have to wait for."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from fixing import rewritten  # noqa: E402

HEAD = "import torch\n\n\ndef f(x: torch.Tensor, name: str, low: int, table):\n"


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ('f"{name} is below {low}"', 'f"{name} is below {low}"'),
        ('f"{name} is negative, got {x.min()}."', 'f"{name} is negative."'),
        ('f"Below {low}: {x.min()} in {{x}}"', 'f"Below {low}"'),
        ('f"Not in [{table.low}, {table.high}], but {x}. Look at {name}."', 'f"Not in [..., ...]. Look at {name}."'),
        ("f'{{x}} of {name}'", 'f"{{x}} of {name}"'),
        ("f'\"x\" of {name}'", "'\"x\" of ...'"),
        ('f"{low:.2f} is below {low!r}"', '"... is below ..."'),
        ('"%s is below %d" % (name, low)', '"... is below ..."'),
        ('f"{x.min()}"', ""),
    ],
)
def test_a_message_tells_what_the_host_knows(message, said):
    program = f"{HEAD}    if (x < 0).any():\n        raise ValueError({message})\n    return x\n"
    after = rewritten(program, unsafe=True)
    assert after == f"{HEAD}    torch._assert_async(~(x < 0).any(){', ' if said else ''}{said})\n    return x\n"


def test_of_a_message_more_than_a_word_is_left():
    program = (
        f'{HEAD}    if (x < 0).any():\n        raise ValueError(f"x: {{x.shape}}, low: {{x.min()}}")\n    return x\n'
    )
    assert '"x: ..., low: ..."' in rewritten(program, unsafe=True)
