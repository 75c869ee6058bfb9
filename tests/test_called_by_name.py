"""What is asked for by its name behind options alone, whoever it is asked of, says so; and what a class has, by the
name of the attribute that keeps it."""

import pytest
from packaged import found

DRAWS = """
import torch
from torch import nn


class Mesh(nn.Module):
    def forward(self, x: torch.Tensor):
        return x.nonzero()


class Renderer(nn.Module):
    def __init__(self):
        super().__init__()
        {keeps}

    def to_mesh(self, x: torch.Tensor):
        {call}
{more}
"""
CALL = "return self.decoder(x)"
USES = """
class Pipeline:
    def __init__(self, renderer, unet):
        self.renderer, self.unet = renderer, unet

    def __call__(self, x, kind="image", deep=False):
        x = self.unet(x)
        {use}
        return x
"""
MESH = 'as far as we see called only where `kind == "mesh"` holds; by default `kind` is `"image"`'
IF = "if kind == 'mesh':\n            return self.renderer.to_mesh(x)"


def options(
    use: str = IF, call: str = CALL, more: str = "", keeps: str = "self.decoder = Mesh()", **others: str
) -> list[str]:
    files = {
        "pkg/__init__.py": "",
        "pkg/draws.py": DRAWS.format(call=call, more=more, keeps=keeps),
        "pkg/uses.py": USES.format(use=use.replace("'", '"')),
        **{f"pkg/{name}.py": text for name, text in others.items()},
    }
    return [fact.text for fact in found(files)["pkg/draws.py"].options]


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (IF, [MESH]),
        ("if kind == 'mesh':\n            x = x + 1\n            return self.renderer.to_mesh(x)", [MESH]),
        ("if kind != 'mesh':\n            return x\n        return self.renderer.to_mesh(x)",
         ['as far as we see called only where `kind != "mesh"` does not hold; by default `kind` is `"image"`']),
        ("return self.renderer.to_mesh(x) if kind == 'mesh' else x", [MESH]),
        ("if kind == 'image':\n            return self.renderer.to_mesh(x)", []),
        ("return self.renderer.to_mesh(x)", []),
        ("draw = self.renderer.to_mesh\n        if deep:\n            draw(x)", []),
        ("def draw():\n            return self.renderer.to_mesh(x)\n        if deep:\n            draw()", []),
    ],
)  # fmt: skip
def test_every_place_that_asks_for_it_counts(use: str, expected: list[str]) -> None:
    assert options(use) == expected


@pytest.mark.parametrize(
    ("keeps", "told"),
    [
        ("self.decoder = nn.Sequential(nn.ReLU(), Mesh())", True),
        ("self.decoder = nn.ModuleList()\n        self.decoder.append(Mesh())", True),
        ("parts = [nn.ReLU()]\n        parts.append(Mesh())\n        self.decoder = nn.Sequential(*parts)", True),
        ("parts = []\n        parts += [Mesh()]\n        self.decoder = nn.Sequential(*parts)", True),
        ("mesh = Mesh()\n        self.decoder = mesh", True),
        ("mesh = Mesh()\n        self.decoder = nn.ModuleList()\n        self.decoder.append(mesh)", True),
        ("mesh = Mesh()\n        mesh(1)\n        self.decoder = mesh", False),
        ("mesh = Mesh()\n        self.decoder, self.other = mesh, mesh", False),
        ("mesh = Mesh()\n        self.decoder = mesh\n        self.other = mesh", False),
        ("self.decoder = Mesh()\n        self.decoder(1)", False),
    ],
)
def test_what_an_object_keeps_is_asked_for_by_the_name_of_the_attribute(keeps: str, told: bool) -> None:
    assert options(keeps=keeps) == ([MESH] if told else [])


def test_the_function_that_asks_may_be_asked_for_itself() -> None:
    between = "class Worker:\n    def draw(self, renderer, x):\n        return renderer.to_mesh(x)\n"
    assert options("if kind == 'mesh':\n            return self.renderer.draw(x)", worker=between) == [MESH]
    assert options("return self.renderer.draw(x)", worker=between) == []


