"""A folder in, what the benchmark needs out: the transformers wheel unpacked, and an environment with the peers."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

TRANSFORMERS = "transformers==5.2.0"
PEERS = ("torchfix==0.7.0", "pyrefly==1.4.1")
MODELS = "models/*/modeling_*.py"
ROOT = Path(__file__).resolve().parent.parent
PIP = ("-m", "pip", "--disable-pip-version-check")


def transformers(build: Path) -> Path:
    """The package folder of the transformers wheel, downloaded once. None of it is imported or run."""
    folder = build / "transformers"
    if not (folder / ".ready").exists():
        print(f"Downloading {TRANSFORMERS}", file=sys.stderr)
        wheel = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--dest", str(build), TRANSFORMERS]
        subprocess.run([sys.executable, *PIP, *wheel], check=True)
        with zipfile.ZipFile(next(build.glob("transformers-*.whl"))) as archive:
            archive.extractall(folder)
        (folder / ".ready").touch()
    return package(folder)


def package(folder: Path) -> Path:
    """The folder that holds `models`, where a user may have named the one above it."""
    return folder if (folder / "models").is_dir() else folder / "transformers"


def peers(build: Path) -> Path:
    """A virtual environment with the other tools, made once."""
    folder = build / "peers"
    if not (folder / ".ready").exists():
        print(f"Installing {', '.join(PEERS)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        subprocess.run([str(folder / "bin" / "python"), *PIP, "install", "--quiet", *PEERS], check=True)
        (folder / ".ready").touch()
    return folder


def compiled(build: Path) -> Path | None:
    """The program of an environment with this source compiled, made again when the source has changed."""
    if shutil.which("cc") is None:
        print("No C compiler: nothing is measured compiled", file=sys.stderr)
        return None
    made_of = ("pyproject.toml", "README.md", "LICENSE", "syncguard", "rules")
    files = [path for name in made_of for path in (ROOT / name, *sorted((ROOT / name).rglob("*"))) if path.is_file()]
    told = hashlib.sha256(b"".join(path.read_bytes() for path in files if "__pycache__" not in path.parts)).hexdigest()
    folder = build / "compiled"
    program, ready = folder / "bin" / "syncguard", folder / ".ready"
    if not ready.exists() or ready.read_text() != told:
        print("Compiling SyncGuard", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        copy = folder / "source"  # the compiler leaves its libraries beside what it compiled
        for name in made_of:
            place = copy / name
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, place)
        install = [str(folder / "bin" / "python"), *PIP, "install", "--quiet", str(copy)]
        subprocess.run(install, check=True, env={**os.environ, "HATCH_BUILD_HOOKS_ENABLE": "1"})
        ready.write_text(told)
    return program


def versions(environment: Path) -> dict[str, str]:
    """What is installed in a virtual environment, by name in small letters."""
    listing = [str(environment / "bin" / "python"), *PIP, "list", "--format", "freeze"]
    lines = subprocess.run(listing, check=True, capture_output=True, text=True).stdout.splitlines()
    return {name.lower(): version for name, _, version in (line.partition("==") for line in lines)}


def models(folder: Path, count: int) -> list[Path]:
    """The first so many model files by name."""
    found = sorted(folder.glob(MODELS))
    if len(found) < count:
        raise SystemExit(f"{folder}: {len(found)} files match {MODELS}, {count} are needed")
    return found[:count]


def subset(folder: Path, lines: int) -> list[Path]:
    """Files of the package that have this many lines together, to a hundredth; all files where there are fewer.

    Taken in the order of the SHA-256 of their names, so that small and large files mix alike at every size.
    """
    taken: list[Path] = []
    total = 0
    for path in sorted(folder.rglob("*.py"), key=lambda path: _order(path.relative_to(folder))):
        length = count_lines((path,))
        if length and total + length <= lines * 1.01:
            taken.append(path)
            total += length
        if total >= lines * 0.99:
            break
    return taken


def count_lines(paths: Sequence[Path]) -> int:
    """Line ends, as `wc -l` counts them."""
    return sum(path.read_bytes().count(b"\n") for path in paths)


def _order(path: Path) -> str:
    return hashlib.sha256(path.as_posix().encode()).hexdigest()
