"""The page of a run in a real browser: it opens offline and quietly, zooms, sorts, and leads to the source.

Skipped where there is no Chromium with its driver (Debian: chromium, chromium-driver) or no selenium.
"""

from __future__ import annotations

import json
import time

import pytest
import records

pytest.importorskip("selenium", reason="the browser test needs selenium")
pytest.importorskip("jinja2")

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from syncguard.show.run import page

BROWSER_FLAGS = ("--force-prefers-reduced-motion",)
SIZES = {"desktop": (1440, 900), "phone": (480, 900)}
FRAME = 0.1  # seconds that drawing 5,000 waits may take at the most, on a slow machine


@pytest.fixture(scope="module")
def pages(tmp_path_factory) -> dict[str, str]:
    """The page of every record, by name, as the address of a file."""
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name in ("gpu", "simulated", "empty", "ranked", "nasty", "large"):
        file = folder / f"{name}.html"
        file.write_text(page.render(getattr(records, name)(), records.lines), "utf-8")
        made[name] = file.as_uri()
    return made


@pytest.fixture
def visit(browser, pages):
    """Open a page of that name at a size; afterwards nothing may have gone wrong or have been fetched."""

    def opened(name: str, size: str = "desktop", scheme: str = "light") -> webdriver.Chrome:
        width, height = SIZES[size]
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        media = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        browser.get("about:blank")
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(pages[name])
        return browser

    yield opened
    assert browser.get_log("browser") == []
    assert fetched(browser) == []


def fetched(browser) -> list[str]:
    """The addresses that were asked for since the log was last read, but for the page itself."""
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [url for url in asked if not url.startswith(("file:", "data:", "about:"))]


