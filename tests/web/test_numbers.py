"""Every number on the pages is the monitor's: each view of each dataset, row by row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from urllib.parse import urlencode

import pytest

from dq_dagster.judging.judgement import Status
from dq_dagster.judging.wording import NOTHING, value_words
from dq_dagster.monitoring.views.shapes import StatusDay
from dq_dagster.web.drawings import WORDS, counts_in_words, points
from dq_dagster.web.rendering import amount
from tests.web.conftest import Town
from tests.web.test_app import page_of, words_of


def rows_of(page: str, kind: str) -> list[str]:
    """The rows of the first table of a kind, each as the words of its cells."""
    [table] = re.findall(rf'<table class="[^"]*\b{kind}\b.*?</table>', page, re.DOTALL)[:1]
    return re.findall(r"<tr class=.*?</tr>|<tr data-row.*?</tr>", table, re.DOTALL)


def cells_of(row: str) -> list[str]:
    return [words_of(cell) for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)]


def titles_of(page: str, kind: str) -> list[str]:
    found = re.findall(rf'class="{kind}\b[^>]* title="([^"]*)"', page)
    return [words_of(title) for title in found]


def address(page: str, **query: str) -> str:
    return f"/{page}?{urlencode(query)}"


@pytest.fixture(params=["customers", "orders", "payments"])
def asset(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_rules_of_a_dataset(town: Town, asset: str) -> None:
    view = town.declared.dataset(asset)
    page = page_of(town.port, address("dataset", asset=asset))
    rows = rows_of(page, "rules")
    assert len(rows) == len(view.rules)
    for row, rule in zip(rows, view.rules, strict=True):
        said, cells = rule.slices[0], cells_of(row)
        assert cells[0].startswith(WORDS[rule.status])
        assert cells[1].startswith(rule.info.rule)
        failed = (
            f" {said.failed_rows:,} of {said.rows:,} rows failed"
            if said.failed_rows is not None
            else ""
        )
        assert cells[2] == f"{value_words(said.observed)}{failed}"
        assert said.message in cells[4]
    head = words_of(page)
    assert f"rules {counts_in_words(view.row.counts)}" in head
    assert view.row.score.value is not None
    assert f"Score: {points(view.row.score.value)} of 100" in page


def of_day(one: StatusDay) -> str:
    said = "nothing ran, still" if one.carried else "last"
    worst = "" if one.worst is None else f", worst {WORDS[one.worst]}"
    return f"{one.day.isoformat()} (UTC): {said} {WORDS[one.last]}{worst}"


def test_days_of_a_dataset_and_of_a_project(town: Town, asset: str) -> None:
    row = town.declared.dataset(asset).row
    for page, days in (
        (
            page_of(town.port, address("dataset", asset=asset, view="timeline")),
            town.declared.timeline(asset).days,
        ),
        (
            page_of(town.port, address("project", name=row.project)),
            town.declared.timeline(project=row.project).days,
        ),
    ):
        known = {one.day: of_day(one) for one in days if one.last is not Status.NOT_COMPUTED}
        found = {date.fromisoformat(words[:10]): words for words in titles_of(page, "day")}
        assert found == known


def test_rules_behind_a_day(town: Town, asset: str) -> None:
    [today] = [one.day for one in town.declared.timeline(asset, days=1).days]
    view = town.declared.day(asset, today)
    query = {"asset": asset, "view": "timeline", "day": today.isoformat()}
    found = [
        cells_of(row) for row in rows_of(page_of(town.port, address("dataset", **query)), "folds")
    ]
    assert [(cells[0], cells[1], cells[3], cells[4]) for cells in found] == [
        (
            WORDS[one.last],
            "did not run" if one.worst is None else WORDS[one.worst],
            f"{one.evaluations:,}",
            one.message,
        )
        for one in view.rules
    ]


def test_partitions(town: Town, asset: str) -> None:
    grid = town.declared.partitions(asset)
    page = page_of(town.port, address("dataset", asset=asset, view="partitions"))
    expected = [
        f"{info.rule}, {row.partition or 'whole dataset'}: {WORDS[cell]}"
        for row in grid.partitions
        for info, cell in zip(grid.rules, row.cells, strict=True)
        if cell is not None
    ]
    assert [title for title in titles_of(page, "cell") if "never judged" not in title] == expected
    rows = [cells_of(row) for row in rows_of(page, "grid")]
    assert [cells[1] for cells in rows] == [WORDS[row.status] for row in grid.partitions]
    assert f"1 to {len(rows)} of {grid.in_all}" in words_of(page)


def histories(town: Town, asset: str) -> Iterator[tuple[str, str]]:
    for rule in town.declared.dataset(asset).rules:
        yield (
            rule.info.check,
            page_of(town.port, address("rule", asset=asset, rule=rule.info.check)),
        )


def test_histories(town: Town, asset: str) -> None:
    for check, page in histories(town, asset):
        history = town.declared.history(asset, check)
        rows = [cells_of(row) for row in rows_of(page, "evaluations")]
        newest_first = list(reversed(history.points))
        assert [cells[0] for cells in rows] == [WORDS[one.status] for one in newest_first]
        # The last cells: observed, bounds, rows, failed rows, run.
        assert [(cells[-5], cells[-3], cells[-2], cells[-1]) for cells in rows] == [
            (
                value_words(dict(one.values) if len(one.values) > 1 else one.value),
                amount(one.rows),
                amount(one.failed_rows),
                one.run_id[:8],
            )
            for one in newest_first
        ]
        assert f"{len(rows)} of {history.in_all}, the newest first" in words_of(page)
        drawn = [one for one in history.points if len(one.values) < 2 and one.value is not None]
        assert page.count("<use") >= len(drawn)


def test_dimensions(town: Town, asset: str) -> None:
    view = town.declared.dimensions(asset)
    page = page_of(town.port, address("dataset", asset=asset, view="dimensions"))
    words = words_of(page)
    for one in view.qualities:
        score = NOTHING if one.score.value is None else points(one.score.value)
        count = f"{len(one.rules)} rule" + ("" if len(one.rules) == 1 else "s")
        assert f"{one.name} {WORDS[one.status]} Score {score} {count}" in words
        assert f'aria-label="{counts_in_words(one.counts)}"' in page
    groups = [group for one in view.breakdowns for group in one.groups]
    for group in groups:
        status = "" if group.status is None else f"{WORDS[group.status]} "
        rest = f"{group.observed} {amount(group.rows)} {amount(group.failed_rows)}"
        assert f"{group.group} {status}{rest}" in words
    assert bool(groups) == (asset == "customers")


def test_quarantine_and_flow(town: Town) -> None:
    view = town.declared.quarantine("payments")
    page = page_of(town.port, address("dataset", asset="payments", view="quarantine"))
    assert [cells_of(row)[2:6] for row in rows_of(page, "folds")] == [
        [
            f"{count:,}"
            for count in (
                one.rows_in,
                one.rows_published,
                one.rows_dropped,
                one.rows_quarantined,
            )
        ]
        for one in view.builds
    ]
    page = page_of(town.port, "/flow")
    found = re.findall(r'<a class="node[^>]* aria-label="([^"]*)"', page)
    assert set(map(words_of, found)) == {
        f"{one.asset}: {WORDS[one.status] if one.rules else 'no rules'}"
        for one in town.declared.flow().nodes
    }
