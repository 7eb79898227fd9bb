"""What people see in Dagster of the past that a value was judged by."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import dagster as dg
import pytest

import dq_dagster as dq
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.integration.checks.results import entries_of
from dq_dagster.integration.event_log.codec import Record
from dq_dagster.integration.event_log.views import MOST_CHARTS, charts_of, history_rows
from dq_dagster.judging.evidence import PastValue
from dq_dagster.judging.judgement import Judgement
from dq_dagster.judging.typical import Typical
from tests.integration.calendar import Shop, day, orders_asset, results
from tests.integration.shelf import status_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

START = datetime(2024, 3, 1, 6, tzinfo=UTC)
DAY = timedelta(days=1)
RULE = dq.RecordCountTypical(learning_period=3)


def judgement(
    value: float, *, count: int = 40, partitions: bool = False, **parameters: Any
) -> Judgement:
    past = [
        PastValue(100 + n % 7, START + n * DAY, partition=day(n + 1) if partitions else None)
        for n in range(count)
    ]
    typical = Typical(learning_period=3, lookback_window=200, **parameters)
    return typical.judge(value, past, START + count * DAY, what="It")


def outcome(value: float, **parameters: Any) -> Outcome:
    return Outcome.of(RULE, judgement(value, **parameters))


def kept(one: Outcome, *, chart: str = "") -> dict[str, Any]:
    return entries_of(one, Record.of(one).encode(), chart=chart)


def columns(values: Mapping[str, float]) -> Outcome:
    found = Judgement.of_columns({name: judgement(value) for name, value in values.items()})
    return Outcome.of(dq.ColumnMaxTypical(columns=list(values)), found)


def pictures(markdown: str) -> list[bytes]:
    found = []
    for line in markdown.split("\n\n"):
        assert line.startswith("![history](data:image/png;base64,")
        found.append(base64.b64decode(line.removesuffix(")").split(",")[1], validate=True))
    assert all(one.startswith(b"\x89PNG") for one in found)
    return found


def test_the_newest_thirty_values_by_their_time() -> None:
    rows = history_rows(outcome(103).judgement)
    assert len(rows) == 30
    assert rows[0] == {"time": "2024-04-09 06:00:00 UTC", "value": 104}
    assert rows[1] == {"time": "2024-04-08 06:00:00 UTC", "value": 103}


def test_values_of_partitions_are_called_by_their_keys() -> None:
    rows = history_rows(outcome(103, partitions=True, count=5).judgement)
    assert [row["partition"] for row in rows] == [day(n) for n in (5, 4, 3, 2, 1)]


def test_several_columns_share_the_table_the_worst_first() -> None:
    rows = history_rows(columns({"a": 103, "b": 999, "c": 103}).judgement)
    assert [row["column"] for row in rows] == ["b"] * 10 + ["a"] * 10 + ["c"] * 10
    assert rows[0] == {"column": "b", "time": "2024-04-09 06:00:00 UTC", "value": 104}


def test_while_learning_there_is_nothing_to_see() -> None:
    learning = outcome(103, count=2)
    assert learning.status == "Empty"
    assert history_rows(learning.judgement) == []
    assert charts_of([learning]) == {}
    other = Outcome.of(dq.RecordCountInRange(min=1), Judgement.of_no_rows())
    assert {"dq/history", "dq/chart"}.isdisjoint(kept(other))


def test_a_chart_for_each_outcome_and_for_two_columns_of_one() -> None:
    found = charts_of([outcome(103), outcome(103, count=1), columns({"a": 1, "b": 103, "c": 2})])
    assert {place: len(pictures(chart)) for place, chart in found.items()} == {0: 1, 2: 2}


def test_of_many_outcomes_the_worst_have_charts() -> None:
    many = [outcome(103) for _ in range(50)] + [outcome(999), outcome(107, soft_iqr_factor=0.1)]
    assert [str(one.status) for one in many[-2:]] == ["Error", "Warning"]
    found = charts_of(many)
    assert len(found) == MOST_CHARTS
    assert set(found) == {*range(MOST_CHARTS - 2), 50, 51}


def test_metadata_stays_within_its_limit_and_charts_go_first() -> None:
    def size(entries: Mapping[str, Any]) -> int:
        return sum(len(str(getattr(value, "value", value))) for value in entries.values())

    one = outcome(103)
    chart = charts_of([one])[0]
    entries = kept(one, chart=chart)
    assert isinstance(entries["dq/chart"], dg.MarkdownMetadataValue)
    assert isinstance(entries["dq/history"], dg.TableMetadataValue)
    assert len(entries["dq/history"].records) == 30
    assert size(entries) <= 16_384

    wide = columns({f"column_{n}": 103 for n in range(40)})
    full = kept(wide, chart=charts_of([wide])[0])
    assert "dq/chart" not in full
    huge = kept(wide, chart="x" * 20_000)
    assert "dq/chart" not in huge
    assert "dq/columns" in huge


def test_a_value_that_is_no_number_is_still_shown_with_its_past() -> None:
    odd = outcome(float("nan"))
    assert odd.status == "Error"
    entries = kept(odd, chart=charts_of([odd])[0])
    assert len(pictures(entries["dq/chart"].value)) == 1
    json.dumps([record.data for record in entries["dq/history"].records], allow_nan=False)


@pytest.mark.deep
def test_without_matplotlib_there_is_no_chart_and_all_else() -> None:
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from tests.integration.event_log.test_past_view import charts_of, history_rows, outcome\n"
        "print(charts_of([outcome(103)]), len(history_rows(outcome(103).judgement)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["{}", "30"]


@pytest.mark.parametrize("names", [["a](javascript:alert(1))", "<img src=x>"]])
def test_names_get_into_no_markdown(names: list[str]) -> None:
    odd = columns(dict.fromkeys(names, 103))
    assert len(pictures(charts_of([odd])[0])) == 2


def test_in_dagster(spark: SparkSession) -> None:
    amounts = {day(n): [10.0 + n % 3] * (5 + n % 2) for n in range(1, 10)} | {day(10): [900.0]}
    rules = [
        dq.ColumnMaxTypical(name="max", columns="amount", learning_period=4, blocking=False),
        dq.RecordCountInRange(name="some", min=1),
    ]
    shop = Shop(orders_asset(spark, amounts), rules)
    found = results(shop.build(day(1), day(10)))
    odd = found["max", day(10)].metadata
    assert status_of(found["max", day(10)]) == "Error"
    history: Any = odd["dq/history"]
    assert [record.data for record in history.records][:2] == [
        {"partition": day(9), "value": 10.0},
        {"partition": day(8), "value": 12.0},
    ]
    assert len(pictures(str(odd["dq/chart"].value))) == 1
    for (name, key), one in found.items():
        shown = name == "max" and key > day(4) if key else False
        assert ("dq/chart" in one.metadata) is shown
        assert ("dq/history" in one.metadata) is shown
