"""An aggregate in a row filter: the remedy that the message gives is taken, and works."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# By filter: what the remedy observes on the table below.
FILTERS: dict[str, Any] = {
    "sum(amount) > 0": 60,
    "count(*) > 1 and max(name) = 'it''s'": {"count(*)": 3, "max(name)": "it's"},
    'max(name) = "a \\" b"': "it's",
    "amount > avg(amount)": 1,
    "amount >= max(amount) and name = 'it''s'": 1,
    "amount > percentile_cont(0.5) within group (order by amount)": 1,
    "amount < size(collect_set(name)) * 10": 1,
    "amount >\n  avg(amount) filter (where name is not null)": 1,
}


@pytest.fixture(scope="module")
def table(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [(10, "a"), (20, None), (30, "it's")], "amount int, name string"
    ).coalesce(1)


def complaint(where: str, **fields: Any) -> str:
    rule = {"type": "column_not_empty", "columns": "name", "where": where, **fields}
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(asset="orders", rules=[rule])
    return str(caught.value)


@pytest.mark.parametrize("where", FILTERS)
def test_the_remedy_is_taken_and_works(table: DataFrame, where: str) -> None:
    said = complaint(where)
    assert "is an aggregate over many rows, while a row filter sees one row at a time: " in said
    remedy = re.search(r"\{type: .*\}", said)
    assert remedy is not None
    (outcome,) = dq.evaluate(table, [yaml.safe_load(remedy[0])])
    assert "error" not in outcome.details, outcome.message
    assert outcome.observed == FILTERS[where]


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("rand() > sum(amount)", ["is not deterministic", "write the number itself."]),
        ("max(sum(amount)) > amount", ["write the number itself."]),
        (
            " or ".join(f"sum(a{n}) > {n}" for n in range(40)),
            ["a rule of its own, of type agg_dq."],
        ),
        (
            " or ".join(f"a{n} > sum(a{n})" for n in range(40)),
            ["with a query, the metric of a rule of type metric_in_range."],
        ),
        ("sum(amount) over () > 0", ["is a window function"]),
    ],
)
def test_where_there_is_no_short_remedy(where: str, words: list[str]) -> None:
    said = complaint(where)
    assert all(word in said for word in words), said


def test_the_same_for_conditions_on_aggregates_and_metrics() -> None:
    for rule in (
        {"type": "agg_dq", "expectation": "count(*) > 0", "where": "sum(x) > 0"},
        {"type": "metric_in_range", "metric": {"sql": "max(x)"}, "min": 0, "where": "sum(x) > 0"},
    ):
        with pytest.raises(dq.DeclarationError, match=r"expectation: \"sum\(x\) > 0\""):
            dq.RuleSet(asset="orders", rules=[rule])
