"""What the rows say of the calls in evidence/, written anew, where rows were corrected since; what was found stays.

python tools/device/resay.py evidence/<file>     with the torch that the file names, no device is needed
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import device
import parts
import torch

from syncguard.observe import doctor
from syncguard.observe.measure import Answer


def main(path: Path) -> int:
    """Write the file anew; 2 where it is of another torch."""
    evidence = json.loads(path.read_text("utf-8"))
    if evidence["machine"]["torch"] != torch.__version__.split("+")[0]:
        print(f"{path} is of torch {evidence['machine']['torch']}, this is {torch.__version__}")
        return 2
    desk = parts.Desk(dry=False)
    said = {(one.row, one.text): one for one in parts.rows_said(desk)[0]}
    reasons = doctor.explained()
    for result in results(evidence, "doctor"):
        one = said.get((result["row"], result["call"]))
        if one is not None and one.said is not None:
            again(result, one, reasons, desk)
    answers = parts.questions_said(desk)
    for result in results(evidence, "questions"):
        result["said"] = answers.get((result["question"], result["n"], result["call"]), result["said"])
    letters = parts.opinfo_said(desk)
    for result in results(evidence, "opinfo"):
        result["said"] = letters.get((result["op"], result["dtype"]), result["said"])
        pairs = zip(result["said"], result["found"])
        result["agree"] = all(a == b for a, b in pairs if "?" not in (a, b))
    for name in list(evidence["parts"]):
        device.save(path, evidence, name, evidence["parts"][name])
    return 0


def results(evidence: dict[str, Any], part: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = evidence["parts"].get(part, {}).get("results", [])
    return found


def again(result: dict[str, Any], one: Any, reasons: dict[str, str], desk: Any) -> None:
    """A result of the part `doctor`, with what its row says now."""
    found = result.get("found")
    if found is not None:
        heard = Answer(found["waited"], found.get("host_ms", 0.0), fault=found.get("fault", ""))
        one = replace(one, found=heard)
    for key in ("hazards", "against"):
        result.pop(key, None)
    result["said"] = one.said.waited
    if one.said.hazards:
        result["hazards"] = list(one.said.hazards)
    sentence = "" if one.text in reasons else doctor.against(one, desk.rules)
    if sentence:
        result["against"] = sentence


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