def test_one_of_the_options_is_told_where_different_functions_ask() -> None:
    other = "def show(renderer, x, draw=False):\n    if draw:\n        renderer.to_mesh(x)\n"
    asked = 'only where `draw` holds or `kind == "mesh"` holds; by default `draw` is `False` and `kind` is `"image"`'
    assert options(other=other) == [f"as far as we see called {asked}"]


@pytest.mark.parametrize(
    "others",
    [
        {"other": "def show(renderer, x):\n    renderer.to_mesh(x)\n"},
        {"other": "from .draws import Mesh\n\n\nclass Net:\n    def __init__(self):\n        self.net = Mesh()\n"},
        {"other": "from .draws import Mesh\n\n\ndef show(x):\n    return Mesh()(x)\n"},
        {"other": "from .draws import Mesh\n\n\nclass Finer(Mesh):\n    pass\n"},
        {"other": "def show(renderer, x):\n    getattr(renderer, 'to_mesh')(x)\n"},
        {"other": "def show(renderer, x):\n    return renderer.decoder(x)\n"},
    ],
)  # fmt: skip
def test_whatever_else_may_ask_for_it_counts(others: dict[str, str]) -> None:
    assert options(**others) == []


def test_what_another_class_has_under_the_name_does_not() -> None:
    other = "from torch import nn\n\n\nclass Other(nn.Module):\n    def run(self, x):\n        return self.decoder(x)\n"
    assert options(other=other) == [MESH]
    assert options(more="\n    def forward(self, x):\n        return self.decoder(x)\n") == []


@pytest.mark.parametrize(("use", "expected"), [(IF, [MESH.replace("'", '"')]), ("return self.renderer.to_mesh(x)", [])])
def test_a_function_that_it_alone_calls_has_its_options(use: str, expected: list[str]) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/points.py": "import torch\n\n\ndef points(x: torch.Tensor):\n    return x.nonzero()\n",
        "pkg/draws.py": "from .points import points\n\nclass Draws:\n    def to_mesh(self, x):\n        points(x)\n",
        "pkg/uses.py": USES.format(use=use.replace("'", '"')),
    }
    assert [fact.text for fact in found(files)["pkg/points.py"].options] == expected


PATCH = """
import torch
from lib import Router


def patch():
    def patched(self, routing: torch.Tensor):
        self.count = routing.sum().item()

    Router.forward = patched
"""
ENGINE = """
from .draws import patch


class Engine:
    def __init__(self, config):
        self.replay = config.router.mode != "disabled"
        {call}
"""


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("if self.replay:\n            patch()", ["as far as we see called only where `self.replay` holds"]),
        ("patch()", []),
        ("if not self.replay:\n            patch()", []),
    ],
)
def test_what_is_defined_in_a_function_is_there_only_where_that_is_called(call: str, told: list[str]) -> None:
    files = {"pkg/__init__.py": "", "pkg/draws.py": PATCH, "pkg/uses.py": ENGINE.format(call=call)}
    assert [fact.text for fact in found(files)["pkg/draws.py"].options] == told


HELD = """
import torch


class Held{n}(torch.nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def mix_{n}(self, x: torch.Tensor):
        return {body}
"""


def chain(length: int, *waiting: int) -> list[str]:
    """The options of the wait of a method, which others ask for by its name one behind the other, the last behind an
    option; some of them wait, too."""
    files = {"pkg/__init__.py": ""}
    for n in range(length):
        body = f"self.inner.mix_{n - 1}({'x.unique()' if n in waiting else 'x'})" if n else "x.nonzero()"
        files[f"pkg/held_{n}.py"] = HELD.format(n=n, body=body)
    use = f"if kind == 'mesh':\n            x = self.renderer.mix_{length - 1}(x)".replace("'", '"')
    files["pkg/uses.py"] = USES.format(use=use)
    return [fact.text for fact in found(files)["pkg/held_0.py"].options]


@pytest.mark.parametrize("length", range(2, 10))
def test_who_else_is_asked_about_changes_nothing(length: int) -> None:
    alone = chain(length)
    assert (alone == [MESH]) is (length <= 6)
    for other in range(1, length):
        assert chain(length, other) == alone
