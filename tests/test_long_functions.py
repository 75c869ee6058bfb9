"""What a program has written may be thousands of lines long: what is asked about one line must not go through all."""

import pytest
from checked import findings

from syncguard.judge.around import standing
from syncguard.judge.defaults import classes

LINES = 800


def written(line, last):
    body = "".join(line.format(i=i, next=i + 1) for i in range(LINES))
    return f"import torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x0, k):\n{body}        {last}\n"


@pytest.fixture
def asked(monkeypatch):
    """How often it is asked whether a statement encloses a place."""
    count = [0]
    real = standing.around

    def around(whole, part):
        count[0] += 1
        return real(whole, part)

    monkeypatch.setattr(standing, "around", around)
    return count


def test_the_reasons_of_one_wait_are_each_found_where_they_stand(asked):
    text = written("        x{next} = torch.relu(x{i} + {i})\n", f"return x{LINES}.item()")
    assert [one.code for one in findings(text)] == ["SG201"]
    assert asked[0] < 8 * LINES


def test_each_of_many_waits_is_found_where_it_stands(asked):
    line = "        if k > {i}:\n            x{next} = x{i} + 1\n        else:\n            x{next} = x{i} * 2\n"
    found = findings(written(line, f"return x{LINES}"))
    assert {one.code for one in found} == {"SG204"}
    assert len(found) == LINES
    assert asked[0] < 40 * LINES


def test_a_long_name_is_asked_for_once_a_dot(monkeypatch):
    count, real = [0], classes._classes

    def asked(node, place):
        count[0] += 1
        return real(node, place)

    monkeypatch.setattr(classes, "_classes", asked)
    dots = ".".join(["part"] * 12)
    text = f"import torch\n\n\ndef take(cfg, x):\n    if cfg.{dots}.on():\n        return x.cuda().item()\n"
    assert [one.code for one in findings(text)] == ["SG201"]
    assert 0 < count[0] < 200


@pytest.mark.timeout(60)  # each way from one variable to another through the rest of them takes longer than anybody has
def test_variables_that_are_all_made_of_one_another_are_each_looked_at_once():
    names = ", ".join(f"x{i}" for i in range(14))
    body = f"""
import torch

from engine import step


def settle(model: torch.nn.Module, x, limit=9):
    {names} = step(model, x)
    for i in range(limit):
        {names} = step({names})
        if torch.any(x0 > 3).item():
            break
    return x0
"""
    assert [finding.code for finding in findings(body)] == ["SG201"]
