"""Output: what a finding looks like, and what every format promises."""

from __future__ import annotations

import io
import json
import textwrap
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace

from syncguard import __version__, pack
from syncguard.pipeline import Report
from syncguard.read.source import FileNote
from syncguard.show import concise, counts, explain, full, rules
from syncguard.show.formats import FORMATS, PEOPLE, Output, UnknownFormat, output, renderer
from syncguard.show.look import Look, plural, printable, wants_colour, width_of, wrapped
from syncguard.terms import Edit, Fact, Finding, Fix, Op, Site, Wait

DOCS = Path(__file__).parent.parent / "docs"
SOURCE = {
    "loss.py": """\
        import torch

        def loss(x, labels):
            keep = labels != 0
            y = x[keep]
            z = torch.nonzero(
                keep,
            )
        \tw = "日本", x.item()
            return y
    """
}
LINES = {path: tuple(textwrap.dedent(text).split("\n")) for path, text in SOURCE.items()}
READ = Finding(
    site=Site("loss.py", 5, 9, 5, 16),
    code="SG102",
    name="mask-read",
    op="torch.Tensor.__getitem__",
    message="`x[keep]` waits for the device to count the true elements of the mask",
    hint="Keep the shape: `torch.where(mask, x, 0)`",
    because=(Fact("`labels` is a parameter of `loss`", 3), Fact("`labels` is a batch", 12, "train.py")),
    hot_path=(Fact("the loop calls `loss`", 40, "train.py"),),
    heat="hot",
    confidence="likely",
    level="warning",
    breaks=("capture", "compile"),
    function="loss",
)
BROKEN = Finding(
    Site("b.py", 1, 1, 1, 1),
    "SG000",
    "unreadable-file",
    "",
    "not checked: is UTF-16",
    "",
    (),
    (),
    "unknown",
    "certain",
    "error",
)
FILES = (
    FileNote("loss.py", "read"),
    FileNote("a.py", "read"),
    FileNote("b.py", "broken", "is UTF-16"),
    FileNote("build/", "skipped", "excluded"),
    FileNote("out/", "skipped", "in .gitignore"),
    FileNote("x_gen.py", "skipped", "in .gitignore"),
    FileNote("readme.md", "skipped", "not Python"),
)
REPORT = Report((READ, BROKEN), FILES, functions=1200, hot=34, hot_loops=2)
EMPTY = Report((), (), 0, 0)


def lines(path: str) -> tuple[str, ...]:
    return LINES.get(path, ())


def at(line: int, column: int, end_line: int, end_column: int, **fields: object) -> Finding:
    values = {name: getattr(READ, name) for name in READ.__struct_fields__} | fields
    return Finding(**{**values, "site": Site("loss.py", line, column, end_line, end_column)})


def shown(finding: Finding, **fields: object) -> str:
    return "\n".join(full.one(finding, Look(lines=lines, **fields)))


# -- full -----------------------------------------------------------------------------------------


def test_a_finding_in_full():
    assert shown(READ) == textwrap.dedent("""\
        SG102 mask-read: `x[keep]` waits for the device to count the true elements of the mask
         --> loss.py:5:9 in loss
          |
        5 |     y = x[keep]
          |         ^^^^^^^
          = because  line 3       `labels` is a parameter of `loss`
                     train.py:12  `labels` is a batch
          = hot      train.py:40  the loop calls `loss`
          = breaks   CUDA graph capture, torch.compile
          = hint     Keep the shape: `torch.where(mask, x, 0)`""")


def test_a_place_that_would_leave_no_room_has_a_line_of_its_own():
    far = Fact("`labels` is a batch", 12, "project/schedulers/scheduling_discrete.py")
    because = (Fact("`labels` is a parameter of `loss`", 3), far, replace(far, path="train.py"))
    assert shown(replace(READ, because=because), width=90).split("\n")[5:10] == [
        "  = because  line 3       `labels` is a parameter of `loss`",
        "             project/schedulers/scheduling_discrete.py:12",
        "                          `labels` is a batch",
        "             train.py:12  `labels` is a batch",
        "  = hot      train.py:40  the loop calls `loss`",
    ]
    alone = shown(replace(READ, because=(far, replace(far, text="`x` is one")), hot_path=()), width=90).split("\n")
    assert alone[5:8] == [
        "  = because  project/schedulers/scheduling_discrete.py:12",
        "               `labels` is a batch",
        "               `x` is one",
    ]


def test_a_span_of_several_lines():
    text = shown(at(6, 9, 8, 6, because=(), hot_path=(), breaks=(), hint=""))
    assert text.split("\n")[2:] == [
        "  |",
        "6 |       z = torch.nonzero(",
        "  |  _________^",
        "7 | |         keep,",
        "8 | |     )",
        "  | |_____^",
    ]


