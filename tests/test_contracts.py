"""The shape of the house: which room may import which, and what is shipped."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "syncguard"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
FILES = sorted(path for path in PACKAGE.rglob("*.py"))


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def loaded(path: Path) -> frozenset[str]:
    """The modules that importing a file loads: those that its functions import later are none of them."""
    found: set[str] = set()
    todo: list[ast.AST] = [*parsed(path).body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            todo += ast.iter_child_nodes(node)
    return frozenset(found)


def test_imports_run_one_way():
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert " 0 broken" in done.stdout


MYPYC = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["mypyc"]
COMPILED = [
    path
    for pattern in MYPYC["include"]
    for path in ROOT.glob(pattern.lstrip("/"))
    if not any(path.match(but.lstrip("*/")) for but in MYPYC["exclude"])
]


def test_what_is_compiled_looks_nothing_up_that_it_can_have_at_hand():
    found = []
    for path in COMPILED:
        for node in parsed(path).body:
            targets = (
                node.targets
                if isinstance(node, ast.Assign)
                else [node.target]
                if isinstance(node, ast.AnnAssign)
                else []
            )
            final = isinstance(node, ast.AnnAssign) and "Final" in ast.unparse(node.annotation)
            found += [(path.name, t.id) for t in targets if isinstance(t, ast.Name) and t.id.isupper() and not final]
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Compare) and re.match(
                r"type\(.*\) (is|in|is not|not in) \(?core\.", ast.unparse(node)
            ):
                found.append((path.name, node.lineno))
    assert len(COMPILED) > 90
    assert found == []


def is_miscompiled(node: ast.AST) -> bool:
    """Whether mypyc makes something else of it than Python does: a name for a whole sequence is its first item, one for
    the rest of it is no list, and a star in a tuple that is searched is a fault of its own."""
    match node:
        case ast.MatchAs(pattern=ast.MatchSequence()):
            return True
        case ast.MatchStar(name=str()):
            return True
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[ast.Tuple() | ast.List() | ast.Set() as held]):
            return any(isinstance(item, ast.Starred) for item in held.elts)
    return False


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("match x:\n case (_, _) as both: pass", True),
        ("match x:\n case (a, *rest): pass", True),
        ("x in (1, *more)", True),
        ("match x:\n case (a, *_): pass", False),
        ("match x:\n case str() | int() as a: pass", False),
        ("x in more", False),
    ],
)
def test_it_is_known_what_mypyc_makes_something_else_of(code, wrong):
    assert any(is_miscompiled(node) for node in ast.walk(ast.parse(code))) is wrong


def test_what_is_compiled_is_what_runs_where_it_was_not():
    found = [(path.name, node.lineno) for path in COMPILED for node in ast.walk(parsed(path)) if is_miscompiled(node)]
    assert found == []


def works_out_again(tree):
    """Where a class says that a value is worked out once by `cached_property`: a compiled class has no place to keep
    it, and works it out again whenever it is asked for."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [f.lineno for f in functions if any("cached_property" in ast.unparse(one) for one in f.decorator_list)]


def test_what_a_compiled_class_works_out_once_it_keeps_itself():
    kept = "class A:\n @functools.cached_property\n def a(self): ...\n @property\n def b(self): ..."
    assert works_out_again(ast.parse(kept)) == [3]
    assert [(path.name, line) for path in COMPILED for line in works_out_again(parsed(path))] == []


def test_nothing_compiled_is_copied():
    # A compiled class has no way to make an object without what its constructor must be given.
    names = [(path.name, name) for path in COMPILED for name in imported(parsed(path)) if name == "copy"]
    assert names == []


def imported(tree):
    """The modules that a file brings in."""
    nodes = [*ast.walk(tree)]
    froms = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {*froms, *[alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]}


