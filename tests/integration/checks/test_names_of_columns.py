"""Columns that differ only in case, and columns that are called like those this library adds."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from dq_dagster.spark.frames.frames import HIDDEN_KEY
from tests.integration.calendar import results, statuses
from tests.integration.io_manager.warehouse import END, START, why

DAYS = dg.StaticPartitionsDefinition(["mon", "tue"])
SCHEMES = pytest.mark.parametrize("scheme", ["", "file://"])


@pytest.fixture(scope="module")
def exact(spark: SparkSession) -> SparkSession:
    """A session that tells names apart that differ only in case."""
    session = spark.newSession()
    session.conf.set("spark.sql.caseSensitive", "true")
    return session


def stored(session: SparkSession, place: Any) -> dq.SparkIOManager:
    resource = dg.ResourceDefinition.hardcoded_resource(session)
    return dq.SparkIOManager(pyspark=resource, path=str(place))


METRICS: Any = {
    "difference": {"sql": "max(A) - max(a)"},
    "both": {"query": "SELECT max(A) - max(a) AS m, max(a) AS M FROM {table}"},
}
RULES: list[Any] = [
    dq.ColumnMaxInRange(name="a", columns="a", max=3),
    dq.ColumnMinInRange(name="A", columns="A", min=10),
    dq.ColumnNotEmpty(name="not_empty", columns=["a", "A"]),
    dq.ColumnUnique(name="unique", columns=["a", "A"], threshold="all"),
    dq.UniqueKey(name="key", columns=["a", "A"]),
    dq.ColumnValuesInSet(name="set", columns="A", values=[10, 20, 30]),
    dq.ColumnMedianInRange(name="median", columns="A", min=20, max=20),
    dq.ColumnMostFrequentInSet(name="frequent", columns="A", values=[10, 20, 30]),
    dq.ColumnAvgInRange(
        name="average", columns="A", min=25, max=25, where="a > 1", dimensions=["A"]
    ),
    dq.ColumnValuesInReference(
        name="reference",
        columns="A",
        reference=dq.Reference(asset="other"),
        reference_columns="A",
    ),
    dq.RowExpectation(name="row", expectation="a < A"),
    dq.AggregateExpectation(name="aggregate", expectation="sum(a) = 6 and sum(A) = 60"),
    dq.MetricInRange(name="metric", metric="difference", min=27, max=27),
    dq.MetricInRange(
        name="query",
        metric="both.m",
        min=27,
    ),
    dq.SchemaEquals(
        name="schema",
        expected=[{"name": "a", "type": "int"}, {"name": "A", "type": "int"}],
    ),
]
ROWS = [(1, 10), (2, 20), (3, 30)]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_every_kind_of_rule_by_the_exact_name(exact: SparkSession, ansi: str) -> None:
    exact.conf.set("spark.sql.ansi.enabled", ansi)
    frame = exact.createDataFrame(ROWS, "a int, A int")
    other = exact.createDataFrame([(7, value) for _, value in ROWS], "a int, A int")
    rule_set = dq.RuleSet(asset="orders", rules=RULES, metrics=METRICS)
    found = dq.evaluate(frame, rule_set, references={"other": other})
    assert {one.rule.name: one.message for one in found if one.status != "Ok"} == {}
    by_value = dq.evaluate(frame, RULES[:2], partition_by="A")
    assert [(one.rule.name, one.partition, one.observed) for one in by_value] == [
        ("a", "10", 1),
        ("a", "20", 2),
        ("a", "30", 3),
        ("A", "10", 10),
        ("A", "20", 20),
        ("A", "30", 30),
    ]


def test_the_nearest_names(exact: SparkSession) -> None:
    frame = exact.createDataFrame([(1, 2, 3)], "a int, A int, amount int")
    rules: list[Any]
    rules = [dq.ColumnNotEmpty(name=name, columns=name) for name in ("AB", "Amount", "A.b")]
    rules.append(dq.RowExpectation(name="row", expectation="AMOUNT > 0"))
    said = {one.rule.name: (one.status, one.message) for one in dq.evaluate(frame, rules)}
    assert said == {
        "AB": ("Error", "Column 'AB' is not in the table. Did you mean 'A' or 'a'?"),
        "Amount": ("Error", "Column 'Amount' is not in the table. Did you mean 'amount'?"),
        "A.b": (
            "Error",
            "Column 'A.b' is not in the table. Its columns are 'a', 'A', 'amount'.",
        ),
        "row": ("Error", "Column 'AMOUNT' is not in the table. Did you mean 'amount'?"),
    }


def test_where_the_session_does_not_tell_them_apart(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([(1, 2, 3)], "a int, A int, b int")
    rules: list[Any]
    rules = [dq.ColumnNotEmpty(name=name, columns=name) for name in ("a", "A", "b")]
    rules.append(dq.RowExpectation(name="row", expectation="a > 0"))
    ambiguous = "ambiguous: the table has 'a' and 'A', which Spark does not tell apart."
    for one in dq.evaluate(frame, rules):
        assert (one.status == "Ok") is (one.rule.name == "b")
        assert (ambiguous in one.message) is (one.rule.name != "b")
    run = orders_of(spark, frame, tmp_path, raise_on_error=False)
    assert (
        "The columns 'a' and 'A' differ only in case, and this Spark session does not tell them "
        "apart: rename one of them, or set spark.sql.caseSensitive to true."
    ) in why(run)


def orders_of(
    session: SparkSession, frame: DataFrame, place: Any, *more: Any, **options: Any
) -> dg.ExecuteInProcessResult:
    """A run of an asset that is the frame, and of what else is given."""

    @dg.asset
    def orders() -> Any:
        return frame

    io_manager = stored(session, place)
    return dg.materialize([orders, *more], resources={"io_manager": io_manager}, **options)


@SCHEMES
def test_stored_and_loaded_by_partition(
    spark: SparkSession, exact: SparkSession, tmp_path: Path, scheme: str
) -> None:
    """Also where partitions have other columns, whose names differ only in case."""

    @dg.asset(partitions_def=DAYS, backfill_policy=dg.BackfillPolicy.single_run())
    def orders(context: dg.AssetExecutionContext) -> Any:
        return {
            "mon": exact.createDataFrame([(1, 10)], "a int, A int"),
            "tue": exact.createDataFrame([("x", 2)], "B string, a int"),
        }

    rules = [
        dq.ColumnMaxInRange(name="small", columns="a", max=2, scope="both"),
        dq.ColumnMaxInRange(name="large", columns="A", min=10, scope="both"),
    ]
    checks = dq.build_asset_checks(dq.RuleSet(asset=orders, rules=rules))

    def run(session: SparkSession, **options: Any) -> dg.ExecuteInProcessResult:
        io_manager = stored(session, f"{scheme}{tmp_path}")
        return dg.materialize(
            [orders, *checks],
            resources={"io_manager": io_manager},
            tags={START: "mon", END: "tue"},
            raise_on_error=False,
            **options,
        )

    with dg.DagsterInstance.ephemeral() as instance:
        built = run(exact, instance=instance)
        assert statuses(built) == {
            ("small", "mon"): "Ok",
            ("small", "tue"): "Ok",
            ("small__dataset", None): "Ok",
            ("large", "mon"): "Ok",
            ("large", "tue"): "Error",
            ("large__dataset", None): "Ok",
        }
        selection = dg.AssetSelection.all_asset_checks()
        read = run(spark, instance=instance, selection=selection)
    assert set(statuses(read).values()) == {"Error"}
    assert str(results(read)["small", "mon"].description).startswith(
        "The columns 'a' and 'A' differ only in case, and this Spark session does not tell them "
    )


# All that this library puts beside the data, or that Spark does for it.
HIDDEN = {
    "__dq_partition_key__": "u",
    "dq_partition": "v",
    "dq_partition_0": "w",
    "dq_key": "x",
    "dq_set": "y",
    "_metadata": "z",
    "pickled": "p",
}


@SCHEMES
@pytest.mark.parametrize("split", [True, False])
def test_columns_that_are_called_like_ours(
    spark: SparkSession, tmp_path: Path, scheme: str, split: bool
) -> None:
    assert HIDDEN_KEY not in HIDDEN
    listed = ", ".join(f"concat('{value}', day) AS {name}" for name, value in HIDDEN.items())

    @dg.asset(
        partitions_def=DAYS,
        backfill_policy=dg.BackfillPolicy.single_run(),
        metadata={"partition_expr": "day"},
    )
    def orders(context: dg.AssetExecutionContext) -> Any:
        frame = spark.sql(f"SELECT day, {listed} FROM VALUES ('mon'), ('tue') AS t(day)")
        return frame if split else {key: frame.where(f"day = '{key}'") for key in ("mon", "tue")}

    @dg.asset
    def copied(orders: DataFrame) -> DataFrame:
        return orders

    expected = {name: [f"{value}mon", f"{value}tue"] for name, value in HIDDEN.items()}
    rules: list[Any] = [
        dq.ColumnValuesInSet(name=f"of{name}", columns=name, values=values, scope="both")
        for name, values in expected.items()
    ]
    rules += [
        dq.ColumnUnique(name="unique", columns=list(HIDDEN), scope="both"),
        dq.ColumnCountInRange(name="columns", min=8, max=8, scope="both"),
        dq.FileSizeInRange(name="bytes", min=1, scope="both"),
        dq.RecordCountInRange(
            name="groups", min=1, max=2, scope="both", dimensions=["dq_partition", "dq_set"]
        ),
    ]
    checks = dq.build_asset_checks(dq.RuleSet(asset=orders, rules=rules))
    io_manager = stored(spark, f"{scheme}{tmp_path}")
    with dg.DagsterInstance.ephemeral() as instance:
        run = dg.materialize(
            [orders, *checks],
            resources={"io_manager": io_manager},
            tags={START: "mon", END: "tue"},
            instance=instance,
            raise_on_error=False,
        )
        said = {where: one.description for where, one in results(run).items() if not one.passed}
        assert said == {}
        again = dg.materialize(
            [orders, copied],
            selection=[copied],
            resources={"io_manager": io_manager},
            instance=instance,
        )
        frame = again.output_for_node("copied")
    assert frame.columns == ["day", *HIDDEN]
    assert {name: sorted(row[name] for row in frame.collect()) for name in HIDDEN} == expected