def test_a_long_span_is_shown_by_its_ends():
    text = tuple(f"line {n}" for n in range(1, 30))
    finding = at(3, 1, 20, 5, because=(), hot_path=(), breaks=(), hint="")
    assert "\n".join(full.frame(finding.site, "warning", 2, Look(lines=lambda _: text))) == "\n".join([
        "   |",
        " 3 |   line 3",
        "   |  _^",
        " 4 | | line 4",
        " 5 | | line 5",
        "...  |",
        "19 | | line 19",
        "20 | | line 20",
        "   | |____^",
    ])  # fmt: skip


def test_the_mark_stands_under_wide_characters_and_tabs():
    text = shown(at(9, 12, 9, 20)).split("\n")
    assert text[3] == '9 |     w = "日本", x.item()'
    assert text[4] == "  |" + " " * 17 + "^^^^^^^^"
    assert width_of(text[3]) == len(text[3]) + 2


def test_heat_and_confidence_are_said_where_they_are_not_the_usual():
    assert shown(at(5, 9, 5, 16, heat="unknown")).split("\n")[1].endswith("in loss, heat unknown")
    assert (
        shown(at(5, 9, 5, 16, heat="cold", confidence="possible"))
        .split("\n")[1]
        .endswith("in loss, cold, only possible")
    )
    assert shown(at(5, 9, 5, 16, heat="amortized", function="")).split("\n")[1].endswith("5:9 (amortized)")


def test_a_file_that_has_gone_or_shrunk_gives_no_frame():
    assert shown(BROKEN) == "SG000 unreadable-file: not checked: is UTF-16\n --> b.py:1:1"
    assert "|" not in shown(at(99, 1, 99, 5))


def test_a_span_beyond_the_line_is_still_marked():
    assert shown(at(5, 80, 5, 90)).split("\n")[4].endswith("^")
    assert "^" in shown(at(2, 1, 2, 1))


@pytest.mark.parametrize("width", [48, 60, 80, 120])
def test_nothing_is_wider_than_the_terminal(width):
    long = "x" * 300 + " = y[" + "a, " * 200 + "]"
    words = "a sentence of many words with `some quoted code` in it " * 8
    finding = at(1, 304, 1, 320, message=words, hint=words, because=(Fact(words, 7),))
    text = "\n".join(full.one(finding, Look(lines=lambda _: (long,), width=width)))
    assert max(map(width_of, text.split("\n"))) <= width
    assert "^" * 16 in text


def test_what_is_quoted_is_never_broken():
    assert list(wrapped("one `two three four` five", 8)) == ["one", "`two three four`", "five"]
    assert list(wrapped("", 8)) == []


def test_nothing_in_a_file_can_command_the_terminal():
    evil = "x = '\x1b[2J\x07\u202e'"
    finding = at(1, 1, 1, 4, message=evil, hint=evil, because=(Fact(evil, 1),), function=evil)
    text = "\n".join(full.one(finding, Look(lines=lambda _: (evil,))))
    assert not set("\x1b\x07\u202e") & set(text)
    assert printable("a\tb\x1b") == "a    b\N{REPLACEMENT CHARACTER}"


