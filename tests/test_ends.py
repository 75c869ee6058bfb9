"""What all files together say is told again where nothing has changed, and asked again where anything has."""

from collections.abc import Callable
from pathlib import Path

import pytest

from syncguard import config, pipeline
from syncguard.across import ends
from syncguard.terms import Finding

FLAGS = """
class Flags:
    exact = False
"""
NET = """
import torch
from .flags import Flags


def score(x: torch.Tensor):
    if Flags.exact:
        return x.sum().item()
    return 0
"""
FILES = {"pyproject.toml": "[project]\nname = 'pkg'\n", "pkg/__init__.py": "", "pkg/flags.py": FLAGS, "pkg/net.py": NET}
SETS = "from pkg.flags import Flags\n\nFlags.exact = True\n"


@pytest.fixture
def top(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        put(tmp_path, name, text)
    return tmp_path


def put(top: Path, name: str, text: str) -> None:
    place = top / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


def told(top: Path, cache: bool = True, **settings: object) -> list[Finding]:
    given = {"heat": "all", "cache": cache, "cache_dir": str(top / "kept"), **settings}
    return [*pipeline.check([str(top / "pkg")], config.load([str(top)], given, isolated=True)).findings]


def is_told_again(top: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a check asks the files nothing; what it says is what one says that remembers nothing."""
    asked: list[bool] = []
    whole = pipeline.elsewhere

    def elsewhere(*given: object) -> object:
        asked.append(True)
        return whole(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(pipeline, "elsewhere", elsewhere)
    found = told(top)
    monkeypatch.undo()
    assert found == told(top, cache=False)
    return not asked


def test_what_all_files_say_is_told_again_where_nothing_changed(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert [finding.heat for finding in told(top)] == ["amortized"]
    assert is_told_again(top, monkeypatch)
    assert [finding.heat for finding in told(top, heat="hot")] == []


@pytest.mark.parametrize(
    ("change", "heat"),
    [
        (lambda top: put(top, "run.py", SETS), "unknown"),  # a script beside the package
        (lambda top: put(top, "pkg/main.py", SETS), "unknown"),
        (lambda top: put(top, "tools/deep/run.py", SETS), "unknown"),
        (lambda top: put(top, "pkg/flags.py", FLAGS.replace("False", "True")), "unknown"),
        (lambda top: put(top, "pkg/net.py", NET + "\n# more\n"), "amortized"),
        (lambda top: put(top, "pkg/conf.yaml", "exact: true\n"), "amortized"),
        (lambda top: (top / "pkg/__init__.py").unlink(), "amortized"),
        (lambda top: put(top, "__init__.py", ""), "amortized"),
        (lambda top: put(top, "setup.py", "from setuptools import setup\n\nsetup(packages=['pkg'])\n"), "amortized"),
    ],
)
def test_where_anything_has_changed_it_is_asked_again(
    top: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object], heat: str
) -> None:
    told(top)
    assert is_told_again(top, monkeypatch)
    change(top)
    assert not is_told_again(top, monkeypatch)
    assert is_told_again(top, monkeypatch)
    assert [finding.heat for finding in told(top)] == [heat]


def test_a_file_that_was_looked_into_may_be_another(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(top, "run.py", "from pkg.flags import Flags\n\nprint(Flags.exact)\n")
    assert [finding.heat for finding in told(top)] == ["amortized"]
    assert is_told_again(top, monkeypatch)
    put(top, "run.py", SETS)
    assert not is_told_again(top, monkeypatch)
    assert [finding.heat for finding in told(top)] == ["unknown"]
    (top / "run.py").unlink()
    assert not is_told_again(top, monkeypatch)
    assert [finding.heat for finding in told(top)] == ["amortized"]


def test_a_file_that_a_package_takes_in_holds_no_tests(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(top, "pkg/test_scaling.py", "import torch\n\n\ndef scale(x: torch.Tensor):\n    return x.sum().item()\n")
    assert [finding.heat for finding in told(top)] == ["amortized", "cold"]
    put(top, "pkg/__init__.py", "from .test_scaling import scale\n")
    assert not is_told_again(top, monkeypatch)
    assert [finding.heat for finding in told(top)] == ["amortized", "unknown"]
    put(top, "pkg/__init__.py", "")
    assert not is_told_again(top, monkeypatch)
    assert [finding.heat for finding in told(top)] == ["amortized", "cold"]


def test_a_part_of_the_files_is_told_by_itself(top: Path) -> None:
    """Also where those that are checked come before those that are remembered, as in the whole."""
    put(top, "pkg/use.py", "import torch\n\n\ndef use(x: torch.Tensor):\n    return x.tolist()\n")
    settings = config.load([str(top)], {"heat": "all", "cache_dir": str(top / "kept")}, isolated=True)
    whole = told(top)
    assert [Path(finding.site.path).name for finding in whole] == ["net.py", "use.py"]
    for name in ("net.py", "use.py", "", "use.py", "net.py", "flags.py", "", "net.py"):
        found = pipeline.check([str(top / "pkg" / name)], settings).findings
        assert [*found] == [finding for finding in whole if finding.site.path.endswith(name)]


@pytest.mark.parametrize("damage", [b"", b"\0" * 400, None])
def test_what_is_damaged_is_asked_again(top: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes | None) -> None:
    told(top)
    (kept,) = (top / "kept").glob("*.ends")
    kept.write_bytes(damage if damage is not None else kept.read_bytes()[:-9])
    assert not is_told_again(top, monkeypatch)
    assert is_told_again(top, monkeypatch)


@pytest.mark.parametrize("name", ["net.py", "flags.py"])
def test_the_end_of_some_files_is_none_of_others(top: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    told(top)
    settings = config.load([str(top)], {"heat": "all", "cache_dir": str(top / "kept")}, isolated=True)
    pipeline.check([str(top / "pkg" / name)], settings)
    assert not is_told_again(top, monkeypatch)
    assert is_told_again(top, monkeypatch)


def test_what_cannot_be_written_is_worked_out_again(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told(top)
    monkeypatch.setattr(ends, "LARGEST", 10)
    for kept in (top / "kept").glob("*.ends"):
        kept.unlink()
    assert not is_told_again(top, monkeypatch)
    assert not is_told_again(top, monkeypatch)
