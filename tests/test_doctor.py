"""`syncguard doctor`: the calls of the rows run, simulated they agree with the rows, and disagreements become rows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tomllib

import pytest
from click.testing import CliRunner

torch = pytest.importorskip("torch")

from syncguard import pack  # noqa: E402
from syncguard.cli.main import group  # noqa: E402
from syncguard.observe import oracles  # noqa: E402
from syncguard.observe.doctor import Checked, Diagnosis, against, as_row, conflicts, diagnose, silent  # noqa: E402
from syncguard.observe.measure import Answer  # noqa: E402
from syncguard.observe.samples import by_hand, calls, explained, rows_of  # noqa: E402
from syncguard.show.doctor import diagnosis as shown  # noqa: E402
from syncguard.show.look import Look  # noqa: E402

PACK = pack.load()
ROWS = rows_of(PACK)
SAMPLES = tomllib.loads((pack.home() / "samples.toml").read_text())


@pytest.fixture(scope="module")
def diagnosed() -> tuple[Diagnosis, float]:
    """All that `syncguard doctor` does, every row, our calls and torch's own; the seconds of a core that it took."""
    begun = sum(os.times()[:4])
    return diagnose(PACK), sum(os.times()[:4]) - begun


@pytest.fixture(scope="module")
def by_calls(diagnosed) -> Diagnosis:
    return diagnosed[0]


def test_every_sample_is_of_a_row():
    assert set(SAMPLES["calls"]) <= set(ROWS)


def test_a_row_has_one_first_name():
    assert ROWS["torch.nonzero"] == ("torch.nonzero", "torch.Tensor.nonzero")
    assert len(ROWS) > 500
    assert sorted(name for names in ROWS.values() for name in names) == sorted(PACK.ops)


def test_the_calls_run_simulated(by_calls):
    ours = {row: one.said.fault for row, one in ((one.row, one) for one in by_calls.checked)
            if one.said and one.said.waited is None and row in SAMPLES["calls"]}  # fmt: skip
    failed = {row: fault for row, fault in ours.items() if not PACK.ops[row].untried and "NVTX" not in fault}
    assert failed == {}


def test_every_row_is_exercised_or_says_why_not(by_calls):
    silent_rows = set(ROWS) - set(by_calls.exercised)
    assert {row for row in silent_rows if not PACK.ops[row].untried} == set()
    stale = {
        row for row in by_calls.exercised if PACK.ops[row].untried and "development tools" not in PACK.ops[row].untried
    }
    assert stale == set(), "they are exercised"
    assert len(by_calls.exercised) > 425


def test_it_takes_less_than_three_minutes(diagnosed):
    found, seconds = diagnosed
    assert found.seconds > 0
    assert seconds < 180


def test_rows_that_wait_wait_in_one_of_their_calls(by_calls):
    quiet = set(silent(by_calls, PACK))
    assert quiet <= {"pickle.dumps", "torch.autograd.profiler.emit_nvtx"}, quiet


def test_simulated_waits_are_of_the_rows_own_hazards(by_calls):
    """Where a call waits its row says so, but for the rows whose own work is done by rows within."""
    for one in by_calls.checked:
        if one.said and one.said.waited and PACK.ops[one.row].waits:
            assert one.said.hazards, one


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("x[mask]", True), ("x[mask] = 0.0", False), ("x[half] = y", True), ("x[i0]", True), ("x[i0.view(1)]", False),
        ("torch.where(mask)", True), ("torch.where(mask, x, 0.0)", False), ("torch.bincount(ints, minlength=10)", True),
        ("F.one_hot(ints)", True), ("F.one_hot(ints, 10)", False), ("x.masked_fill(mask, f0)", True),
        ("x.masked_fill(mask, 0.0)", False), ("x.to(torch.float64)", False), ("host.to(C)", True),
        ("x.to('cpu')", True),
    ],
)  # fmt: skip
def test_what_the_rows_say_of_known_calls(by_calls, text, waits):
    (said,) = [one.said for one in by_calls.checked if one.text == text]
    assert said.waited is waits


def test_the_oracles_know_what_they_know(by_calls):
    found = {one.text: one for one in by_calls.checked}
    assert found["torch.where(mask)"].tags == ("aten.nonzero.default",)
    assert found["x[mask]"].tags
    assert found["x[few]"].tags  # a tag does not look at the arguments
    assert found["torch.where(mask, x, 0.0)"].tags == ()
    assert found["x[:1].item()"].fake == "aten._local_scalar_dense.default"
    assert found["x.masked_fill(mask, 0.0)"].fake == ""


def test_rows_agree_with_the_oracles_but_where_it_is_explained(by_calls):
    """Fake tensors, and the rows of what a row's own Python code calls."""
    assert {one.text: said for one, said in conflicts(by_calls, PACK)} == {}


def test_what_is_explained_is_against_its_row(by_calls):
    """An explanation that explains nothing any more goes."""
    spoken = {one.text for one in by_calls.checked if against(one, PACK)}
    assert set(explained()) <= spoken


def test_rows_of_data_dependent_operators_agree_with_torchs_tags(by_calls):
    """A tag does not look at the arguments, so that it may be there without a wait; never the other way."""
    by_shape = {
        "nonzero",
        "mask-read",
        "unique",
        "bincount",
        "one-hot",
        "repeat-interleave",
        "item",
        "tensor-as-condition",
    }
    for one in by_calls.checked:
        inside = one.row.startswith(("torch.Tensor.to_sparse", "torch.isin"))  # in C++, where no tag is seen
        if (
            one.said
            and one.tags is not None
            and by_shape & set(one.said.hazards)
            and one.row.startswith("torch.")
            and not inside
        ):
            assert one.tags or "bincount" in one.said.hazards, one


