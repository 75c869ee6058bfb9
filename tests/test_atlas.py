"""The atlas and the evidence: every row has a state, none is measured without a line; parts run dry."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from functools import cache
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from syncguard import pack
from syncguard.cli.main import group
from syncguard.pack.rows import STATES, state
from syncguard.show import explain
from syncguard.show.look import Look

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "device")]

import atlas  # noqa: E402

EVIDENCE = ROOT / "evidence"
SCHEMA = json.loads((EVIDENCE / "schema.json").read_text())
FILES = sorted(EVIDENCE.glob("*-torch*.json"))
PACK = pack.load()


def measured_device(folder: Path, device: str = "NVIDIA H200", **doctor: object) -> Path:
    """An evidence file of one call, as `make device` writes it."""
    call = {
        "row": "torch.nonzero",
        "call": "nonzero float32 sample 0",
        "said": True,
        "found": {"waited": True, "host_ms": 10.2},
    }
    machine = {"device": device, "torch": "2.13.0", "cuda": "13.0", "driver": "", "python": "3.11.9", "system": "Linux",
               "date": "2026-11-21"}  # fmt: skip
    part = {"seconds": 1.0, "complete": True, "results": [call | doctor]}
    path = folder / f"{device.lower().replace(' ', '-')}-torch2.13.0.json"
    path.write_text(json.dumps({"version": 1, "machine": machine, "parts": {"doctor": part}}))
    return path


# -- rows and evidence --------------------------------------------------------------------------------


def test_every_row_has_a_state():
    assert {state(op.evidence) for op in PACK.ops.values()} <= set(STATES)
    assert all(op.evidence for op in PACK.ops.values())


def test_no_row_is_called_measured_without_a_line_in_evidence():
    lines = atlas.measured(EVIDENCE)
    for name, op in PACK.ops.items():
        for item in op.evidence:
            if item["state"] == "measured":
                row = PACK.row_of(name)
                assert {key: item[key] for key in ("device", "torch", "date")} in [
                    {key: line[key] for key in ("device", "torch", "date")} for line in lines.get(row, [])
                ], name
    for path in (ROOT / "rules" / "ops").glob("*.toml"):
        assert 'state = "measured"' not in path.read_text("utf-8"), "measured lines come from evidence/ alone"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_evidence_is_as_the_schema_says(path):
    evidence = json.loads(path.read_text("utf-8"))
    jsonschema.validate(evidence, SCHEMA)
    assert evidence["machine"]["device"] != atlas.DRY, "a dry run is no evidence"


def test_while_there_is_no_evidence_the_pages_say_so():
    assert ("Nothing has been measured" in (ROOT / "docs" / "story.md").read_text()) is (not FILES)
    assert ("No device has been measured yet" in (ROOT / "docs" / "atlas.html").read_text()) is (not FILES)


def test_what_has_not_been_seen_names_the_part_that_settles_it():
    text = (ROOT / "docs" / "unseen-on-a-device.md").read_text("utf-8")
    cells = [line.rsplit("|", 2)[1] for line in text.splitlines() if line.count("|") == 4 and "---" not in line]
    named = [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]
    known = {*parts.PARTS, "device", "make device", "syncguard crossover torch.linalg.qr"}
    assert set(named) <= known
    assert named
    assert all(
        "`" in cell or cell.strip() in ("settled by", "any part", "not settled") or "marked" in cell for cell in cells
    )


def test_the_atlas_and_the_measured_lines_are_fresh():
    done = subprocess.run([sys.executable, ROOT / "tools" / "atlas.py", "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_a_line_of_evidence_makes_a_row_measured(tmp_path):
    measured_device(tmp_path)
    found = atlas.measured(tmp_path)
    assert list(found) == ["torch.nonzero"]
    (line,) = found["torch.nonzero"]
    assert line["note"] == "waited in 1 of 1 calls"
    ours = tmp_path / "ours"
    (ours / "ops").mkdir(parents=True)
    (ours / "ops" / "a.toml").write_text(
        '["torch.nonzero"]\nargs = ["input"]\nwaits = [{ hazard = "nonzero" }]\n'
        'evidence = [{ state = "source", torch = "2.6.0", at = "Nonzero.cu" }]\n'
    )
    (ours / "measured.json").write_text(json.dumps(found))
    row = pack.load((ours,)).ops["torch.nonzero"]
    assert state(row.evidence) == "measured"
    assert [item["state"] for item in row.evidence] == ["measured", "source"]


@pytest.mark.parametrize(("row", "waited", "said"), [
    ("torch.nonzero", False, "tried"), ("torch.nonzero", True, "measured"),
    ("torch.prod", False, "measured"), ("torch.nn.DataParallel", False, "measured"),
])  # fmt: skip
def test_a_row_that_waits_is_measured_by_a_call_that_did(tmp_path, row: str, waited: bool, said: str):
    measured_device(tmp_path, row=row, found={"waited": waited})
    (line,) = atlas.measured(tmp_path)[row]
    assert line.get("state", "measured") == said


def test_what_was_only_tried_reads_as_its_other_evidence(tmp_path):
    measured_device(tmp_path, found={"waited": False})
    (tmp_path / "ours" / "ops").mkdir(parents=True)
    (tmp_path / "ours" / "ops" / "a.toml").write_text(
        '["torch.nonzero"]\nargs = ["input"]\nwaits = [{ hazard = "nonzero" }]\n'
        'evidence = [{ state = "source", torch = "2.6.0", at = "Nonzero.cu" }]\n'
    )
    (tmp_path / "ours" / "measured.json").write_text(json.dumps(atlas.measured(tmp_path)))
    row = pack.load((tmp_path / "ours",)).ops["torch.nonzero"]
    assert state(row.evidence) == "source"
    shown = " ".join(" ".join(explain.op(row, PACK.judged(row), Look(width=200, colour=False))).split())
    assert "source, not measured on a device yet: no call that was made on" in shown
    assert "tried in torch" in shown


def test_advice_is_not_said_to_wait():
    row = PACK.ops["torch.nn.Module.to"]
    shown = [*explain.op(row, PACK.judged(row), Look(width=200, colour=False))]
    assert [line.split()[0] for line in shown if "SG901" in line] == ["advice"]
    assert "advice, not a wait" in atlas.row_of(row, [], PACK)


def test_a_call_against_its_row_is_said(tmp_path):
    measured_device(tmp_path, said=False)
    assert atlas.measured(tmp_path)["torch.nonzero"][0]["note"] == "waited in 1 of 1 calls, 1 against the row"


def test_a_dry_run_measures_nothing(tmp_path):
    measured_device(tmp_path, device=atlas.DRY)
    assert atlas.measured(tmp_path) == {}


def test_a_call_that_failed_measures_nothing(tmp_path):
    measured_device(tmp_path, found={"waited": None, "fault": "RuntimeError"})
    assert atlas.measured(tmp_path) == {}


def test_a_broken_table_of_measurements_is_one_line(tmp_path):
    (tmp_path / "ops").mkdir()
    (tmp_path / "measured.json").write_text('{"torch.nonzero": 3}')
    with pytest.raises(pack.PackError, match="write it again with tools/atlas"):
        pack.load((tmp_path,))


def test_the_page_has_every_row_and_what_it_says():
    page = atlas.atlas()
    rows = {PACK.row_of(name) for name in PACK.ops}
    assert page.count('<tr id="') == len(rows)
    shown = page[page.index('<tr id="torch.bincount">') :]
    assert "SG107" in shown[: shown.index("</tr>")]
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(PACK.ops) <= set(ids), "every spelling can be linked to"
    assert "http" not in page[: page.index("<tbody>")].replace("http://www.w3.org", "")  # nothing is fetched


def test_the_page_escapes_what_it_shows():
    assert "<script>alert" not in atlas._code("<script>alert(1)</script>")
    assert atlas._code("`a<b`") == "<code>a&lt;b</code>"


@pytest.mark.parametrize("name", ["torch.nonzero", "torch.bincount"])
def test_explain_shows_the_state(name):
    done = CliRunner().invoke(group, ["explain", name, "--isolated", "--color", "never"])
    (line,) = re.findall(r"^  state +(.*)$", done.output, re.MULTILINE)
    known = state(PACK.ops[name].evidence)
    assert line.startswith(known)
    assert (known == "measured") or line == f"{known}, not measured on a device yet"


def test_explain_says_all_that_a_row_says():
    """Of every row: state and evidence, versions, mechanism, alternative, caveat, why it was not tried."""
    wide = Look(width=10_000)
    for name in sorted({PACK.row_of(name) for name in PACK.ops}):
        op = PACK.ops[name]
        text = "\n".join(explain.op(op, {}, wide))
        assert f"  state     {state(op.evidence)}" in text, name
        assert text.count("  evidence  ") == len(op.evidence), name
        for label, said in (
            ("how", op.mechanism),
            ("instead", op.alternative),
            ("but", op.caveat),
            ("untried", op.untried),
        ):
            assert (f"  {label:<10}{wide.prose(said)}" in text) is bool(said), (name, label)
        for version in (*(v for w in op.waits for v in (w.since, w.until)), op.since, op.until):
            assert not version or f"torch {version}" in text, name


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("torch.Tensor.nonzero", "torch.Tensor.nonzero"),  # another name of a row
        ("torch.clip", "torch.clip"),  # known by its results alone
        ("nonzero()", "torch.nonzero"),
        ("F.one_hot", "torch.nn.functional.one_hot"),
        ("Tensor.item", "torch.Tensor.item"),
        (".tolist", "torch.Tensor.tolist"),
        ("nn.SyncBatchNorm.forward", "torch.nn.SyncBatchNorm.forward"),
        ("dist.barrier", "torch.distributed.barrier"),
        ("torch.optim.LBFGS.step", "torch.optim.LBFGS.step"),  # not what its base does
        ("torch.optim.RAdam.step", "torch.optim.RAdam.step"),  # what its base does
    ],
)
def test_explain_knows_an_operation_by_all_its_names(asked, said):
    done = CliRunner().invoke(group, ["explain", asked, "--isolated", "--color", "never"])
    assert done.exit_code == 0
    assert done.output.startswith((f"{said}(", f"{said}\n"))


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("torch.nonzeroo", "torch.nonzero"), ("torch.Tensor.itme", "torch.Tensor.item"), ("SG110", "SG1")],
)
def test_explain_asks_whether_another_name_was_meant(asked, meant):
    done = CliRunner().invoke(group, ["explain", asked, "--isolated"])
    assert done.exit_code == 1
    assert "did you mean" in done.output
    assert meant in done.output


# -- make device, dry ---------------------------------------------------------------------------------

torch = pytest.importorskip("torch")

import device  # noqa: E402
import parts  # noqa: E402
import programs  # noqa: E402


def test_the_schema_knows_every_part():
    assert set(SCHEMA["properties"]["parts"]["propertyNames"]["enum"]) == set(parts.PARTS)
    assert sum(part.share for part in parts.PARTS.values()) == pytest.approx(1.0)


@cache
def dry(name):
    """The evidence of a dry run of a part."""
    with tempfile.TemporaryDirectory() as folder:
        assert device.main(["--dry-run", "--part", name, "--out", folder]) == 0
        (path,) = Path(folder).iterdir()
        return json.loads(path.read_text())


@pytest.mark.parametrize("name", ["questions", "story", "overhead", "opinfo", "profiles"])
def test_a_part_runs_dry(name):
    evidence = dry(name)
    jsonschema.validate(evidence, SCHEMA)
    part = evidence["parts"][name]
    assert part["complete"]
    assert part["results"]
    assert evidence["machine"]["device"] == atlas.DRY


@pytest.mark.slow
@pytest.mark.parametrize("name", ["doctor", "pages", "fixes", "tests"])
def test_a_slow_part_runs_dry(name):
    test_a_part_runs_dry(name)


QUESTIONS = tomllib.loads((ROOT / "tools" / "device" / "questions.toml").read_text())["question"]


def test_every_question_can_be_asked():
    results = [*parts.questions(parts.Desk(dry=True))]
    assert {result["question"] for result in results} == {question["name"] for question in QUESTIONS}
    assert [result for result in results if result["found"]["waited"] is None] == []
    assert all(result["said"] == result["found"]["waited"] for result in results), "simulated twice"
    known = {result["call"]: result["said"] for result in results}
    assert known["a.masked_fill(m, f0)"] is True
    assert known["a.masked_fill(m, 0.0)"] is False


def test_every_question_is_asked_in_words_and_of_rows():
    for question in QUESTIONS:
        assert question["asks"].endswith(("?", ".")), question["name"]
        assert {PACK.row_of(row) for row in question["calls"]} == set(question["calls"])
        assert all(row in PACK.ops for row in question["calls"])


def test_the_open_questions_are_asked():
    rows = {row for question in QUESTIONS for row in question["calls"]}
    asked = ("Tensor.to", "tensor", "Tensor.__getitem__", "Tensor.__setitem__", "masked_fill", "linalg.cholesky",
             "isin", "nn.utils.clip_grad_norm_", "GradScaler.step", "distributions.Cauchy", "distributed.all_reduce",
             "mode", "repeat_interleave", "bincount", "histc")  # fmt: skip
    assert {f"torch.{name}" for name in asked} <= rows


def test_an_answer_to_a_question_makes_its_row_measured(tmp_path):
    path = measured_device(tmp_path, found={"waited": None})
    evidence = json.loads(path.read_text())
    result = {
        "question": "q",
        "row": "torch.isin",
        "call": "torch.isin(k, among)",
        "n": 16,
        "said": False,
        "profiled": [],
    }
    results = [result | {"found": {"waited": False}}, result | {"n": 4096, "found": {"waited": True}}]
    evidence["parts"]["questions"] = {"seconds": 1.0, "complete": True, "results": results}
    path.write_text(json.dumps(evidence))
    jsonschema.validate(evidence, SCHEMA)
    found = atlas.measured(tmp_path)
    assert list(found) == ["torch.isin"]
    assert found["torch.isin"][0]["note"] == "waited in 1 of 2 calls, 1 against the row"


def test_simulated_and_simulated_agree():
    assert all(result["agree"] for result in dry("opinfo")["parts"]["opinfo"]["results"])


def test_parts_are_added_to_what_is_there(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(parts.PARTS, "overhead", parts.Part(lambda desk: iter([{"one": 1}]), 0.2))
    for name in ("questions", "overhead"):
        assert device.main(["--dry-run", "--part", name, "--out", str(tmp_path)]) == 0
    (path,) = tmp_path.iterdir()
    assert list(json.loads(path.read_text())["parts"]) == ["questions", "overhead"]
    assert path.name == "dry-run-torch" + torch.__version__.split("+")[0] + ".json"


def test_a_part_that_fails_keeps_what_it_found(tmp_path, monkeypatch, capsys):
    def broken(desk):
        yield {"one": 1}
        raise RuntimeError("CUDA error: an illegal memory access")

    monkeypatch.setitem(parts.PARTS, "story", parts.Part(broken, 0.2))
    assert device.main(["--dry-run", "--part", "story", "--out", str(tmp_path)]) == 1
    (path,) = tmp_path.iterdir()
    part = json.loads(path.read_text())["parts"]["story"]
    assert (part["results"], part["complete"]) == ([{"one": 1}], False)
    assert part["fault"] == "RuntimeError: CUDA error: an illegal memory access"


def test_a_part_that_is_late_stops(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(parts.PARTS, "story", parts.Part(lambda desk: ({"n": n} for n in range(10**9)), 0.2))
    assert device.main(["--dry-run", "--part", "story", "--out", str(tmp_path), "--minutes", "0"]) == 0
    (path,) = tmp_path.iterdir()
    part = json.loads(path.read_text())["parts"]["story"]
    assert (len(part["results"]), part["complete"]) == (1, False)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_nothing_is_measured(capsys):
    assert device.main([]) == 2
    assert "nothing was measured" in capsys.readouterr().out


def test_programs_are_compared_by_what_they_give():
    assert programs.same([torch.ones(2), {"a": 1.0}], [torch.ones(2), {"a": torch.tensor(1.0)}])
    assert not programs.same(torch.ones(2), torch.zeros(2))
    assert not programs.same(torch.ones(2), torch.ones(2).double())
    assert programs.same("a", "b")
    assert not programs.same("a", None)


def test_the_waits_of_a_program_are_those_of_its_marked_lines():
    program = next(p for code, p in programs.every(PACK) if (code, p.section) == ("SG101", "caught"))
    seen, fault = programs.waits(program, PACK, dry=True)
    assert fault == ""
    assert set(seen) == programs.marks(program)[0] != set()
