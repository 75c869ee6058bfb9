"""The documentation is current: tables, links, commands, and what is made from the program."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from msgspec.structs import astuple

from syncguard import pipeline
from syncguard.cli.check import command
from syncguard.cli.main import COMMANDS, group
from syncguard.config import DEFAULT_EXCLUDE, KEYS, PRESETS, Config, _checked, load
from syncguard.house import HOUSE
from syncguard.judge import baseline
from syncguard.pack import pages as pages_of_rules
from syncguard.pack.returns import CONDITIONS, FLAGS, KINDS
from syncguard.pack.rows import EVIDENCE_KEYS, PLACES, ROW_KEYS, STATES, WAIT_KEYS
from syncguard.selection import CONFIDENCES, HEATS
from syncguard.show.formats import FORMATS
from syncguard.show.json import VERSION

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))])
pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def text(name: str) -> str:
    return (DOCS / name).read_text()


def rows(page: str, head: str) -> list[list[str]]:
    """The rows of the table whose head begins with this cell."""
    lines = page.split("\n")
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {head} |"))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def names(cells: list[list[str]], column: int = 0) -> list[str]:
    return [name for row in cells for name in re.findall(r"`([^`]*)`", row[column])]


# -- configuration --------------------------------------------------------------------------------


def test_every_key_is_documented_with_what_it_holds_and_its_default():
    table = rows(text("configuration.md"), "key")
    assert names(table) == list(KEYS)
    for row, (key, kind) in zip(table, KEYS.items(), strict=True):
        assert row[1] == (kind if isinstance(kind, str) else ", ".join(kind)), key
        default = getattr(Config(), key.replace("-", "_"))
        said = row[2].strip("`")
        if said.startswith("["):
            assert default == tuple(json.loads(said)), key
        elif said == "{}":
            assert default == (), key
        elif isinstance(default, bool):
            assert said == str(default).lower(), key
        elif said in ("none", "the newest known", "the rules that are on by default", "see below"):
            assert default in ("", (), DEFAULT_EXCLUDE), key
        else:
            assert said == str(default), key


def test_every_preset_is_documented_with_what_it_sets():
    table = rows(text("configuration.md"), "preset")
    assert names(table) == list(PRESETS)
    for row, keys in zip(table, PRESETS.values(), strict=True):
        said = row[2].replace("**", "")
        for key, value in keys.items():
            values = ", ".join(value) if isinstance(value, list) else value
            assert f"`{key}`: {values}" in said
        assert re.findall(r"`([a-z-]+)`:", said) == list(keys)


def test_the_default_excludes_are_listed():
    page = text("configuration.md").partition("**Left out by default:**")[2].partition("wherever")[0]
    assert tuple(re.findall(r"`([^`]+)`", page)) == DEFAULT_EXCLUDE


@pages
def test_configurations_that_are_shown_are_valid(page):
    for block in re.findall(r"```toml\n(.*?)```", page.read_text(), re.DOTALL):
        table = tomllib.loads(block)
        if "language-server" in table or (page.name == "packs.md" and "tool" not in table):
            continue
        assert _checked(table.get("tool", {}).get("syncguard", table), page.name)


# -- packs ------------------------------------------------------------------------------------------


def test_all_that_a_pack_may_hold_is_documented():
    page = text("packs.md")
    assert set(names(rows(page, "key"))) >= ROW_KEYS
    assert set(names(rows(page, "key of a wait"))) >= WAIT_KEYS
    assert set(names(rows(page, "condition"))) == CONDITIONS
    assert set(names(rows(page.partition("## A page")[2], "key"))) >= pages_of_rules.KEYS
    told = set(re.findall(r"`([^`]*)`", page.partition("## A row")[2].partition("## A page")[0]))
    assert told >= KINDS | {*FLAGS, *STATES, *PLACES, *EVIDENCE_KEYS}
    assert {*pages_of_rules.LEVELS, *pages_of_rules.BREAKS} <= set(re.findall(r"`([^`]*)`", page))
    assert {f"{{{field}}}" for field in pages_of_rules.FIELDS} <= set(re.findall(r"`([^`]*)`", page))


def test_the_pack_that_is_shown_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    config, row, block = re.findall(r"```toml\n(.*?)```", text("packs.md"), re.DOTALL)
    Path("ours/ops").mkdir(parents=True)
    Path("pyproject.toml").write_text(config)
    Path("ours/ops/kernels.toml").write_text(row)
    Path("ours/KERN101-token-count.md").write_text(f"# KERN101 token-count\n\n```toml\n{block}```\n\nWhy.\n")
    Path("net.py").write_text(
        "import fastkern, torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
        "        return fastkern.count_tokens(x, size=3), fastkern.count_tokens(x), torch.nonzero(x)\n"
    )
    found = pipeline.check(["net.py"], load(["net.py"], {"cache": False})).findings
    assert [(f.code, f.message) for f in found] == [
        ("KERN101", "`fastkern.count_tokens(x)` waits for the device to count its tokens"),
        ("SG101", "`torch.nonzero(x)` waits for the device to count the nonzero elements of `x`"),
    ]


# -- heat, comments, output -------------------------------------------------------------------------


def test_heat_and_confidence():
    page = text("heat-and-confidence.md")
    assert set(names(rows(page, "heat"))) == HEATS["all"]
    limits = rows(page, "`--heat`")
    assert {names([row])[0]: frozenset(row[1].split(", ")) for row in limits} == HEATS
    assert tuple(names(rows(page, "confidence"))) == tuple(CONFIDENCES)
    assert f"The default, `{Config().heat}`" in page
    assert f"the default is `{Config().confidence}`" in page


def test_house_rules_are_documented():
    table = rows(text("allow.md"), "code")
    assert [(*names([row]), *names([row], 1), row[2]) for row in table] == [(r.code, r.name, r.level) for r in HOUSE]


def test_formats_fields_and_exit_codes():
    page = text("output.md")
    assert sorted(names(rows(page, "format"))) == sorted(FORMATS)
    schema = json.loads(text("report.schema.json"))
    finding = schema["$defs"]["finding"]
    assert names(rows(page, "field of a finding")) == list(finding["properties"]) == finding["required"]
    assert schema["properties"]["version"]["const"] == VERSION
    assert f"`version` is {VERSION}" in page
    assert [row[0] for row in rows(page, "code")] == ["0", "1", "2", "3"]


def test_the_baseline_that_is_shown_is_one(tmp_path):
    page = text("baseline.md")
    file = tmp_path / "b.json"
    file.write_text(re.search(r"```json\n(.*?)```", page, re.DOTALL)[1])
    entries = baseline.load(str(file))
    assert [astuple(entry)[1:] for entry in entries] == [("Net.forward", "SG201", "x.sum().item()", 1)]
    written = file.read_text()
    baseline.save(str(file), entries)
    assert file.read_text() == written
    options = {option for param in command.params for option in param.opts}
    assert set(names(rows(page, "option"))) <= options
    assert set(re.findall(r"`(--[a-z-]+)", page)) <= options


def test_what_the_pages_say_of_hooks_and_editors():
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
    for name in re.findall(r"`(syncguard-[a-z]+)`", text("hooks.md")):
        assert f"id: {name}\n" in hooks
    assert "SHORTEST, WIDEST = 88, 120" in (ROOT / "syncguard/fix/permit.py").read_text()
    assert 'FIX_ALL = "source.fixAll.syncguard"' in (ROOT / "syncguard/serve/protocol.py").read_text()
    for block in re.findall(r"```toml\n(.*?)```", text("editor.md"), re.DOTALL):
        server = tomllib.loads(block)["language-server"]["syncguard"]
        assert [server["command"], *server["args"]] == ["syncguard", "server"]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert any(requirement.startswith("pygls") for requirement in extras["server"])


# -- all pages ----------------------------------------------------------------------------------------


def test_what_is_made_is_current():
    done = subprocess.run([sys.executable, ROOT / "tools" / "docs.py", "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


@pages
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_page_is_in_the_index():
    index = text("index.md")
    assert {page.name for page in DOCS.glob("*.md")} - {"index.md"} <= set(re.findall(r"\(([a-z-]+\.md)\)", index))


@pages
def test_commands_that_are_shown_exist(page):
    shown = re.findall(r"`(syncguard [^`\n]+)`", page.read_text())
    shown += re.findall(r"^    (syncguard .*)$", page.read_text(), re.MULTILINE)
    # As the command line does: click remembers the help option of a command from the first time.
    context = click.Context(group, help_option_names=["-h", "--help"])
    for line in shown:
        args = shlex.split(line.partition(" | ")[0], comments=True)[1:]
        if args[0].startswith("-") or args[0] in ("run", "check,"):
            continue
        command = group.get_command(context, args[0])
        assert command is not None, line
        if len(args) > 1:
            command.make_context(args[0], args[1:], parent=context)


@pages
def test_make_targets_that_are_shown_exist(page):
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:`|^    )make ([a-z]+)", page.read_text(), re.MULTILINE)) <= targets


def test_the_readme_leads_with_its_two_commands():
    commands = re.findall(r"^    (\S.*?)\s*(?:#.*)?$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert commands[:2] == ["make demo", "make test"]


def test_options_are_documented_by_their_help():
    for name in COMMANDS:
        command = group.get_command(click.Context(group), name)
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert option.help, (name, option.name)
                assert option.help.endswith("."), option.help
