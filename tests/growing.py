"""`python growing.py FILES`: checks them as `syncguard check` does, and prints where a list grows while what is made of
its items is gathered: what is compiled has room for as many as there were, and writes over the end.

What is compiled makes a list of each generator expression that a call is given, so here it is one too."""

import ast
import sys
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

SHORT = ("all", "any", "next", "sum")  # what takes a generator as it is
WATCH = "_watched"
COMPILED = ("syncguard.infer.", "syncguard.judge.")
grown: set[str] = set()


def watched(items: Any, place: str) -> Iterator[Any]:
    """The items of anything, and a note of the place where they are a list that has become longer."""
    size = len(items) if type(items) is list else 0
    for item in items:
        yield item
        if type(items) is list and len(items) > size:
            grown.add(place)


class Watching(ast.NodeTransformer):
    """Makes each comprehension tell where its list grows."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        self.generic_visit(node)
        first = node.generators[0]
        place = ast.Constant(f"{self.name}:{node.lineno}")
        first.iter = ast.Call(ast.Name(WATCH, ast.Load()), [first.iter, place], [])
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.AST:
        return self.visit_ListComp(ast.copy_location(ast.ListComp(node.elt, node.generators), node))

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if not (isinstance(node.func, ast.Name) and node.func.id in SHORT):
            return self.generic_visit(node)
        for arg in node.args:
            self.generic_visit(arg) if isinstance(arg, ast.GeneratorExp) else self.visit(arg)
        return node


class Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        tree = Watching(fullname).visit(ast.parse(self.get_data(path)))
        return compile(ast.fix_missing_locations(tree), path, "exec")

    def exec_module(self, module: ModuleType) -> None:
        vars(module)[WATCH] = watched
        super().exec_module(module)


class Finder(MetaPathFinder):
    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname.startswith(COMPILED) else None
        if spec is not None and spec.origin is not None and spec.origin.endswith(".py"):
            spec.loader = Loader(fullname, spec.origin)
        return spec


if __name__ == "__main__":
    sys.meta_path.insert(0, Finder())
    from syncguard.config import Config
    from syncguard.pipeline import check

    checked = check(sys.argv[1:], Config(heat="all", jobs=1, cache=False), "")
    print(f"{len(checked.findings)} findings")
    print("\n".join(sorted(grown)))
