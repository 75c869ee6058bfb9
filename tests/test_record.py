"""The record of a run: its schema, and what is no record."""

from __future__ import annotations

import importlib.util
import json
import sys
from functools import partial
from pathlib import Path

import jsonschema
import msgspec
import pytest
from records import empty, gpu, large, nasty, ranked, simulated

from syncguard import record
from syncguard.record import VERSION, Machine, Record, RecordError

RECORDS = {f.__name__: f for f in (empty, gpu, nasty, ranked, simulated)} | {"large": partial(large, 300)}
ROOT = Path(__file__).parent.parent
SCHEMA = ROOT / "docs" / "record.schema.json"


def docs():
    if str(ROOT / "tools") not in sys.path:
        sys.path.insert(0, str(ROOT / "tools"))
    spec = importlib.util.spec_from_file_location("docs", ROOT / "tools" / "docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_schema_is_current():
    assert SCHEMA.read_text() == docs().record_schema(), "run `make docs`"


@pytest.mark.parametrize("name", RECORDS)
def test_records_obey_the_schema_and_come_back_the_same(name, tmp_path):
    made = RECORDS[name]()
    text = record.text(made)
    jsonschema.validate(json.loads(text), json.loads(SCHEMA.read_text()))
    (tmp_path / "run.json").write_bytes(text)
    assert record.load(str(tmp_path / "run.json")) == made


def test_every_field_is_documented():
    page = (ROOT / "docs" / "record.md").read_text()
    for kind in (Record, record.Wait):
        for name in msgspec.structs.fields(kind):
            assert f"`{name.name}`" in page, (kind, name.name)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "not a record of `syncguard run`"),
        (b"{", "not a record of `syncguard run`"),
        (b"[]", "not a record of `syncguard run`"),
        (b'{"version": 1}', "not a record of `syncguard run`"),
        (b"\xff\xfe", "not a record of `syncguard run`"),
        (b'{"version": 1, "tool": "x", "machine": {"mode": "cuda"}, "waits": 3}', "not a record of `syncguard run`"),
        (b'{"version": 1, "tool": "x", "machine": {"mode": "cuda"}, "folder": "a\\u0000"}', "a path in it has a NUL"),
        (b'{"version": 99, "tool": "x", "machine": {"mode": "cuda"}}', "a record of version 99"),
        (b'{"version": 99, "tool": "x", "machine": "cuda"}', "a record of version 99"),
    ],
)
def test_what_is_no_record_is_refused_in_one_line(text, said, tmp_path):
    (tmp_path / "run.json").write_bytes(text)
    with pytest.raises(RecordError) as fault:
        record.load(str(tmp_path / "run.json"))
    assert said in str(fault.value)
    assert "\n" not in str(fault.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(RecordError, match="cannot be read"):
        record.load(str(tmp_path / "none.json"))
    with pytest.raises(RecordError, match="cannot be read"):
        record.load(str(tmp_path))


def test_fields_of_a_later_minor_version_are_skipped(tmp_path):
    made = json.loads(record.text(Record(VERSION, "x", Machine("cuda")))) | {"later": 1}
    (tmp_path / "run.json").write_text(json.dumps(made))
    assert record.load(str(tmp_path / "run.json")).machine.mode == "cuda"
