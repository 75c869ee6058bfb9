"""The HTML page of a run, as text: one file that needs nothing else, safe with any text, honest about what is known."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import msgspec
import pytest
import records

from syncguard.record import Place, Record, Wait
from syncguard.show.run import annotate, page
from syncguard.show.run.annotate import annotated
from syncguard.show.run.lanes import lanes

pytest.importorskip("jinja2")
EVERY = ("gpu", "simulated", "empty", "ranked", "nasty", "many")
VOID = {"meta", "link", "input", "br", "img"}


class Reader(HTMLParser):
    """What a browser would make of a page: its elements, its text, and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.said: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, tag
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open and self.open[-1] != "style":
            self.said.append(data)

    def of(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [a for t, a in self.found if t == tag and all(a.get(k) == v for k, v in wanted.items())]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.said).split())


@pytest.fixture(scope="module")
def read() -> dict[str, Reader]:
    made = {name: getattr(records, name)() for name in EVERY if name != "many"} | {"many": records.large(300)}
    return {name: Reader(page.render(record, records.lines)) for name, record in made.items()}


def data(reader: Reader) -> dict[str, object]:
    return json.loads(reader.scripts[0])


@pytest.mark.parametrize("name", EVERY)
def test_every_element_is_closed_and_no_name_is_given_twice(read, name):
    assert read[name].open == []
    ids = [attrs["id"] for _, attrs in read[name].found if "id" in attrs]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", EVERY)
def test_nothing_is_fetched(read, name):
    allowed = read[name].of("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"]
    assert allowed.startswith("default-src 'none';")
    for tag, attrs in read[name].found:
        assert "src" not in attrs, tag
        if "href" in attrs:
            assert re.match(r"#|data:,$", attrs["href"]), attrs["href"]
    assert not read[name].of("img")


@pytest.mark.parametrize("name", EVERY)
def test_links_lead_somewhere(read, name):
    ids = {attrs.get("id") for _, attrs in read[name].found}
    for attrs in read[name].of("a"):
        assert attrs["href"].removeprefix("#") in ids


def test_the_parts_of_a_measured_run(read):
    text = read["gpu"].text
    for part in (
        "waits a step 6 lines that wait 5", "a step takes 15.2 ms", "2.89 ms",
        "cost of all together, 28% of it 4.3 ms",
        "on NVIDIA H200, torch 2.13.0", "Waits inside the allocator have no Python line",
        "Of 6 static findings: 4 confirmed, 1 false alarm, 1 untested; besides, 1 missed alarm.",
        "Instead: Keep the shape: torch.where(mask, x, fill)", "Waits in backward, at train.py:9",
        "Allowed: a line every ten steps", "called from train.py:8",
    ):  # fmt: skip
        assert part in re.sub(r" ([.,])", r"\1", text), part


def test_the_lines_stand_by_cost_and_lead_to_their_notes(read):
    links = [a["href"] for a in read["gpu"].of("a") if re.match(r"#w\d", a["href"])]
    assert links[:9] == ["#w0", "#w1", "#w3", "#w2", "#w5", "#w4", "#w7", "#w8", "#w6"]
    assert {f"#{a['id']}" for a in read["gpu"].of("div") if re.match(r"w\d", a.get("id", ""))} == set(links)


def test_a_simulated_run_has_no_times(read):
    reader = read["simulated"]
    assert not [a for a in reader.of("th") if a.get("data-key") in ("bubble", "wait", "verdict")]
    assert not reader.of("section", id="timeline")
    assert not reader.of("section", id="what-if")
    assert "The device was simulated" in reader.text
    assert not re.search(r"\d (ms|µs)", reader.text)


def test_a_run_without_waits(read):
    assert "The host never waits." in read["empty"].text
    assert not read["empty"].of("section", id="lines")


def test_ranks(read):
    assert read["ranked"].of("th", **{"data-key": "ranks"})
    assert "ranks 0-1, 3" in read["ranked"].text


