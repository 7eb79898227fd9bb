"""The pages over HTTP: what they show, what they carry, and what they refuse."""

from __future__ import annotations

import html
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Self
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import dagster as dg
import pytest

import dq_dagster as dq
from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.monitor import Monitor
from dq_dagster.web.drawings import counts_in_words, points
from dq_dagster.web.links import ServedLinks
from dq_dagster.web.pages import Pages
from dq_dagster.web.recent import RecentOverview
from dq_dagster.web.security import HEADERS
from tests.monitoring.logs import Told, at, store
from tests.web.conftest import Town
from tests.web.served import ask
from tests.web.town import HOSTILE, PAYLOADS, odd_name, shown

VIEWS = [
    "/",
    "/project?name=shop",
    "/dataset?asset=customers",
    "/dataset?asset=customers&view=timeline",
    "/dataset?asset=orders&view=partitions",
    "/dataset?asset=customers&view=dimensions",
    "/dataset?asset=payments&view=quarantine",
    "/rule?asset=orders&rule=usual_amounts",
    "/rule?asset=customers&rule=complete",
    "/flow",
    "/flow?asset=customers",
]


class Elements(HTMLParser):
    """The elements of a page: how often each occurs, where they lead, and what is inline."""

    def __init__(self) -> None:
        super().__init__()
        self.names: Counter[str] = Counter()
        self.inline: list[str] = []
        self.hosts: set[str] = set()

    @classmethod
    def of(cls, text: str) -> Self:
        made = cls()
        made.feed(text)
        return made

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names[tag] += 1
        for name, value in attrs:
            if name == "style" or name.startswith("on"):
                self.inline.append(f"{tag} {name}")
            if name in {"href", "src", "action"}:
                address = urlsplit(value or "")
                assert address.scheme in {"", "http", "https"}
                self.hosts.add(address.netloc)


def words_of(page: str) -> str:
    """What a reader sees, on one line."""
    text = re.sub(r"<(style|script|title)\b.*?</\1>", " ", page, flags=re.DOTALL)
    text = text.replace("<wbr>", "")
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def page_of(port: int, path: str) -> str:
    status, _, text = ask(port, path)
    assert status == 200, words_of(text)
    return text


def test_every_view_has_its_headers_and_nothing_inline(town: Town) -> None:
    for path in VIEWS:
        status, headers, text = ask(town.port, path)
        assert status == 200, path
        assert {name: headers[name] for name in HEADERS} == HEADERS
        assert headers["cache-control"] == "no-store"
        found = Elements.of(text)
        assert not found.inline, path
        assert found.names["script"] == 1
        # Nothing comes from another server; links lead to Dagster only.
        assert {one for one in found.hosts if one} <= {"dagster.example:3000"}


def test_every_number_of_the_overview_is_the_monitors(town: Town) -> None:
    view = town.declared.overview()
    text = page_of(town.port, "/")
    rows = re.findall(r"<tr class=.*?</tr>", text, re.DOTALL)
    assert len(rows) == len(view.datasets)
    for row, dataset in zip(rows, view.datasets, strict=True):
        words = words_of(row)
        assert shown(dataset.asset) in words
        assert f'data-status="{dataset.status.lower().replace("notc", "not-c")}"' in row
        assert counts_in_words(dataset.counts) in words
        if dataset.score.value is not None:
            assert f"<strong>{points(dataset.score.value)}</strong>" in row
    assert f"evaluations {view.evaluations:,}" in words_of(text)


def test_a_dataset_shows_what_its_rules_say(town: Town) -> None:
    view = town.declared.dataset("customers")
    words = words_of(page_of(town.port, "/dataset?asset=customers"))
    for rule in view.rules:
        assert rule.slices[0].message in words
    assert "The number of rows is 4, below the soft minimum of 10." in words
    assert "at least 1 ideally at least 10" in words
    # None of its values may be empty: which is said in words.
    assert "none allowed" in words
    run = view.rules[0].slices[0].run_id
    assert f"http://dagster.example:3000/runs/{run}" in page_of(
        town.port, "/dataset?asset=customers"
    )


def test_only_views_that_say_something_are_offered(town: Town) -> None:
    tabs = {}
    for asset in ("customers", "orders", "payments"):
        page = page_of(town.port, f"/dataset?asset={asset}")
        bar = page[page.index('<nav class="tabs"') :]
        tabs[asset] = words_of(bar[: bar.index("</nav>")])
    assert tabs == {
        "customers": "Rules Timeline Dimensions Flow",
        "orders": "Rules Timeline Partitions Dimensions Flow",
        "payments": "Rules Timeline Dimensions Quarantine Flow",
    }
    # They are there all the same.
    page = words_of(page_of(town.port, "/dataset?asset=customers&view=quarantine"))
    assert "This asset is not guarded" in page


