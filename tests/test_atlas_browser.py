"""The atlas in a real browser, narrow and wide, light and dark: quiet, offline, searched, linked to, printed.

Skipped where there is no Chromium with its driver (Debian: chromium, chromium-driver) or no selenium.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="the browser test needs selenium")

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PAGE = (Path(__file__).parent.parent / "docs" / "atlas.html").as_uri()
SIZES = {"desktop": (1440, 900), "phone": (420, 900)}


def visible(browser: webdriver.Chrome) -> list[str]:
    return browser.execute_script("return [...document.querySelectorAll('tbody tr:not([hidden])')].map(row => row.id)")


def look_for(browser: webdriver.Chrome, words: str) -> list[str]:
    field = browser.find_element(By.ID, "search")
    field.clear()
    field.send_keys(words, " ", Keys.BACKSPACE)
    return visible(browser)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_quiet_offline_and_fits(browser, size, scheme):
    browser.set_window_size(*SIZES[size])
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get_log("browser"), browser.get_log("performance")  # what was before is not ours
    browser.get("about:blank")
    browser.get(PAGE)
    assert browser.get_log("browser") == []
    asked = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = {one["params"]["request"]["url"] for one in asked if one["method"] == "Network.requestWillBeSent"}
    assert {url for url in sent if not url.startswith(("file:", "data:", "about:"))} == set()
    wide = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert wide[0] <= wide[1], "nothing is beyond the right edge"
    ink, paper = browser.execute_script(
        "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
    )
    dark = [sum(map(int, colour[4:-1].split(","))) < 384 for colour in (ink, paper)]
    assert dark == ([True, False] if scheme == "light" else [False, True])


def test_search_narrows_and_says_how_many(browser):
    browser.get(PAGE)
    every = visible(browser)
    found = look_for(browser, "nonzero SG101")
    assert "torch.nonzero" in found
    assert 0 < len(found) < 30
    assert browser.find_element(By.ID, "shown").text == f"{len(found)} of {len(every)}"
    assert "torch.nonzero" in look_for(browser, "TENSOR.nonzero"), "by another name, in any case"
    assert look_for(browser, "no such operation") == []
    assert look_for(browser, "") == every


@pytest.mark.parametrize("name", ["torch.nonzero", "torch.Tensor.nonzero"])
def test_every_spelling_is_a_link(browser, name):
    browser.get("about:blank")
    browser.get(f"{PAGE}#{name}")
    row = browser.find_element(By.CSS_SELECTOR, "tr.found")
    assert row.get_attribute("id") == "torch.nonzero"
    top = browser.execute_script("return arguments[0].getBoundingClientRect().top", row)
    assert 0 <= top < 400


def test_a_link_shows_a_row_that_the_search_had_hidden(browser):
    browser.get(PAGE)
    look_for(browser, "einops")
    browser.execute_script("location.hash = '#torch.bincount'")
    browser.execute_async_script("setTimeout(arguments[0], 50)")
    assert "torch.bincount" in visible(browser)
    assert browser.find_element(By.CSS_SELECTOR, "tr.found").get_attribute("id") == "torch.bincount"


def test_it_can_be_read_aloud(browser):
    browser.get(PAGE)
    assert browser.find_element(By.TAG_NAME, "html").get_attribute("lang") == "en"
    field = browser.find_element(By.ID, "search")
    assert field.accessible_name == "Search"
    assert browser.find_element(By.ID, "shown").get_attribute("aria-live") == "polite"
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {"depth": 12})["nodes"]
    roles = [node.get("role", {}).get("value") for node in tree]
    assert "table" in roles or "grid" in roles
    assert roles.count("rowheader") > 500


def test_it_prints_without_the_search(browser):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": []})
    try:
        browser.get(PAGE)
        assert not browser.find_element(By.ID, "search").is_displayed()
        printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"pageRanges": "1-2"})["data"])
        assert printed.startswith(b"%PDF")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