def test_a_process_of_fake_tensors_that_ends_is_started_again(monkeypatch):
    """The two rows that it may have ended at go alone, then the rest; of torch's own calls the next is left out."""
    runs = []
    torchs = oracles.TORCHS
    ended = [
        (-6, ["a\tf()\t?", "b\tg()\taten.item"]), (-11, []), (0, ["c\th()\t", torchs]),
        (-6, ["d\ti()\t", torchs, "a\tf sample 0\t", "a\tf sample 1\t?"]), (0, [torchs, "b\tg sample 0\t"]),
    ]  # fmt: skip

    def answered(asked):
        runs.append((*asked.by_hand, len(asked.by_opinfo), asked.skip))
        return ended[len(runs) - 1]

    def run(command, **settings):
        asked = oracles.Asked(**json.loads(settings["input"]))
        return subprocess.CompletedProcess(command, 0, "\n".join(oracles.answers(asked)))

    monkeypatch.setattr(oracles, "rows_by_hand", lambda: ("a", "b", "c", "d"))
    monkeypatch.setattr(oracles, "answered", answered)
    monkeypatch.setattr(oracles.subprocess, "run", run)
    found = oracles.refusals(["d", "c", "b", "a"], opinfo=True)
    assert runs == [("a", "b", "c", "d", 4, 0), ("b", 0, 0), ("c", 0, 0), ("d", 4, 0), (4, 3)]
    assert found == {
        ("a", "f()"): None, ("b", "g()"): "aten.item", ("c", "h()"): "", ("d", "i()"): "", ("a", "f sample 0"): "",
        ("a", "f sample 1"): None, ("b", "g sample 0"): "",
    }  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="needs a fork")
def test_what_a_process_said_before_it_was_brought_down_has_come(monkeypatch):
    def answer(asked, to):
        to.send(f"{asked.by_hand[0]}\tf()\t")
        if asked.skip:
            os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(oracles, "answer", answer)
    assert oracles.answered(oracles.Asked(("a",), (), 1)) == (-signal.SIGKILL, ["a\tf()\t"])
    assert oracles.answered(oracles.Asked(("a",), ())) == (0, ["a\tf()\t"])


def test_a_disagreement_with_a_device_becomes_a_row():
    said, found = Answer(True, hazards=("linalg-check",)), Answer(False)
    one = Checked("torch.linalg.cholesky", 'torch.linalg.cholesky("x")', said, found)
    assert one.agrees is False
    whole = Diagnosis((one,), 1, (), "NVIDIA H200", "2.13.0+cu130", "2026-11-21", 1.0)
    ((_, sentence),) = conflicts(whole, PACK)
    assert sentence == "the row says that it waits, the device did not wait"
    text = as_row(one, PACK, whole.device, whole.torch, whole.date)
    (row,) = tomllib.loads(text).values()
    assert "waits" not in row
    assert row["evidence"] == [
        {"state": "measured", "torch": "2.13.0", "device": "NVIDIA H200", "date": "2026-11-21",
         "at": 'doctor: torch.linalg.cholesky("x")'}
    ]  # fmt: skip


def test_a_row_that_a_device_contradicts_can_be_read_by_the_pack(tmp_path):
    one = Checked("torch.linalg.cholesky_ex", "call", Answer(False), Answer(True))
    folder = tmp_path / "ours"
    (folder / "ops").mkdir(parents=True)
    (folder / "ops" / "found.toml").write_text(as_row(one, PACK, "NVIDIA H200", "2.13.0", "2026-11-21"))
    row = pack.load((folder,)).ops["torch.linalg.cholesky_ex"]
    assert [wait.hazard for wait in row.waits] == ["linalg-check"]
    assert row.evidence[0]["device"] == "NVIDIA H200"


def test_what_cannot_be_made_here_says_why():
    """On a CPU without the libraries; on the simulated device more can be made."""
    faults = [call for call in calls(ROWS, "cpu", opinfo=False) if call.fault]
    assert all(": " in call.fault for call in faults)
    beyond = {call.row for call in faults if "development tools" not in PACK.ops[call.row].untried}
    assert all(row.startswith("torch.cuda.") for row in beyond), beyond


def test_calls_can_be_made_again():
    for call in by_hand({"torch.Tensor.__setitem__": (), "torch.optim.Optimizer.step": ()}, "cpu"):
        call.run()
        call.run()


def test_opinfo_adds_calls_of_rows_that_have_none_by_hand():
    rows = {row: names for row, names in ROWS.items() if row in ("torch.argwhere", "torch.linalg.svd")}
    assert {call.row for call in calls(rows, "cpu")} == set(rows)
    assert {call.row for call in calls(rows, "cpu", opinfo=False)} == set()


def test_the_report_lists_what_was_not_exercised():
    lines = [*shown(("simulated",), (2, 505), (0, 0), [], ["a.b"], [f"m{n}" for n in range(20)], Look(width=100))]
    text = "\n".join(lines)
    assert "2 rows of 505 exercised." in text
    assert "There is no GPU here" in text
    assert "and 8 more (--all)" in text.replace("\n", " ")
    assert "0 disagreements" in text


def test_the_command_names_what_has_no_row():
    done = CliRunner().invoke(group, ["doctor", "torch.nonzeroo"])
    assert done.exit_code == 1
    assert "'torch.nonzeroo' has no row" in done.output


def test_the_command_checks_what_it_is_asked_for(monkeypatch):
    monkeypatch.setattr(oracles, "refusals", lambda *_: {})
    done = CliRunner().invoke(group, ["doctor", "torch.where", "--no-opinfo"])
    assert done.exit_code == 0
    assert "1 row of 1 exercised." in done.output