def test_text_is_never_markup(read):
    reader = read["nasty"]
    assert len(reader.scripts) == len(Reader(page.render(records.empty(), records.lines)).scripts)
    assert not reader.of("b", **{"class": "x"})
    assert "<script>alert(1)</script>" in reader.text
    assert "\x1b" not in reader.text
    assert "49" not in reader.of("title")
    assert any("</script>" in name for name in data(reader)["names"])


def test_the_data_cannot_end_its_script():
    text = page.render(records.nasty(), records.lines)
    begin = text.index('<script type="application/json"')
    inside = text[begin + 10 : text.index("</script>", begin)]
    assert "<" not in inside.partition(">")[2]
    json.loads(inside.partition(">")[2])


@pytest.mark.parametrize("file", [f.name for f in page.ASSETS.iterdir() if f.name != "page.html"])
def test_the_assets_can_stand_in_a_page(file):
    text = (page.ASSETS / file).read_text("utf-8")
    assert not re.search(r"</script|</style|<!--|-->", text)


def test_the_licences_of_what_we_carry_are_in_the_page(read):
    text = page.render(records.empty(), records.lines)
    assert "Copyright (c) 2022 Leon Sorokin" in text
    assert "http://unlicense.org" in text


def test_the_same_record_gives_the_same_page():
    assert page.render(records.gpu(), records.lines) == page.render(records.gpu(), records.lines)


def test_what_if_is_what_was_replayed(read):
    record, shown = records.gpu(), data(read["gpu"])
    assert shown["whatIf"] == [list(what.waits) for what in record.what_if]
    assert shown["saved"] == [what.saved_ms for what in record.what_if]
    assert shown["best"] == [0, 1, 3]
    assert [a["data-wait"] for a in read["gpu"].of("input", type="checkbox")] == ["0", "1", "3", "2", "5", "4"]


def test_hundreds_of_what_ifs_get_few_boxes(read):
    assert len(read["many"].of("input", type="checkbox")) == 1
    assert "299 cheaper ones can only be removed together" in read["many"].text


def test_lanes():
    record = records.gpu()
    names, rows = lanes(record)
    assert [row["kind"] for row in rows] == ["host", "wait", "gpu", "idle"]
    assert sum(len(row["spans"]) for row in rows) == len([s for s in record.timeline if s.lane != "step"])
    for row in rows:
        assert [s[0] for s in row["spans"]] == sorted(s[0] for s in row["spans"])
        assert all(0 <= s[2] < len(names) for s in row["spans"])
    assert {s[3] for s in rows[1]["spans"]} == {0, 1, 2, 3, 4}


def of(files, path):
    return next(file for file in files if file.path == path)


def test_source_is_shown_around_what_waits():
    files = annotated(records.gpu(), records.lines)
    assert [file.path for file in files] == ["loss.py", "train.py"]
    loss = of(files, "loss.py")
    assert loss.note == ""
    assert [line.number for line in loss.lines] == list(range(2, 14))
    sixth = next(line for line in loss.lines if line.number == 6)
    assert [row.number for row in sixth.waits] == [0]
    assert sixth.marks == ((11, 26),)
    assert sixth.margin == "2.89 ms"
    assert re.sub(r"<[^>]*>", "", sixth.html) == "    keep = torch.nonzero(labels != 0).squeeze(1)"


def test_lines_that_were_not_run_are_told():
    loss = of(annotated(records.gpu(), records.lines), "loss.py")
    assert [line.number for line in loss.lines if not line.executed] == [11]


def test_confirmed_findings_are_told_by_their_wait():
    loss = of(annotated(records.gpu(), records.lines), "loss.py")
    assert [(line.number, f.verdict) for line in loss.lines for f in line.findings] == [(11, "untested")]