def test_a_rule_of_the_whole_dataset_says_nothing_of_a_partition(town: Town) -> None:
    words = words_of(page_of(town.port, "/dataset?asset=orders&partition=2024-03-02"))
    assert "Never judged on this partition." in words


def test_a_day_opens_the_rules_behind_it(town: Town) -> None:
    [today] = {one.day for one in town.declared.timeline("customers", days=1).days}
    path = f"/dataset?asset=customers&view=timeline&day={today.isoformat()}"
    words = words_of(page_of(town.port, path))
    assert f"{today.isoformat()} UTC" in words
    assert "last Error worst Error" in words
    assert "enough_customers" in words


def test_a_timeline_opens_the_last_day_and_is_turned_by_months() -> None:
    with dg.instance_for_test() as instance, Monitor(instance) as monitor:
        now = datetime.now(UTC)
        old = now - timedelta(days=200)
        store(instance, Told("rows", Status.ERROR, old), Told("rows", Status.OK, now))
        monitor.refresh()
        pages = Pages(monitor, ServedLinks(), RecentOverview(monitor))
        newest = pages.dataset({"asset": "orders", "view": "timeline"})
        assert f"{now.date()} UTC last Ok worst Ok" in words_of(newest)
        assert 'aria-current="date"' in newest
        [earlier] = re.findall(r'href="([^"]+)">earlier', newest)
        assert "later" not in newest
        query = dict(parse_qsl(urlsplit(html.unescape(earlier)).query))
        before = pages.dataset(query)
        assert f"{old.date()} UTC last Error worst Error" in words_of(before)
        assert "earlier →" not in before
        [day, *_] = re.findall(r'href="([^"]+)#day"', before)
        assert dict(parse_qsl(urlsplit(html.unescape(day)).query))["until"] == query["until"]
        [later] = re.findall(r'href="([^"]+)">← later', before)
        query = dict(parse_qsl(urlsplit(html.unescape(later)).query))
        assert f"{now.date()} UTC last Ok" in words_of(pages.dataset(query))
        project = pages.project({"name": "all"})
        [earlier] = re.findall(r'href="([^"]+)">earlier', project)
        query = dict(parse_qsl(urlsplit(html.unescape(earlier)).query))
        assert f"{old.date()} (UTC): last Error" in pages.project(query)


def test_an_instance_without_anything_says_what_to_do() -> None:
    with dg.instance_for_test() as instance, Monitor(instance) as monitor:
        monitor.refresh()
        pages = Pages(monitor, ServedLinks(), RecentOverview(monitor))
        page = words_of(pages.overview({}))
        assert "Build an asset that has rules, and it appears here." in page
        assert "0 days" not in page
        assert "No code location is known" in words_of(pages.flow({}))


def test_partitions_are_filtered_by_their_statuses(town: Town) -> None:
    path = "/dataset?asset=orders&view=partitions"
    every = page_of(town.port, path)
    assert "2 Error 1 Warning 1 Ok" in words_of(every)
    page = page_of(town.port, f"{path}&status=warning")
    assert "1 to 1 of 1, those evaluated last first" in words_of(page)
    assert re.search(r'is-warning" href="[^"]+view=partitions" aria-current="true"', page)
    for one in ("nothing", "empty"):
        assert ask(town.port, f"{path}&status={one}")[0] == 200
    none = words_of(page_of(town.port, f"{path}&status=empty"))
    assert "No partition is like that." in none


def test_the_page_of_a_rule_is_found_by_its_own_name() -> None:
    """Dagster takes no check of such a name."""
    asset = dg.AssetSpec("orders")
    rule = dq.RecordCountInRange(name="more than one", min=1)
    checks = dq.build_asset_checks(dq.RuleSet(asset=asset, rules=[rule]))
    defs = dg.Definitions(assets=[asset], asset_checks=checks)
    with dg.instance_for_test() as instance, Monitor(instance, locations=[defs]) as monitor:
        store(instance, Told("more_than_one", Status.ERROR, at("2026-06-07")))
        monitor.refresh()
        pages = Pages(monitor, ServedLinks(), RecentOverview(monitor))
        for name in ("more than one", "more_than_one"):
            page = words_of(pages.rule({"asset": "orders", "rule": name}))
            assert "more than one Error" in page
            assert "Now 1 Error" in page


def test_a_history_can_be_of_one_partition(town: Town) -> None:
    every = page_of(town.port, "/rule?asset=orders&rule=usual_amounts")
    assert "3 of 3, the newest first" in words_of(every)
    query = {"asset": "orders", "rule": "usual_amounts", "slice": f"partition:{HOSTILE}"}
    one = page_of(town.port, f"/rule?{urlencode(query)}")
    assert "1 of 1, the newest first" in words_of(one)
    assert f'value="partition:{html.escape(HOSTILE)}" selected' in one
    whole = page_of(town.port, "/rule?asset=orders&rule=usual_amounts__dataset&slice=whole")
    assert "1,836.67" in words_of(whole)


