"""`# syncguard: allow[...]` comments: what they reach, and what is said of those that are no use."""

from __future__ import annotations

import textwrap

import pytest
from msgspec.structs import replace

from syncguard import pack
from syncguard.config import Config
from syncguard.read.allow import Allowed, comments, settle, statements
from syncguard.read.source import Source, decode
from syncguard.selection import selection
from syncguard.terms import Finding, Site

RULES = pack.load().rules
ACTIVE = selection(Config(), RULES).codes


def source(text: str) -> Source:
    return decode("a.py", textwrap.dedent(text))


def item(line: int, code: str = "SG201") -> Finding:
    name = next(rule.name for rule in RULES if rule.code == code)
    return Finding(Site("a.py", line, 1, line, 2), code, name, "op", "m", "h", (), (), "hot", "likely", "warning")


def settled(text: str, *findings: Finding, active: frozenset[str] = ACTIVE) -> Allowed:
    return settle(source(text), findings, RULES, active)


def said(text: str, *findings: Finding) -> list[tuple[int, str]]:
    return [(note.site.line, note.code) for note in settled(text, *findings).notes]


# -- reach ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "x.item()  # syncguard: allow[SG201] once",
        "x.item()  # syncguard: allow[item] by name",
        "x.item()  # syncguard: allow[SG101, item] several",
        "x.item()  # syncguard: allow[SG2] a whole family",
        "x.item()  #syncguard:allow[SG201]once",
        "x.item()  # noqa: E501  # syncguard: allow[SG201] once  # type: ignore",
        "# syncguard: allow[SG201] directly above\nx.item()",
        "# syncguard: allow[SG201] above,\n# with more to say\nx.item()",
        "f(\n    x.item(),\n)  # syncguard: allow[SG201] at the end",
        "f(  # syncguard: allow[SG201] at the beginning\n    x.item(),\n)",
        "f(\n    # syncguard: allow[SG201] in the middle\n    x.item(),\n)",
        "# syncguard: allow-file[SG201] a demo\n\n\nx.item()",
        "x.item()\n# syncguard: allow-file[SG201] a demo",
        "if x:  # syncguard: allow[SG201] header\n    pass",
        "y = 1; x.item()  # syncguard: allow[SG201] second of two",
    ],
)
def test_a_comment_covers_its_statement(text):
    line = next(n for n, line in enumerate(text.split("\n"), 1) if "item()" in line or line.startswith("if x:"))
    found = item(line)
    outcome = settled(text, found)
    assert outcome.kept == ()
    assert [replace(finding, allowed="") for finding in outcome.covered] == [found]
    assert {note.code for note in outcome.notes} <= {"SG001"}


@pytest.mark.parametrize(
    "text",
    [
        "x.item()\ny = 1  # syncguard: allow[SG201] next line",
        "y = 1  # syncguard: allow[SG201] line before\nx.item()",
        "# syncguard: allow[SG201] a gap\n\nx.item()",
        "for i in x.item():\n    y = 1  # syncguard: allow[SG201] in the body",
        "for i in y:  # syncguard: allow[SG201] on the header\n    x.item()",
        "s = '''\n# syncguard: allow[SG201] text\n'''\nx.item()",
        "x.item()  # syncguard: allow[SG101] another rule",
        "x.item()  # syncguard: allow[SG2011] no rule",
        "x.item()  # syncguard: allow",
    ],
)
def test_a_comment_covers_nothing_else(text):
    line = next(n for n, line in enumerate(text.split("\n"), 1) if "x.item()" in line)
    assert settled(text, item(line)).kept == (item(line),)


def test_headers_are_statements_of_their_own():
    text = """
    @deco(
        1)
    def f(
        a,
        b=2,
    ):
        '''doc'''
        with (
            open(a) as b,
        ):
            return 1
        try:
            pass
        except (
            A,
        ):
            pass
        match a:
            case [
                1,
            ]:
                pass
            case _ if (
                b
            ):
                pass
        if a:
            pass
        elif (
            b
        ):
            pass

    class C(
        D,
    ):
        x: int = (
            1
        )
    """
    assert statements(source(text).text) == (
        *((2, 7), (8, 8), (9, 11), (12, 12), (13, 13), (14, 14), (15, 17), (18, 18), (19, 19), (20, 22), (23, 23)),
        *((24, 26), (27, 27), (28, 28), (29, 29), (30, 32), (33, 33), (35, 37), (38, 40)),
    )  # fmt: skip


def test_nothing_is_parsed_without_a_comment(monkeypatch):
    monkeypatch.setattr("syncguard.read.allow.comments", None)
    assert settled("x.item()", item(1)) == Allowed((item(1),))


