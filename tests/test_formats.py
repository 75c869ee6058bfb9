"""The formats for other programs, each against the rules that its reader publishes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace

from syncguard import pack
from syncguard.cli.main import run
from syncguard.pipeline import Report
from syncguard.read.source import FileNote
from syncguard.show.formats import renderer
from syncguard.show.look import Look
from syncguard.show.places import from_root
from syncguard.terms import Edit, Fact, Finding, Fix, Site

LINES = {
    "src/a b.py": ("import torch", "", "def f(x):", '    return "é日", x.item(), x.item()'),
    "n.ipynb:cell 3": ("y.item()",),
}
READ = Finding(
    Site("src/a b.py", 4, 18, 4, 26), "SG201", "item", "torch.Tensor.item", "`x.item()` waits <&> \x1b", "Keep it",
    (Fact("`x` is a tensor", 3), Fact("it is passed here", 9, "b.py")), (Fact("hot", 3),), "hot", "likely", "warning",
    ("compile",), "f",
)  # fmt: skip
TWIN = replace(READ, site=Site("src/a b.py", 4, 28, 4, 36))
CELL = replace(READ, site=Site("n.ipynb:cell 3", 1, 1, 1, 9), because=(), hot_path=(), level="advice", code="SG901")
BROKEN = Finding(
    Site("b.py", 1, 1, 1, 1), "SG000", "unreadable-file", "", "not checked: is UTF-16", "", (), (), "unknown",
    "certain", "error",
)  # fmt: skip
FIXED = replace(
    READ, fix=Fix("r", "safe", "does it", (Edit(READ.site, "x"), Edit(Site("src/a b.py", 1, 1, 1, 1), "import os\n")))
)
BY_HAND = replace(TWIN, fix=Fix("r", "display", "try", (Edit(TWIN.site, "?"),)))
FILES = (
    FileNote("src/a b.py", "read"), FileNote("clean.py", "read"), FileNote("n.ipynb", "read"),
    FileNote("b.py", "broken", "is UTF-16"), FileNote("x/", "skipped", "excluded"),
)  # fmt: skip
REPORTS = {
    "empty": Report((), ()),
    "plain": Report((READ, TWIN, CELL, BROKEN), FILES, rules=pack.load().rules),
    "fixed": Report((FIXED, BY_HAND), FILES),
    "known": Report((READ,), FILES, allowed=(replace(CELL, allowed="wanted"), CELL), baselined=(TWIN,)),
}
reports = pytest.mark.parametrize("report", REPORTS.values(), ids=REPORTS)


def rendered(name: str, report: Report, **more: bool) -> str:
    return "\n".join(renderer(name)(report, Look(lines=lambda path: LINES.get(path, ()), **more)))


# -- GitLab: the documented properties of a Code Quality report --------------------------------------

GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "required": ["path", "lines"],
                # Relative to the repository, and not begun with `./`.
                "properties": {
                    "path": {"type": "string", "not": {"pattern": r"^(\./|/)|\\"}},
                    "lines": {"required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}},
                },
            },
        },
    },
}


@reports
def test_gitlab(report):
    rows = json.loads(rendered("gitlab", report))
    jsonschema.validate(rows, GITLAB)
    marks = [row["fingerprint"] for row in rows]
    assert len(marks) == len(report.findings) == len({*marks})  # GitLab shows only one of equal ones


def test_gitlab_names_files_from_the_repository(tmp_path, monkeypatch):
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path))
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path / "src")
    report = Report((replace(READ, site=Site("net.py", 1, 1, 1, 2)),), ())
    (row,) = json.loads(rendered("gitlab", report))
    assert row["location"] == {"path": "src/net.py", "lines": {"begin": 1, "end": 1}}
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert rendered("github", report).startswith("::warning file=src/net.py,")


def test_a_fingerprint_does_not_know_lines_but_all_else(monkeypatch):
    moved = replace(READ, site=Site("src/a b.py", 5, 18, 5, 26))
    monkeypatch.setitem(LINES, "other.py", LINES["src/a b.py"])

    def mark(finding, text=LINES["src/a b.py"]):
        monkeypatch.setitem(LINES, "src/a b.py", text)
        return json.loads(rendered("gitlab", Report((finding,), ())))[0]["fingerprint"]

    same = mark(READ)
    assert mark(moved, ("", *LINES["src/a b.py"])) == same
    others = [
        replace(READ, code="SG202"), replace(READ, function="g"), replace(READ, site=Site("other.py", 4, 18, 4, 26)),
        replace(READ, site=Site("src/a b.py", 4, 5, 4, 26)),
    ]  # fmt: skip
    assert len({same, *map(mark, others)}) == 5


# -- JUnit: the elements and attributes of jenkinsci/xunit-plugin's junit-10.xsd ------------------------

ATTRIBUTES = {
    "testsuites": {"name", "time", "tests", "failures", "disabled", "errors"},
    "testsuite": {
        "name", "tests", "failures", "errors", "group", "time", "skipped", "timestamp", "hostname", "id", "package",
        "file", "log", "url", "version",
    },
    "testcase": {"name", "assertions", "time", "classname", "status", "class", "file", "line", "group", "url"},
    "failure": {"type", "message"},
    "skipped": {"type", "message"},
}  # fmt: skip
CHILDREN = {
    "testsuites": {"testsuite"}, "testsuite": {"testcase"}, "testcase": {"failure", "skipped"}, "failure": set(),
    "skipped": set(),
}  # fmt: skip
NEEDED = {"testsuite": {"name", "tests", "failures", "errors"}, "testcase": {"name"}}


def keeps_to_the_schema(node: ET.Element) -> None:
    assert set(node.attrib) <= ATTRIBUTES[node.tag]
    assert NEEDED.get(node.tag, set()) <= set(node.attrib)
    for inner in node:
        assert inner.tag in CHILDREN[node.tag]
        keeps_to_the_schema(inner)


@reports
@pytest.mark.parametrize("all_", [False, True])
def test_junit(report, all_):
    root = ET.fromstring(rendered("junit", report, allowed=all_, baselined=all_).encode())
    assert root.tag == "testsuites"
    keeps_to_the_schema(root)
    assert len(root.findall(".//failure")) == len(report.findings) == int(root.attrib["failures"])
    assert len(root.findall(".//testcase")) == int(root.attrib["tests"])
    assert len(root.findall(".//skipped")) == (len(report.allowed) + len(report.baselined) if all_ else 0)
    for suite in root:
        assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))
        assert int(suite.attrib["skipped"]) == len(suite.findall("testcase/skipped"))


def test_junit_has_a_suite_for_each_file():
    root = ET.fromstring(rendered("junit", REPORTS["plain"]).encode())
    suites = {suite.attrib["name"]: suite for suite in root}
    assert list(suites) == ["src/a b.py", "clean.py", "n.ipynb", "b.py"]
    assert [case.attrib["name"] for case in suites["src/a b.py"]] == ["SG201 item 4:18", "SG201 item 4:28"]
    failure = suites["src/a b.py"][0][0]
    assert failure.attrib == {"message": "`x.item()` waits <&> \N{REPLACEMENT CHARACTER}", "type": "SG201"}
    assert failure.text.split("\n")[1:] == [
        "because src/a b.py:3 `x` is a tensor", "because b.py:9 it is passed here", "hot src/a b.py:3 hot",
    ]  # fmt: skip
    assert [len(case) for case in suites["clean.py"]] == [0]
    assert suites["n.ipynb"][0].attrib["classname"] == "n.ipynb:cell 3"


# -- rdjson: reviewdog's proto/rdf/jsonschema/DiagnosticResult.json ------------------------------------

POSITION = {"type": "object", "required": ["line"], "properties": {"line": {"minimum": 1}, "column": {"minimum": 1}}}
RANGE = {"type": "object", "required": ["start"], "properties": {"start": POSITION, "end": POSITION}}
PLACE = {"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}, "range": RANGE}}
SEVERITY = {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO"]}
CODE = {"type": "object", "required": ["value"], "properties": {"value": {"type": "string"}}}
SUGGESTION = {"type": "object", "required": ["range", "text"], "properties": {"range": RANGE}}
RELATED = {"type": "object", "required": ["message", "location"], "properties": {"location": PLACE}}
RDJSON = {
    "type": "object",
    "required": ["diagnostics"],
    "properties": {
        "source": {"required": ["name"]},
        "severity": SEVERITY,
        "diagnostics": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["message", "location"],
                "properties": {
                    "message": {"type": "string", "minLength": 1},
                    "location": PLACE,
                    "severity": SEVERITY,
                    "code": CODE,
                    "suggestions": {"type": "array", "items": SUGGESTION},
                    "related_locations": {"type": "array", "items": RELATED},
                },
            },
        },
    },
}


@reports
def test_rdjson(report):
    found = json.loads(rendered("rdjson", report))
    jsonschema.validate(found, RDJSON)
    assert len(found["diagnostics"]) == len(report.findings)


def test_rdjson_counts_bytes_and_offers_what_can_be_applied():
    first, second = json.loads(rendered("rdjson", REPORTS["fixed"]))["diagnostics"]
    # In `return "é日", x.item()` one character has two bytes and one has three.
    assert first["location"]["range"] == {"start": {"line": 4, "column": 21}, "end": {"line": 4, "column": 29}}
    raw = LINES["src/a b.py"][3].encode()
    assert raw[20:28] == b"x.item()"
    assert [one["text"] for one in first["suggestions"]] == ["x", "import os\n"]
    assert "suggestions" not in second


# -- SARIF: what the 2.1.0 standard and GitHub's limits ask of the parts that we write -------------------

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
REGION = {
    "type": "object",
    "required": ["startLine"],
    "additionalProperties": False,
    "properties": {
        name: {"type": "integer", "minimum": 1} for name in ("startLine", "startColumn", "endLine", "endColumn")
    },
}
ARTIFACT = {
    "type": "object",
    "required": ["uri"],
    "additionalProperties": False,
    "properties": {"uri": {"type": "string", "pattern": r"^[^\s\\]+$"}, "uriBaseId": {"const": "%SRCROOT%"}},
}
LOCATION = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "id": {"type": "integer", "minimum": 1},
        "message": TEXT,
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "additionalProperties": False,
            "properties": {"artifactLocation": ARTIFACT, "region": REGION},
        },
        "logicalLocations": {
            "type": "array",
            "items": {
                "additionalProperties": False,
                "properties": {"fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}},
            },
        },
    },
}
LEVEL = {"enum": ["none", "note", "warning", "error"]}
RESULT = {
    "type": "object",
    "required": ["message", "ruleId", "ruleIndex", "level", "locations", "partialFingerprints"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": LEVEL,
        "message": TEXT,
        "locations": {"type": "array", "items": LOCATION, "maxItems": 10},
        "relatedLocations": {"type": "array", "items": LOCATION, "uniqueItems": True},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "baselineState": {"enum": ["new", "unchanged", "updated", "absent"]},
        "properties": {"type": "object"},
        "suppressions": {
            "type": "array",
            "uniqueItems": True,
            "items": {
                "required": ["kind"],
                "additionalProperties": False,
                "properties": {"kind": {"enum": ["inSource", "external"]}, "justification": {"type": "string"}},
            },
        },
        "codeFlows": {
            "type": "array",
            "items": {
                "required": ["threadFlows"],
                "properties": {
                    "message": TEXT,
                    "threadFlows": {
                        "minItems": 1,
                        "items": {
                            "required": ["locations"],
                            "properties": {
                                "locations": {"minItems": 1, "items": {"properties": {"location": LOCATION}}}
                            },
                        },
                    },
                },
            },
        },
        "fixes": {
            "type": "array",
            "uniqueItems": True,
            "items": {
                "required": ["artifactChanges"],
                "additionalProperties": False,
                "properties": {
                    "description": TEXT,
                    "artifactChanges": {
                        "type": "array",
                        "minItems": 1,
                        "items": {
                            "required": ["artifactLocation", "replacements"],
                            "additionalProperties": False,
                            "properties": {
                                "artifactLocation": ARTIFACT,
                                "replacements": {
                                    "type": "array",
                                    "minItems": 1,
                                    "items": {
                                        "required": ["deletedRegion"],
                                        "additionalProperties": False,
                                        "properties": {
                                            "deletedRegion": REGION,
                                            "insertedContent": {"required": ["text"]},
                                        },
                                    },
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
RULE = {
    "type": "object",
    "required": ["id", "name", "shortDescription", "defaultConfiguration"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "name": {"type": "string", "maxLength": 255},
        "shortDescription": {**TEXT, "properties": {"text": {"maxLength": 1024}}},
        "fullDescription": {**TEXT, "properties": {"text": {"maxLength": 1024, "minLength": 20}}},
        "help": {"required": ["text", "markdown"]},
        "defaultConfiguration": {"properties": {"level": LEVEL}},
        "properties": {
            "properties": {
                "tags": {"type": "array", "uniqueItems": True, "items": {"type": "string"}, "maxItems": 20},
                "precision": {"enum": ["very-high", "high", "medium", "low"]},
                "problem.severity": {"enum": ["error", "warning", "recommendation"]},
            }
        },
    },
}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "tool": {"properties": {"driver": {"properties": {"rules": {"items": RULE}}}}},
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "originalUriBaseIds": {"required": ["%SRCROOT%"]},
                    "invocations": {"items": {"required": ["executionSuccessful"]}},
                    "results": {"type": "array", "items": RESULT},
                },
            },
        },
    },
}


@reports
@pytest.mark.parametrize("all_", [False, True])
def test_sarif(report, all_):
    log = json.loads(rendered("sarif", report, allowed=all_, baselined=all_))
    jsonschema.Draft202012Validator.check_schema(SARIF)
    jsonschema.validate(log, SARIF)
    (one,) = log["runs"]
    rules = one["tool"]["driver"]["rules"]
    for result in one["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    marks = [result["partialFingerprints"]["syncguard/v1"] for result in one["results"]]
    assert len(marks) == len({*marks})
    # 3.27.23, 3.27.24: said of every result or of none.
    for name in ("suppressions", "baselineState"):
        assert len({name in result for result in one["results"]}) <= 1


def test_sarif_explains_its_rules():
    rules = json.loads(rendered("sarif", REPORTS["plain"]))["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["SG000", "SG201", "SG901"]
    assert "help" not in rules[0]
    page = Path(pack.load().rule("SG201").path).read_text()
    assert rules[1]["help"]["markdown"].split("\n")[0] == page.split("\n")[0]
    assert rules[1]["help"]["markdown"].endswith(page.strip()[-200:])
    assert "```toml" not in rules[1]["help"]["markdown"]
    assert "## Quiet" in rules[1]["help"]["markdown"]


def test_sarif_tells_what_is_allowed_known_fixed_and_unread():
    def results(name, **more):
        return json.loads(rendered("sarif", REPORTS[name], **more))["runs"][0]

    assert len(results("known")["results"]) == 1
    found = results("known", allowed=True, baselined=True)["results"]
    assert [one["baselineState"] for one in found] == ["new", "unchanged", "new", "new"]
    inside = [{"kind": "inSource", "justification": "wanted"}]
    assert [one["suppressions"] for one in found] == [[], [], inside, [{"kind": "inSource"}]]
    first, second = results("fixed")["results"]
    (change,) = first["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "src/a%20b.py"
    assert [edit["insertedContent"]["text"] for edit in change["replacements"]] == ["x", "import os\n"]
    assert "fixes" not in second
    (notice,) = results("plain")["invocations"][0]["toolExecutionNotifications"]
    assert notice["message"]["text"] == "not checked: is UTF-16"
    assert results("plain")["results"][2]["properties"]["cell"] == 3


# -- all of them at once ------------------------------------------------------------------------------


def test_every_format_goes_to_its_own_file_in_one_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(
        "import torch\n\n\ndef forward(x: torch.Tensor):\n"
        "    a = x.item()  # syncguard: allow[SG201] once\n    return x.item()\n"
    )
    names = ("json", "sarif", "gitlab", "junit", "rdjson", "concise", "full", "github")
    args = [word for name in names for word in ("-o", f"{name}:out {name}")]
    assert run(["check", "net.py", *args, "--show-allowed", "--no-cache", "-o", "concise", "--heat", "all"]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("net.py:6:12 SG201 ")
    for name in names:
        written = Path(f"out {name}").read_text("utf-8")
        assert written
        if name in ("json", "sarif", "gitlab", "rdjson"):
            json.loads(written)
    jsonschema.validate(json.loads(Path("out gitlab").read_text()), GITLAB)
    sarif = json.loads(Path("out sarif").read_text())["runs"][0]["results"]
    assert sarif[1]["suppressions"] == [{"kind": "inSource", "justification": "once"}]
    assert ET.parse("out junit").getroot().attrib["tests"] == "2"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("-o", "json:a", "-o", "sarif:./a"), "two formats cannot go to one file"),
        (("-o", "json", "-o", "sarif"), "only one format can go to standard output"),
        (("-o", "gitlap"), "there is no format 'gitlap'"),
        (("-o", "json:"), "there is no format 'json:'"),
        (("-o", "json:gone/a.json"), "gone/a.json: cannot be written: there is no such folder"),
        (("-o", "json:."), ".: cannot be written: it is a folder"),
    ],
)
def test_outputs_that_cannot_be(tmp_path, monkeypatch, capsys, args, said):
    monkeypatch.chdir(tmp_path)
    assert run(["check", *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.count("\n") == 1


def test_a_path_from_a_root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert from_root("./a/../b.py") == "b.py"
    assert from_root(str(tmp_path / "c.py")) == "c.py"
    assert from_root("n.ipynb:cell 3") == "n.ipynb"
    assert from_root("../x.py") == "../x.py"
    assert from_root("/elsewhere/x.py") == "/elsewhere/x.py"
