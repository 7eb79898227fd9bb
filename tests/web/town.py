"""A small instance for the tests of pages, filled by real runs, hostile texts among them."""

# No "from __future__ import annotations": Dagster reads the annotations of assets.
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from dagster import AssetCheckEvaluation
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from dq_dagster.integration.event_log.logged import name_of_key
from tests.integration.shelf import PYSPARK

PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "' onmouseover='alert(4)",
    "[x](javascript:alert(5))",
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe\u202c",
    "</textarea></style></title><b>bold",
    "a&amp;b %3Cscript%3E",
    "../../etc/passwd",
    "a\x00b \x1b[31mred",
    "two\nlines\r\nthree",
    "[red]bold[/red] [/]",
    "x\u2028\u200b\ufeffy",
    "100 % %0A",
    f"long {'W' * 2_000}",
)
HOSTILE = PAYLOADS[0]
DAYS = dg.StaticPartitionsDefinition(["2024-03-01", "2024-03-02", HOSTILE])


def odd_name(payload: str) -> str:
    """The name of the asset whose every text is the payload, as pages write it."""
    return name_of_key(dg.AssetKey(["odd", payload]))


def shown(name: str) -> str:
    """A name as readers see it."""
    unseen = {sign for payload in PAYLOADS for sign in payload if not sign.isprintable()}
    return "".join(repr(sign)[1:-1] if sign in unseen else sign for sign in name)


def definitions(spark: SparkSession, folder: Path) -> dg.Definitions:
    """Customers feed orders by day and payments; accounts come after payments."""

    @dg.asset(group_name="shop", owners=["team:sales"], description=f"People. {HOSTILE}")
    def customers() -> DataFrame:
        rows = [(1, "DE", "a"), (2, "DE", None), (3, HOSTILE, None), (4, None, "d")]
        return spark.createDataFrame(rows, f"id int, country string, `{HOSTILE}` string")

    @dg.asset(
        group_name="shop",
        deps=[customers],
        partitions_def=DAYS,
        backfill_policy=dg.BackfillPolicy.single_run(),
        metadata={"partition_expr": "day"},
    )
    def orders() -> DataFrame:
        rows = [("2024-03-01", 10.0), ("2024-03-02", 500.0), (HOSTILE, 5000.0)]
        return spark.createDataFrame(rows, "day string, amount double")

    @dq.guarded_asset(
        rules=[
            {
                "type": "row_dq",
                "name": "paid",
                "expectation": "amount > 0",
                "action_if_failed": "drop",
            },
            dq.RecordCountInRange(min=1),
        ],
        group_name="money",
        deps=[customers],
    )
    def payments() -> DataFrame:
        return spark.createDataFrame([(1, 5), (2, -1), (3, 7)], "id int, amount int")

    @dg.asset(group_name="money", deps=[payments, orders])
    def accounts() -> DataFrame:
        return spark.createDataFrame([(1,)], "id int")

    untyped: Any = dq
    checks = dq.build_asset_checks(
        [
            dq.RuleSet(
                asset=customers,
                rules=[
                    dq.RecordCountInRange(name="enough_customers", min=1, soft_min=10),
                    dq.ColumnNotEmpty(
                        name="complete",
                        columns=["country", HOSTILE],
                        description=HOSTILE,
                        owners=[HOSTILE],
                        tags=[HOSTILE],
                        quality_dimension="completeness",
                        blocking=False,
                    ),
                    dq.ColumnUnique(name="unique_ids", columns=["id"], dimensions=["country"]),
                    untyped.ColumnAvgInRange(
                        name="nobody", columns=["id"], where="id > 100", max=1
                    ),
                ],
            ),
            dq.RuleSet(
                asset=orders,
                rules=[
                    dq.ColumnAvgInRange(
                        name="usual_amounts",
                        columns=["amount"],
                        soft_max=100,
                        max=1000,
                        scope="both",
                        blocking=False,
                    ),
                    dq.RecordCountInRange(name="some_orders", min=1),
                ],
            ),
        ],
        assets=[customers, orders],
    )
    io_manager = dq.SparkIOManager(pyspark=PYSPARK, path=str(folder / "data"))
    return dg.Definitions(
        assets=[customers, orders, *as_list(payments), accounts],
        asset_checks=checks,
        resources={"io_manager": io_manager, "pyspark": PYSPARK},
    )


def as_list(made: Any) -> list[Any]:
    return list(made) if isinstance(made, list | tuple) else [made]


@contextmanager
def filled(
    spark: SparkSession, folder: Path
) -> Iterator[tuple[dg.DagsterInstance, dg.Definitions]]:
    """The instance after some runs, and after what others reported to it."""
    defs = definitions(spark, folder)
    span = {
        "dagster/asset_partition_range_start": "2024-03-01",
        "dagster/asset_partition_range_end": HOSTILE,
    }
    with dg.DagsterInstance.local_temp(str(folder)) as instance:
        _run(defs, instance, ["customers", "payments"], {})
        _run(defs, instance, ["orders"], span)
        _run(defs, instance, ["customers"], {})
        for payload in PAYLOADS:
            report(instance, payload)
        yield instance, defs


def _run(
    defs: dg.Definitions, instance: dg.DagsterInstance, keys: list[str], tags: dict[str, str]
) -> None:
    dg.materialize(
        [
            one
            for one in [*(defs.assets or ()), *(defs.asset_checks or ())]
            if isinstance(one, dg.AssetsDefinition)
        ],
        instance=instance,
        resources=dict(defs.resources or {}),
        selection=dg.AssetSelection.assets(*keys),
        tags=tags,
        raise_on_error=False,
    )


def report(instance: dg.DagsterInstance, payload: str) -> None:
    """A result of a check that this library did not make: every text of it is the payload."""
    key = dg.AssetKey(["odd", payload])
    for partition in (None, payload):
        instance.report_runless_asset_event(
            AssetCheckEvaluation(
                asset_key=key,
                check_name=payload,
                passed=False,
                severity=dg.AssetCheckSeverity.ERROR,
                description=payload,
                partition=partition,
                metadata={payload: dg.TextMetadataValue(payload), "number": 3},
            )
        )
