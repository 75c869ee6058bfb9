"""Configuration: where it is found, what it may say, what wins, and what is said when it is wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from syncguard import pack
from syncguard.config import KEYS, PRESETS, Config, ConfigError, load
from syncguard.selection import CONFIDENCES, HEATS, expand, selection
from syncguard.terms import Finding, Site

RULES = pack.load().rules
EVERY = {rule.code for rule in RULES}
DEFAULT = {rule.code for rule in RULES if rule.default}
HOUSE = {"SG000", "SG001", "SG002", "SG003", "SG004"}


def written(folder: Path, text: str, name: str = "syncguard.toml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def finding(code: str, path: str = "a.py", heat: str = "hot", confidence: str = "likely") -> Finding:
    return Finding(Site(path, 1, 1, 1, 2), code, "name", "op", "message", "hint", (), (), heat, confidence, "warning")


# -- where ----------------------------------------------------------------------------------------


def test_the_nearest_file_upwards_from_the_first_path_is_read(tmp_path):
    written(tmp_path, 'heat = "all"')
    written(tmp_path / "deep", '[tool.syncguard]\nheat = "hot"', "pyproject.toml")
    target = tmp_path / "deep" / "er" / "a.py"
    target.parent.mkdir()
    target.touch()
    config = load([str(target)])
    assert (config.heat, config.root) == ("hot", str(tmp_path / "deep"))
    assert load([str(tmp_path / "other.py")]).heat == "all"


def test_a_pyproject_that_says_nothing_of_us_is_passed_over(tmp_path):
    written(tmp_path, 'heat = "all"')
    written(tmp_path / "deep", "[tool.other]\nx = 1", "pyproject.toml")
    assert load([str(tmp_path / "deep")]).heat == "all"


def test_syncguard_toml_wins_over_pyproject_beside_it(tmp_path):
    written(tmp_path, 'heat = "all"')
    written(tmp_path, '[tool.syncguard]\nheat = "hot"', "pyproject.toml")
    assert load([str(tmp_path)]).heat == "all"


def test_without_a_path_the_current_folder_counts(tmp_path, monkeypatch):
    written(tmp_path, "jobs = 3")
    monkeypatch.chdir(tmp_path)
    assert load().jobs == 3
    assert load(["-"]).jobs == 3
    assert load(isolated=True) == Config(root=str(tmp_path))


def test_a_named_file_replaces_the_nearest(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "jobs = 3")
    other = written(tmp_path / "x", "jobs = 5", "other.toml")
    assert load([], file=str(other)).jobs == 5
    assert load([], file=str(other)).root == str(tmp_path / "x")


# -- what -----------------------------------------------------------------------------------------


def test_every_key_is_a_field_and_can_be_set(tmp_path):
    text = """
    select = ["SG1"]
    extend-select = ["SG901"]
    ignore = ["nonzero"]
    preset = "training"
    heat = "amortized"
    confidence = "certain"
    exclude = ["third_party"]
    extend-exclude = ["*_pb2.py"]
    respect-gitignore = false
    default-device = "cuda"
    torch-version = "2.6"
    hot = ["Engine.step"]
    cold = ["dump_*"]
    packs = ["ours"]
    baseline = "known.json"
    baseline-commit = "main..."
    error-stale-baseline = true
    jobs = 2
    cache = false
    cache-dir = ".cache/sg"
    [per-file-ignores]
    "tests/*" = ["SG2"]
    """
    config = load([str(written(tmp_path, text))])
    names = {key.replace("-", "_") for key in KEYS}
    assert names <= set(Config.__struct_fields__)
    assert all(getattr(config, name) != getattr(Config(), name) for name in names)
    assert config.per_file_ignores == (("tests/*", ("SG2",)),)
    assert config.pack_folders == (tmp_path / "ours",)
    assert config.origin("heat").endswith("syncguard.toml")


def test_a_configuration_is_frozen_and_hashable():
    assert hash(Config()) == hash(Config())
    with pytest.raises(AttributeError):
        Config().heat = "all"


def test_options_replace_what_the_file_says_and_add_to_ignore(tmp_path):
    path = written(tmp_path, 'heat = "hot"\nignore = ["SG201"]\nextend-exclude = ["old"]')
    config = load([str(path)], {"heat": "all", "ignore": ["SG202"], "extend-exclude": ["new"], "jobs": None})
    assert (config.heat, config.ignore, config.extend_exclude) == ("all", ("SG201", "SG202"), ("old", "new"))
    assert config.origin("heat") == "--heat"


def test_select_on_the_command_line_is_not_undone_by_the_file(tmp_path):
    path = written(tmp_path, 'select = ["SG1"]\nignore = ["SG201"]\nextend-select = ["SG3"]')
    config = load([str(path)], {"select": ["SG201"]})
    assert selection(config, RULES).codes == {"SG201"} | HOUSE
    config = load([str(path)], {"select": ["SG2"], "ignore": ["SG202"]})
    assert selection(config, RULES).codes == {c for c in EVERY if c.startswith("SG2")} - {"SG202"} | HOUSE


# -- rules ----------------------------------------------------------------------------------------


def test_without_a_word_the_default_rules_are_on():
    assert selection(Config(), RULES).codes == DEFAULT | HOUSE
    assert DEFAULT < EVERY


@pytest.mark.parametrize(
    ("word", "codes"),
    [
        ("SG101", {"SG101"}),
        ("nonzero", {"SG101"}),
        ("SG9", {c for c in EVERY if c.startswith("SG9")}),
        ("SG", EVERY),
        ("ALL", EVERY),
        ("capture", {r.code for r in RULES if "capture" in r.breaks}),
        ("SG999", set()),
        ("sg101", set()),
        ("non", set()),
        ("", set()),
    ],
)
def test_what_a_word_selects(word, codes):
    assert expand(word, RULES) == codes


def test_ignore_wins_and_house_rules_are_on_until_ignored():
    config = Config(select=("SG1",), extend_select=("SG901",), ignore=("SG101", "unused-allow"))
    codes = selection(config, RULES).codes
    assert "SG901" in codes
    assert "SG102" in codes
    assert not codes & {"SG101", "SG201", "SG001"}
    assert "SG000" in codes


def test_per_file_ignores_are_relative_to_the_file_they_stand_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = '[per-file-ignores]\n"tests/**" = ["SG2"]\n"*_demo.py" = ["ALL"]\n'
    chosen = selection(load([str(written(tmp_path, text))]), RULES)
    assert chosen.codes_for("src/a.py") == DEFAULT | HOUSE
    assert "SG201" not in chosen.codes_for("tests/deep/a.py")
    assert "SG101" in chosen.codes_for(str(tmp_path / "tests" / "a.py"))
    assert not chosen.codes_for("src/x_demo.py") & EVERY
    monkeypatch.chdir("/")
    assert "SG201" not in chosen.codes_for(os.path.relpath(tmp_path / "tests" / "a.py"))


@pytest.mark.parametrize(("key", "words"), [("heat", HEATS), ("confidence", CONFIDENCES)])
def test_a_limit_shows_everything_above_it(key, words):
    assert tuple(words) == KEYS[key]
    sizes = [len(shown) for shown in words.values()]
    assert sizes == sorted(set(sizes))
    for limit, shown in words.items():
        chosen = selection(replace(Config(), **{key: limit}), RULES)
        every = set().union(*words.values())
        assert {value for value in every if chosen.shows(finding("SG101", **{key: value}))} == shown


def test_findings_about_files_and_comments_have_no_heat():
    assert selection(Config(heat="hot", confidence="certain"), RULES).shows(finding("SG000", heat="unknown"))


# -- presets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_is_usable_and_named_as_the_origin(preset):
    config = load([], {"preset": preset}, isolated=True)
    assert selection(config, RULES).codes
    assert {config.origin(key) for key in PRESETS[preset]} == {f"preset {preset}"}


def test_presets_are_the_ones_of_the_key():
    assert tuple(PRESETS) == KEYS["preset"]


def test_library_leaves_the_callers_choices_alone():
    codes = selection(load([], {"preset": "library"}, isolated=True), RULES).codes
    assert not codes & {"SG303", "SG404"}
    assert "SG101" in codes


def test_training_adds_advice_and_training_roots():
    config = load([], {"preset": "training"}, isolated=True)
    assert {"SG901", "SG902", "SG903"} <= selection(config, RULES).codes
    assert "fit" in config.hot


def test_inference_is_hot_where_it_predicts_and_cold_where_it_trains():
    config = load([], {"preset": "inference"}, isolated=True)
    assert "predict" in config.hot
    assert "training_step" in config.cold
    assert not selection(config, RULES).codes & {"SG502", "SG504"}


def test_capture_selects_what_breaks_capture_and_little_is_too_cold_or_unsure():
    config = load([], {"preset": "capture"}, isolated=True)
    assert selection(config, RULES).codes - HOUSE == {r.code for r in RULES if "capture" in r.breaks}
    assert (config.heat, config.confidence) == ("amortized", "possible")


def test_a_key_of_the_file_wins_over_its_preset_and_options_over_both(tmp_path):
    path = written(tmp_path, 'preset = "capture"\nheat = "hot"')
    assert load([str(path)]).heat == "hot"
    assert load([str(path)]).confidence == "possible"
    assert load([str(path)], {"confidence": "certain"}).confidence == "certain"
    assert load([str(path)], {"preset": "library"}).confidence == "likely"


# -- wrong ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("selct = []", "syncguard.toml: unknown key `selct`; did you mean `select`?"),
        ("zzz = 1", "syncguard.toml: unknown key `zzz`"),
        ('select = "SG1"', "syncguard.toml: `select` takes a list of strings, not 'SG1'"),
        ("ignore = [1]", "syncguard.toml: `ignore` takes a list of strings, not [1]"),
        ("jobs = true", "syncguard.toml: `jobs` takes a number from 0 up, not True"),
        ("jobs = -1", "syncguard.toml: `jobs` takes a number from 0 up, not -1"),
        ("cache = 1", "syncguard.toml: `cache` takes true or false, not 1"),
        ("cache-dir = 1", "syncguard.toml: `cache-dir` takes a string, not 1"),
        ('heat = "warm"', "syncguard.toml: `heat` is one of hot, unknown, amortized, all; not `warm`"),
        ("heat = 3", "syncguard.toml: `heat` is one of hot, unknown, amortized, all; not 3"),
        ('preset = "trainin"', "not `trainin`; did you mean `training`?"),
        ("torch-version = 2.6", 'syncguard.toml: `torch-version` takes a version such as "2.6", not 2.6'),
        ("per-file-ignores = []", "syncguard.toml: `per-file-ignores` takes a table of lists, not []"),
        ('[per-file-ignores]\n"a" = "SG1"', "`per-file-ignores` takes a table of lists"),
        ("heat = hot", "syncguard.toml: not TOML: Invalid value (at line 1, column 8)"),
    ],
)
def test_a_wrong_configuration_is_one_clear_line(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_configuration_that_is_not_utf8_or_no_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "syncguard.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"syncguard\.toml: not UTF-8"):
        load()
    (tmp_path / "syncguard.toml").unlink()
    written(tmp_path, "tool.syncguard = 3", "pyproject.toml")
    with pytest.raises(ConfigError, match=r"pyproject\.toml: `tool\.syncguard` is a table, not 3"):
        load()


@pytest.mark.parametrize("key", ["select", "extend-select", "ignore"])
def test_an_unknown_rule_is_named_with_its_place_and_the_nearest(tmp_path, monkeypatch, key):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, f'{key} = ["nonzro"]')
    with pytest.raises(ConfigError, match=rf"^syncguard\.toml: {key}: unknown rule `nonzro`; did you mean `nonzero`\?"):
        selection(load(), RULES)
    with pytest.raises(ConfigError, match=rf"^--{key}: unknown rule `SG999`"):
        selection(load([], {key: ["SG999"]}, isolated=True), RULES)


def test_an_unknown_rule_in_per_file_ignores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, '[per-file-ignores]\n"*.py" = ["SG77"]')
    with pytest.raises(ConfigError, match="per-file-ignores: unknown rule `SG77`"):
        selection(load(), RULES)
