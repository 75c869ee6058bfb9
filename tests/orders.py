"""Files of a folder in, what is found in them out, the same whatever the order in which they are given."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from pathlib import Path

from syncguard import pipeline
from syncguard.config import Config


def in_any_order(folder: Path, files: Mapping[str, str]) -> list[tuple[str, int, str]]:
    """File, line and code of each finding; the files are written, by their names without `.py`."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    told = []
    for order in permutations(files):
        paths = [str(folder / f"{name}.py") for name in order]
        report = pipeline.check(paths, Config(heat="all", cache=False))
        told.append(sorted((Path(f.site.path).name, f.site.line, f.code) for f in report.findings))
    assert all(one == told[0] for one in told)
    return told[0]
