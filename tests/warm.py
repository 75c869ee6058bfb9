"""For tests of programs that import torch: a process for each, without the seconds that the import takes.

A keeper imports torch once and hides it again: its modules leave `sys.modules`. For each command it forks, and the
child is a Python of its own, from the command line to the exit code, in which `import torch` finds what was hidden.
"""

from __future__ import annotations

import atexit
import copy
import gc
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import running

HIDDEN = ("torch", "torchgen", "functorch", "numpy")


def ran(folder: Path, *words: str, given: str = "", patience: float = 120, **env: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error of `python -m ...` in a folder. Raises `TimeoutError`."""
    assert words[0] == "-m", "only modules are run"
    env = {"PYTHONPATH": str(Path(__file__).parent.parent), "COLUMNS": "120"} | env
    if sys.platform != "linux":  # elsewhere a fork is not safe or not there
        return running.ran(*words, given=given, patience=patience, cwd=folder, env=env)
    with tempfile.TemporaryDirectory() as place:
        files = [Path(place, name) for name in ("in", "out", "err")]
        files[0].write_text(given)
        asked = {"words": words, "folder": str(folder), "files": [*map(str, files)], "env": dict(os.environ) | env}
        code = keeper().ask(asked, patience)
        return code, files[1].read_text(), files[2].read_text()


class Keeper:
    """A process that has imported torch, and becomes the commands that it is asked for, one after the other."""

    def __init__(self) -> None:
        self.ours, theirs = socket.socketpair()
        told = f"__import__('warm').serve({theirs.fileno()})"
        here = Path(__file__).parent
        path = os.pathsep.join((str(here), str(here.parent)))
        # A library that computes in threads of its own cannot be forked once it has them.
        env = os.environ | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
        command = [sys.executable, "-c", told]
        self.process = subprocess.Popen(command, env=env, pass_fds=[theirs.fileno()], start_new_session=True)
        theirs.close()
        self.answers = self.ours.makefile()
        atexit.register(self.close)

    def ask(self, asked: dict[str, Any], patience: float) -> int:
        self.ours.settimeout(patience)
        self.ours.sendall(json.dumps(asked).encode() + b"\n")
        try:
            return int(self.answers.readline())
        except TimeoutError:
            os.killpg(self.process.pid, 9)
            keeper.cache_clear()
            raise

    def close(self) -> None:
        self.answers.close()
        self.ours.close()
        self.process.wait()


@cache
def keeper() -> Keeper:
    """The keeper of this process."""
    return Keeper()


def serve(descriptor: int) -> None:
    """The keeper's life; in a child, the command's."""
    Hidden()
    gc.freeze()
    with socket.socket(fileno=descriptor) as connection, connection.makefile() as lines:
        for line in lines:
            if (pid := os.fork()) == 0:
                asked = json.loads(line)
                break
            _, status = os.waitpid(pid, 0)
            connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
        else:
            os._exit(0)
    become(asked)


def become(asked: dict[str, Any]) -> None:
    """Go on as Python started with these words, files, variables, in this folder."""
    for number, (name, flags) in enumerate(zip(asked["files"], (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT] * 2))):
        opened = os.open(name, flags)
        os.dup2(opened, number)
        os.close(opened)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.path[0] = os.getcwd()
    sys.path.remove(str(Path(__file__).parent))
    words = asked["words"]
    sys.orig_argv, sys.argv[:] = [sys.executable, *words], ["-m", *words[2:]]
    runpy._run_module_as_main(words[1])


class Hidden(MetaPathFinder, Loader):
    """Finds the modules that were imported and taken away again."""

    def __init__(self) -> None:
        import torch  # noqa: F401

        self.modules = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in HIDDEN}
        self.specs = {name: module.__spec__ for name, module in self.modules.items()}
        for name in self.modules:
            del sys.modules[name]
        sys.meta_path.insert(0, self)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in self.modules:
            return None
        spec = copy.copy(self.specs[name])
        spec.loader = self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self.modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        """With torch all comes back; numpy comes alone."""
        name = module.__name__
        module.__spec__ = self.specs[name]
        module.__loader__ = self.specs[name].loader
        back = ("numpy",) if name.partition(".")[0] == "numpy" else HIDDEN
        for other in [other for other in self.modules if other.partition(".")[0] in back]:
            sys.modules[other] = self.modules.pop(other)