def test_a_file_that_is_gone_or_changed_is_shown_as_it_was():
    files = annotated(records.gpu(), lambda path: ())
    loss = of(files, "loss.py")
    assert "cannot be read" in loss.note
    assert [line.number for line in loss.lines] == [6, 7, 8, 10, 11]
    assert "torch.nonzero(labels != 0)" in loss.lines[0].html
    moved = annotated(records.gpu(), lambda path: ("# one more line", *records.lines(path)))
    loss = of(moved, "loss.py")
    assert "not as it was" in loss.note
    assert "nonzero" in next(line.html for line in loss.lines if line.number == 6)


def test_strings_over_many_lines_keep_their_colour_and_their_lines():
    text = ['"""A', "docstring", 'over lines"""', "", "x.item()", ""]
    record = Record(
        1, "", records.empty().machine, waits=(Wait(Place("a.py", 5, 1, 5, 9, "", "x.item()"), "x", "item"),)
    )
    file = annotated(record, lambda path: text)[0]
    assert len(file.lines) == 6
    assert 'class="sd"' in next(line.html for line in file.lines if line.number == 2)


def test_wide_characters_and_tabs_move_the_mark():
    source = '\tw = "日本", x.item()'
    place = Place("a.py", 1, source.index("x.item") + 1, 1, len(source) + 1, "", source)
    record = Record(1, "", records.empty().machine, waits=(Wait(place, "x", "item"),))
    assert annotated(record, lambda path: (source,))[0].lines[0].marks == ((4 + 12, 8),)


def test_a_wait_without_a_line():
    file = annotated(records.nasty(), records.lines)[-1]
    assert (file.path, len(file.lines)) == ("No Python line", 1)


def test_without_jinja_it_is_one_line(monkeypatch):
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    with pytest.raises(
        page.Incomplete, match=r"^the HTML page needs jinja2 and pygments: pip install 'syncguard\[run\]'$"
    ):
        page.render(records.empty(), records.lines)


def test_large_pages_stay_reasonable():
    text = page.render(records.large(), records.lines)
    assert len(text) < 9_000_000
    assert text.count('class="note"') == 5000


def test_times_of_a_merged_record_without_steps():
    record = msgspec.structs.replace(records.gpu(), steps=records.Steps(), what_if=(), timeline=())
    reader = Reader(page.render(record, records.lines))
    assert "counts are of the whole run" in reader.text


@pytest.mark.parametrize(
    ("line", "idle"),
    [("", True), ("    else:", True), ("finally:", True), ("    # why", True), (")", True), ("    ]),", True),
     ("else: x = 1", False), ("x = {}", False), ("elif y:", False)],
)  # fmt: skip
def test_lines_that_have_nothing_to_run_are_not_faint(line, idle):
    assert (annotate.IDLE.fullmatch(line.strip()) is not None) is idle


def test_a_line_that_leads_to_a_wait_in_a_library_is_shown_with_it():
    text = "    return limit.item()"
    inner = Place("/env/site-packages/lib/core.py", 3, 12, 3, 24, "limited", text)
    own = tuple(Place("train.py", line, 5, line, 18, "main", "    lib.clip(x)") for line in (5, 7))
    wait = Wait(inner, "torch.Tensor.item", "item", "simulated", "SG201", count=2, entrances=own)
    record = msgspec.structs.replace(records.ranked(), waits=(wait,), world=1)
    sources = {"train.py": ["    lib.clip(x)"] * 8, inner.path: []}.__getitem__
    files, reader = annotated(record, sources), Reader(page.render(record, sources))
    assert [(file.path, file.told) for file in files] == [
        ("train.py", "1 wait in a library"),
        ("/env/site-packages/lib/core.py", "1 wait"),
    ]
    assert [line.number for line in files[0].lines if line.leads] == [5, 7]
    assert reader.text.count("leads to") == 2
    assert reader.of("a", href="#w0")
    assert "lines that lead here: train.py:5 lib.clip(x) , train.py:7 lib.clip(x)" in reader.text
    assert "from train.py:5 and 1 more" in reader.text
