"""What another file of a project sets when it is imported holds for those who import it, and for its package."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncguard import pack, pipeline
from syncguard.config import Config
from syncguard.examine.examine import Examiner
from syncguard.infer.parts import WORDS, part_saying
from syncguard.read.source import read

USER = """import torch
from torch.distributions import Categorical
{imports}

def act(x):
    return Categorical(logits=x.exp()).log_prob(x)

act(torch.rand(8, device="cuda"))
"""
OFF = "from torch.distributions import Distribution\nDistribution.set_default_validate_args(False)\ndef thing(): ...\n"


def found(folder: Path, **files: str) -> list[str]:
    package = folder / "package"
    package.mkdir()
    for name, text in files.items():
        (package / f"{name}.py").write_text(text)
    report = pipeline.check([str(package / "user.py")], Config(heat="all", cache=False))
    return [finding.code for finding in report.findings]


@pytest.mark.parametrize(
    ("imports", "init"),
    [
        ("from .base import thing", ""),
        ("from package.base import thing", ""),
        ("from . import base", ""),
        ("", "from .base import thing"),
        ("", "from . import base"),
    ],
)
def test_what_is_imported_switches_off(tmp_path: Path, imports: str, init: str) -> None:
    assert found(tmp_path, __init__=init, base=OFF, user=USER.format(imports=imports)) == []


def test_what_a_function_says_is_not_said_by_importing_it(tmp_path: Path) -> None:
    lines = OFF.splitlines()
    base = f"{lines[0]}\n\ndef thing():\n    {lines[1]}\n"
    assert found(tmp_path, __init__="", base=base, user=USER.format(imports="from .base import thing")) == ["SG501"] * 2


def test_nobody_imports_it(tmp_path: Path) -> None:
    assert found(tmp_path, __init__="", base=OFF, user=USER.format(imports="")) == ["SG501"] * 2


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("Categorical.set_default_validate_args(False)", []),
        ("torch.distributions.Distribution._validate_args = False", []),
        ("Categorical.set_default_validate_args(__debug__)", ["SG501"] * 2),
        ("torch.distributions.Distribution._validate_args = True", ["SG501"] * 2),
        ("Categorical.set_default_validate_args = False", ["SG501"] * 2),
    ],
)
def test_spellings(tmp_path: Path, said: str, left: list[str]) -> None:
    assert found(tmp_path, user=USER.format(imports=said)) == left


def test_what_is_only_searched_is_searched_again(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from .base import thing\n")
    (package / "user.py").write_text(USER.format(imports=""))

    def codes(base: str) -> list[str]:
        (package / "base.py").write_text(base)
        config = Config(heat="all", root=str(tmp_path), cache_dir=str(tmp_path / "kept"))
        return [finding.code for finding in pipeline.check([str(package / "user.py")], config).findings]

    quiet = "def thing(): ...\n"
    for base in (quiet, OFF, quiet, OFF, quiet + "NAME = 1\n", OFF + "NAME = 1\n", quiet, OFF):
        for _ in range(2):
            assert codes(base) == ([] if base.startswith("from") else ["SG501"] * 2)


def test_a_package_that_imports_another_file_is_looked_at_again(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "base.py").write_text(OFF)
    (package / "user.py").write_text(USER.format(imports=""))

    def codes(init: str) -> list[str]:
        (package / "__init__.py").write_text(init)
        config = Config(heat="all", root=str(tmp_path), cache_dir=str(tmp_path / "kept"))
        return [finding.code for finding in pipeline.check([str(package / "user.py")], config).findings]

    assert codes("") == ["SG501"] * 2
    assert codes("from .base import thing\n") == []
    assert codes("import torch\n") == ["SG501"] * 2


def test_a_file_that_is_only_searched_is_neither_parsed_nor_looked_at_again(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("from .base import thing\n")
    (package / "base.py").write_text("def thing(): ...\n")
    (package / "user.py").write_text(USER.format(imports=""))
    examiner = Examiner(Config(heat="all", root=str(tmp_path), cache=False))
    examined = examiner.examine(read(str(package / "user.py")))
    base = str(package / "base.py")
    assert base not in examiner.lowered
    assert [part for path, part in examined.uses if path == base] == [part_saying(WORDS[0])]


def test_every_way_to_switch_validation_off_says_the_word() -> None:
    patterns = pack.load().places.tables["advice"]["validation_off"]
    assert patterns
    assert all(WORDS[0] in pattern for pattern in patterns)
