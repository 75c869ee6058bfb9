"""[tool.syncguard] of pyproject.toml, or syncguard.toml, and the options of the command line -> Config."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

DEFAULT_EXCLUDE = (
    *(".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache"),
    *(".ruff_cache", ".svn", ".syncguard_cache", ".tox", ".venv", "__pycache__", "__pypackages__"),
    *("build", "dist", "node_modules", "site-packages", "venv"),
)
Kind = Literal["list", "table", "flag", "number", "text", "version"]


CACHE = ".syncguard_cache"


class ConfigError(Exception):
    """A configuration that cannot be used: where and what, on one line."""


class Config(msgspec.Struct, frozen=True):
    """What the user decided. `root` is the folder that patterns and packs are relative to."""

    root: str = ""
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    preset: str = ""
    heat: str = "unknown"
    confidence: str = "likely"
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    extend_exclude: tuple[str, ...] = ()
    respect_gitignore: bool = True
    default_device: str = "cpu"
    torch_version: str = ""
    hot: tuple[str, ...] = ()
    cold: tuple[str, ...] = ()
    packs: tuple[str, ...] = ()
    jobs: int = 0
    baseline: str = ""
    baseline_commit: str = ""
    error_stale_baseline: bool = False
    cache: bool = True
    cache_dir: str = CACHE
    stdin_filename: str = "<stdin>"
    origins: tuple[tuple[str, str], ...] = ()

    def origin(self, key: str) -> str:
        """Where a key was set: a file, an option or a preset."""
        return dict(self.origins).get(key, "the defaults")

    @property
    def pack_folders(self) -> tuple[Path, ...]:
        """The user's packs, as `pack.load` takes them."""
        return tuple(Path(self.root, pack) for pack in self.packs)

    @property
    def baseline_file(self) -> str:
        """The baseline, or ""."""
        return os.path.join(self.root, self.baseline) if self.baseline else ""


# What a key holds: a kind, or the words to choose from. Every key of a file is here, and is a field of Config.
KEYS: Mapping[str, Kind | tuple[str, ...]] = {
    "select": "list",
    "extend-select": "list",
    "ignore": "list",
    "per-file-ignores": "table",
    "preset": ("library", "training", "inference", "capture"),
    "heat": ("hot", "unknown", "amortized", "all"),
    "confidence": ("certain", "likely", "possible"),
    "exclude": "list",
    "extend-exclude": "list",
    "respect-gitignore": "flag",
    "default-device": ("cpu", "cuda"),
    "torch-version": "version",
    "hot": "list",
    "cold": "list",
    "packs": "list",
    "baseline": "text",
    "baseline-commit": "text",
    "error-stale-baseline": "flag",
    "jobs": "number",
    "cache": "flag",
    "cache-dir": "text",
}
# A preset is a handful of keys set together; a key that the file sets as well is the file's.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "library": {"ignore": ["SG303", "SG404", "SG9"]},
    "training": {"extend-select": ["SG9"], "hot": ["train", "train_*", "fit", "*.train", "*.fit"]},
    "inference": {
        "extend-select": ["SG901"],
        "ignore": ["SG502", "SG504"],
        "hot": ["predict", "predict_*", "infer", "infer_*", "serve", "decode", "*.step"],
        "cold": ["training_step", "train", "train_*", "fit", "*.backward"],
    },
    "capture": {"select": ["capture"], "heat": "amortized", "confidence": "possible"},
}
# The command line adds to these keys; any other key it replaces.
ADDED = ("ignore", "extend-select", "extend-exclude")
WORDS = {
    "list": "a list of strings",
    "table": "a table of lists",
    "flag": "true or false",
    "number": "a number from 0 up",
}


def load(
    paths: Sequence[str] = (), options: Mapping[str, Any] | None = None, file: str = "", isolated: bool = False
) -> Config:
    """The configuration for these paths: defaults < preset < the nearest file < options. Raises ConfigError."""
    options = {key: value for key, value in (options or {}).items() if value is not None}
    found = "" if isolated and not file else file or nearest(paths)
    given = _checked(_table(found) or {}, shown(found)) if found else {}
    chosen = _checked({key: value for key, value in options.items() if key in KEYS}, "")
    preset = chosen.get("preset") or given.get("preset") or ""
    layers = [(f"preset {preset}", PRESETS.get(preset, {})), (shown(found), given)]
    if "select" in chosen:
        # Who asks for a rule by name on the command line wants to see it, whatever the file leaves out.
        layers = [(name, {k: v for k, v in layer.items() if k not in ("select", *ADDED[:2])}) for name, layer in layers]
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for name, layer in (*layers, ("", chosen)):
        for key, value in layer.items():
            values[key] = [*values.get(key, ()), *value] if not name and key in ADDED else value
            origins[key] = name or f"--{key}"
    config = Config(
        root=os.path.dirname(os.path.abspath(found)) if found else os.getcwd(), origins=tuple(origins.items())
    )
    fields = {key.replace("-", "_"): _frozen(value) for key, value in values.items()}
    rest = {key.replace("-", "_"): value for key, value in options.items() if key not in KEYS}
    return replace(config, **fields, **rest)


