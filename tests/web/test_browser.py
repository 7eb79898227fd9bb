"""A real browser clicks through every view, light and dark, and hostile texts stay texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import pytest

from dq_dagster.web.links import choice_of
from dq_dagster.web.rendering import visible
from tests.web.conftest import Town
from tests.web.served import browser
from tests.web.test_app import VIEWS
from tests.web.town import HOSTILE, PAYLOADS, odd_name, shown

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_COLLECT = """
window.faults = [];
document.addEventListener("securitypolicyviolation",
    (event) => window.faults.push(event.violatedDirective + " " + event.blockedURI));
"""


class Watched:
    """A page of a browser that notes whatever should not happen."""

    def __init__(
        self, started: Browser, scheme: Literal["light", "dark"], width: int = 1280
    ) -> None:
        context = started.new_context(
            color_scheme=scheme,
            viewport={"width": width, "height": 900},
            timezone_id="Asia/Kolkata",
        )
        context.add_init_script(_COLLECT)
        self.page: Page = context.new_page()
        self.faults: list[str] = []
        self.page.on("dialog", self._dialog)
        self.page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        self.page.on("console", self._said)

    def _dialog(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _said(self, message: Any) -> None:
        if message.type == "error":
            self.faults.append(message.text)

    def check(self) -> None:
        assert self.faults + self.page.evaluate("window.faults") == []

    def fits(self) -> None:
        """The page itself does not scroll sideways."""
        assert self.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def _click_tabs(watched: Watched) -> None:
    """Of the datasets that have them; those of customers last."""
    page = watched.page
    tabs = {
        "payments": ("Quarantine", "Rules"),
        "orders": ("Partitions", "Rules"),
        "customers": ("Timeline", "Dimensions", "Rules"),
    }
    for asset, names in tabs.items():
        page.click("nav a:text-is('Overview')")
        page.click(f"table a:text-is('{asset}')")
        for tab in names:
            page.click(f".tabs a:text-is('{tab}')")
            assert page.inner_text(".tabs [aria-current]") == tab
            watched.check()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_reached_by_clicks(town: Town, scheme: Literal["light", "dark"]) -> None:
    with browser() as started:
        watched = Watched(started, scheme)
        page = watched.page
        page.goto(f"http://127.0.0.1:{town.port}/")
        page.click("table a:text-is('customers')")
        assert page.inner_text("h1") == "customers"
        _click_tabs(watched)
        page.click(".tabs a:text-is('Timeline')")
        page.click("a.day >> nth=0")
        assert "enough_customers" in page.inner_text("#day")
        page.locator("#day").get_by_role("link", name="enough_customers", exact=True).click()
        assert page.locator("svg.chart .dots use").count() == 2
        page.click(".tabs a:text-is('Flow')")
        assert page.locator("a.node.chosen").count() == 1
        page.click("a.node:has-text('accounts')")
        assert "paid of payments" in page.inner_text("main")
        page.click("nav a:text-is('Overview')")
        page.click("td a:text-is('money') >> nth=0")
        assert page.inner_text("h1") == "money"
        watched.check()
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
            "rgb(246, 247, 249)" if scheme == "light" else "rgb(15, 18, 22)"
        )


def test_hostile_texts_are_shown_as_texts(town: Town) -> None:
    with browser() as started:
        watched = Watched(started, "light")
        page = watched.page
        for payload in PAYLOADS:
            page.goto(f"http://127.0.0.1:{town.logged_port}/")
            page.locator("td .name a").get_by_text(shown(odd_name(payload)), exact=True).click()
            assert page.inner_text("h1") == shown(odd_name(payload))
            assert visible(payload).split() == page.inner_text("td.message .said").split()
            page.locator("td .name a").get_by_text(shown(payload), exact=True).click()
            page.select_option("#partition", choice_of(payload))
            page.wait_for_url("**slice=partition**")
            assert page.input_value("#partition") == choice_of(payload)
            assert page.locator("table.evaluations tbody tr").count() == 1
            page.select_option("#partition", "")
            page.wait_for_url(lambda address: "slice" not in address)
            assert page.locator("table.evaluations tbody tr").count() == 2
            watched.check()
            watched.fits()
        page.goto(f"http://127.0.0.1:{town.port}/rule?asset=customers&rule=complete")
        assert page.locator("figure h3").all_inner_texts() == [HOSTILE, "country"]
        watched.check()


def test_groups_of_rows_and_their_rule_are_texts(town: Town) -> None:
    with browser() as started:
        watched = Watched(started, "dark")
        page = watched.page
        page.goto(f"http://127.0.0.1:{town.port}/dataset?asset=customers&view=dimensions")
        assert HOSTILE in page.locator("td.group").all_inner_texts()
        page.goto(f"http://127.0.0.1:{town.port}/dataset?asset=orders&view=partitions")
        page.locator("td.key a").get_by_text(HOSTILE, exact=True).click()
        assert page.inner_text("h2 code") == HOSTILE
        page.goto(f"http://127.0.0.1:{town.port}/rule?asset=customers&rule=complete")
        assert page.inner_text(".card-head .tag") == HOSTILE
        # Its description, its owner and its tag.
        assert page.inner_text("section[aria-label='History of the rule']").count(HOSTILE) >= 3
        page.goto(f"http://127.0.0.1:{town.port}/flow?asset=customers")
        watched.check()


def test_pages_work_by_keys_filters_and_in_place(town: Town) -> None:
    with browser() as started:
        watched = Watched(started, "light")
        page = watched.page
        page.goto(f"http://127.0.0.1:{town.port}/")
        rows = page.locator("tbody tr[data-row]:not([hidden])")
        page.keyboard.press("/")
        page.keyboard.type("payments")
        assert rows.count() == 1
        page.keyboard.press("Escape")
        with page.expect_response("**/"):
            page.keyboard.press("r")
        page.wait_for_selector("html:not(.refreshing)")
        assert (rows.count(), page.input_value("#search")) == (1, "payments")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**asset=payments**")
        page.go_back()
        assert rows.count() == 1
        watched.check()


def test_a_refresh_keeps_the_row_and_the_focus(town: Town) -> None:
    with browser() as started:
        watched = Watched(started, "light")
        page = watched.page
        page.goto(f"http://127.0.0.1:{town.port}/")

        def refreshed() -> None:
            page.evaluate("document.querySelector('main').dataset.old = 'yes'")
            page.keyboard.press("r")
            page.wait_for_selector("main:not([data-old])")
            page.wait_for_selector("html:not(.refreshing)")

        page.keyboard.press("j")
        page.keyboard.press("j")
        second = page.inner_text("tr[aria-selected='true'] .name")
        refreshed()
        assert page.inner_text("tr[aria-selected='true'] .name") == second
        assert page.evaluate("document.activeElement.textContent") == second
        page.keyboard.press("j")
        assert page.inner_text("tr[aria-selected='true'] .name") != second
        page.focus("th[data-sort='score'] button")
        refreshed()
        assert page.evaluate("document.activeElement.textContent") == "Score"
        watched.check()


def test_a_refresh_keeps_the_place(town: Town) -> None:
    with browser() as started:
        watched = Watched(started, "light", width=390)
        page = watched.page
        page.goto(f"http://127.0.0.1:{town.port}/rule?asset=orders&rule=usual_amounts")
        chart = page.locator("[data-scroll]")
        places = "[scrollY, document.querySelector('[data-scroll]').scrollLeft]"
        chart.evaluate("one => { one.scrollLeft = 40; scrollTo(0, 300); }")
        assert page.evaluate(places) == [300, 40]
        page.evaluate("document.querySelector('main').dataset.old = 'yes'")
        page.keyboard.press("r")
        page.wait_for_selector("main:not([data-old])")
        page.wait_for_selector("html:not(.refreshing)")
        assert page.evaluate(places) == [300, 40]
        watched.check()


def test_lists_are_filtered_and_sorted_and_times_are_local(town: Town) -> None:
    with browser() as started:
        watched = Watched(started, "light")
        page = watched.page
        page.goto(f"http://127.0.0.1:{town.port}/")
        rows = page.locator("tbody tr[data-row]:not([hidden])")
        every = rows.count()
        page.click("[data-status-filter='error']")
        assert 0 < rows.count() < every
        page.click("[data-status-filter='error']")
        page.click("th[data-sort='name'] button")
        names = page.locator("td .name").all_inner_texts()
        assert names == sorted(names, key=str.lower)
        # In the reader's zone, with UTC on hover.
        time = page.locator("td time[datetime]").first
        assert "UTC" in str(time.get_attribute("title"))
        assert "UTC" not in time.inner_text()
        page.click("[data-theme-switch]")
        page.click("[data-theme-switch]")
        assert page.get_attribute("html", "data-theme") == "dark"
        page.keyboard.press("?")
        assert page.locator("dialog[open]").count() == 1
        watched.check()


def test_rules_are_filtered_by_their_statuses(town: Town) -> None:
    with browser() as started:
        watched = Watched(started, "light")
        page = watched.page
        page.goto(f"http://127.0.0.1:{town.port}/dataset?asset=customers")
        rows = page.locator("table[data-filtered] tbody tr:not([hidden])")
        every = rows.count()
        page.click("[data-status-filter='warning']")
        assert 0 < rows.count() < every
        assert page.inner_text("[data-shown]") == f"{rows.count()} of {every} shown"
        watched.check()


def test_views_fit_a_phone_and_need_no_script(town: Town) -> None:
    with browser() as started:
        watched = Watched(started, "light", width=390)
        for path in VIEWS:
            watched.page.goto(f"http://127.0.0.1:{town.port}{path}")
            watched.fits()
        watched.check()
        context = started.new_context(java_script_enabled=False)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{town.port}/rule?asset=orders&rule=usual_amounts")
        page.select_option("#partition", "partition:2024-03-02")
        page.click("text=Show")
        assert page.locator("tbody tr[data-row]").count() == 1
