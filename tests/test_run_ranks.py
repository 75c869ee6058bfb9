"""Ranks that need no torch: they meet in a folder under the temporary one, and however they end it goes with them."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from running import started

from syncguard.observe.ranks import Keeper

PROGRAM = """\
import os, sys, time
rank = os.environ["RANK"]
print("up", flush=True)
{}
"""


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("temporary").mkdir()


def left() -> list[str]:
    return sorted(os.listdir("temporary"))


def ranks(does: str, world: int = 2, local: int = 2, *options: str, begin: int | None = None, end: int = 9) -> list:
    """The processes of the ranks of this node, as a launcher starts them; each is at work when we go on."""
    Path("prog.py").write_text(PROGRAM.format(does))
    running = []
    for rank in range(world - local if begin is None else begin, min(world, end)):
        env = {
            "RANK": f"{rank}", "LOCAL_RANK": f"{rank % local}",
            "WORLD_SIZE": f"{world}", "LOCAL_WORLD_SIZE": f"{local}",
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1", "TMPDIR": str(Path("temporary").absolute()),
        }  # fmt: skip
        running.append(started("-m", "syncguard", "run", *options, "prog.py", env=env))
    for process in running:
        assert process.stdout.readline() == "up\n"
    return running


def ended(running: list) -> list[tuple[int, str]]:
    """The exit code and standard error of each."""
    return [(process.returncode, err) for process in running for _, err in [process.communicate(timeout=60)]]


@pytest.mark.parametrize(
    ("does", "codes"),
    [("pass", [0, 0]), ("sys.exit(3 if rank == '1' else 0)", [0, 3]), ("1 / (rank == '0')", [0, 1]),
     ("time.sleep(rank == '0'); os._exit(0)", [0, 0])],
    ids=["end", "an exit code", "an exception", "at once"],
)  # fmt: skip
def test_nothing_is_left_by_ranks_that_end(does, codes):
    assert [code for code, _ in ended(ranks(does))] == codes
    assert left() == []


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_nothing_is_left_by_ranks_that_are_killed(order):
    """As a launcher does where one has failed."""
    running = ranks("time.sleep(60)")
    assert len(left()) == 1
    for rank in order:
        running[rank].terminate()
        running[rank].wait(60)
    assert [code for code, _ in ended(running)] == [-signal.SIGTERM] * 2
    assert left() == []


def test_a_rank_that_ends_after_rank_0_has_gone_keeps_nothing():
    waits = "[time.sleep(0.02) for _ in iter(lambda: os.path.exists('go'), True)]"
    running = ranks(f"time.sleep(60) if rank == '1' else {waits}; os._exit(0)")
    Path("go").touch()  # both are at work
    running[0].wait(60)
    running[1].terminate()
    assert ended(running) == [(0, ""), (-signal.SIGTERM, "")]
    assert left() == []


@pytest.mark.parametrize("does", ["pass", "sys.exit(3)", "os._exit(0)", "os.kill(os.getpid(), 15)"])
def test_ranks_that_begin_when_rank_0_has_gone_leave_nothing(does):
    running = ranks(does, 3, 3, begin=1)
    ended(running)
    assert left() == []


def test_a_rank_that_was_there_before_rank_0_is_heard():
    waits = "[time.sleep(0.02) for _ in iter(lambda: os.path.exists(f'go{rank}'), True)]"
    first = ranks(waits, begin=1)
    second = ranks(waits, begin=0, end=1)
    for rank in ("1", "0"):
        Path(f"go{rank}").touch()
    (_, told), (code, _) = ended([*second, *first])
    assert "2 ranks" in told
    assert "No record of rank" not in told
    assert code == 0
    assert left() == []


def test_a_rank_that_ends_before_rank_0_has_begun_is_heard():
    (first,) = ranks("pass", begin=1)
    (second,) = ranks("pass", end=1)
    ((_, told),) = ended([second])
    ((code, _),) = ended([first])
    assert "2 ranks" in told
    assert "No record of rank" not in told
    assert code == 0
    assert left() == []


def test_ranks_of_another_node_meet_nobody():
    running = ranks("pass", 4)
    assert left() == []
    assert ended(running) == [(0, ""), (0, "")]
    assert left() == []


@pytest.mark.parametrize(("lives", "days", "stays"), [(False, 2, False), (False, 0, True), (True, 2, True)])
def test_what_a_kill_left_goes_when_its_launcher_has_long_gone(tmp_path, monkeypatch, lives, days, stays):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with started("-c", "") as process:
        process.wait(60)
    launcher = os.getpid() if lives else process.pid
    with monkeypatch.context() as patch:
        patch.setattr(os, "getppid", lambda: launcher)
        Keeper()
    (name,) = left()
    folder = Path("temporary", name)
    (folder / "rank1.json").write_text("{}")
    os.utime(folder, times=(time.time() - days * 86400 - 9,) * 2)
    with Keeper():
        assert len(left()) == 1 + stays
    assert left() == [name] * stays


def test_ranks_with_a_file_leave_their_records_beside_it():
    assert [code for code, _ in ended(ranks("pass", 2, 2, "--save", "run.json"))] == [0, 0]
    assert sorted(path.name for path in Path().glob("*.json")) == ["run.json", "run.rank0.json", "run.rank1.json"]
    assert json.loads(Path("run.json").read_text())["world"] == 2
    assert left() == []
