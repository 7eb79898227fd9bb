"""Rules that sketches may answer: close to the exact answer, in the shared pass, and said so."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.metrics.frequency import DISTINCT_ERROR

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Count = Callable[[Callable[[], object]], int]
ROWS = 20_000


@pytest.fixture
def numbers(spark: SparkSession) -> DataFrame:
    return spark.range(ROWS).selectExpr(
        "id",
        f"id % {ROWS // 2} AS pair",
        "CAST(id AS DECIMAL(20, 3)) AS amount",
        "CAST(id AS DOUBLE) AS x",
        # 'a' is by far the most frequent, then 'b'; the others are rare.
        "CASE WHEN id % 2 = 0 THEN 'a' WHEN id % 3 = 0 THEN 'b' ELSE concat('c', id) END AS s",
        "id % 4 AS part",
        "CAST(NULL AS STRING) AS nothing",
    )


def about(**fields: Any) -> dict[str, Any]:
    return {**fields, "approximate": True}


def test_unique_values(numbers: DataFrame) -> None:
    evaluation = dq.evaluate(
        numbers,
        [
            about(type="column_unique", columns="id", name="fine"),
            about(type="column_unique", columns="pair", name="twice"),
            about(type="column_unique", columns="nothing", name="nothing"),
            about(type="unique_key", columns=["pair", "part"], name="key"),
            about(
                type="column_unique",
                columns="pair",
                name="half",
                threshold={"type": "proportion", "min": 0.45},
            ),
        ],
    )
    found = {outcome.rule.name: str(outcome.status) for outcome in evaluation}
    assert found == {
        "fine": "Ok", "twice": "Error", "nothing": "Empty", "key": "Error", "half": "Ok",
    }  # fmt: skip
    twice = evaluation["twice"]
    assert twice.observed == pytest.approx(ROWS / 2, rel=DISTINCT_ERROR)
    assert twice.message.startswith("About ")
    assert twice.message.endswith("(none allowed; approximate, within 2.5%).")
    assert twice.details["approximate"] == DISTINCT_ERROR
    assert evaluation["fine"].failed_rows == 0


def test_medians(numbers: DataFrame) -> None:
    names = ["id", "amount", "x"]
    rules = [about(type="column_median_in_range", columns=names, name="m", min=0)]
    outcome = dq.evaluate(numbers, rules)["m"]
    for name in names:
        assert float(outcome.observed[name]) == pytest.approx(ROWS / 2, abs=0.001 * ROWS)
    single = about(type="column_median_in_range", columns="x", name="m", max=1, where="id < 9")
    one = dq.evaluate(numbers, [single])["m"]
    assert (str(one.status), one.observed) == ("Error", 4.0)
    assert "Approximate: its rank is right within 0.1%" in one.message


def test_frequent_values(numbers: DataFrame) -> None:
    evaluation = dq.evaluate(
        numbers,
        [
            about(type="column_most_frequent_in_set", columns="s", values=["a"], name="top"),
            about(type="column_top_values_in_set", columns="s", top=2, values=["a"], name="two"),
            about(type="column_most_frequent_in_set", columns="nothing", values=["a"], name="no"),
            about(type="column_most_frequent_in_set", columns="part", values=[1, 2], name="tie"),
            about(type="column_most_frequent_in_set", columns="s", values=[1], name="misfit"),
        ],
    )
    found = {outcome.rule.name: str(outcome.status) for outcome in evaluation}
    assert found == {"top": "Ok", "two": "Error", "no": "Empty", "tie": "Error", "misfit": "Error"}
    assert evaluation["top"].observed == ["a"]
    assert "Approximate" in evaluation["two"].message
    assert "4 of them tie for 1 place." in evaluation["tie"].message
    assert "cannot be compared" in evaluation["misfit"].message


def test_nan_is_never_fine(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(1.0,), (float("nan"),)], "x double")
    rule = about(type="column_median_in_range", columns="x", min=0)
    [outcome] = dq.evaluate(frame, [rule])
    assert str(outcome.status) == "Error"
    assert "NaN" in outcome.message


def test_estimates_share_a_pass_and_know_partitions(numbers: DataFrame, count_jobs: Count) -> None:
    rules = [
        about(type="column_unique", columns="pair", name="u", scope="both"),
        about(type="column_median_in_range", columns="x", name="m", scope="both", min=0),
        about(type="column_most_frequent_in_set", columns="s", values=["a"], name="f"),
    ]
    assert len(dq.explain(rules).passes) == 2
    assert count_jobs(lambda: dq.evaluate(numbers, rules, samples=False)) <= 4
    evaluation = dq.evaluate(numbers, rules, partition_by="part")
    assert str(evaluation["u"].status) == "Error"
    # In a partition every fourth number occurs, once or twice as among all.
    assert evaluation["u", "1"].rows == ROWS / 4
    assert evaluation["m", "3"].observed == pytest.approx(ROWS / 2, abs=0.001 * ROWS)
    assert [str(evaluation["f", key].status) for key in "0123"] == ["Ok", "Error", "Ok", "Error"]


def test_sketches_of_partitions_are_merged_for_the_whole(spark: SparkSession) -> None:
    # Values that occur in one part, in two and in all; a part without any, and rows of no part.
    frame = spark.range(40_000).selectExpr(
        "CASE WHEN id % 5 < 4 THEN date_add(DATE'2024-03-01', CAST(id % 5 AS INT)) END AS day",
        "IF(id % 5 = 3, NULL, id % 10000) AS few",
        "IF(id % 5 = 3, NULL, CAST(id AS DOUBLE)) AS x",
        "CAST(id AS DECIMAL(20, 3)) AS amount",
        "IF(id % 3 = 0, 'often', concat('v', id)) AS s",
    )
    rules = [
        about(type="column_unique", columns="few", name="u"),
        about(type="column_median_in_range", columns=["x", "amount"], name="m", min=0),
        about(type="column_most_frequent_in_set", columns="s", values=["often"], name="f"),
        {"type": "record_count_in_range", "name": "n", "min": 1},
    ]
    rules = [{**rule, "scope": "both"} for rule in rules]
    days = [f"2024-03-0{n}" for n in range(1, 6)]
    evaluation = dq.evaluate(frame, rules, partition_by="day", partitions=days)
    assert evaluation["n"].observed == 40_000
    # Each value of a day occurs four times there, and 32,000 values are not missing.
    assert evaluation["u"].rows == 32_000
    assert evaluation["u"].observed == pytest.approx(32_000 - 8_000, rel=3 * DISTINCT_ERROR)
    assert evaluation["u", days[0]].observed == pytest.approx(6_000, rel=3 * DISTINCT_ERROR)
    for part in (None, *days[:3]):
        found = evaluation["m", part] if part else evaluation["m"]
        assert float(found.observed["x"]) == pytest.approx(20_000, abs=0.002 * 40_000)
        assert float(found.observed["amount"]) == pytest.approx(20_000, abs=0.002 * 40_000)
        assert (evaluation["f", part] if part else evaluation["f"]).observed == ["often"]
    # All of its values are missing, and the fifth day has no rows at all.
    assert str(evaluation["u", days[3]].status) == "Empty"
    assert evaluation["m", days[3]].columns["x"].observed is None
    assert [str(evaluation[name, days[4]].status) for name in "umf"] == ["Empty"] * 3


def test_sketches_take_as_many_jobs_for_many_partitions_as_for_few(
    numbers: DataFrame, count_jobs: Count, large: None
) -> None:
    rules = [
        about(type="column_unique", columns="pair", name="u", scope="both"),
        about(type="column_median_in_range", columns="x", name="m", scope="both", min=0),
    ]

    def jobs(parts: int) -> int:
        rows = numbers.selectExpr("* EXCEPT (part)", f"id % {parts} AS part")
        return count_jobs(lambda: dq.evaluate(rows, rules, partition_by="part", samples=False))

    assert (jobs(4), jobs(40)) == (5, 5)


def test_groups_within_partitions_are_estimated_as_well(numbers: DataFrame, large: None) -> None:
    rule = about(
        type="column_median_in_range",
        columns="x",
        name="m",
        min=0,
        scope="both",
        dimensions=["part"],
    )
    found = dq.evaluate(numbers, [rule], partition_by="id % 2")
    assert str(found["m"].status) == "Ok"
    assert found["m", "1"].observed == pytest.approx(ROWS / 2, abs=0.002 * ROWS)
