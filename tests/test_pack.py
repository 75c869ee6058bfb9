"""pack: what it takes, what it refuses and in which words, and that its cache is quick and never wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from syncguard import pack
from syncguard.pack import PackError, Result, examples, results

EVIDENCE = 'evidence = [{ state = "source", at = "x.cpp:1" }]'
PAGE = """# OUR001 slow-kernel

```toml
level   = "warning"
hazards = ["slow-kernel"]
message = "`{source}` waits for {operand}"
hint    = "Use another"
since   = "1.0"
```

It waits.

## Caught

### twice

```python
import ours
ours.kernel(1)
```

## Quiet

```text
not a program
```

```python
pass
```
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "syncguard"


def folder(tmp_path: Path, rows: str, **pages: str) -> Path:
    """A pack with one file of rows, and pages by name."""
    (tmp_path / "rules" / "ops").mkdir(parents=True)
    (tmp_path / "rules" / "ops" / "x.toml").write_text(rows)
    for name, text in pages.items():
        (tmp_path / "rules" / f"{name.replace('_', '-')}.md").write_text(text)
    return tmp_path / "rules"


def refusal(path: Path) -> str:
    with pytest.raises(PackError) as caught:
        pack.load((path,))
    return str(caught.value)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (f'["f"]\nwaits = []\nargz = []\n{EVIDENCE}', "unknown key `argz`"),
        (f'["f"]\nwaits = [{{ hazard = "item", if = 1 }}]\n{EVIDENCE}', "unknown key `if` in waits"),
        (f'["f"]\nargs = ["x"]\nwaits = [{{ hazard = "item", when = {{ hot = "x" }} }}]\n{EVIDENCE}', "unknown condition `hot`"),
        (f'["f"]\nargs = ["x"]\nwaits = [{{ hazard = "item", when = {{ given = "y" }} }}]\n{EVIDENCE}', "no argument `y` in args"),
        (f'["f"]\nargs = ["x"]\nwaits = [{{ hazard = "item", when = {{ given = 1 }} }}]\n{EVIDENCE}', "condition `given` takes argument names"),
        (f'["f"]\nwaits = [{{ hazard = "item", on = "moon" }}]\n{EVIDENCE}', "unknown place `moon`"),
        (f'["f"]\nwaits = [{{ on = "self" }}]\n{EVIDENCE}', "a wait names no hazard"),
        (f'["f"]\nwaits = [{{ hazard = "flood" }}]\n{EVIDENCE}', "no page judges the hazard `flood`"),
        (f'["f"]\nreturns = "tensor wet"\n{EVIDENCE}', "returns: unexpected `wet` in `tensor wet`"),
        (f'["f"]\nreturns = "tensor int float"\n{EVIDENCE}', "returns: `float` contradicts `int`"),
        (f'["f"]\nreturns = "int if given dim"\n{EVIDENCE}', "returns: the last result alone has no conditions"),
        (f'["f"]\nargs = "x"\n{EVIDENCE}', "`args` is not a list of names"),
        (f'["f"]\n{EVIDENCE}\n["g"]\nalso = ["f"]\n{EVIDENCE}', "`f` has a row already"),
        ('["f"]\nargs = ["x"]', "no evidence"),
        ('["f"]\nevidence = []', "no evidence"),
        ('["f"]\nevidence = [{ state = "rumour", at = "x" }]', "evidence needs `at` and a state (measured, source, doc, claimed)"),
        (f'["f"]\nsince = "2"\n{EVIDENCE}', '`since` is not a version such as "2.6"'),
        (f'["f"]\nwaits = [{{ hazard = "item", since = "2.9", until = "2.10" }}]\n{EVIDENCE}\n["g"]\nuntil = 2.1\n{EVIDENCE}', "`until` is not a version"),
        (f'["f"]\nwaits = [{{ hazard = "item", since = "2.10", until = "2.9" }}]\n{EVIDENCE}', "`since` is not before `until`"),
        (f"[f.g]\n{EVIDENCE}", "unknown key `g`"),
    ],
)
def test_malformed_rows_are_refused(tmp_path: Path, row: str, words: str) -> None:
    message = refusal(folder(tmp_path, row))
    assert message.startswith("rules/ops/x.toml: [") and words in message and "\n" not in message


