"""The core of a file comes back from the disk as it was lowered, or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from syncguard import pipeline
from syncguard.cache import cores, folder
from syncguard.cache.cores import Cores, Lowered
from syncguard.config import Config
from syncguard.examine import examine
from syncguard.infer.parts import digest, parts_of
from syncguard.read.lower import lower

EVERYTHING = '''
from __future__ import annotations
import torch.nn as nn, os.path
from .near import *
async def f(a, /, b: int = -1, *c, d=1e999, **e) -> None:
    """text"""
    global g
    x, (y, *z) = a[1:2, ..., None], b
    x += 1j if a and not b else 0x7FFFFFFFFFFFFFFF
    async with x as y, z: pass
    async for i in y:
        if i in x or i is not None: continue
        elif f"{i!r:>{b}}": break
    else: assert (n := 3), "no"
    while True:
        try: raise ValueError from None
        except (KeyError, *z) as fault: del fault
        except Exception: yield x
        else: await y
        finally: return
    match a:
        case {"k": [1, *rest], **kw} if rest: print({**kw, 1: {2, 3}}, b"\\xff", *rest, sep="")
        case C(x=0) | None: lambda q, *, r=2: [u for v in q if v for u in v]
class C(nn.Module, metaclass=type):
    z: float
    @property
    def p(self): return {k: v for k, v in self.z.items()} @ self.w[self.i] < 3 <= 4
'''


@pytest.fixture
def kept(tmp_path) -> Cores:
    return Cores(Config(root=str(tmp_path), cache_dir=str(tmp_path / "kept")))


def lowered(text: str) -> Lowered:
    module = lower(text)
    return Lowered(parts_of(module, text.split("\n")), module)


def plain(value: Any) -> Any:
    """A value that equality tells apart: nodes themselves are equal only to themselves."""
    if isinstance(value, msgspec.Struct):
        return type(value).__name__, [plain(getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return type(value), repr(value) if isinstance(value, float) else value


def test_every_kind_of_node_comes_back_as_it_was(kept):
    here = lowered(EVERYTHING)
    kept.put("x", here)
    back = kept.get("x")
    assert back is not None
    assert plain(back) == plain(here)
    used = {name for name, _ in _kinds(plain(here.module))}
    assert len(used) > 22, used


def _kinds(found: Any):
    if isinstance(found, tuple) and len(found) == 2 and isinstance(found[0], str):
        yield found
    if isinstance(found, tuple | list):
        for item in found:
            yield from _kinds(item)


@pytest.mark.parametrize("path", sorted(Path(pipeline.__file__).parent.rglob("*.py"))[::7], ids=lambda p: p.stem)
def test_real_files_come_back_as_they_were(kept, path):
    here = lowered(path.read_text())
    kept.put("x", here)
    assert plain(kept.get("x")) == plain(here)


@pytest.mark.parametrize("text", ["x = 123456789012345678901234567890", r"x = '\ud800'"])
def test_what_the_format_cannot_hold_is_not_kept(kept, text):
    kept.put("x", lowered(text))
    assert kept.get("x") is None


@pytest.mark.parametrize("harm", [lambda d: d[:-1], lambda d: d[:9] + b"\0" + d[10:], lambda d: b"", lambda d: d[4:]])
def test_what_is_damaged_is_not_read(kept, harm):
    kept.put("x", lowered("x = 1\ny = f(x)\n"))
    path = kept.place / "x"
    path.write_bytes(harm(path.read_bytes()))
    assert kept.get("x") is None


def test_what_is_foreign_is_not_read(kept):
    """A right checksum over something else: a module that is none."""
    body = msgspec.msgpack.encode([{}, ["Module", [["Nonsense", 1]], {}]])
    kept.put("x", lowered("x = 1"))
    folder.seal(kept.place / "x", body)
    assert kept.get("x") is None


def test_the_cores_on_disk_stay_within_bounds(kept, monkeypatch):
    monkeypatch.setattr(cores, "LARGEST", 4000)
    for number in range(60):
        kept.put(f"{number:02}", lowered(f"x = {number}\n"))
        os.utime(kept.place / f"{number:02}", (number, number))
    other = kept.top / "cores-ofanotherversion"
    other.mkdir()
    (other / "x").write_text("")
    kept.trim()
    left = sorted(path.name for path in kept.place.iterdir())
    assert left == [f"{number:02}" for number in range(31, 60)]
    assert not other.exists()


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path):
    (tmp_path / "file").write_text("")
    kept = Cores(Config(root=str(tmp_path), cache_dir=str(tmp_path / "file")))
    kept.put("x", lowered("x = 1"))
    kept.trim()
    assert kept.get("x") is None


def test_an_imported_file_is_parsed_once_in_its_life(tmp_path, monkeypatch):
    """What imports it is checked anew; its own core comes from the disk, and the findings are the same."""
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "there.py").write_text("import torch\ndef size(x):\n    return x.sum()\n")
    here = tmp_path / "here.py"
    here.write_text("import torch\nfrom there import size\nprint(size(torch.ones(3, device='cuda')).item())\n")
    config = Config(root=str(tmp_path), heat="all")
    before = pipeline.check([str(here)], config).findings
    here.write_text(here.read_text() + "\n# changed\n")
    parsed = []
    monkeypatch.setattr(cores, "lower", lambda text: parsed.append(digest(text)) or lower(text))
    assert pipeline.check([str(here)], config).findings == before != ()
    assert parsed == [digest(here.read_text())]


def test_a_file_that_one_process_has_parsed_is_not_parsed_by_the_next_while_both_are_at_work(tmp_path, monkeypatch):
    near = tmp_path / "near.py"
    near.write_text("def f(x): return x\n")
    config = Config(root=str(tmp_path), cache_dir=str(tmp_path / "kept"))
    one, other = examine.Examiner(config), examine.Examiner(config)
    assert one.core(str(near)) is not None
    monkeypatch.setattr(examine, "lowered", lambda text: pytest.fail("parsed again"))
    found = other.core(str(near))
    assert found is not None
    assert plain(found) == plain(one.core(str(near)))
