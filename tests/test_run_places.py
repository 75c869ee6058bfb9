"""The instruction that asks a value for its truth -> the text of what is asked."""

from __future__ import annotations

import sys
from textwrap import indent

import pytest

from syncguard.observe.attribute import position

ASKS = {
    "if @: pass": "@",
    "if not @: pass": "@",
    "if x is not None and not @: pass": "@",
    "if x is None or @: pass": "@",
    "if x is not None and @ and x: pass": "@",
    "if (x and\n    not @): pass": "@",
    "while @: break": "@",
    "while x and not @: break": "@",
    "y = 1 if @ else 2": "@",
    "y = x and @ and 3": "@",
    "y = not @": "not @",
    "assert @": "@",
    "assert x and @, 'why'": "@",
    "y = [i for i in (1,) if @]": "@",
    "y = 0 < @ < 3": "0 < @ < 3",
    "y = list(filter(None, [@]))": "filter(None, [@])",
    "y = any([x is None, @])": "any([x is None, @])",
    "match x:\n    case 1 if @: pass": "@",
}
VALUE = "ask(t)"


class Asked:
    """Says where it is asked whether it is true."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.text = ""

    def __bool__(self) -> bool:
        frame = sys._getframe(1)
        self.places.append(cut(self.text, *position(frame.f_code, frame.f_lasti)))
        return True

    def __lt__(self, other: object) -> Asked:
        return self

    __gt__ = __lt__


def cut(text: str, line: int, end_line: int, column: int | None, end_column: int | None) -> str:
    lines = text.split("\n")[line - 1 : end_line]
    lines[-1] = lines[-1][:end_column]
    return "\n".join([lines[0][column:], *lines[1:]])


@pytest.mark.parametrize("form", ASKS)
def test_what_is_asked(form: str) -> None:
    asked = Asked()
    asked.text = "def f(t, x, ask):\n" + indent(form.replace("@", VALUE), "    ") + "\n"
    names: dict[str, object] = {}
    exec(compile(asked.text, "asked.py", "exec"), names)
    names["f"](asked, 1, lambda t: t)  # type: ignore[operator]
    wanted = ASKS[form].replace("@", VALUE)
    assert asked.places
    assert all(wanted in place or place in wanted for place in asked.places), asked.places
    if ASKS[form] == "@":
        assert set(asked.places) == {VALUE}
