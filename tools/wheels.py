"""`make wheels`: into dist/ go the source distribution, the wheel for every machine and, where there is a C compiler,
the compiled wheel for this one. Each is installed in an empty environment, and both must find the same in this project
and in torch, where it is installed; the compiled one with an allocator that sees what writes over an end.

Exit codes: 1 where nothing can be compiled, 2 where the compiled wheel does not do what the plain one does.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
CHECKED = [ROOT / folder for folder in ("examples", "syncguard", "tests", "tools", "benchmarks")]

TORCH = importlib.util.find_spec("torch")
if TORCH is not None and TORCH.origin is not None:
    CHECKED += [Path(TORCH.origin).parent / folder for folder in ("distributed", "distributions", "nn", "optim")]


def built(compiled: bool) -> Path:
    """The wheel of this version, built from the source distribution so that nothing is compiled into the source."""
    before = set(DIST.glob("*.whl"))
    environment = {**os.environ, "HATCH_BUILD_HOOKS_ENABLE": "1"} if compiled else {**os.environ}
    subprocess.run(
        [sys.executable, "-m", "build", "--outdir", DIST, ROOT], env=environment, check=True, stdout=subprocess.DEVNULL
    )
    (wheel,) = set(DIST.glob("*.whl")) - before
    return wheel


def found(wheel: Path, watched: bool = False) -> str:
    """What `syncguard check` of this wheel, installed alone, says: about many files, with classes of others."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if os.name == "nt" else "bin") / "python"
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], check=True)
        check: list[str | Path] = [python, "-m", "syncguard", "check", *CHECKED, "--isolated", "--no-cache"]
        environment = {**os.environ, "PYTHONMALLOC": "debug"} if watched else {**os.environ}
        done = subprocess.run(
            [*check, "--heat", "all", "--exit-zero", "-o", "json"],
            check=True, capture_output=True, text=True, cwd=folder, env=environment,
        )  # fmt: skip
        return done.stdout


def main() -> int:
    DIST.mkdir(exist_ok=True)
    for old in (*DIST.glob("syncguard-*.whl"), *DIST.glob("syncguard-*.tar.gz")):
        old.unlink()
    plain = built(compiled=False)
    told = found(plain)
    try:
        fast = built(compiled=True)
    except subprocess.CalledProcessError:
        print(f"{plain.name} is built; the compiled wheel is not: it takes a C compiler")
        return 1
    try:
        same = found(fast, watched=True) == told
    except subprocess.CalledProcessError as fault:
        print(fault.stderr, file=sys.stderr)
        same = False
    if not same:
        print(f"{fast.name} finds something else than {plain.name}")
        return 2
    for path in sorted(DIST.glob("syncguard-*")):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
