"""Patterns of the user that match nothing: each is told in a line, where it should have matched something."""

from __future__ import annotations

from pathlib import Path

import pytest

from syncguard.config import load
from syncguard.read.find import find
from syncguard.read.source import FileNote
from syncguard.read.unmatched import unmatched

CONFIGURATION = """
exclude = ["build", "tset", "made", "gen_*.py"]
extend-exclude = ["third", "src/pgk/*"]
hot = ["train_*", "trian_*", "Engine.step", "Engine.stpe"]
cold = ["*.setup"]

[per-file-ignores]
"tests/*" = ["SG201"]
"tset/*" = ["SG201"]
"!tests/**" = ["SG404"]
"""
CODE = """
class Engine:
    def setup(self): ...
    def step(self): ...

def train_one(): ...
"""


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    for name, text in {
        "syncguard.toml": CONFIGURATION, ".gitignore": "/made/\n", "a.py": CODE,
        "src/pkg/b.py": "", "src/pkg/gen_c.py": "", "tests/test_a.py": "", "third/d.py": "",
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)


def told(*paths: str, typed: tuple[str, ...] = (), isolated: bool = False) -> list[str]:
    config = load(paths, {"extend-exclude": [*typed]} if typed else {}, isolated=isolated)
    found = find(paths, config)
    notes = (*(FileNote(path, "read") for path in found.paths), *found.notes)
    return [*unmatched(config, paths, notes, typed)]


def test_each_pattern_of_a_file_that_matches_nothing_is_told_where_all_of_its_folder_is_read():
    assert told(".") == told("src", ".") == [
        "`exclude`: `tset` leaves nothing out",
        "`extend-exclude`: `src/pgk/*` leaves nothing out; it is relative to this folder",
        "`per-file-ignores`: no file that is read matches `tset/*`; it is relative to this folder",
        "`hot`: no function that is read is called `trian_*`",
        "`hot`: no function that is read is called `Engine.stpe`",
    ]  # fmt: skip


def test_in_a_part_of_the_folder_they_may_match_nothing():
    assert told("src") == told("a.py") == told("src", "tests") == []


def test_what_was_typed_is_told_wherever_a_folder_is_walked():
    assert told("src", typed=("b.py",)) == []
    assert told("src", typed=("nothing", "b.py")) == ["--exclude: `nothing` leaves nothing out"]
    assert told("a.py", typed=("nothing",)) == []
    (dotted,) = told("src", typed=("./src/pkg",))
    assert dotted.startswith("--exclude: `./src/pkg` leaves nothing out; patterns are written as in .gitignore")


def test_a_pattern_says_what_it_is_relative_to_where_that_is_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "src")
    assert told(".", typed=("pkg/b.py",)) == [f"--exclude: `pkg/b.py` leaves nothing out; it is relative to {tmp_path}"]


def test_what_a_preset_names_need_not_be_there():
    Path("syncguard.toml").write_text('preset = "inference"\n')
    assert told(".") == []
    assert told(".", isolated=True) == []