# -- colour ---------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "stream", "environ", "wanted"),
    [
        ("auto", Terminal(), {}, True),
        ("auto", io.StringIO(), {}, False),
        ("auto", Terminal(), {"NO_COLOR": "1"}, False),
        ("auto", Terminal(), {"NO_COLOR": ""}, True),
        ("auto", Terminal(), {"TERM": "dumb"}, False),
        ("auto", io.StringIO(), {"FORCE_COLOR": "1"}, True),
        ("always", io.StringIO(), {"NO_COLOR": "1"}, True),
        ("never", Terminal(), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_when_there_is_colour(choice, stream, environ, wanted):
    assert wants_colour(choice, stream, environ) is wanted


def test_colour_changes_nothing_else():
    import re

    for finding in (READ, at(6, 9, 8, 6)):
        coloured = shown(finding, colour=True)
        assert "\x1b[1;33m" in coloured
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == shown(finding)


# -- the other formats ----------------------------------------------------------------------------


def test_concise_is_a_line_each():
    assert list(concise.render(REPORT, Look())) == [
        f"loss.py:5:9 SG102 {READ.message}. Keep the shape: `torch.where(mask, x, 0)`",
        "b.py:1:1 SG000 not checked: is UTF-16",
    ]


def rendered(name: str, report: Report = REPORT) -> str:
    return "\n".join(renderer(name)(report, Look(lines=lines)))


def test_json_has_exactly_the_documented_fields():
    found = json.loads(rendered("json"))
    assert (found["version"], found["tool"]) == (1, {"name": "syncguard", "version": __version__})
    assert found["findings"][0] == {
        "path": "loss.py",
        "line": 5,
        "column": 9,
        "end_line": 5,
        "end_column": 16,
        "code": "SG102",
        "name": "mask-read",
        "op": "torch.Tensor.__getitem__",
        "function": "loss",
        "hint": "Keep the shape: `torch.where(mask, x, 0)`",
        "message": "`x[keep]` waits for the device to count the true elements of the mask",
        "because": [
            {"path": "loss.py", "line": 3, "text": "`labels` is a parameter of `loss`"},
            {"path": "train.py", "line": 12, "text": "`labels` is a batch"},
        ],
        "hot_path": [{"path": "train.py", "line": 40, "text": "the loop calls `loss`"}],
        "options": [],
        "heat": "hot",
        "confidence": "likely",
        "level": "warning",
        "breaks": ["capture", "compile"],
        "verdict": None,
        "fix": None,
    }
    assert found["summary"] == {
        "findings": 2,
        "files": 2,
        "read": 2,
        "broken": 1,
        "skipped": {"folder excluded": 1, "folder in .gitignore": 1, "in .gitignore": 1, "not Python": 1},
        "allowed": 0,
        "functions": 1200,
        "hot": 34,
        "hot_loops": 2,
        "baselined": 0,
        "stale": 0,
        "left_out": 0,
    }


@pytest.mark.parametrize(
    "report", [REPORT, EMPTY, Report((at(1, 1, 2, 2, fix=Fix("r", "safe", "m", (Edit(READ.site, "text"),))),), FILES)]
)
def test_json_keeps_to_its_schema(report):
    schema = json.loads((DOCS / "report.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    said = json.loads(rendered("json", report))
    jsonschema.validate(said, closed(schema))
    jsonschema.validate(said | {"later": 1}, schema)  # a field may be added, as the page says


def closed(schema):
    """The schema, when nothing may be said that it does not name."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    shut = {"additionalProperties": False} if "properties" in schema and "additionalProperties" not in schema else {}
    return {name: closed(part) for name, part in schema.items()} | shut


def test_sarif():
    log = json.loads(rendered("sarif"))
    run = log["runs"][0]
    assert log["version"] == "2.1.0"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["SG000", "SG102"]
    result = run["results"][0]
    assert (result["ruleId"], result["ruleIndex"], result["level"]) == ("SG102", 1, "warning")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "loss.py", "uriBaseId": "%SRCROOT%"}
    assert place["region"] == {"startLine": 5, "startColumn": 9, "endLine": 5, "endColumn": 16}
    assert result["relatedLocations"][1]["physicalLocation"]["artifactLocation"]["uri"] == "train.py"
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert steps[0]["location"]["message"]["text"] == "the loop calls `loss`"
    assert "relatedLocations" not in run["results"][1]


def test_sarif_paths_are_uris():
    spaced = Finding(
        **{name: getattr(BROKEN, name) for name in BROKEN.__struct_fields__}
        | {"site": Site("/a b/é.ipynb:cell 3", 1, 1, 1, 1)}
    )
    run = json.loads(rendered("sarif", Report((spaced,), ())))["runs"][0]
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "file:///a%20b/%C3%A9.ipynb"
    }


def test_github_commands_are_escaped_and_have_columns_on_one_line_only():
    first, second = rendered("github").split("\n")
    assert first == (
        "::warning file=loss.py,line=5,endLine=5,col=9,endColumn=16,title=syncguard SG102 mask-read::"
        "loss.py:5:9: SG102 `x[keep]` waits for the device to count the true elements of the mask"
        "%0AKeep the shape: `torch.where(mask, x, 0)`"
    )
    assert second.startswith("::error file=b.py,")
    line = rendered("github", Report((at(6, 1, 8, 2, message="50%\nof it"),), ()))
    assert "col=" not in line
    assert "50%25%0Aof it" in line


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_can_say_nothing(name):
    text = rendered(name, EMPTY)
    assert text == "" if name in PEOPLE else text


def test_formats_by_name():
    assert output("json:out:2.json") == Output("json", "out:2.json")
    assert output("full") == output("full:-") == Output("full")
    with pytest.raises(UnknownFormat, match="xml"):
        output("xml:a")


# -- the closing line -------------------------------------------------------------------------------


def test_the_closing_line_accounts_for_everything():
    assert counts.closing(REPORT) == (
        "2 findings in 2 files (2 files read, 1 unreadable, 4 skipped: 1 folder excluded, 1 folder in .gitignore,"
        " 1 in .gitignore, 1 not Python; 1,200 functions, 34 hot, 2 hot loops)"
    )
    assert counts.closing(EMPTY) == "No findings (0 files read; 0 functions, 0 hot)"
    one = Report((READ,), FILES[:1], 1, 1, allowed=(READ, READ))
    assert counts.closing(one) == "1 finding in 1 file, 2 allowed (1 file read; 1 function, 1 hot)"


def test_cells_of_a_notebook_are_one_file():
    cells = [at(1, 1, 1, 2) for _ in range(2)]
    placed = [
        Finding(**{n: getattr(f, n) for n in f.__struct_fields__} | {"site": Site(f"n.ipynb:cell {k}", 1, 1, 1, 2)})
        for k, f in enumerate(cells)
    ]
    assert counts.counts(Report(tuple(placed), ())).files == 1


def test_statistics_and_allowed():
    report = Report((READ, BROKEN, READ), (), allowed=(READ,))
    assert list(counts.statistics(report, Look())) == ["2  SG102  mask-read", "1  SG000  unreadable-file"]
    assert list(counts.allowed(report, Look())) == [f"loss.py:5:9 SG102 allowed: {READ.message}"]
    assert list(counts.statistics(EMPTY, Look())) == []
    assert (plural(1, "file"), plural(0, "file"), plural(2000, "file")) == ("1 file", "0 files", "2,000 files")


# -- pages ----------------------------------------------------------------------------------------


def test_a_rules_page_is_shown_without_its_block():
    rule = pack.load().rule("SG101")
    text = "\n".join(explain.page(rule, Path(rule.path).read_text(), ("torch.nonzero",), Look()))
    assert text.startswith("SG101 nonzero\nwarning · on · breaks CUDA graph capture, torch.compile\n")
    assert "```toml" not in text
    assert "## Quiet" in text
    assert text.endswith("Operations\n  `torch.nonzero`")
    coloured = "\n".join(explain.page(rule, Path(rule.path).read_text(), (), Look(colour=True)))
    assert "\x1b[" in coloured


def test_an_op_says_when_it_waits_and_how_we_know():
    row = Op(
        "torch.f",
        ("input", "n"),
        "tensor",
        (Wait("nonzero", (("missing", "n"), ("tensor", "input")), since="2.6"), Wait("item", (), on="always")),
        known=True,
        mechanism="a count is copied",
        alternative="`torch.g`",
        caveat="slower",
        evidence=(
            {
                "state": "measured",
                "torch": "2.13.0",
                "device": "a GPU",
                "date": "2026-11-21",
                "at": "here",
                "note": "twice",
            },
        ),
    )
    assert list(explain.op(row, {"nonzero": pack.load().rule("SG101")}, Look())) == [
        "torch.f(input, n)",
        "  returns   tensor",
        "  waits     when `n` is not given and `input` is a tensor on the device, since torch 2.6 (SG101 nonzero)",
        "  waits     always",
        "  how       a count is copied",
        "  instead   `torch.g`",
        "  but       slower",
        "  state     measured on a GPU, torch 2.13.0, 2026-11-21",
        "  evidence  measured in torch 2.13.0: here (twice)",
    ]
    assert "  waits     never" in list(explain.op(Op("torch.h", known=True), {}, Look()))
    assert any("no row says" in line for line in explain.op(Op("torch.h"), {}, Look()))


def test_every_condition_of_a_row_has_words():
    assert set(explain.WHEN) == pack.CONDITIONS
    assert set(explain.ON) == set(pack.PLACES)


def test_beliefs_about_a_line():
    found = (
        (Site("loss.py", 5, 9, 5, 16), "x[keep]", "tensor[cuda]", (Fact("by use", 3), Fact("by type", 1, "t.py"))),
    )
    assert list(explain.beliefs("loss.py", 5, found, Look(lines=lines))) == [
        "loss.py:5",
        "5 |     y = x[keep]",
        "   9  x[keep]  tensor[cuda]",
        "        line 3  by use",
        "        t.py:1  by type",
        "1 expression; the number is the column it begins at.",
    ]
    assert "No expression" in "\n".join(explain.beliefs("loss.py", 2, (), Look(lines=lines)))


def test_rules_as_a_table_and_as_json():
    every = pack.load().rules
    table = list(rules.table(every, Look()))
    assert table[0].split() == ["CODE", "NAME", "LEVEL", "BREAKS", "FIX"]
    assert sum(not line.startswith(" ") for line in table) == len(every) + 1
    rows = json.loads(rules.as_json(every))
    assert [row["code"] for row in rows] == [rule.code for rule in every]
    assert rows[0]["breaks"] == list(every[0].breaks)