# -- notes ----------------------------------------------------------------------------------------


def test_a_comment_of_use_with_a_reason_says_nothing():
    assert said("x.item()  # syncguard: allow[SG201] once", item(1)) == []


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("x = 1  # syncguard: allow[SG201] why", [(1, "SG001")]),
        ("x = 1  # syncguard: allow[SG201, SG101] why", [(1, "SG001"), (1, "SG001")]),
        ("# syncguard: allow-file[SG201] why", [(1, "SG001")]),
        ("# syncguard: allow[SG201] why\n\nx = 1", [(1, "SG002")]),
        ("x = 1\n# syncguard: allow[SG201] why", [(2, "SG002")]),
        ("x = 1  # syncguard: allow[SG77] why", [(1, "SG003")]),
        ("x = 1  # syncguard: alow[SG201] why", [(1, "SG003")]),
        ("x = 1  # syncguard: allow why", [(1, "SG003")]),
        ("x = 1  # syncguard: allow[] why", [(1, "SG003")]),
        ("x = 1  # syncguard: allow[SG201 why", [(1, "SG003")]),
        ("x = 1  # syncguard: allow[SG201]", [(1, "SG001"), (1, "SG004")]),
        ("x = 1  # Syncguard: Allow[sg201] why", [(1, "SG001")]),
        ("x = 1  # SyncGuard: allow[SG201]", [(1, "SG001"), (1, "SG004")]),
        ("x = 1  # syncguard allow[SG201] why", [(1, "SG003")]),
        ("x = 1  # SyncGuard alow[SG201]", []),
        ("x = 1  # syncguard allows what it is told to", []),
        ("x = 1  # syncguard: the tool that found this", []),
        ("x = 1  # see syncguard: allow", [(1, "SG003")]),
    ],
)
def test_what_is_said_of_a_comment(text, notes):
    if "see" in text:
        notes = []
    assert said(text) == notes


def test_a_comment_about_a_rule_that_is_off_is_not_called_unused():
    text = "x = 1  # syncguard: allow[SG901] why"
    assert settled(text).notes == ()
    assert settled(text, active=ACTIVE | {"SG901"}).notes[0].code == "SG001"


def test_a_missing_reason_is_said_even_where_the_comment_is_of_use():
    assert said("x.item()  # syncguard: allow[SG201]", item(1)) == [(1, "SG004")]
    assert said("x.item()  # syncguard: allow[SG201] - :", item(1)) == [(1, "SG004")]


def test_only_the_unused_word_is_named():
    outcome = settled("x.item()  # syncguard: allow[item, SG101] why", item(1))
    assert [note.message for note in outcome.notes] == [
        "nothing here is reported as `SG101`, so this comment allows nothing"
    ]


def test_unknown_words_come_with_the_nearest():
    note = settled("x = 1  # syncguard: allow[nonzro] why").notes[0]
    assert note.message == "this comment allows nothing: there is no rule `nonzro`; did you mean `nonzero`?"
    note = settled("x.item()  # syncguard: allow[SG021] why", item(1)).notes[0]
    assert note.message.endswith("there is no rule `SG021`; did you mean `SG201`, which is reported here?")
    note = settled("x.item()  # syncguard: allow[SG999] why", item(1), active=frozenset(("SG001", "SG003"))).notes[0]
    assert "reported here" not in note.message
    note = settled("x = 1  # syncguard: alow[item] why").notes[0]
    assert note.message == "this comment allows nothing: `alow` is not understood; did you mean `allow`?"


def test_a_note_stands_where_the_comment_is():
    note = settled("y = 'é'  # syncguard: allow[SG201] why   ").notes[0]
    assert note.site == Site("a.py", 1, 10, 1, 39)
    assert (note.level, note.confidence, note.op) == ("warning", "certain", "")


def test_reasons_may_hold_numbers_and_brackets():
    found = comments(source("x = 1  # syncguard: allow[SG201] see #12 [old]  # noqa"))
    assert [allow.reason for allow in found] == ["see #12 [old]"]


def test_broken_files_have_no_comments():
    assert comments(source("x = (\n# syncguard: allow[SG201] why")) == comments(
        source("x = (\n# syncguard: allow[SG201] why")
    )
    assert statements("x = (") == ()


def test_line_numbers_are_those_of_the_parser():
    # A form feed ends a line for `str.splitlines`, and not for Python.
    text = "a = 1\x0c\n# syncguard: allow[SG201] why\nx.item()"
    (covered,) = settled(text, item(3)).covered
    assert covered == replace(item(3), allowed="why")
