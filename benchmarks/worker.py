"""`worker.py parse|check LIST`: measure one thing in this process, on the files that LIST names; print JSON."""

from __future__ import annotations

import ast
import gc
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path


def parse(paths: list[str]) -> dict[str, float]:
    """`ast.parse` and nothing else: the texts are read before, the collector is paused, the trees are dropped."""
    texts = [Path(path).read_text(encoding="utf-8") for path in paths]
    warnings.simplefilter("ignore")
    gc.disable()

    def every() -> int:
        for text in texts:
            ast.parse(text)
        return 0

    return timed(every)


def check(paths: list[str]) -> dict[str, float]:
    """The whole pipeline, reading included; modules are imported and the rules compiled before."""
    from syncguard import pipeline
    from syncguard.config import Config

    config = Config(heat="all", jobs=1, cache=False)
    pipeline.check(["-"], config, "")
    return timed(lambda: len(pipeline.check(paths, config).findings))


def timed(what: Callable[[], int]) -> dict[str, float]:
    """What it took, and the number of findings."""
    wall, cpu = time.perf_counter(), time.process_time()
    findings = what()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "findings": findings}


if __name__ == "__main__":
    files = Path(sys.argv[2]).read_text(encoding="utf-8").split("\n")
    print(json.dumps({"parse": parse, "check": check}[sys.argv[1]](files)))
