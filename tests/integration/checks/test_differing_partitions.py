"""Partitions that do not have the same columns are judged each by its own."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.spark.frames.divided import Divided
from dq_dagster.spark.frames.frames import HIDDEN_KEY
from tests.depth import deep_after
from tests.integration.calendar import DAILY, RANGE_END, RANGE_START, Shop, day, results, statuses
from tests.integration.shelf import PYSPARK, record_of

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
USUAL: dict[str, list[Any]] = {"number": [1, 2], "mail": ["a@b.c", "a@b.c"], "amount": [1.0, 2.0]}
DAYS: dict[str, dict[str, list[Any]]] = {
    day(1): USUAL,
    day(2): {**USUAL, "number": [3, 4]},
    # A lost column, one more, another type, another order.
    day(3): {"number": [5, 6], "amount": [3.0, 4.0]},
    day(4): {**USUAL, "number": [7, 8], "note": ["x", "y"]},
    day(5): {**USUAL, "number": ["9", "X"]},
    day(6): {"amount": [5.0, 6.0], "mail": ["a@b.c", None], "number": [11, 12]},
    day(7): {**USUAL, "number": [13, 13]},
}


# Where the data is kept, and whether the whole dataset is answered from what is on record.
PLACES = [("spark", True), ("files", False)]


class Days:
    """An asset whose days may have any columns, and the runs that build and check them."""

    def __init__(self, folder: Path, place: str) -> None:
        self.parts: dict[str, Mapping[str, Any]] = dict(DAYS)
        self.instance = dg.DagsterInstance.ephemeral()
        self.io_manager: Any = dg.FilesystemIOManager(base_dir=str(folder))
        if place == "spark":
            self.io_manager = dq.SparkIOManager(pyspark=PYSPARK, path=str(folder))

        @dg.asset(partitions_def=DAILY, metadata={"partition_expr": "to_date('2024-03-01')"})
        def orders(context: dg.AssetExecutionContext) -> pd.DataFrame:
            return pd.DataFrame(self.parts[context.partition_key])

        self.asset = orders

    def shop(self, rules: Sequence[Any], *, incremental: bool = False) -> Shop:
        rule_set = dq.RuleSet(asset=self.asset, rules=rules, incremental=incremental)
        return Shop(self.asset, rule_set, instance=self.instance, io_manager=self.io_manager)


def told(run: Any) -> dict[tuple[str, str], Any]:
    """What the results on partitions say, to people and to later checks."""
    return {
        (name, key): (str(one.description), record_of(one).groups)
        for (name, key), one in results(run).items()
        if key is not None
    }


def told_of_whole(run: Any) -> dict[str, str]:
    every = {name: str(one.description) for (name, key), one in results(run).items() if key is None}
    return {name: re.sub(r" [^.]* as recorded\.$", "", said) for name, said in every.items()}


@pytest.mark.parametrize(("place", "incremental"), deep_after(1, PLACES))
def test_together_as_alone(
    spark: SparkSession, tmp_path: Path, place: str, incremental: bool
) -> None:
    days = Days(tmp_path, place)
    shop = days.shop(RULES, incremental=incremental)
    built = [shop.build(key) for key in DAYS]
    alone = {where: words for one in built for where, words in told(one).items()}
    run = days.shop(RULES).check(tags={RANGE_START: day(1), RANGE_END: day(7)})
    together = told(run)
    assert together == alone
    said = {where: words for where, (words, _) in together.items()}
    assert said["agreed", day(1)] == "All 3 columns are as expected."
    assert said["agreed", day(3)].startswith("1 of 3 columns")
    missing = "Column 'mail' is not in the table."
    assert all(missing in said[name, day(3)] for name in ("mails", "given", "row"))
    assert said["columns", day(4)] == "The number of columns is 4, above the maximum of 3."
    whole = told_of_whole(run)
    assert whole == told_of_whole(built[-1])
    clash = (
        "Column 'number' is of type bigint in partition '2024-03-01', but of type string in "
        "partition '2024-03-05': bring both to one type, and materialize one of them again."
    )
    # What has nothing to do with that column is answered.
    assert whole == {
        "columns__dataset": clash,
        "unique__dataset": clash,
        "given__dataset": "3 of 14 rows (21.43 %) have no 'mail' (none allowed).",
    }


@pytest.mark.parametrize("place", deep_after(1, ["spark", "files"]))
def test_states_of_days_that_did_not_fit_are_right_when_all_fit_again(
    spark: SparkSession, tmp_path: Path, place: str
) -> None:
    days = Days(tmp_path, place)
    rules = [
        dq.RecordCountInRange(name="rows", max=100, scope="both", blocking=False),
        dq.ColumnNotEmpty(name="given", columns="number", scope="both", blocking=False),
        dq.ColumnUnique(name="unique", columns="number", scope="both", blocking=False),
    ]
    shop = days.shop(rules, incremental=True)
    for number, values in enumerate(([1, 2], [3, 4], ["a", None, "b", None, "c"]), 1):
        days.parts[day(number)] = {"number": values}
        shop.build(day(number))
    days.parts |= {day(1): {"number": ["d"]}, day(2): {"number": ["e"]}}
    shop.build(day(1))
    assert told_of_whole(shop.build(day(2))) == {
        "rows__dataset": "The number of rows is 7, as expected (at most 100).",
        "given__dataset": "2 of 7 rows (28.57 %) have no 'number' (none allowed).",
        "unique__dataset": "0 of 5 values (0 %) of 'number' are not unique (none allowed).",
    }


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