def until(condition, seconds: float = 5.0):
    """What the condition gives as soon as it is true."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, "it did not come to be"
        time.sleep(0.02)
    return value


def span(browser) -> tuple[float, float]:
    """What the timeline shows, in microseconds."""
    shown = browser.execute_script("return lanes.range()")
    return shown["min"], shown["max"]


def wide(browser) -> float:
    begin, end = span(browser)
    return end - begin


def column(browser, key: str) -> list[str]:
    """What the rows of the table that are shown have in a column, by which it is sorted."""
    return browser.execute_script(
        """const at = document.querySelector(`#table th[data-key=${arguments[0]}]`).cellIndex;
        return [...document.querySelectorAll("#table tbody tr")].filter((row) => row.offsetParent)
          .map((row) => row.cells[at].dataset.sort);""",
        key,
    )


def in_view(browser, element) -> bool:
    box = browser.execute_script("const b = arguments[0].getBoundingClientRect(); return [b.top, b.bottom]", element)
    return box[0] >= -1 and box[0] < 900


def test_a_request_would_be_seen(browser, tmp_path):
    file = tmp_path / "fetching.html"
    file.write_text('<img src="http://127.0.0.1:9/x.png">')
    browser.get_log("performance")
    browser.get(file.as_uri())
    assert fetched(browser) == ["http://127.0.0.1:9/x.png"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["gpu", "simulated", "empty", "ranked", "nasty", "large"])
def test_opens_without_a_word_and_fits(visit, name, size, scheme):
    browser = visit(name, size, scheme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= SIZES[size][0]
    colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert colour == {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 28)"}[scheme]
    assert browser.find_element(By.TAG_NAME, "h1").text


@pytest.mark.parametrize("size", SIZES)
def test_the_timeline_zooms_with_5000_waits(visit, size):
    browser = visit("large", size)
    whole = wide(browser)
    picture = browser.execute_script("return document.querySelector('#chart canvas').toDataURL()")
    browser.find_element(By.CSS_SELECTOR, "[data-do=in]").click()
    until(lambda: wide(browser) == pytest.approx(whole / 2))
    chart = browser.find_element(By.ID, "chart")
    chart.send_keys("+")
    until(lambda: wide(browser) == pytest.approx(whole / 4))
    begin = span(browser)[0]
    chart.send_keys(Keys.ARROW_RIGHT)
    until(lambda: span(browser)[0] == pytest.approx(begin + whole / 16))
    assert browser.execute_script("return document.querySelector('#chart canvas').toDataURL()") != picture
    chart.send_keys("0")
    until(lambda: wide(browser) == pytest.approx(whole))


def test_a_drag_zooms_and_a_double_click_shows_all(visit):
    browser = visit("large")
    whole, over = wide(browser), browser.find_element(By.CSS_SELECTOR, "#chart .u-over")
    ActionChains(browser).move_to_element_with_offset(over, -100, 0).click_and_hold().move_by_offset(
        60, 0
    ).release().perform()
    share = 60 / over.size["width"]
    until(lambda: wide(browser) == pytest.approx(whole * share, rel=0.05))
    ActionChains(browser).double_click(over).perform()
    until(lambda: wide(browser) == pytest.approx(whole))


def test_drawing_5000_waits_is_smooth(visit):
    browser = visit("large")
    took = browser.execute_async_script(
        """const done = arguments[0], times = [];
        const frame = (n) => {
          if (n === 40) return done(times.sort((a, b) => a - b)[20]);
          const begin = performance.now();
          lanes.acts[n < 20 ? "in" : "out"]();
          setTimeout(() => { times.push(performance.now() - begin); frame(n + 1); }, 0);
        };
        frame(0);"""
    )
    assert took < FRAME * 1000


def test_hovering_tells_what_a_span_is(visit):
    browser = visit("gpu")
    over = browser.find_element(By.CSS_SELECTOR, "#chart .u-over")
    tip = browser.find_element(By.ID, "tip")
    assert not tip.is_displayed()
    x = browser.execute_script(
        """const waits = data.lanes.find((lane) => lane.kind === "wait").spans[0], { min, max } = lanes.range();
        return (waits[0] + waits[1] / 2 - min) / (max - min)"""
    )
    left = round((x - 0.5) * over.size["width"])
    ActionChains(browser).move_to_element_with_offset(over, left, 0).perform()
    assert until(lambda: tip.is_displayed() and tip.text).startswith("The host waits ")
    assert "loss.py:6 torch.nonzero(labels != 0)" in tip.text


def test_a_step_can_be_chosen(visit):
    browser = visit("gpu")
    shown = wide(browser)
    assert shown == pytest.approx(1.02 * browser.execute_script("return data.steps[0][1]"))
    begin = span(browser)[0]
    browser.find_element(By.CSS_SELECTOR, "#step option[value='1']").click()
    until(lambda: span(browser)[0] > begin)
    browser.find_element(By.CSS_SELECTOR, "#step option[value='-1']").click()
    until(lambda: wide(browser) > 2.9 * shown)


def test_from_wait_to_wait_and_to_the_source_by_keyboard(visit):
    browser = visit("gpu")
    chart = browser.find_element(By.ID, "chart")
    chart.send_keys("n")
    told = browser.find_element(By.ID, "told")
    assert "Wait 1 of 15: The host waits" in until(lambda: told.text)
    chart.send_keys("n")
    until(lambda: "Wait 2 of 15" in told.text and "loss.py:7" in told.text)
    chart.send_keys("p")
    until(lambda: "Wait 1 of 15" in told.text)
    chart.send_keys(Keys.ENTER)
    until(lambda: browser.current_url.endswith("#w0"))
    until(lambda: in_view(browser, browser.find_element(By.ID, "w0")))


@pytest.mark.parametrize("size", SIZES)
def test_the_table_sorts(visit, size):
    browser = visit("gpu", size)
    bubbles = [float(text) for text in column(browser, "bubble") if text]
    assert bubbles[:6] == sorted(bubbles[:6], reverse=True)
    browser.find_element(By.CSS_SELECTOR, "th[data-key=wait]").click()
    until(lambda: browser.find_elements(By.CSS_SELECTOR, "th[data-key=wait][aria-sort=descending]"))
    until(lambda: column(browser, "wait")[0] == "5.1")
    waits = [float(text) for text in column(browser, "wait") if text]
    assert waits == sorted(waits, reverse=True)
    browser.find_element(By.CSS_SELECTOR, "th[data-key=line] button").send_keys(Keys.ENTER)
    until(lambda: column(browser, "line") == sorted(column(browser, "line")))
    browser.find_element(By.CSS_SELECTOR, "th[data-key=wait]").click()
    browser.find_element(By.CSS_SELECTOR, "th[data-key=wait]").click()
    until(lambda: next(t for t in column(browser, "wait") if t) == "0.09")
    assert column(browser, "wait")[-1] == ""  # what was not measured stays last


def test_a_table_of_5000_is_short_until_asked_and_can_be_filtered(visit):
    browser = visit("large")
    assert len(column(browser, "line")) == 200
    field = browser.find_element(By.ID, "filter")
    field.send_keys("module_7.py:1")
    until(lambda: browser.find_element(By.ID, "shown").text == "12 of 5,000 lines")  # 1, 10 to 19, 100
    assert len(column(browser, "line")) == 12
    field.clear()
    field.send_keys(" ")
    browser.find_element(By.CSS_SELECTOR, "th[data-key=wait]").click()
    until(lambda: column(browser, "wait")[0] == "0.106")
    browser.find_element(By.ID, "more").click()
    assert len(column(browser, "line")) == 5000


@pytest.mark.parametrize("size", SIZES)
def test_a_line_leads_to_its_source(visit, size):
    browser = visit("gpu", size)
    browser.find_element(By.CSS_SELECTOR, "#table a[href='#w3']").click()
    note = browser.find_element(By.ID, "w3")
    until(lambda: in_view(browser, note))
    line = browser.execute_script("return arguments[0].previousElementSibling.textContent", note)
    assert "if value > limit:" in line
    assert "torch.where" in note.text


def test_the_line_of_a_static_finding_is_not_broken_where_there_is_room(visit):
    browser = visit("gpu")
    link = browser.find_element(By.CSS_SELECTOR, "#static tbody a")
    rows = "arguments[0].textContent = 'examples/segmentation_loss.py:34'; return arguments[0].getClientRects().length"
    assert browser.execute_script(rows, link) == 1


def test_a_line_in_a_closed_file_opens_it(visit):
    browser = visit("large")
    number = browser.execute_script("return document.querySelector('details.file:not([open]) .note').id.slice(1)")
    browser.execute_script("document.querySelector(`#table a[href='#w${arguments[0]}']`).click()", number)
    note = browser.find_element(By.ID, f"w{number}")
    until(lambda: in_view(browser, note) and note.is_displayed())


def test_what_if_is_joint(visit):
    browser = visit("gpu")
    gain = browser.find_element(By.ID, "gain")
    assert gain.text == "Saves 4.1 ms a step"  # the best few
    boxes = {b.get_attribute("data-wait"): b for b in browser.find_elements(By.CSS_SELECTOR, "[data-wait]")}
    assert [n for n, b in boxes.items() if b.is_selected()] == ["0", "1", "3"]
    boxes["3"].click()
    assert gain.text == "Saves 3.6 ms a step"  # not 1.8 + 0.7
    boxes["0"].click()
    boxes["3"].click()
    assert gain.text == "Saves 700 µs to 4.1 ms a step"  # 1 and 3 were not replayed together
    assert "lies between" in browser.find_element(By.ID, "explained").text
    browser.find_element(By.CSS_SELECTOR, "[data-set=all]").click()
    assert gain.text == "Saves 4.3 ms a step"
    browser.find_element(By.CSS_SELECTOR, "[data-set=none]").click()
    assert gain.text == "Choose some waits"


def test_the_theme_can_be_chosen(visit):
    browser = visit("gpu")
    colour = "return getComputedStyle(document.body).backgroundColor"
    light = browser.execute_script(colour)
    button = browser.find_element(By.ID, "theme")
    button.click()
    assert browser.execute_script(colour) == light
    button.click()
    assert browser.execute_script(colour) == "rgb(21, 24, 28)"
    button.click()
    assert browser.execute_script(colour) == light


def test_text_is_only_text(visit):
    browser = visit("nasty")
    assert "alert(1)" in browser.find_element(By.TAG_NAME, "h1").text
    assert browser.find_elements(By.CSS_SELECTOR, "h1 b, h1 script, .note b b") == []
    assert "49" not in browser.find_element(By.TAG_NAME, "h1").text


def test_what_is_printed_has_no_controls_and_every_file(visit):
    browser = visit("gpu")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = browser.execute_script(
        "return ['.tools', '#keys', '.what-if', '.print-only'].map((s) => document.querySelector(s).checkVisibility())"
    )
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert shown == [False, False, False, True]
