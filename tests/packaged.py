"""Files of packages that a test writes down, and what is found in them."""

from __future__ import annotations

import tempfile
from pathlib import Path

from syncguard import config, pipeline
from syncguard.read.project import forget
from syncguard.terms import Finding


def found(files: dict[str, str], *asked: str, fixes: bool = False) -> dict[str, Finding]:
    """What is found in each of these files, all of them checked or some."""
    with tempfile.TemporaryDirectory(prefix="packaged") as folder:
        forget()
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        settings = config.load([folder], {"heat": "all", "cache": False}, isolated=True)
        paths = [str(Path(folder, one)) for one in asked or [""]]
        findings = pipeline.check(paths, settings, fixes=fixes).findings
        return {str(Path(f.site.path).relative_to(folder)): f for f in findings}


def heats(files: dict[str, str], asked: str = "") -> dict[str, str]:
    """The heat of what is found in each of these files, all of them checked or one."""
    return {path: finding.heat for path, finding in found(files, asked).items()}