def searched_generators(trees):
    """Where something is searched in what a generator gives, which a compiled generator does not take: it is no
    iterator's `in`."""
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    yields = (ast.Yield, ast.YieldFrom)
    generators = {one.name for one in functions if any(isinstance(node, yields) for node in ast.walk(one))}
    return [
        node.lineno
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn)
        for held in node.comparators[:1]
        if isinstance(held, ast.Call) and ast.unparse(held.func).rpartition(".")[2] in generators
    ]


def test_nothing_is_searched_in_a_compiled_generator():
    made = ast.parse("def f():\n yield 1\n\n\n1 in f()\n1 in [*f()]\n1 in g()\n2 not in a.f()\n")
    assert searched_generators([made]) == [5, 8]
    assert searched_generators([*map(parsed, COMPILED)]) == []


def test_what_is_kept_on_disk_keeps_its_types():
    # The annotations of a compiled class are the types that mypyc knows, without what they hold.
    kept = [
        (path.name, node.name)
        for path in COMPILED
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef) and any(keyword.arg == "array_like" for keyword in node.keywords)
    ]
    assert kept == []


@pytest.mark.parametrize("module", ["torch", "libcst", "rich", "pathspec", "pygls", "jinja2"])
def test_heavy_modules_are_loaded_only_when_they_are_needed(module):
    # These rooms are loaded late, whole.
    early = [path for path in FILES if not {"observe", "fix", "serve"} & {*path.parts}]
    assert [path.name for path in early if module in {name.partition(".")[0] for name in loaded(path)}] == []


def test_commands_load_their_work_late():
    late = {"syncguard.pipeline", "syncguard.pack", "syncguard.fixing", "syncguard.judge.baseline"}
    for path in (PACKAGE / "cli").glob("*.py"):
        names = loaded(path)
        assert not late & names, path.name
        assert not any(name.startswith("syncguard.serve") for name in names), path.name


def test_every_room_says_what_it_is_for():
    for path in FILES:
        text = path.read_text()
        if text.strip():
            assert ast.get_docstring(parsed(path)), path


def test_words_of_terms_are_frozen():
    tree = ast.parse((PACKAGE / "terms.py").read_text())
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.decorator_list:
            assert "frozen=True" in ast.unparse(node.decorator_list[0]), node.name


def test_torch_comes_only_with_extras():
    plain = {re.split(r"[<>=\[ ]", name)[0] for name in PROJECT["project"]["dependencies"]}
    assert plain == {"click", "libcst", "msgspec", "pathspec", "rich"}
    extras = PROJECT["project"]["optional-dependencies"]
    assert any(name.startswith("torch>=") for name in extras["run"])
    assert all("==" in name for name in extras["dev"])


def test_the_wheel_ships_the_rules_and_needs_no_torch(tmp_path):
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)],
        check=True, capture_output=True,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (metadata,) = [archive.read(name).decode() for name in names if name.endswith("METADATA")]
    shipped = {
        f"syncguard/rules/{path.relative_to(ROOT / 'rules')}" for path in (ROOT / "rules").rglob("*") if path.is_file()
    }
    assert shipped <= names
    assert "syncguard/py.typed" in names
    assert not any(name.startswith(("tests", "docs", "rules")) for name in names)
    needs = [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and "extra ==" not in line]
    assert len(needs) == 5
    assert not any("torch" in line for line in needs)


def test_hooks_name_commands_that_exist():
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert re.findall(r"^- id: (.*)$", text, re.MULTILINE) == ["syncguard-check", "syncguard-fix"]
    assert re.findall(r"^  entry: (.*)$", text, re.MULTILINE) == ["syncguard check", "syncguard check --fix"]


def test_what_judges_asks_for_a_value_without_counting_calls_once_more():
    asked = {"value_at", "value_of", "quiet_value", "invoke", "called"}
    names = {
        (path.name, alias.name)
        for path in (PACKAGE / "judge").rglob("*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert ("environment.py", "held_at") in names
    assert not [name for name in names if name[1] in asked]
