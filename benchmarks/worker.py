"""`worker.py parse|check|fix LIST`: measure one thing in this process, on the files that LIST names; print JSON."""

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


def fix(paths: list[str]) -> dict[str, float]:
    """The check without and with looking for fixes, the quicker of two each; then making all of them."""
    from syncguard import fixing, pipeline
    from syncguard.config import Config

    config = Config(heat="all", jobs=1, cache=False)
    pipeline.check(["-"], config, "", fixes=True)
    plain = min(timed(lambda: len(pipeline.check(paths, config).findings))["cpu"] for _ in range(2))
    looked = min(timed(lambda: len(pipeline.check(paths, config, fixes=True).findings))["cpu"] for _ in range(2))
    report = pipeline.check(paths, config, fixes=True)
    begun = time.process_time()
    made = len(fixing.fixed(paths, config, None, fixing.UNSAFE).made)
    return {
        "cpu": plain,
        "looked": looked,
        "functions": report.functions,
        "places": len({(finding.site.path, finding.function) for finding in report.findings}),
        "fixes": sum(finding.fix is not None for finding in report.findings),
        "fixed": time.process_time() - begun,
        "made": made,
    }


def timed(what: Callable[[], int]) -> dict[str, float]:
    """What it took, and the number of findings."""
    wall, cpu = time.perf_counter(), time.process_time()
    findings = what()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "findings": findings}


if __name__ == "__main__":
    files = Path(sys.argv[2]).read_text(encoding="utf-8").split("\n")
    print(json.dumps({"parse": parse, "check": check, "fix": fix}[sys.argv[1]](files)))
