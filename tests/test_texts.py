"""A text in, what code reads of it out."""

from collections.abc import Callable

import pytest

from syncguard.across.texts import bare, code_of

Q = "'" * 3
D = '"' * 3


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{D}said{D}\nx = 1  # said\n", "\nx = 1  \n"),
        (f"x = f{D}{{rows}}{D}\ny = 2\nz = {D}said{D}\n", f"x = f{D}{{rows}}{D}\ny = 2\nz = \n"),
        (f"x = rf{Q}\\w{{rows}}{Q}\nrows()\n", f"x = rf{Q}\\w{{rows}}{Q}\nrows()\n"),
        (f"x = f{Q}a{Q}\nrows()\ny = f{Q}b{Q}\n", f"x = f{Q}a{Q}\nrows()\ny = f{Q}b{Q}\n"),
        (f"x = {D}a \\{D} b{D}\nrows()\n", "x = \nrows()\n"),
        ("__all__ = ['said']\nrows()\n", "]\nrows()\n"),
    ],
)
def test_what_code_reads(text: str, code: str) -> None:
    assert code_of(text) == code


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{D}said\nso{D}\nx = 1  # said\n", "\n\nx = 1  \n"),
        (f"def f():\n    r{Q}\\w{Q}\n    return '#1'\n", "def f():\n\n    return '#1'\n"),
        (f"x = {D}kept # here{D}\n", f"x = {D}kept # here{D}\n"),
        (f"f{D}{{rows}}{D}\n", f"f{D}{{rows}}{D}\n"),
        (f"{Q}a{Q} {D}b{D}\n", f" {D}b{D}\n"),
    ],
)
def test_what_stands_in_a_text_beside_what_it_says(text: str, left: str) -> None:
    assert bare(text) == left


@pytest.mark.parametrize("read", [bare, code_of])
def test_what_does_not_end_is_read_at_once(read: Callable[[str], str]) -> None:
    text = f"x = {Q}a\n" + "y = '\\n'\n" * 4000
    assert read(text) == text