def test_what_is_no_toml_is_refused(tmp_path: Path) -> None:
    assert refusal(folder(tmp_path, '["f"\n')).startswith("rules/ops/x.toml: ")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('level   = "warning"', 'level   = "loud"', "level is one of error, warning, advice"),
        ('hazards = ["slow-kernel"]', "", "no `hazards`"),
        ('hazards = ["slow-kernel"]', 'hazards = "slow-kernel"', "`hazards` is not a list of names"),
        ('hazards = ["slow-kernel"]', 'hazards = ["item"]', "hazard `item` is judged by "),
        ('hint    = "Use another"', "", "no `hint`"),
        ('since   = "1.0"', 'breaks = ["all"]', "unknown break `all`"),
        ('since   = "1.0"', 'colour = "red"', "unknown key `colour`"),
        ("{operand}", "{who}", "unknown field {who}"),
        ("```toml", "```ini", "no toml block"),
    ],
)
def test_malformed_pages_are_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    message = refusal(folder(tmp_path, "", OUR001_slow_kernel=PAGE.replace(old, new)))
    assert words in message and "\n" not in message


def test_a_pack_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none") == f"{tmp_path / 'none'}: no such pack"


def test_own_rows_and_pages_go_over_ours(tmp_path: Path) -> None:
    rows = f'["ours.kernel"]\nargs = ["x", "*rest"]\nwaits = [{{ hazard = "slow-kernel", when = {{ tensor = "rest" }} }}]\n{EVIDENCE}\n'
    rows += f'["torch.equal"]\nreturns = "bool"\n{EVIDENCE}\n'
    ours = pack.load((folder(tmp_path, rows, OUR001_slow_kernel=PAGE),))
    kernel = ours.op("ours.kernel")
    assert kernel is not None and kernel.known and kernel.args == ("x", "rest")
    assert ours.by_hazard("slow-kernel").code == "OUR001"
    assert (rule := ours.rule("slow-kernel")) is not None and rule.why == "It waits."
    assert (equal := ours.op("torch.equal")) is not None and not equal.waits
    assert ours.rule("SG101") is not None
    assert pack.load().op("ours.kernel") is None


def test_rows_answer_for_other_names_and_subclasses() -> None:
    ours = pack.load()
    method, function = ours.op("torch.Tensor.nonzero"), ours.op("torch.nonzero")
    assert method is not None and function is not None
    assert (method.name, function.name) == ("torch.Tensor.nonzero", "torch.nonzero") and method.waits == function.waits
    for spelling in ("torch.functional.unique", "torch.nn.Parameter.item", "torch.optim.AdamW.zero_grad", "torch.nn.modules.linear.Linear.forward"):
        assert ours.op(spelling) is not None, spelling
    assert ours.op("torch.nn.Parameter.item").waits == ours.op("torch.Tensor.item").waits  # type: ignore[union-attr]
    assert ours.op("torch.no_such_thing") is None and ours.op("numpy.nonzero") is None
    assert ours.base("torch.optim.AdamW") == "torch.optim.Adam" and ours.base("int") is None


def test_generated_rows_are_not_known_and_fill_what_hand_rows_leave_out() -> None:
    ours = pack.load()
    generated, hand = ours.op("torch.hann_window"), ours.op("torch.argmax")
    assert generated is not None and not generated.known and generated.returns.startswith("tensor float")
    assert hand is not None and hand.known and hand.returns == "tensor int reduce" and hand.args[0] == "input"


def test_properties_are_told_from_methods() -> None:
    ours = pack.load()
    assert ours.is_property("torch.Tensor.shape") and ours.is_property("torch.nn.Parameter.T")
    assert not ours.is_property("torch.Tensor.size") and not ours.is_property("torch.nonzero")


def test_compiled_is_parsed(cache: Path) -> None:
    fresh, warm = pack.load(), pack.load()
    assert len(list(cache.glob("pack-*.json"))) == 1 and not list(cache.glob("*.[0-9]*"))
    parsed = pack.parse((pack.home(),))
    assert fresh.rules == warm.rules and fresh.digest == warm.digest
    assert dict(fresh.ops) == dict(warm.ops) and dict(warm.made) == parsed["results"] == dict(fresh.made)
    assert warm.classes == parsed["classes"] and warm.aliases == parsed["aliases"] and warm.torch == parsed["torch"]


