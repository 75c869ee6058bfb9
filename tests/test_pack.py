"""Packs: what is malformed is refused on one line, later packs go over earlier ones, the cache tells the same."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncguard import pack
from syncguard.pack import PackError, Result, packed, places
from syncguard.pack.returns import KINDS

ROOT = Path(__file__).parent.parent
EVIDENCE = 'evidence = [{ state = "claimed", at = "its manual" }]\n'
ROW = f'["ours.count"]\nargs = ["x", "size"]\n{EVIDENCE}'
PAGE = """\
# OURS101 counting

```toml
level   = "warning"
hazards = ["counting"]
message = "`{source}` waits for the device to count"
hint    = "Give the size"
```

Why it hurts.

## Caught

### twice

```python
import ours
count(1)
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
def cache(tmp_path, monkeypatch):
    """A cache of the test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    pack._loaded.cache_clear()
    return tmp_path / "cache" / "syncguard"


def loaded_anew() -> pack.Pack:
    """The pack as another process loads it."""
    pack._loaded.cache_clear()
    return pack.load()


@pytest.fixture
def ours(tmp_path):
    """A pack of the user's, with one page."""
    folder = tmp_path / "ours"
    (folder / "ops").mkdir(parents=True)
    (folder / "OURS101-counting.md").write_text(PAGE)
    return folder


@pytest.fixture
def base(tmp_path, monkeypatch):
    """A small pack in the place of our own."""
    folder = tmp_path / "base"
    (folder / "ops").mkdir(parents=True)
    (folder / "SG101-nonzero.md").write_text(PAGE.replace("counting", "nonzero"))
    row = '["torch.nonzero"]\nalso = ["torch.argwhere"]\nwaits = [{ hazard = "nonzero" }]\n'
    (folder / "ops" / "rows.toml").write_text(f'{row}{EVIDENCE}["torch.Base.sum"]\n{EVIDENCE}')
    made = {"torch.nonzero": ["tensor int", "input"], "torch.Base.sum": ["tensor 0d", "self,*dims"]}
    made |= {"torch.Base.shape": ["size", "self", "property"]}
    classes, aliases = (
        {"torch.Leaf": "torch.Twig", "torch.Twig": "torch.Base"},
        {"torch.inner.nonzero": "torch.nonzero"},
    )
    table = {"torch": "2.13.0", "results": made, "classes": classes, "aliases": aliases}
    (folder / "ops" / "results.json").write_text(json.dumps(table))
    for name in places.FILES:
        shutil.copy(pack.home() / name, folder)
    monkeypatch.setattr(pack, "home", lambda: folder)
    return folder


def refused(folder: Path) -> str:
    with pytest.raises(PackError) as fault:
        pack.parse((folder,))
    assert "\n" not in str(fault.value)
    return str(fault.value)


WAIT = 'waits = [{{ hazard = "counting", {} }}]\n'
MALFORMED = {
    "a key that rows have not": ("return = 'tensor'\n", "unknown key `return`"),
    "an other name that is no list": ("also = 'ours.tally'\n", "`also` is not a list of names"),
    "a text that is none": ("aten = 3\n", "`aten` is not a text"),
    "a condition that we have not": (WAIT.format("when = { absent = 'size' }"), "unknown condition `absent`"),
    "a condition without a name": (WAIT.format("when = 'size'"), "unknown condition `size`"),
    "a condition on a number": (WAIT.format("when = { missing = 1 }"), "condition `missing` takes argument names"),
    "a condition on no argument": (WAIT.format("when = { missing = 'sise' }"), "no argument `sise` in args"),
    "one of several arguments": (WAIT.format("when = { tensor = 'x|y' }"), "no argument `y` in args"),
    "a place that we have not": (WAIT.format("on = 'device'"), "unknown place `device`"),
    "a key that waits have not": (WAIT.format("if = 'x'"), "unknown key `if` in waits"),
    "what is waited for is no argument": (WAIT.format("of = 'sise'"), "no argument `sise` in args"),
    "what is waited for is no name": (WAIT.format("of = 1"), "`of` is not the name of an argument"),
    "a mode that is no mode": (WAIT.format("mode = 'off'"), "`mode` is true or false"),
    "a wait without a hazard": ("waits = [{ on = 'self' }]\n", "a wait names no hazard"),
    "waits that are no tables": ("waits = ['counting']\n", "`waits` is not a list of tables"),
    "a hazard that no page judges": ("waits = [{ hazard = 'guessing' }]\n", "no page judges the hazard `guessing`"),
    "a version that is none": ("since = '2'\n", '`since` is not a version such as "2.6"'),
    "a version of a wait that is none": (WAIT.format("until = 2.6"), '`until` is not a version such as "2.6"'),
    "an end before the start": ("since = '2.10'\nuntil = '2.9'\n", "`since` is not before `until`"),
    "a wait that ends before it starts": (WAIT.format("since = '2.9', until = '2.9'"), "`since` is not before `until`"),
    "a result that we have not": ("returns = 'scalar'\n", "returns: unknown result `scalar`"),
    "what is written that is no list": ("writes = 'x'\n", "`writes` is not a list of names"),
    "what is written under no option": ("writes = ['x if']\n", "`writes` takes `argument` or `argument if option`"),
    "no result": ("returns = ''\n", "returns: unknown result ``"),
    "a result that is no text": ("returns = 1\n", "`returns` is not a text"),
    "two dtypes": ("returns = 'tensor int bool'\n", "returns: `bool` contradicts `int`"),
    "a container left open": ("returns = 'tuple(int, int'\n", "returns: `,` expected in tuple(...)"),
    "a list of two": ("returns = 'list(int, int)'\n", "returns: list(...) takes one result"),
    "parts without names": ("returns = 'named(int)'\n", "returns: named(...) takes name=result"),
    "more than a result": ("returns = 'tensor cold'\n", "returns: unexpected `cold` in `tensor cold`"),
    "no result for the rest": ("returns = 'int if given size'\n", "returns: the last result alone has no conditions"),
    "a result under no condition": ("returns = 'int if size; tensor'\n", "returns: unknown condition `size`"),
}


@pytest.mark.parametrize(("line", "fault"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_row_is_refused(ours, line, fault):
    (ours / "ops" / "counts.toml").write_text(ROW + line)
    assert refused(ours) == f"ours/ops/counts.toml: [ours.count] {fault}"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('["ours.count"]\nargs = []\n', "no evidence"),
        ('["ours.count"]\nevidence = []\n', "no evidence"),
        ('["ours.count"]\nevidence = ["its manual"]\n', "no evidence"),
        ('["ours.count"]\nevidence = [{ state = "claimed" }]\n', "evidence needs `at` and a state"),
        ('["ours.count"]\nevidence = [{ state = "rumour", at = "a forum" }]\n', "evidence needs `at` and a state"),
        (
            f'{ROW}\n["ours.tally"]\nalso = ["ours.count"]\n{EVIDENCE}',
            "[ours.tally] `ours.count` has a row already, in ours/ops/counts.toml",
        ),
        (f'["ours.count"]\nalso = ["ours.count"]\n{EVIDENCE}', "`ours.count` has a row already"),
        (f"[ours.count]\n{EVIDENCE}", "[ours] unknown key `count`"),
        ("version = 1\n", "[version] is not a table; put the dotted name in quotes"),
        ("ours.count: tensor\n", "at line 1, column"),
        (f"{ROW}{ROW}", "Cannot declare"),
    ],
)
def test_a_malformed_file_is_refused(ours, text, fault):
    (ours / "ops" / "counts.toml").write_text(text)
    found = refused(ours)
    assert found.startswith("ours/ops/counts.toml: ")
    assert fault in found


def test_a_name_stands_in_one_row_of_one_file(ours):
    (ours / "ops" / "a.toml").write_text(ROW)
    (ours / "ops" / "b.toml").write_text(ROW)
    assert refused(ours) == "ours/ops/b.toml: [ours.count] `ours.count` has a row already, in ours/ops/a.toml"


def test_what_is_not_utf8_is_refused(ours):
    (ours / "ops" / "counts.toml").write_bytes(b'["ours.\xff"]\n')
    assert refused(ours).startswith("ours/ops/counts.toml: 'utf-8' codec")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("level ", "grade ", "unknown key `grade`"),
        ('"warning"', '"fatal"', "level is one of error, warning, advice"),
        ('message = "`{source}`', '# message = "`{source}`', "no `message`"),
        ("{source}", "{sauce}", "unknown field {sauce}"),
        ("{source}", "{source", "expected '}' before end of string"),
        ('["counting"]', '"counting"', "`hazards` is not a list of names"),
        ("hint ", 'breaks = ["dreams"]\nhint', "unknown break `dreams`"),
        ("hint ", 'breaks = "capture"\nhint', "`breaks` is not a list"),
        ("hint ", 'default = "no"\nhint', "`default` is true or false"),
        ("hint ", 'fix = ["item", "dream-on"]\nhint', "unknown recipe `item`"),
        ("hint ", 'fix = "--init--"\nhint', "unknown recipe `--init--`"),
        ('"`{source}` waits for the device to count"', "3", "`message` is not a text"),
        ("{source}", "{source!x}", "unknown field {source!x}"),
        ("{source}", "{source:>9}", "unknown field {source:>9}"),
        ("{source}", "{source[0]}", "unknown field {source[0]}"),
        ("{source}", "{}", "unknown field {}"),
        ("```toml", "```", "no toml block"),
        ("level   =", "level", "line 1"),
    ],
)
def test_a_malformed_page_is_refused(ours, old, new, fault):
    (ours / "OURS101-counting.md").write_text(PAGE.replace(old, new))
    found = refused(ours)
    assert found.startswith("ours/OURS101-counting.md: ")
    assert fault in found


def test_a_hazard_and_a_code_have_one_page(ours):
    (ours / "OURS102-tallying.md").write_text(PAGE)
    assert refused(ours) == "OURS102-tallying.md: hazard `counting` is judged by OURS101 already"
    (ours / "OURS102-tallying.md").rename(ours / "OURS101-tallying.md")
    assert refused(ours) == "ours/OURS101-tallying.md: OURS101 has a page already"


@pytest.mark.parametrize("text", ["{", "[]", '{"results": []}', '{"answers": {}}'])
def test_malformed_results_are_refused(ours, text):
    (ours / "ops" / "results.json").write_text(text)
    assert refused(ours).startswith("ours/ops/results.json: ")


def test_a_pack_that_is_not_there_is_refused(tmp_path):
    assert refused(tmp_path / "theirs") == f"{tmp_path / 'theirs'}: no such pack"
    (tmp_path / "theirs").write_text(ROW)
    assert refused(tmp_path / "theirs") == f"{tmp_path / 'theirs'}: no such pack"


def test_a_warm_cache_hides_no_missing_pack(base, tmp_path):
    pack.load()
    with pytest.raises(PackError, match="no such pack"):
        pack.load((tmp_path / "theirs",))


def test_our_own_pack_is_sound():
    pack.parse((pack.home(),))


def test_a_pack_goes_over_ours(base, ours):
    waits = '{ hazard = "counting", when = { missing = "size" }, on = "always", since = "2.6" }'
    (ours / "ops" / "counts.toml").write_text(
        f'{ROW}waits = [{waits}]\n["torch.nonzero"]\nreturns = "tensor int 2d"\n{EVIDENCE}'
    )
    (ours / "SG101-nonzero.md").write_text(PAGE.replace("counting", "nonzero").replace('"warning"', '"error"'))
    tallies = {"ours.tally": ["tensor int 1d", "x,*sizes"], "ours.join": ["tensor", "text,*parts!"]}
    tallies["ours.count"] = ["tensor", "size,x!,weight!,out"]
    (ours / "ops" / "results.json").write_text(json.dumps({"results": tallies}))
    alone, both = pack.load(), pack.load((ours,))

    assert alone.op("ours.count") is None
    (wait,) = both.op("ours.count").waits
    assert (wait.hazard, wait.when, wait.on, wait.since) == ("counting", (("missing", "size"),), "always", "2.6")
    assert both.by_hazard("counting") == both.rule("OURS101") == both.rule("counting")
    assert both.rule("counting").why == "Why it hurts."
    assert both.op("ours.tally").args == ("x", "sizes")
    assert not both.op("ours.tally").known
    assert both.op("ours.tally").takes == ()
    assert (both.op("ours.join").args, both.op("ours.join").takes[:3]) == (("text", "parts"), (1, 2, 3))
    assert both.op("ours.count").takes == (1, 2)

    assert [wait.hazard for wait in alone.op("torch.nonzero").waits] == ["nonzero"]
    assert both.op("torch.nonzero").waits == ()
    assert both.op("torch.nonzero").known
    assert (alone.rule("nonzero").level, both.rule("nonzero").level) == ("warning", "error")
    assert both.op("torch.Leaf.sum") == alone.op("torch.Leaf.sum")
    assert both.digest != alone.digest


def test_the_last_of_several_packs_wins(base, tmp_path):
    folders = tuple(tmp_path / name for name in ("first", "second"))
    for folder, kind in zip(folders, ("int", "float"), strict=True):
        (folder / "ops").mkdir(parents=True)
        (folder / "ops" / "one.toml").write_text(f'["ours.count"]\nreturns = "{kind}"\n{EVIDENCE}')
    assert pack.load(folders).op("ours.count").returns == "float"
    assert pack.load(folders[::-1]).op("ours.count").returns == "int"


def test_a_change_of_a_pack_is_seen(base, ours):
    row = ours / "ops" / "counts.toml"
    row.write_text(ROW)
    assert pack.load((ours,)).op("ours.count").returns == ""
    row.write_text(f'{ROW}returns = "int"\n')
    assert pack.load((ours,)).op("ours.count").returns == "int"
    row.unlink()
    assert pack.load((ours,)).op("ours.count") is None


def test_a_hand_row_inherits_what_it_leaves_out(base):
    row = pack.load().op("torch.nonzero")
    assert row.known
    assert (row.args, row.returns) == (("input",), "tensor int")


def test_a_row_has_several_names(base):
    loaded = pack.load()
    for name in ("torch.argwhere", "torch.inner.nonzero"):
        assert loaded.op(name).waits == loaded.op("torch.nonzero").waits != ()
        assert loaded.op(name).name == name


def test_what_a_class_lacks_is_looked_up_on_its_bases(base):
    loaded = pack.load()
    assert loaded.base("torch.Leaf") == "torch.Twig"
    assert loaded.op("torch.Leaf.sum").returns == "tensor 0d"
    assert loaded.op("torch.Leaf.sum").args == ("self", "dims")
    assert loaded.op("torch.Leaf.sum").known
    assert loaded.op("torch.Leaf.product") is None
    assert loaded.op("torch.product") is None
    assert loaded.is_property("torch.Leaf.shape")
    assert not loaded.is_property("torch.Leaf.sum")


def test_conditions_may_ask_what_the_receiver_was_made_with(base, ours):
    wait = WAIT.format("when = { false = 'self.sized' }")
    (ours / "ops" / "counts.toml").write_text(f'["ours.Counter.count"]\nargs = ["self", "x"]\n{EVIDENCE}{wait}')
    (wait,) = pack.load((ours,)).op("ours.Counter.count").waits
    assert wait.when == (("false", "sized"),)


def test_programs_of_a_page_know_their_lines():
    first, second = pack.examples(PAGE)
    assert (first.section, first.title, first.text) == ("caught", "twice", "import ours\ncount(1)\n")
    assert PAGE.splitlines()[first.line - 1] == "import ours"
    assert (second.section, second.title, second.text) == ("quiet", "", "pass\n")


def same(one: pack.Pack, other: pack.Pack) -> bool:
    names = {*one.ops, *one.made, *one.aliases}
    return one.rules == other.rules and one.torch == other.torch and all(one.op(n) == other.op(n) for n in names)


def test_the_compiled_pack_is_the_parsed_one(cache):
    parsed = pack.load()
    assert [path.name for path in cache.iterdir()] == [f"pack-{parsed.digest}.json"]
    assert pack.load() is parsed
    compiled = loaded_anew()
    assert compiled is not parsed
    assert len(parsed.ops) == len(compiled.ops)
    assert same(parsed, compiled)


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data[:100] + bytes([data[100] ^ 1]) + data[101:],
        lambda data: b"not hex\n" + data,
        lambda data: data.partition(b"\n")[2],
    ],
    ids=["empty", "cut off", "one bit", "no checksum", "no first line"],
)
def test_a_damaged_cache_is_built_again(base, cache, damage):
    before = pack.load()
    (kept,) = cache.glob("pack-*.json")
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert same(before, loaded_anew())
    assert kept.read_bytes() == whole


def test_without_a_cache_it_works_all_the_same(base, cache, monkeypatch):
    cache.parent.mkdir()
    cache.write_text("a file where the folder should be")
    assert pack.load().op("torch.nonzero").known
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    assert loaded_anew().op("torch.nonzero").known


def test_the_cache_keeps_to_a_few_packs(base, cache):
    cache.mkdir(parents=True)
    for n in range(20):
        (cache / f"pack-{n:024}.json").write_text("old")
    (cache / "other.json").write_text("not ours to remove")
    loaded = pack.load()
    left = sorted(cache.glob("pack-*.json"))
    assert len(left) == packed.KEPT
    assert any(loaded.digest in path.name for path in left)
    assert (cache / "other.json").exists()


def test_a_warm_load_is_quick():
    pack.load()
    spent = []
    for _ in range(10):
        start = time.process_time()
        loaded_anew()
        spent.append(time.process_time() - start)
    assert min(spent) < 0.025


def test_importing_and_loading_needs_nothing_heavy():
    code = "import sys; from syncguard import pack; pack.load(); print(*sys.modules)"
    for heavy in ({"torch", "libcst", "rich", "click", "numpy"}, {"torch", "libcst", "rich", "tomllib"}):  # cold, warm
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        assert not heavy & set(done.stdout.split())


def test_an_installed_package_finds_its_rules(ours, tmp_path):
    package = tmp_path / "site" / "syncguard"
    (package / "pack").mkdir(parents=True)
    for path in (*(ROOT / "syncguard").glob("*.py"), *(ROOT / "syncguard" / "pack").glob("*.py")):
        shutil.copy(path, package / path.relative_to(ROOT / "syncguard"))
    (ours / "ops" / "counts.toml").write_text(ROW)
    for name in places.FILES:
        shutil.copy(pack.home() / name, ours)
    ours.rename(package / "rules")
    code = "from syncguard import pack; print(*pack.load().ops, pack.home())"
    done = subprocess.run([sys.executable, "-c", code], cwd=package.parent, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ours.count", str(package / "rules")]


# The grammar of results: what is written out reads the same.

flags = st.tuples(
    st.sampled_from(["", "bool", "int", "float", "complex", "promote", "count"]),
    st.sampled_from(["", "0d", "1d", "2d", "reduce", "samerank"]),
    st.sampled_from(["", "host", "device", "factory", "like", "kwarg"]),
)
leaf = flags.map(lambda f: Result("tensor", *f)) | st.sampled_from(sorted(KINDS - {"tensor"})).map(Result)
name = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True)
shape = st.recursive(
    leaf,
    lambda part: st.one_of(
        part.map(lambda p: Result("list", parts=(("", p),))),
        st.lists(part, min_size=1, max_size=3).map(lambda ps: Result("tuple", parts=tuple(("", p) for p in ps))),
        st.dictionaries(name, part, min_size=1, max_size=3).map(lambda ps: Result("named", parts=tuple(ps.items()))),
    ),
    max_leaves=6,
)


def written(result: Result) -> str:
    if result.parts:
        parts = [f"{key}={written(part)}" if key else written(part) for key, part in result.parts]
        return f"{result.kind}({', '.join(parts)})"
    return " ".join(filter(None, (result.kind, result.dtype, result.rank, result.place)))


@given(shape)
def test_a_result_reads_as_it_is_written(result):
    assert pack.results(written(result)) == (((), result),)


@given(shape, shape)
def test_alternatives_read_as_they_are_written(one, other):
    text = f"{written(one)} if given dim, true keepdim; {written(other)}"
    assert pack.results(text) == (((("given", "dim"), ("true", "keepdim")), one), ((), other))


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        found = pack.results(text)
    except ValueError:
        return
    assert found[-1][0] == ()
