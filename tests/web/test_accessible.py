"""What a reader needs beside colours: contrast, names, a page that stands still, one's own time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.web.conftest import Town
from tests.web.served import browser
from tests.web.test_app import VIEWS
from tests.web.test_browser import Watched

# Runs in the page: texts that WCAG's level AA finds too pale, controls without a name, ids that
# occur twice.
_AUDIT = Path(__file__).with_name("audit.js").read_text("utf-8")
_SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
  for (const one of list.getEntries()) if (!one.hadRecentInput) window.shifted += one.value;
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read_and_every_control_has_a_name(
    town: Town, scheme: Literal["light", "dark"]
) -> None:
    with browser() as started:
        watched = Watched(started, scheme)
        watched.page.add_init_script(_SHIFTS)
        for path in VIEWS:
            watched.page.goto(f"http://127.0.0.1:{town.port}{path}")
            watched.page.wait_for_load_state("networkidle")
            found: dict[str, Any] = watched.page.evaluate(_AUDIT)
            assert found == {"pale": [], "nameless": [], "twice": [], "firstHeads": 1}, path
            assert watched.page.evaluate("window.shifted") < 0.01, path


def test_the_content_is_two_keys_away(town: Town) -> None:
    with browser() as started:
        page = Watched(started, "light").page
        page.goto(f"http://127.0.0.1:{town.port}/")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        assert page.evaluate("document.activeElement.getBoundingClientRect().top") >= 0
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "content"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.matches('main [data-status-filter], main a')")
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) == "solid"


def test_lists_are_sorted_by_keys_which_is_said(town: Town) -> None:
    with browser() as started:
        page = Watched(started, "light").page
        page.goto(f"http://127.0.0.1:{town.port}/")
        page.focus("th[data-sort='name'] button")
        page.keyboard.press("Enter")
        head = page.locator("th[data-sort='name']")
        assert head.get_attribute("aria-sort") == "ascending"
        names = page.locator("td .name").all_inner_texts()
        page.keyboard.press("Space")
        assert head.get_attribute("aria-sort") == "descending"
        assert page.locator("td .name").all_inner_texts() == names[::-1]
        page.reload()
        assert page.locator("td .name").all_inner_texts() == names[::-1]


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/St_Johns", "UTC"])
def test_times_are_those_of_the_reader(town: Town, zone: str) -> None:
    with browser() as started:
        page = started.new_context(timezone_id=zone, locale="de-DE").new_page()
        page.goto(f"http://127.0.0.1:{town.port}/rule?asset=orders&rule=usual_amounts")
        for time in page.locator("table.evaluations time").all():
            expected = time.evaluate(
                "(one, zone) => new Intl.DateTimeFormat('en-GB', "
                "{ dateStyle: 'medium', timeStyle: 'short', timeZone: zone })"
                ".format(new Date(one.dateTime))",
                zone,
            )
            assert time.inner_text() == expected
            assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", time.get_attribute("title") or "")


def test_the_scale_of_a_chart_stays_in_sight_on_a_phone(town: Town) -> None:
    with browser() as started:
        watched = Watched(started, "light", width=390)
        page = watched.page
        page.goto(f"http://127.0.0.1:{town.port}/rule?asset=orders&rule=usual_amounts")
        chart = page.locator("[data-scroll]:has(.chart)")
        assert chart.evaluate("one => one.scrollLeft") > 0
        left = "one => one.getBoundingClientRect().left"
        page.wait_for_function("document.querySelector('.chart .scale[transform]')")
        label, frame = chart.locator(".scale text").first.evaluate(left), chart.evaluate(left)
        assert 0 <= label - frame < 80
        watched.check()


def test_paper_is_white_and_holds_all(town: Town) -> None:
    with browser() as started:
        page = Watched(started, "dark").page
        page.goto(f"http://127.0.0.1:{town.port}/dataset?asset=customers")
        page.click("[data-theme-switch]")
        page.click("[data-theme-switch]")
        assert page.get_attribute("html", "data-theme") == "dark"
        page.emulate_media(media="print")
        colour = "getComputedStyle(document.querySelector('.card')).backgroundColor"
        assert page.evaluate(colour) == "rgb(255, 255, 255)"
        assert not page.locator(".top").is_visible()


def test_nothing_moves_for_those_who_want_it_so(town: Town) -> None:
    with browser() as started:
        page = started.new_context(reduced_motion="reduce").new_page()
        page.goto(f"http://127.0.0.1:{town.port}/")
        moving = (
            "[...document.querySelectorAll('*')].filter((one) => parseFloat("
            "getComputedStyle(one).transitionDuration) || parseFloat("
            "getComputedStyle(one).animationDuration)).length"
        )
        page.evaluate("document.documentElement.classList.add('refreshing')")
        assert page.evaluate(moving) == 0
