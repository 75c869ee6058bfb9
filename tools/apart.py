"""A call -> what it gives, from a fork that is ended where it does not end."""

from __future__ import annotations

import json
import os
import select
import signal
import time
from collections.abc import Callable
from typing import Any


def apart(call: Callable[[], dict[str, Any]], seconds: float) -> dict[str, Any]:
    """What a call gives, as JSON has it; {"fault": text} where it raises, dies or takes too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        try:
            found = call()
        except Exception as fault:
            found = {"fault": f"{type(fault).__name__}: {str(fault)[:160]}"}
        with os.fdopen(writing, "w") as stream:
            json.dump(found, stream)
        os._exit(0)
    os.close(writing)
    deadline = time.monotonic() + seconds
    text = b""
    while (left := deadline - time.monotonic()) > 0 and select.select([reading], [], [], left)[0]:
        part = os.read(reading, 1 << 16)
        if not part:
            break
        text += part
    else:
        os.kill(child, signal.SIGKILL)
    os.close(reading)
    os.waitpid(child, 0)
    return json.loads(text) if text.endswith(b"}") else {"fault": "it did not come to its end"}  # type: ignore[no-any-return]
