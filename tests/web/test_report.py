"""Reports: one file that needs nothing else, and Markdown."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from click.testing import CliRunner
from markdown_it import MarkdownIt

from dq_dagster.cli.main import main
from dq_dagster.judging.judgement import Status
from dq_dagster.monitoring.monitor import Monitor
from dq_dagster.web.markdown import markdown_report
from dq_dagster.web.rendering import visible
from dq_dagster.web.report import html_report, json_report
from tests.monitoring.logs import Told, at, store
from tests.web.conftest import Town
from tests.web.served import browser
from tests.web.test_app import Elements, words_of
from tests.web.town import PAYLOADS, shown

BY_STATUS = {"fine": Status.OK, "broken": Status.ERROR, "aside": Status.ERROR}


def test_a_report_holds_all_that_it_shows(town: Town, tmp_path: Path) -> None:
    text = html_report(town.logged)
    found = Elements.of(text)
    assert (found.inline, found.hosts) == ([], {""})
    assert not {"script", "link", "img", "iframe", "b"} & found.names.keys()
    assert not re.search(r"url\((?!#)", text)
    places = set(re.findall(r'\sid="([^"]+)"', text))
    assert set(re.findall(r'href="#([^"]+)"', text)) <= places
    words = words_of(text)
    assert [one for one in PAYLOADS if shown(one) not in words] == []
    for dataset in town.logged.overview().datasets:
        for rule in town.logged.dataset(dataset.asset).rules:
            assert " ".join(visible(rule.slices[0].message).split()) in words
    file = tmp_path / "report.html"
    file.write_text(text, encoding="utf-8")
    with browser() as started:
        page = started.new_page()
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("dialog", lambda dialog: said.append(dialog.message))
        page.goto(file.as_uri())
        # The style sheet got past the policy of the page itself.
        assert page.evaluate("getComputedStyle(document.body).margin") == "0px"
        page.click("td .name a:text-is('customers')")
        assert page.locator("svg.chart").count() > 0
        assert said == []


def test_a_report_can_be_of_some(town: Town) -> None:
    text = html_report(town.declared, projects=["money"], dagster_url="http://dagster")
    assert re.findall(r"<summary><h2>(\w+)</h2>", text) == ["payments"]
    assert "http://dagster/runs/" in text
    assert "All datasets" not in words_of(text)


@pytest.fixture
def three() -> Iterator[Monitor]:
    """One dataset that is well, a broken one, and another that is broken and not monitored."""

    @dg.multi_asset_check(
        name="checks", specs=[dg.AssetCheckSpec("rows", asset=name) for name in BY_STATUS]
    )
    def checks() -> Iterator[Any]:
        yield from ()

    aside = dg.AssetSpec("aside", metadata={"dq/monitored": False})
    broken = dg.AssetSpec("broken", metadata={"dq/objective": {"ok": 0.5}}, description="<b>")
    defs = dg.Definitions(assets=[dg.AssetSpec("fine"), broken, aside], asset_checks=[checks])
    with dg.instance_for_test() as instance:
        told = (Told("rows", one, at("2026-06-07"), asset=name) for name, one in BY_STATUS.items())
        store(instance, *told)
        with Monitor(instance, locations=[defs], now=lambda: at("2026-06-08")) as monitor:
            monitor.refresh()
            yield monitor


@pytest.mark.parametrize(
    ("assets", "status", "score"),
    [
        ([], "Error", 50.0),
        (["fine"], "Ok", 100.0),
        (["fine", "broken"], "Error", 50.0),
        # What is named itself is what the report is about.
        (["aside"], "Error", 0.0),
    ],
)
def test_the_headline_is_of_what_the_report_is_about(
    three: Monitor, assets: list[str], status: str, score: float
) -> None:
    assert markdown_report(three, assets=assets).splitlines()[0].endswith(f": {status}")
    assert f"<title>Data quality: {status}</title>" in html_report(three, assets=assets)
    found = json.loads(json_report(three, assets=assets))
    assert (found["status"], found["score"]["value"]) == (status, score)


def test_a_report_has_what_the_page_of_a_dataset_says_of_it(three: Monitor) -> None:
    page = words_of(html_report(three, assets=["broken"]))
    assert "<b> objective 50 % of days Ok in 30 days: 0 of 1, missed by 0.5 Rules" in page


def test_what_is_not_monitored_is_in_a_report_and_does_not_count(three: Monitor) -> None:
    text = markdown_report(three, projects=["default"])
    assert "2 Error, 1 Ok." in text
    assert "| ❌ Error | aside (not monitored) |" in text


def test_markdown_says_what_is_broken(town: Town) -> None:
    text = markdown_report(town.declared, assets=["customers", "payments"], dagster_url="http://d")
    assert text.startswith("## ❌ Data quality: Error\n\n2 Error. As of ")
    assert "| ❌ Error | customers | 1 Error, 1 Warning, 1 Empty, 1 Ok | 50 |" in text
    assert "### ❌ payments" in text
    assert re.search(
        r"- ⚠️ \*\*enough\\_customers\*\*: The number .* \[run\]\(<http://d/runs/", text
    )
    assert "unique" not in text


def test_hostile_texts_are_no_markup_in_markdown(town: Town) -> None:
    text = markdown_report(town.logged)
    assert not re.search(r"<(?!http)|(?<!\\)\]\(javascript", text)
    assert len([line for line in text.splitlines() if line.startswith("### ")]) == len(
        [one for one in town.logged.overview().datasets if one.status in {"Error", "Warning"}]
    )


def test_a_reader_of_markdown_shows_hostile_texts_as_texts(town: Town) -> None:
    rows = town.logged.overview().datasets
    reader = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    page = reader.render(markdown_report(town.logged, dagster_url="http://dagster.example"))
    found = Elements.of(page)
    allowed = "a h2 h3 li p strong table tbody td th thead tr ul".split()
    assert [name for name in found.names if name not in allowed] == []
    assert found.hosts <= {"dagster.example"}
    assert found.names["tr"] == len(rows) + 1
    words = words_of(page)
    # On one line, and as short as a comment has to be.
    lines = [visible(one.replace("\u2028", " ")) for one in PAYLOADS if len(one) < 400]
    assert [one for one in lines if " ".join(one.split()) not in words] == []


@pytest.fixture
def home(town: Town, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DAGSTER_HOME", town.declared.instance.root_directory)
    monkeypatch.chdir(tmp_path)


def test_the_command_writes_a_file_by_its_name(home: None, tmp_path: Path) -> None:
    for name, start in (("report.html", "<!doctype html>"), ("report.md", "## ")):
        done = CliRunner().invoke(main, ["report", "-o", str(tmp_path / name)])
        assert done.exit_code == 0, done.output
        assert (tmp_path / name).read_text("utf-8").lstrip().startswith(start)
    done = CliRunner().invoke(main, ["report", "--format", "markdown", "--asset", "customers"])
    assert "| customers |" in done.stdout
    done = CliRunner().invoke(main, ["report", "--json", "--asset", "customers"])
    [customers] = json.loads(done.stdout)["datasets"]
    assert (customers["row"]["status"], len(customers["rules"])) == ("Error", 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--asset", "custmers"], "There is no asset 'custmers'. Did you mean 'customers'?"),
        (["-o", f"no{os.sep}such{os.sep}folder.html"], "cannot be written: No such file"),
        (["--dagster-url", "javascript:alert(1)"], "is no address of the web"),
    ],
)
def test_mistakes_are_said(home: None, arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(main, ["report", *arguments])
    assert done.exit_code == 2
    assert message in done.stderr