def test_partitions_quarantine_and_flow(town: Town) -> None:
    grid = words_of(page_of(town.port, "/dataset?asset=orders&view=partitions"))
    assert "1 to 4 of 4" in grid
    assert HOSTILE in grid
    builds = words_of(page_of(town.port, "/dataset?asset=payments&view=quarantine"))
    assert "3 2 1 1 66.7 % 66.7 % paid: 1" in builds
    flow = words_of(page_of(town.port, "/flow?asset=accounts"))
    assert "1 of 3 rows (33.33 %) does not meet 'amount > 0'" in flow
    assert "paid of payments" in flow


def test_an_index_that_is_deleted_while_pages_are_open(town: Town) -> None:
    path = "/dataset?" + urlencode({"asset": odd_name(PAYLOADS[1])})
    before = words_of(page_of(town.logged_port, path))
    assert town.logged.index is not None
    town.logged.index.unlink()
    # Each thread of the server has a connection of its own.
    with ThreadPoolExecutor(8) as readers:
        found = list(readers.map(lambda _: page_of(town.logged_port, path), range(24)))
    # Without the head, which says the time.
    assert {words_of(page).partition("Refresh")[2] for page in found} == {
        before.partition("Refresh")[2]
    }


def test_a_log_alone_is_enough(town: Town) -> None:
    words = words_of(page_of(town.logged_port, "/flow"))
    assert "No code location is known" in words
    assert "Start the pages with -m or -f." in words
    words = words_of(page_of(town.logged_port, "/"))
    assert [one for one in PAYLOADS if shown(odd_name(one)) not in words] == []


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/nowhere", "There is no such page"),
        ("/dataset", "Nothing is known of that"),
        ("/dataset?asset=custmers", "Did you mean 'customers'?"),
        ("/dataset?asset=a%2Fb%2F..%2F%00%0d%0aX:1", "Nothing is known of that"),
        ("/rule?asset=customers&rule=nothing", "Nothing is known of that"),
        ("/rule?asset=orders&rule=usual_amounts&slice=partition:x", "Nothing is known of that"),
        ("/project?name=%3Cb%3E", "There is no project '<b>'."),
        ("/flow?asset=nothing", "Nothing is known of that"),
    ],
)
def test_what_is_not_there_is_said(town: Town, path: str, message: str) -> None:
    status, headers, text = ask(town.port, path)
    assert status == 404
    assert message in words_of(text)
    assert headers["content-security-policy"] == HEADERS["content-security-policy"]


@pytest.mark.parametrize(
    "query",
    [
        "day=2026-13-45",
        "day=9999-12-31",
        "day=0001-01-01",
        "until=0001-01-01",
        "until=1971-01-01",
        "until=9999-12-31",
        "until=x",
        "status=x",
        "offset=-1",
        "offset=99999999999",
        "offset=٣",
        "before=nan",
        "before=x",
        "slice=",
        "slice=other",
    ],
)
def test_odd_choices_are_passed_over(town: Town, query: str) -> None:
    name, _, value = query.partition("=")
    given = f"{name}={quote(value)}"
    for view in ("timeline", "partitions"):
        assert ask(town.port, f"/dataset?asset=orders&view={view}&{given}")[0] == 200
    assert ask(town.port, f"/rule?asset=orders&rule=usual_amounts&{given}")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_can_be_changed(town: Town, method: str) -> None:
    status, headers, text = ask(town.port, "/", method=method)
    assert (status, headers["allow"], text) == (405, "GET, HEAD", "These pages can only be read.\n")


def test_other_host_names_are_refused(town: Town) -> None:
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", ""):
        status, _, text = ask(town.port, "/", host=host)
        assert status == 400
        assert "--allow-host" in text
    for host in ("localhost", f"LOCALHOST:{town.port}", f"[::1]:{town.port}"):
        assert ask(town.port, "/flow", host=host)[0] == 200


def test_files_are_kept_by_version_and_only_ours_are_served(town: Town) -> None:
    [path] = re.findall(r'href="(/static/app\.css\?v=\w+)"', page_of(town.port, "/"))
    _, headers, text = ask(town.port, path)
    assert headers["content-type"].startswith("text/css")
    assert "immutable" in headers["cache-control"]
    assert ":root" in text
    assert ask(town.port, "/static/app.css")[1]["cache-control"] == "no-store"
    for name in ("..%2Fapp.py", "icons.svg", "%2e%2e/app.py", "nothing.js"):
        assert ask(town.port, f"/static/{name}")[0] == 404
