"""table_diff in Dagster: a partition is compared with the same partition of another asset."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
from pyspark.sql import SparkSession

import dq_dagster as dq
from tests.integration.calendar import results
from tests.integration.io_manager.warehouse import DAILY, build, days, orders_of, rows

HERE = {"2024-03-01": [1, 2], "2024-03-02": [3, 4], "2024-03-03": [5]}
THERE = {"2024-03-01": [1, 2], "2024-03-02": [3, 9]}


def copies_of(spark: SparkSession, amounts: Mapping[str, Sequence[int]]) -> dg.AssetsDefinition:
    @dg.asset(name="copies", partitions_def=DAILY)
    def copies(context: dg.AssetExecutionContext) -> Any:
        return rows(spark, {context.partition_key: amounts[context.partition_key]})

    return copies


def test_partitions_are_compared_with_their_like(spark: SparkSession, tmp_path: Path) -> None:
    orders = orders_of(lambda keys: rows(spark, {key: HERE[key] for key in keys}))
    copies = copies_of(spark, THERE)
    rule = dq.TableDiff(
        name="same",
        keys="amount",
        reference=dq.Reference(asset="copies"),
        scope="both",
        blocking=False,
    )
    checks = dq.build_asset_checks(dq.RuleSet(asset=orders, rules=[rule]), assets=[orders])
    found: dict[tuple[str, str], str] = {}
    with dg.DagsterInstance.ephemeral() as instance:
        for key in THERE:
            build(tmp_path, [copies], key, instance=instance)
        for key in days(1, 3):
            run = build(
                tmp_path,
                [orders, copies, *checks],
                key,
                selection=dg.AssetSelection.assets(orders),
                instance=instance,
            )
            found |= {
                (name, where or f"all up to {key}"): str(one.description)
                for (name, where), one in results(run).items()
            }
    said = {where: words for (_, where), words in found.items()}
    gone, new = "not in asset 'copies' (none allowed)", "of asset 'copies'"
    assert said["2024-03-01"] == "All 2 rows are the same in asset 'copies'."
    assert said["2024-03-02"] == (
        f"1 of 2 rows (50 %) is {gone}; 1 of 2 rows (50 %) {new} is not here (none allowed)."
    )
    assert said["2024-03-03"] == f"1 of 1 row (100 %) is {gone}."
    assert said["all up to 2024-03-03"] == (
        f"2 of 5 rows (40 %) are {gone}; 1 of 4 rows (25 %) {new} is not here (none allowed)."
    )


def test_rows_of_tables_are_assigned_like_those_of_the_asset(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows(spark, {**THERE, "2024-03-03": [5, 6]}).createOrReplaceTempView("diff_copies")
    renamed = "SELECT day AS sold, amount FROM diff_copies"
    spark.sql(renamed).createOrReplaceTempView("diff_renamed")
    orders = orders_of(lambda keys: rows(spark, {key: HERE[key] for key in keys}))
    references = {
        "alike": dq.Reference(table="diff_copies"),
        "renamed": dq.Reference(table="diff_renamed"),
    }
    rules = [
        *(
            dq.TableDiff(name=name, keys="amount", reference=one, columns="amount", blocking=False)
            for name, one in references.items()
        ),
        dq.TableDiff(
            name="said",
            keys="amount",
            reference=references["renamed"],
            reference_partition_by="sold",
            columns="amount",
            blocking=False,
        ),
    ]
    checks = dq.build_asset_checks(dq.RuleSet(asset=orders, rules=rules), assets=[orders])
    run = build(tmp_path, [orders, *checks], "2024-03-03")
    said = {name: str(one.description) for (name, _), one in results(run).items()}
    for name, table in (("alike", "diff_copies"), ("said", "diff_renamed")):
        missing = f"1 of 2 rows (50 %) of table '{table}' is not here (none allowed)."
        assert said[name] == missing
    assert said["renamed"] == (
        "It is not known which partition each row of table 'diff_renamed' belongs to: say so by "
        "reference_partition_by, or compare the whole dataset (scope: whole_dataset)."
    )
