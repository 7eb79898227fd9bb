"""The pages on the demo: a browser goes through every view of every dataset, light and dark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

from dq_dagster.monitoring.monitor import Monitor
from dq_dagster.web.links import ServedLinks
from tests.examples.shop_run import definitions
from tests.web.served import browser, served
from tests.web.test_browser import Watched

if TYPE_CHECKING:
    from tests.examples.shop_run import ShopRun

VIEWS = (None, "timeline", "partitions", "dimensions", "quarantine")


@pytest.mark.deep
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_of_the_demo(
    shop: ShopRun, tmp_path: Path, scheme: Literal["light", "dark"]
) -> None:
    links = ServedLinks()
    with (
        Monitor(
            shop.instance, locations=[definitions(shop.folder)], index=tmp_path / "index"
        ) as monitor,
        served(monitor) as port,
        browser() as started,
    ):
        monitor.refresh()
        datasets = [row.asset for row in monitor.overview().datasets]
        assert {"customers", "orders", "orders_by_day", "payments", "products"} <= set(datasets)
        paths = [links.overview(), links.project("shop"), links.flow()]
        for asset in datasets:
            paths += [links.dataset(asset, view=view) for view in VIEWS]
            paths += [links.flow(asset)]
            paths += [
                links.rule(asset, rule.info.check) for rule in monitor.dataset(asset).rules[:2]
            ]
        watched = Watched(started, scheme)
        for path in paths:
            answer = watched.page.goto(f"http://127.0.0.1:{port}{path}")
            assert answer is not None
            assert answer.status == 200, path
            watched.check()
            watched.fits()
        _click_through(watched, datasets)


def _click_through(watched: Watched, datasets: list[str]) -> None:
    """From the overview to each dataset and all of its tabs."""
    page = watched.page
    page.set_default_timeout(8_000)
    for asset in datasets:
        page.click("nav[aria-label='Pages'] a:text-is('Overview')")
        page.click(f"td a[href='{ServedLinks().dataset(asset)}']")
        page.wait_for_selector(".tabs")
        tabs = page.locator(".tabs a").all_inner_texts()
        assert (tabs[0], tabs[-1]) == ("Rules", "Flow")
        for tab in tabs:
            page.click(f".tabs a:text-is('{tab}')")
            page.wait_for_url("**/flow?*" if tab == "Flow" else "**/dataset?*")
            watched.check()