def nearest(paths: Sequence[str]) -> str:
    """The nearest syncguard.toml, or pyproject.toml with a [tool.syncguard], upwards from the first path, or ""."""
    return _above(_folder(next((path for path in paths if path != "-"), ".")), {})


def unread(paths: Sequence[str]) -> tuple[str, ...]:
    """A line on each configuration that some of these paths have, and that does not count for the first one's does."""
    used, known = nearest(paths), dict[str, str]()
    others = {_above(folder, known) for folder in {_folder(path) for path in paths if path != "-"}} - {"", used}
    instead = f"that of {shown(used)}" if used else "none, as for the first path"
    return tuple(f"{shown(file)} is not read: one configuration counts, here {instead}" for file in sorted(others))


def _folder(path: str) -> str:
    whole = os.path.abspath(path)
    return whole if os.path.isdir(whole) else os.path.dirname(whole)


def _above(folder: str, known: dict[str, str]) -> str:
    """The configuration of a folder, or ""; `known` remembers those of the folders on the way."""
    if folder not in known:
        up = os.path.dirname(folder)
        known[folder] = _own(folder) or (_above(up, known) if up != folder else "")
    return known[folder]


def _own(folder: str) -> str:
    own = os.path.join(folder, "syncguard.toml")
    if os.path.isfile(own) or os.path.islink(own):  # one that leads nowhere is said
        return own
    project = os.path.join(folder, "pyproject.toml")
    # However the table is spelled; and only what names us is parsed.
    ours = os.path.isfile(project) and b"syncguard" in _bytes(project) and _table(project) is not None
    return project if ours else ""


def _table(file: str) -> dict[str, Any] | None:
    """The keys in a file; None for a pyproject.toml without a table of ours."""
    import tomllib

    try:
        text = _bytes(file).decode("utf-8-sig")
        table = tomllib.loads(text.replace("\r\n", "\n"))
    except UnicodeDecodeError as fault:
        raise ConfigError(f"{shown(file)}: not UTF-8 (byte {fault.start})") from None
    except tomllib.TOMLDecodeError as fault:
        raise ConfigError(f"{shown(file)}: not TOML: {fault}") from None
    if os.path.basename(file) != "pyproject.toml":
        return table
    tool = table.get("tool", {})
    own = tool.get("syncguard") if isinstance(tool, dict) else None
    if own is not None and not isinstance(own, dict):
        raise ConfigError(f"{shown(file)}: `tool.syncguard` is a table, not {own!r}")
    return own


def _checked(table: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """The table, if every key is known and holds what it should; `origin` is "" for the command line."""
    for key, value in table.items():
        name = f"{origin}: `{key}`" if origin else f"--{key}"
        if key not in KEYS:
            top = "; here the keys stand at the top, without `tool.syncguard`" if key == "tool" else ""
            raise ConfigError(f"{origin}: unknown key `{key}`{top or like(key, KEYS)}")
        kind = KEYS[key]
        if isinstance(kind, tuple):
            if value not in kind:
                told = f"`{value}`" if isinstance(value, str) else repr(value)
                raise ConfigError(f"{name} is one of {', '.join(kind)}; not {told}{like(value, kind)}")
        elif kind == "version" and not _is_version(value):
            raise ConfigError(f'{name} takes a version such as "2.6", not {value!r}')
        elif not _holds(kind, value):
            raise ConfigError(f"{name} takes {WORDS.get(kind, 'a string')}, not {value!r}")
    return dict(table)


def _holds(kind: str, value: Any) -> bool:
    match kind:
        case "list":
            return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
        case "table":
            return isinstance(value, dict) and all(_holds("list", item) for item in value.values())
        case "flag":
            return isinstance(value, bool)
        case "number":
            return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return isinstance(value, str)


def _is_version(value: Any) -> bool:
    parts = value.split(".") if isinstance(value, str) else []
    return len(parts) in (2, 3) and all(part.isdecimal() for part in parts)


def _frozen(value: Any) -> Any:
    match value:
        case dict():
            return tuple((key, tuple(item)) for key, item in value.items())
        case list():
            return tuple(value)
    return value


def like(word: Any, known: Sequence[str] | Mapping[str, Any]) -> str:
    """ "; did you mean `x`?" where a known word is close, else ""."""
    from difflib import get_close_matches

    close = get_close_matches(word, [*known], 1) if isinstance(word, str) else []
    return f"; did you mean `{close[0]}`?" if close else ""


def _bytes(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as fault:
        raise ConfigError(f"{shown(file)}: {fault.strerror or fault}") from None


def shown(file: str) -> str:
    """A path as a person wants to read it: relative where that is no detour."""
    if not file:
        return ""
    short = os.path.relpath(file) if os.path.splitdrive(file)[0] == os.path.splitdrive(os.getcwd())[0] else file
    return file if short.startswith("..") else short
