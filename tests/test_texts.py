"""A text in, what code reads of it out."""

import pytest

from syncguard.texts import code_of

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


def test_what_does_not_end_is_read_at_once() -> None:
    text = f"x = {Q}a\n" + "y = '\\n'\n" * 4000
    assert code_of(text) == text
