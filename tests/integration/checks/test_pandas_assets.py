"""Assets that are pandas DataFrames, in Dagster runs: kept in memory, and stored by Spark."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from dagster_pyspark import LazyPySparkResource
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.spark.frames.pandas_tables import CANARY, GAP, NOON, WRONG, objects, table, times

RULES = [
    dq.RecordCountInRange(min=2, max=2, blocking=False),
    dq.ColumnNotEmpty(columns="fine", blocking=False),
    dq.ColumnNotEmpty(columns="odd", blocking=False),
]
DAYS = dg.DailyPartitionsDefinition("2024-03-09", end_date="2024-03-12")


def asset_of(value: Any, **options: Any) -> dg.AssetsDefinition:
    @dg.asset(name="orders", **options)
    def build() -> Any:
        return value

    return build


def run(asset: dg.AssetsDefinition, rule_set: dq.RuleSet, **options: Any) -> Any:
    checks = dq.build_asset_checks([rule_set], assets=[asset])
    return dg.materialize([asset, *checks], raise_on_error=False, **options)


def descriptions(result: Any) -> dict[str, tuple[bool, str]]:
    return {
        one.check_name: (one.passed, str(one.description))
        for one in result.get_asset_check_evaluations()
    }


@pytest.mark.parametrize("name", ["uint64", "huge", "period", "sparse", "int and str"])
def test_in_memory_a_column_costs_only_its_own_checks(spark: SparkSession, name: str) -> None:
    odd, kind = WRONG[name]
    result = run(
        asset_of(table(odd)),
        dq.RuleSet(asset="orders", rules=RULES),
        resources={"io_manager": dg.mem_io_manager},
    )
    found = descriptions(result)
    assert found["record_count_in_range"] == (
        True, "The number of rows is 2, as expected (exactly 2).",
    )  # fmt: skip
    assert found["column_not_empty_fine"][0]
    passed, text = found["column_not_empty_odd"]
    assert not passed
    assert text.startswith(f"Column 'odd' is of the pandas type {kind}")
    assert "4711" not in text


def test_in_memory_times_of_two_partitions(spark: SparkSession) -> None:
    parts = {
        "2024-03-09": table(times(NOON, None)),
        "2024-03-10": table(times(GAP, GAP + dt.timedelta(hours=1))),
    }
    rules = [
        dq.ColumnUnique(columns="odd", scope="both", blocking=False),
        dq.ColumnNotEmpty(columns="odd", scope="both", blocking=False),
    ]
    asset = asset_of(
        parts,
        partitions_def=DAYS,
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    checks = dq.build_asset_checks([dq.RuleSet(asset="orders", rules=rules)], assets=[asset])
    job = dg.Definitions(
        [asset],
        asset_checks=checks,
        resources={"io_manager": dg.mem_io_manager},
        jobs=[dg.define_asset_job("all", selection="*")],
    ).resolve_job_def("all")
    tags = {
        "dagster/asset_partition_range_start": "2024-03-09",
        "dagster/asset_partition_range_end": "2024-03-10",
    }
    result = job.execute_in_process(tags=tags, raise_on_error=False)
    found = [
        (one.check_name, one.partition, one.passed, one.description)
        for one in result.get_asset_check_evaluations()
    ]
    told = {(name, key): (passed, text) for name, key, passed, text in found}
    unique = "0 of {} values (0 %) of 'odd' are not unique (none allowed)."
    assert told["column_unique_odd", "2024-03-10"] == (True, unique.format(2))
    whole = [text for (name, key), (_, text) in told.items() if key is None and "unique" in name]
    assert str(whole[0]).startswith(unique.format(3))


def test_a_partition_with_a_column_that_cannot_be_read(spark: SparkSession) -> None:
    parts = {"2024-03-09": table(objects(1, 2)), "2024-03-10": table(WRONG["uint64"][0])}
    rules = [rule.model_copy(update={"scope": "both"}) for rule in RULES]
    from dq_dagster.spark.frames.divided import Divided
    from dq_dagster.spark.frames.frames import HIDDEN_KEY

    result = dq.evaluate(
        Divided.of_frames(parts),  # type: ignore[arg-type]
        rules,
        partition_by=HIDDEN_KEY,
        partitions=list(parts),
    )
    outcome = {(o.rule.name, o.partition): (o.status.value, o.message) for o in result}
    reason = "Column 'odd' is of the pandas type uint64, which Spark does not have"
    assert outcome["column_not_empty_odd", "2024-03-09"][0] == "Ok"
    assert outcome["column_not_empty_odd", "2024-03-10"][0] == "Error"
    assert outcome["column_not_empty_odd", "2024-03-10"][1].startswith(reason)
    assert outcome["column_not_empty_odd", None][0] == "Error"
    assert outcome["column_not_empty_odd", None][1].startswith(
        f"In partition '2024-03-10': {reason}"
    )
    assert outcome["column_not_empty_fine", None][0] == "Ok"


def stored(tmp_path: Path) -> dict[str, Any]:
    spark = LazyPySparkResource(spark_config={})
    return {"io_manager": dq.SparkIOManager(pyspark=spark, path=str(tmp_path))}


def failure_of(result: Any) -> str:
    [event] = [e for e in result.all_events if e.is_step_failure and "check" not in e.step_key]
    return str(event.step_failure_data.error.to_string())


@pytest.mark.parametrize("name", ["uint64", "huge", "int and str", "nanoseconds", "surrogates"])
def test_what_spark_can_not_hold_is_not_stored(
    spark: SparkSession, tmp_path: Path, name: str
) -> None:
    odd, kind = WRONG[name]
    result = run(
        asset_of(table(odd)), dq.RuleSet(asset="orders", rules=RULES), resources=stored(tmp_path)
    )
    assert not result.success
    text = failure_of(result)
    expected = f"Nothing of asset 'orders' was written. Column 'odd' is of the pandas type {kind}"
    assert expected in text
    assert CANARY not in text
    assert not list(tmp_path.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (
            pd.DataFrame([[1, 2]], columns=["a", "a"]),
            "The DataFrame has the column 'a' twice: rename one of them.",
        ),
        (pd.DataFrame(index=range(3)), "The DataFrame has no columns, and files cannot hold"),
    ],
)
def test_what_files_can_not_hold_is_not_stored(
    spark: SparkSession, tmp_path: Path, data: pd.DataFrame, told: str
) -> None:
    rules = dq.RuleSet(asset="orders", rules=RULES[:1])
    result = run(asset_of(data), rules, resources=stored(tmp_path))
    assert told in failure_of(result)


def test_times_that_the_zone_does_not_have_are_stored_as_they_are(
    spark: SparkSession, tmp_path: Path
) -> None:
    values = [GAP, GAP + dt.timedelta(hours=1)]
    result = run(
        asset_of(table(times(*values))),
        dq.RuleSet(asset="orders", rules=[dq.ColumnUnique(columns="odd"), *RULES]),
        resources=stored(tmp_path),
    )
    assert result.success
    assert {passed for passed, _ in descriptions(result).values()} == {True}
    path = result.asset_materializations_for_node("orders")[0].metadata["path"].value
    assert sorted(row["odd"] for row in spark.read.parquet(path).collect()) == values


def test_a_partition_is_not_stored_with_a_type_of_its_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    asset = asset_of(table(times(GAP, NOON)), partitions_def=DAYS)
    result = run(
        asset,
        dq.RuleSet(asset="orders", rules=RULES),
        resources=stored(tmp_path),
        partition_key="2024-03-10",
    )
    assert (
        "Nothing of asset 'orders' was written. Column 'odd' of the pandas type datetime64[ns] has "
        "times that do not exist in the session's time zone America/New_York"
    ) in failure_of(result)


def _float() -> Any:
    return float(CANARY)


def _arrow() -> Any:
    import pyarrow as pa

    return pa.array([1, CANARY])


def _pandas() -> Any:
    return pd.to_datetime([CANARY])


def _key() -> Any:
    return dict[str, int]()[CANARY]


def _own() -> Any:
    class Odd(Exception):
        pass

    raise Odd(f"row {CANARY}")


@pytest.mark.parametrize("read", [_float, _arrow, _pandas, _key, _own])
def test_what_readers_raise_is_told_without_its_text(spark: SparkSession, read: Any) -> None:
    def reader() -> Any:
        return read()

    result = run(
        asset_of(table(objects(1, 2))), dq.RuleSet(asset="orders", rules=RULES, reader=reader)
    )
    for passed, text in descriptions(result).values():
        assert not passed
        assert CANARY not in text
        assert text.startswith("The data of asset 'orders' could not be read (")
        assert f" was raised in {read.__name__} (test_pandas_assets.py, line " in text


def test_what_an_io_manager_raises_is_told_without_its_text(spark: SparkSession) -> None:
    class Leaky(dg.IOManager):
        def handle_output(self, context: dg.OutputContext, obj: Any) -> None: ...

        def load_input(self, context: dg.InputContext) -> Any:
            return int(CANARY)

    rule = dq.ColumnValuesInReference(
        name="known", columns="fine", reference=dq.Reference(asset="orders"), blocking=False
    )
    other = asset_of(1, io_manager_key="leaky")

    @dg.asset(io_manager_key="shelf")
    def lines() -> Any:
        return table(objects(1, 2))

    sets = [dq.RuleSet(asset="orders", rules=RULES), dq.RuleSet(asset="lines", rules=[rule])]
    checks = dq.build_asset_checks(sets, assets=[other, lines])
    resources = {"leaky": Leaky(), "shelf": dg.mem_io_manager}
    result = dg.materialize([other, lines, *checks], resources=resources, raise_on_error=False)
    found = descriptions(result)
    assert set(found) == {rule.name for rule in RULES} | {"known"}
    for passed, text in found.values():
        assert not passed
        assert text == (
            "The data of asset 'orders' could not be read (ValueError was raised in load_input "
            f"(test_pandas_assets.py, line {Leaky.load_input.__code__.co_firstlineno + 1}))."
        )
