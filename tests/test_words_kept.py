"""Who names something is told by the numbers of words, which are kept with what was found in a file."""

from pathlib import Path

import pytest

from syncguard import config, pipeline
from syncguard.across import texts
from syncguard.read.words import FEW, Wanted, numbers_of

TEXT = "from .core import score_of  # and `largest`\nNAMES = ['née', 'x.y']\n"
SCORE = "import torch\n\n\ndef score(x: torch.Tensor) -> list:\n    return x.tolist()\n"


@pytest.mark.parametrize("more", [0, 2 * FEW])
def test_a_text_has_its_words_and_no_others(more):
    names = ["score_of", "score", "of", "largest", "née", "y", "n", *[f"other_{n}" for n in range(more)]]
    assert sorted(Wanted(names).among(numbers_of(TEXT))) == ["largest", "née", "score_of", "y"]
    assert Wanted(["score"]).among(numbers_of("")) == []


def test_no_text_is_read_of_what_is_known_by_its_words(tmp_path):
    (tmp_path / "known.py").write_text("")
    known = str(tmp_path / "known.py")
    files = texts.Files([], {}, {known: numbers_of(TEXT)})
    assert files.names(known, "largest")
    assert files.naming(["score", "score_of"], str(tmp_path)) == {"score": [], "score_of": [known]}


def test_a_file_that_has_changed_since_is_read(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text("")
    package = tmp_path / "pkg"
    package.mkdir()
    for name in ("__init__", "fit", "load"):
        (package / f"{name}.py").write_text("")
    (package / "core.py").write_text(SCORE)
    settings = config.load([str(tmp_path)], {"heat": "all"})

    def said(path: Path) -> bool:
        finding, *_ = pipeline.check([str(path)], settings).findings
        return bool(finding.hot_path)

    read = []
    monkeypatch.setattr(texts, "read", lambda path, given: read.append(path))
    assert said(tmp_path)
    assert said(package / "core.py")
    assert read == []
    monkeypatch.undo()
    (package / "fit.py").write_text("from .core import score\n")
    assert not said(package / "core.py")
    (package / "fit.py").write_text("from .core import scores\n")
    assert said(package / "core.py")
    (tmp_path / "run.py").write_text("from pkg.core import score\n\n\ndef run(x):\n    return score(x)\n")
    assert not said(tmp_path)
    assert not said(package / "core.py")