@pytest.mark.parametrize("damage", [b"", b"00000000\n{}\n{}", b"not json at all", None])
def test_a_damaged_cache_is_made_anew(cache: Path, damage: bytes | None) -> None:
    fresh = pack.load()
    (entry,) = cache.glob("pack-*.json")
    whole = entry.read_bytes()
    entry.write_bytes(whole[: len(whole) // 2] + b"0" + whole[len(whole) // 2 + 1 :] if damage is None else damage)
    again = pack.load()
    assert again.op("torch.Tensor.item") == fresh.op("torch.Tensor.item") and dict(again.made) == dict(fresh.made)
    assert entry.read_bytes() == whole


def test_no_cache_is_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert pack.load().op("torch.Tensor.item") is not None


def test_the_cache_follows_the_files(tmp_path: Path) -> None:
    path = folder(tmp_path, f'["f"]\nreturns = "int"\n{EVIDENCE}')
    before = pack.load((path,))
    (path / "ops" / "x.toml").write_text(f'["f"]\nreturns = "float"\n{EVIDENCE}')
    after = pack.load((path,))
    assert before.digest != after.digest and after.op("f").returns == "float"  # type: ignore[union-attr]


def test_warm_load_is_quick() -> None:
    pack.load()
    spans = []
    for _ in range(20):
        begin = time.perf_counter()
        pack.load()
        spans.append(time.perf_counter() - begin)
    assert min(spans) < 0.015  # 4 ms on an idle core


def test_import_is_light() -> None:
    code = "import sys, syncguard.pack; print(json := [m for m in ('torch', 'libcst', 'rich', 'click', 'numpy', 'tomllib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent.parent)
    assert done.stdout.strip() == "[]"


def test_an_installed_package_finds_its_rules(tmp_path: Path) -> None:
    root = Path(__file__).parent.parent
    package = tmp_path / "site" / "syncguard"
    package.mkdir(parents=True)
    for name in ("__init__", "terms", "pack", "pages", "returns"):
        (package / f"{name}.py").write_text((root / "syncguard" / f"{name}.py").read_text())
    folder(package, f'["f"]\n{EVIDENCE}')
    code = "from syncguard import pack; print(sorted(pack.load().ops), pack.home())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=package.parent)
    assert done.stdout.strip() == f"['f'] {package / 'rules'}"


def test_examples() -> None:
    first, second = examples(PAGE)
    assert (first.section, first.title, first.line) == ("caught", "twice", 18) and first.text == "import ours\nours.kernel(1)\n"
    assert PAGE.splitlines()[first.line - 1] == "import ours"
    assert (second.section, second.title, second.text) == ("quiet", "", "pass\n")


def test_returns() -> None:
    assert results("tensor int reduce host") == (((), Result("tensor", "int", "reduce", "host")),)
    assert results("named(values=tensor, indices=tensor int)")[0][1].parts[1] == ("indices", Result("tensor", "int"))
    assert results("tuple(tensor, list(int))")[0][1].parts[1] == ("", Result("list", parts=(("", Result("int")),)))
    (first, _), (last, shape) = results("list(tensor int 1d) if alone condition, true flag; tensor promote")
    assert first == (("alone", "condition"), ("true", "flag")) and last == () and shape == Result("tensor", "promote")


@pytest.mark.parametrize("text", ["", "tensr", "tensor(", "tuple()", "list(a)", "list(int, int)", "named(tensor)", "int float", "int; int", "int if maybe x; int"])
def test_bad_returns(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        results(text)


def test_results_file_is_readable() -> None:
    table = json.loads((pack.home() / "ops" / "results.json").read_text())
    assert table["torch"] and len(table["results"]) > 4000 and not {k for k in table["aliases"] if k in table["results"] and k not in table["classes"]}
    for name, entry in table["results"].items():
        assert len(entry) in (2, 3) and results(entry[0]), name
