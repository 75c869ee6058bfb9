"""For the tests of `syncguard run`: Python started on a program, as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "120"}


def started(*words: str, **options) -> subprocess.Popen[str]:
    env = os.environ | ENVIRONMENT | options.pop("env", {})
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, *words], text=True, env=env, start_new_session=True, **pipes, **options)


def ran(*words: str, given: str = "", patience: float = 60, **options) -> tuple[int, str, str]:
    """Exit code, standard output, standard error of a Python that may take so many seconds."""
    with started(*words, **options) as process:
        try:
            out, err = process.communicate(given, timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, out, err
