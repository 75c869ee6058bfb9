"""What `check` says of libraries, held against the lines at which a device was seen to wait."""

from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"


@pytest.fixture
def checking(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS / "device"))
    import checking

    return checking


def place(line, path="/somewhere/projects/lib/a.py"):
    return {"path": path, "line": line}


RECORD = {
    "waits": [
        {"place": place(3), "op": "torch.Tensor.item", "code": "SG201", "stack": [place(9), place(1, "main.py")]},
        {"place": place(4), "op": "torch.nonzero", "code": "SG101"},
        {"place": place(5), "op": "torch.nn.Module.to"},
        {
            "place": place(8),
            "forward": place(6),
            "phase": "backward",
            "op": "torch.Tensor.add",
            "code": "SG102",
        },
        {"place": place(7, "/somewhere/projects/other/a.py"), "op": "torch.Tensor.item", "code": "SG201"},
    ],
    "executed": {"/somewhere/projects/lib/a.py": [[1, 12]], "/somewhere/projects/other/a.py": [[1, 40]]},
}


def finding(line, code="SG201", end=None):
    return {"path": "lib/a.py", "line": line, "end_line": end or line, "code": code, "heat": "hot"}


def test_lines_that_waited_are_named_by_a_finding_that_reaches_them(checking):
    told = checking.judged("lib", [finding(2, end=3), finding(20)], [RECORD])
    assert (told["waited"], told["named"]) == (3, 1)  # a module that is moved, and another library, do not count
    missed = [["lib/a.py", 4, "torch.nonzero"], ["lib/a.py", 6, "torch.Tensor.add"]]
    assert told["missed"] == missed


def test_findings_are_judged_where_their_lines_were_executed(checking):
    found = [finding(3), finding(9), finding(11), finding(20), finding(12, "SG404")]
    told = checking.judged("lib", found, [RECORD])
    assert told["tried"] == 3  # line 20 was not executed, and SG404 names no wait
    assert told["silent"] == [["lib/a.py", 11, "SG201", "hot"]]  # through line 9 a wait was called


def test_what_waits_under_an_option_alone_is_not_judged(checking):
    told = checking.judged("lib", [finding(11) | {"options": [{"text": "only where `x` holds"}]}], [RECORD])
    assert (told["tried"], told["shown"]) == (0, [0, 0])


def test_lines_that_ran_may_be_those_of_other_records(checking):
    ran = [{"waits": [], "executed": {"/somewhere/projects/lib/a.py": [[3, 3], [20, 20]]}}]
    told = checking.judged("lib", [finding(3), finding(11), finding(20) | {"heat": "cold"}], [RECORD], ran)
    assert (told["tried"], told["shown"]) == (2, [1, 0])
    assert told["silent"] == [["lib/a.py", 20, "SG201", "cold"]]


def test_what_is_not_json_is_no_finding(checking, tmp_path):
    (tmp_path / "lib.json").write_text("SyncGuard failed")
    assert checking.findings(tmp_path, "lib") == []
    assert [*checking.table(tmp_path, ["lib"], [])] == []


def test_the_page_adds_the_packages_up(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    import libraries_page

    row = {"package": "lib", "version": "1.0", "waited": 3, "named": 1, "unasked": 1, "missed": [], "tried": 4,
           "silent": [0], "shown": [2, 1]}  # fmt: skip
    lines = [*libraries_page.checked([row, row])]
    assert lines[-1] == "| all | 6 | 2 | 2 | 8 | 6 | 4 | 2 |"
