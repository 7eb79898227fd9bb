"""Guarded assets with partitions: one in a run, several at once, and what is judged of all."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import DataFrame, Row, SparkSession

import dq_dagster as dq
from tests.integration.calendar import DAILY, day
from tests.integration.guarded.gate import (
    ORDERS,
    QUARANTINE,
    Gate,
    built,
    judged,
    materialized,
    positive,
    said,
    untyped,
    why,
)

RULES = [
    positive(),
    dq.ColumnUnique(name="unique", columns="amount"),
    dq.ColumnSumInRange(name="sum", columns="amount", max=100, scope="both"),
    dq.RecordCountInRange(name="rows", min=5, scope="whole_dataset"),
]
# By day: the ids tell the day, the amounts whether a row is good.
AMOUNTS = {1: [5, -1], 2: [7, 7, -2], 3: [], 4: [50, 60]}


def rows(spark: SparkSession, amounts: Mapping[int, Sequence[int]]) -> DataFrame:
    found = [
        (day(number), number * 10 + place, amount)
        for number, some in amounts.items()
        for place, amount in enumerate(some)
    ]
    return spark.createDataFrame(found, "day string, id int, amount int")


def daily(folder: Path, value: Any, rules: Any, **settings: Any) -> Gate:
    return Gate(
        folder,
        value,
        rules,
        **{
            "partitions_def": DAILY,
            "metadata": {"partition_expr": "CAST(day AS DATE)"},
            **settings,
        },
    )


@dataclass
class Days:
    """A run of one day, a run of three others, and one that breaks a rule on one of two days."""

    gate: Gate
    one: dg.ExecuteInProcessResult
    several: dg.ExecuteInProcessResult
    ids: list[int]
    quarantined: dict[int, Any]
    rebuilt: dg.ExecuteInProcessResult


@pytest.fixture(scope="module")
def days(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Days]:
    def value(keys: list[str]) -> DataFrame:
        return rows(spark, {n: AMOUNTS[n] for n in AMOUNTS if day(n) in keys})

    with dg.DagsterInstance.ephemeral() as instance:
        gate = daily(tmp_path_factory.mktemp("days"), value, RULES, instance=instance)
        one, several = gate.build(day(1)), gate.build(day(2), day(4))
        ids, quarantined = gate.ids(), gate.quarantined()
        gate.value = lambda keys: rows(spark, {1: [-5, 6], 2: [8]})
        yield Days(gate, one, several, ids, quarantined, gate.build(day(1), day(2)))


def test_rows_of_each_partition_go_where_they_belong(days: Days) -> None:
    assert days.one.success
    assert days.several.success
    assert days.ids == [10, 20, 21, 40, 41]
    assert days.quarantined == {
        11: ("left_out", ["positive"]),
        20: ("kept", ["unique"]),
        21: ("kept", ["unique"]),
        22: ("left_out", ["positive"]),
    }
    assert built(days.several) == [
        (name, day(number)) for name in ("orders", "orders_quarantine") for number in (2, 3, 4)
    ]


def test_each_partition_is_judged_and_all_of_them_together(days: Days) -> None:
    assert judged(days.one) == {
        ("positive", day(1)): "Error",
        ("unique", day(1)): "Ok",
        ("sum", day(1)): "Ok",
        "sum__dataset": "Ok",
        "rows": "Error",
    }
    assert judged(days.several) == {
        ("positive", day(2)): "Error",
        ("positive", day(3)): "Empty",
        ("positive", day(4)): "Ok",
        ("unique", day(2)): "Error",
        ("unique", day(3)): "Empty",
        ("unique", day(4)): "Ok",
        ("sum", day(2)): "Ok",
        ("sum", day(3)): "Empty",
        ("sum", day(4)): "Error",
        "sum__dataset": "Error",
        "rows": "Ok",
    }
    # What is stored of other days counts, and is not read as what it was before it was guarded.
    assert said(days.several)["sum__dataset"].startswith(
        "The sum of 'amount' is 129, above the maximum of 100."
    )
    assert said(days.several)["rows"].startswith("The number of rows is 5, as expected")
    assert said(days.one)["rows"] == "The number of rows is 1, below the minimum of 5."


def test_results_are_about_the_partitions_as_they_were_built(days: Days) -> None:
    events = days.several.get_asset_materialization_events()
    numbers = materialized(days.gate, days.several)
    for one in days.several.get_asset_check_evaluations():
        assert one.target_materialization_data is not None
        assert one.target_materialization_data.run_id == days.several.run_id
        if one.partition is not None:
            assert one.target_materialization_data.storage_id == numbers[one.partition]
    metadata = {(one.asset_key, one.partition): one.materialization.metadata for one in events}
    assert [metadata[ORDERS, day(n)]["dq/rows_in"].value for n in (2, 3, 4)] == [3, 0, 2]
    assert [
        metadata[QUARANTINE, day(n)]["dagster/partition_row_count"].value for n in (2, 3, 4)
    ] == [3, 0, 0]
    assert len({str(one["path"].value) for one in metadata.values()}) == 6


def test_one_record_a_partition(days: Days) -> None:
    found = {(one["run_id"], one["partition"]): one for one in days.gate.stats()}
    assert set(found) == {
        (days.one.run_id, day(1)),
        *((days.several.run_id, day(n)) for n in (2, 3, 4)),
        *((days.rebuilt.run_id, day(n)) for n in (1, 2)),
    }
    second = found[days.several.run_id, day(2)]
    assert [second[f"rows_{word}"] for word in ("in", "published", "quarantined", "dropped")] == [
        3,
        2,
        3,
        1,
    ]
    assert second["rules"] == {
        "positive": {"action": "drop", "faults": 1, "source": "Error"},
        "unique": {"action": "ignore", "faults": 2, "source": "Error"},
        "sum": {"action": "ignore", "source": "Ok", "validated": "Ok"},
        "rows": {"action": "ignore", "source": "Ok", "validated": "Ok"},
    }


def test_a_rebuild_replaces_the_partition_and_its_quarantine(days: Days) -> None:
    assert days.rebuilt.success
    assert days.gate.ids() == [11, 20, 40, 41]
    assert days.gate.quarantined() == {10: ("left_out", ["positive"])}
    assert said(days.rebuilt)["rows"].startswith("The number of rows is 4, below")


def test_lineage_of_partitions(days: Days) -> None:
    specs = days.gate.asset.specs_by_key
    assert specs[ORDERS].partitions_def == specs[QUARANTINE].partitions_def == DAILY
    assert [dep.asset_key for dep in specs[QUARANTINE].deps] == [ORDERS]


def test_one_bad_partition_stops_all_of_the_run(spark: SparkSession, tmp_path: Path) -> None:
    value = rows(spark, {1: [5], 2: [-1, 2], 3: [-3]})
    rules = [positive("fail"), dq.RecordCountInRange(name="rows", min=1)]
    gate = daily(tmp_path, lambda _: value, rules)
    run = gate.build(day(1), day(3))
    assert why(run) == (
        "Nothing of 'orders' was published. "
        "positive (2024-03-02): 1 of 2 rows (50 %) does not meet 'amount > 0' (none allowed). "
        "positive (2024-03-03): 1 of 1 row (100 %) does not meet 'amount > 0' (none allowed)."
    )
    assert built(run) == [("orders_quarantine", day(n)) for n in (1, 2, 3)]
    assert not gate.io.store(ORDERS).existing()
    assert gate.quarantined() == {
        20: ("withheld", ["positive"]),
        30: ("withheld", ["positive"]),
    }
    assert len(judged(run)) == 6
    assert [(one["partition"], one["status"]) for one in gate.stats()] == [
        (day(n), "withheld") for n in (3, 2, 1)
    ]


def test_a_dict_of_partitions_with_different_columns(spark: SparkSession, tmp_path: Path) -> None:
    def value(keys: list[str]) -> dict[str, DataFrame]:
        found = {key: rows(spark, {1: [1, -1]}).drop("day") for key in keys}
        found[keys[1]] = spark.createDataFrame(
            [(7, 3, "a"), (8, -3, "b")], "id int, amount int, x string"
        )
        return found

    rules = [
        positive(),
        dq.ColumnValuesInSet(name="known", columns="x", values=["a"], action_if_failed="ignore"),
        dq.ColumnUnique(name="unique", columns="id", action_if_failed="drop"),
    ]
    gate = daily(tmp_path, value, rules)
    run = gate.build(day(1), day(3))
    assert run.success
    found = judged(run)
    assert [found["positive", day(n)] for n in (1, 2, 3)] == ["Error"] * 3
    # A rule that cannot be judged on some rows is judged on none, as a mark has its place.
    assert [found["known", day(n)] for n in (1, 2, 3)] == ["Error"] * 3
    assert gate.ids() == [7, 10, 10]
    assert [row["id"] for row in gate.published(QUARANTINE)] == [11, 11, 8]
    assert gate.frame(keys=[day(2)]).columns == ["id", "amount", "x"]


def test_partitions_that_are_not_of_the_run_are_refused(
    spark: SparkSession, tmp_path: Path
) -> None:
    gate = daily(tmp_path, lambda _: rows(spark, {1: [1], 9: [2, -3]}), [positive()])
    run = gate.build(day(1), day(2))
    assert (
        "2 rows of asset 'orders' belong to none of the 2 partitions of this run ('2024-03-01', "
        "'2024-03-02'), but to '2024-03-09'." in why(run)
    )
    assert built(run) == []
    assert not gate.io.store(ORDERS).existing()
    gate.value = lambda _: {day(1): rows(spark, {1: [1]}), "x": rows(spark, {1: [1]})}
    assert "'x'" in why(gate.build(day(1), day(2)))
    assert not gate.io.store(ORDERS).existing()


TWO = dg.MultiPartitionsDefinition(
    {"day": DAILY, "city": dg.StaticPartitionsDefinition(["Köln", "a/b"])}
)


def test_two_dimensions(spark: SparkSession, tmp_path: Path) -> None:
    found = [(day(1), "Köln", 1, 1), (day(1), "Köln", 2, -1), (day(1), "a/b", 3, 2)]
    value = spark.createDataFrame(found, "day string, city string, id int, amount int")
    gate = daily(
        tmp_path,
        lambda keys: value.where(value.city == "Köln") if len(keys) == 1 else value,
        [
            positive(),
            dq.RecordCountInRange(name="all", max=1, on="validated", scope="whole_dataset"),
        ],
        partitions_def=TWO,
        metadata={"partition_expr": {"day": "CAST(day AS DATE)", "city": "city"}},
    )
    one = gate.build("Köln|2024-03-01")
    assert one.success
    assert judged(one) == {("positive", "Köln|2024-03-01"): "Error", "all": "Ok"}
    assert (gate.ids(), list(gate.quarantined())) == ([1], [2])
    both = gate.build("Köln|2024-03-01", "a/b|2024-03-01")
    assert both.success
    assert judged(both) == {
        ("positive", "Köln|2024-03-01"): "Error",
        ("positive", "a/b|2024-03-01"): "Ok",
        "all": "Error",
    }
    assert (gate.ids(), gate.quarantined()) == ([1, 3], {2: ("left_out", ["positive"])})


def test_values_that_repeat_in_other_partitions(spark: SparkSession, tmp_path: Path) -> None:
    """What is stored stays; of rows that come together, all are left out, or all but one."""
    narrow, wide = "id int, amount int", "id bigint, amount int, note string"
    value: dict[str, Any] = {
        day(1): spark.createDataFrame([(1, 5), (2, 5)], narrow),
        day(2): spark.createDataFrame([(1, 9), (3, 3), (4, 4)], narrow),
        day(3): spark.createDataFrame([(3, 7, "x"), (4, 1, None), (5, 5, None)], wide),
    }
    gate = daily(
        tmp_path,
        lambda keys: {key: value[key] for key in keys},
        [
            dq.ColumnUnique(
                name="odd",
                columns="id",
                where="id % 2 = 1",
                scope="whole_dataset",
                action_if_failed="drop",
            ),
            untyped.ColumnUnique(
                name="all", columns="id", keep={"order_by": "amount DESC"}, scope="both"
            ),
            dq.ColumnUnique(name="by_day", columns="id", action_if_failed="drop"),
            dq.RowExpectation(
                name="twice",
                expectation="id <> 4 OR count(*) OVER (PARTITION BY id) = 1",
                across_rows=True,
                scope="whole_dataset",
                action_if_failed="drop",
            ),
        ],
    )
    assert gate.build(day(1)).success
    run = gate.build(day(2), day(3))
    assert run.success
    assert gate.ids() == [1, 2, 5]
    found = [
        (row["id"], row["dq_state"], sorted(one["rule"] for one in row["dq_faults"]))
        for row in gate.published(QUARANTINE)
    ]
    assert sorted(found) == [
        (1, "left_out", ["all", "odd"]),
        (3, "left_out", ["all", "odd"]),
        (3, "left_out", ["odd"]),
        (4, "left_out", ["all", "twice"]),
        (4, "left_out", ["twice"]),
    ]
    counts = {one["partition"]: one["rules"] for one in gate.stats() if one["run_id"] == run.run_id}
    names = ("odd", "all", "by_day", "twice")
    assert [counts[day(2)][name]["faults"] for name in names] == [2, 2, 0, 1]
    assert [counts[day(3)][name]["faults"] for name in names] == [1, 1, 0, 1]
    verdicts = judged(run)
    assert {verdicts[name] for name in ("odd", "twice", "all__dataset")} == {"Error"}
    assert verdicts["all", day(2)] == verdicts["by_day", day(3)] == "Ok"


@pytest.mark.parametrize(
    "definition",
    [dg.StaticPartitionsDefinition(["north", "süd"]), dg.DynamicPartitionsDefinition(name="place")],
)
def test_partitions_that_are_no_times(
    spark: SparkSession, tmp_path: Path, definition: dg.PartitionsDefinition[Any]
) -> None:
    value = spark.createDataFrame(
        [("north", 1, 1), ("süd", 2, 2), ("süd", 3, -3)], "place string, id int, amount int"
    )
    gate = daily(
        tmp_path,
        lambda keys: {key: value.where(value.place == key) for key in keys},
        [
            positive(),
            dq.ColumnSumInRange(
                name="sum", columns="amount", min=3, on="validated", scope="whole_dataset"
            ),
        ],
        partitions_def=definition,
        metadata={},
    )
    if isinstance(definition, dg.DynamicPartitionsDefinition):
        gate.instance.add_dynamic_partitions("place", ["north", "süd"])
    assert judged(gate.build("north")) == {("positive", "north"): "Ok", "sum": "Error"}
    run = gate.build("süd")
    assert judged(run) == {("positive", "süd"): "Error", "sum": "Ok"}
    assert gate.published() == [
        Row(place="north", id=1, amount=1),
        Row(place="süd", id=2, amount=2),
    ]
    assert gate.quarantined() == {3: ("left_out", ["positive"])}


def test_a_run_without_a_partition_says_what_to_do(spark: SparkSession, tmp_path: Path) -> None:
    gate = daily(tmp_path, rows(spark, {1: [1]}), [positive()])
    assert "partition" in why(gate.build())
