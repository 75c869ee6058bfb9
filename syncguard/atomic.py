"""A file and its bytes in; the file written whole, or left as it was."""

from __future__ import annotations

import os
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Put the bytes where the file stands, at once for whoever reads it. Raises `OSError`, leaving nothing behind."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.replace(path)
    except OSError:
        remove(draft)
        raise


def remove(path: Path) -> None:
    """Remove a file, if it is there and that is permitted."""
    try:
        path.unlink(missing_ok=True)
    except OSError:
        pass
