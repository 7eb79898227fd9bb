"""Partitions that do not have the same columns are judged each by its own."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.spark.divided import Divided
from dq_dagster.spark.frames import HIDDEN_KEY
from tests.integration.calendar import DAILY, RANGE_END, RANGE_START, Shop, day, results, statuses
from tests.integration.shelf import PYSPARK

COLUMNS: list[dict[str, Any]] = [
    {"name": "number", "type": "bigint"},
    {"name": "mail", "type": "string"},
    {"name": "amount", "type": "double"},
]
RULES = [
    dq.SchemaEquals(name="agreed", expected=COLUMNS, blocking=False),
    dq.SchemaContains(name="at_least", expected=COLUMNS[1:2], blocking=False),
    dq.ColumnCountInRange(name="columns", min=3, max=3, scope="both", blocking=False),
    dq.ColumnValuesInSet(name="mails", columns="mail", values=["a@b.c"], blocking=False),
    dq.ColumnNotEmpty(name="given", columns="mail", scope="both", blocking=False),
    dq.ColumnUnique(name="unique", columns="number", scope="both", blocking=False),
    dq.ColumnMedianInRange(name="median", columns="amount", max=5, blocking=False),
    dq.RowExpectation(name="row", expectation="mail LIKE '%@%'", blocking=False),
    dq.RecordCountTypical(name="rows", learning_period=2, blocking=False),
    dq.ColumnMaxTypical(name="largest", columns="amount", learning_period=2, blocking=False),
    dq.ColumnNotEmpty(name="by_mail", columns="amount", dimensions=["mail"], blocking=False),
]
USUAL = {"number": [1, 2], "mail": ["a@b.c", "a@b.c"], "amount": [1.0, 2.0]}
DAYS = {
    day(1): USUAL,
    day(2): {**USUAL, "number": [3, 4]},
    # A lost column, one more, another type, another order.
    day(3): {"number": [5, 6], "amount": [3.0, 4.0]},
    day(4): {**USUAL, "number": [7, 8], "note": ["x", "y"]},
    day(5): {**USUAL, "number": ["9", "X"]},
    day(6): {"amount": [5.0, 6.0], "mail": ["a@b.c", None], "number": [11, 12]},
    day(7): {**USUAL, "number": [13, 13]},
}


def shop_of(io_manager: Any) -> Shop:
    @dg.asset(partitions_def=DAILY)
    def orders(context: dg.AssetExecutionContext) -> pd.DataFrame:
        return pd.DataFrame(DAYS[context.partition_key])

    return Shop(orders, RULES, io_manager=io_manager)


def told(run: Any) -> dict[tuple[str, str], str]:
    return {
        (name, key): str(one.description)
        for (name, key), one in results(run).items()
        if key is not None
    }


@pytest.mark.parametrize("by_spark", [True, False])
def test_together_as_alone(spark: SparkSession, tmp_path: Path, by_spark: bool) -> None:
    folder = str(tmp_path)
    files = dg.FilesystemIOManager(base_dir=folder)
    shop = shop_of(dq.SparkIOManager(pyspark=PYSPARK, path=folder) if by_spark else files)
    alone: dict[tuple[str, str], str] = {}
    for key in DAYS:
        alone |= told(shop.build(key))
    run = shop.check(tags={RANGE_START: day(1), RANGE_END: day(7)})
    together = told(run)
    assert together == alone
    assert together["agreed", day(1)] == "All 3 columns are as expected."
    assert together["agreed", day(3)].startswith("1 of 3 columns")
    missing = "Column 'mail' is not in the table."
    for name in ("mails", "given", "row"):
        assert missing in together[name, day(3)]
    assert together["columns", day(4)] == "The number of columns is 4, above the maximum of 3."
    whole = {name: str(one.description) for (name, key), one in results(run).items() if key is None}
    assert set(whole) == {"columns__dataset", "given__dataset", "unique__dataset"}
    clash = (
        "Column 'number' is of type bigint in partition '2024-03-01', but of type string in "
        "partition '2024-03-05': bring both to one type, and materialize one of them again."
    )
    assert set(whole.values()) == {clash}


def test_partitions_of_one_kind_are_looked_at_together(
    spark: SparkSession, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    usual = spark.createDataFrame([(1, "a@b.c", 2.0)], "number bigint, mail string, amount double")

    def jobs(days: int) -> int:
        parts = {day(n): usual if n % 2 else usual.drop("mail") for n in range(1, days + 1)}
        divided: Any = Divided.of_frames(parts)
        judged: list[dq.Evaluation] = []
        rules = [rule.model_copy(update={"scope": "both"}) for rule in RULES]

        def look() -> None:
            judged.append(dq.evaluate(divided, rules, partition_by=HIDDEN_KEY, partitions=[*parts]))

        found = count_jobs(look)
        [lost] = {
            outcome.message
            for outcome in judged[0]
            if outcome.rule.name == "mails" and outcome.partition in {day(2), day(days)}
        }
        assert lost == "Column 'mail' is not in the table. Its columns are 'number', 'amount'."
        return found

    assert jobs(2) == jobs(8)


def test_rows_belong_where_they_are_stored(spark: SparkSession, tmp_path: Path) -> None:
    """Whatever ``partition_expr`` says of them, in runs of one partition and of many."""

    @dg.asset(partitions_def=DAILY, metadata={"partition_expr": "day"})
    def orders(context: dg.AssetExecutionContext) -> Any:
        # The second day's orders all say that they are of the first.
        return spark.createDataFrame([(day(1), 1), (day(1), 2)], "day string, amount int")

    rules = [
        dq.RecordCountInRange(name="rows", min=2, max=2),
        dq.ColumnUnique(name="unique", columns="amount"),
        dq.RecordCountInRange(name="all", min=4, max=4, scope="both", blocking=False),
    ]
    shop = Shop(orders, rules, io_manager=dq.SparkIOManager(pyspark=PYSPARK, path=str(tmp_path)))
    shop.build(day(1))
    alone = shop.build(day(2))
    assert statuses(alone) == {
        ("rows", day(2)): "Ok",
        ("unique", day(2)): "Ok",
        ("all", day(2)): "Error",
        ("all__dataset", None): "Ok",
    }
    together = shop.check(tags={RANGE_START: day(1), RANGE_END: day(2)})
    assert {key: statuses(together)[key] for key in statuses(alone)} == statuses(alone)
    assert statuses(together)["rows", day(1)] == "Ok"
