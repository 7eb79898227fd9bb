"""How many Spark jobs a guarded build takes: as many for many rules as for few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from tests.integration.guarded.gate import Gate, rule

Count = Callable[[Callable[[], object]], int]
COLUMNS = [f"c{n}" for n in range(100)]
PARTS = [f"p{n}" for n in range(8)]
# How many jobs a build takes, whatever its rules and partitions; fewer if no row is bad.
MOST, MOST_OF_SMALL, MOST_OF_GOOD = 9, 6, 2


def table(spark: SparkSession, parts: int = 1) -> DataFrame:
    rows = [
        (PARTS[part], number, *(number % (place + 2) for place in range(len(COLUMNS))))
        for part in range(parts)
        for number in range(10)
    ]
    return spark.createDataFrame(
        rows, f"part string, id int, {', '.join(f'{name} int' for name in COLUMNS)}"
    )


def rules(count: int) -> list[Any]:
    """Rules on rows, with all actions but fail; and others on all rows together, fewer of them.

    Of 200 there are 10 over aggregates and 5 with queries, of a few one of each.
    """
    row_rules = [
        rule(
            "row_dq",
            name=f"row_{n}",
            # The last columns have values from 0 to 9, the first from 0 to 1.
            expectation=f"{COLUMNS[-1 - n % len(COLUMNS)]} < {n // len(COLUMNS) + 8}",
            action_if_failed=["ignore", "drop"][n % 2],
        )
        for n in range(count)
    ]
    aggregates = [
        rule("agg_dq", name=f"agg_{n}", expectation=f"sum({COLUMNS[n]}) >= {n}")
        for n in range(max(1, count // 20))
    ]
    queries = [
        rule("query_dq", name=f"query_{n}", expectation=QUERIES[n % len(QUERIES)].format(n=n))
        for n in range(max(1, count // 40))
    ]
    together = [*aggregates, *queries, dq.ColumnSumInRange(name="sum", columns="c0", min=0)]
    return [*row_rules, *together, dq.ColumnUnique(name="unique", columns="id")]


# What only aggregates the rows rides in the pass of all rules.
QUERIES = [
    "(select max(c{n}) from {{table}}) >= 0",
    "(select sum(c{n}) from {{table}} where c0 = 1) >= 0",
    "(select count(*) from {{table}} where c{n} > 1) < (select count(*) from {{table}})",
    "select min(c{n}) = 0 from {{table}}",
    "(select avg(c{n}) from {{table}}) between 0 and 10",
]


def jobs(count_jobs: Count, gate: Gate, *keys: str) -> int:
    runs: list[dg.ExecuteInProcessResult] = []
    found = count_jobs(lambda: runs.append(gate.build(*keys, job="asset_alone")))
    assert runs[0].success
    assert gate.stats()[0]["rows_dropped"]
    return found


def test_more_rules_take_no_more_jobs(
    spark: SparkSession, tmp_path: Path, count_jobs: Count
) -> None:
    value = table(spark)
    few, many = rules(2), rules(200)
    assert len(value.columns) > 100
    assert Counter(one["type"] for one in many if isinstance(one, dict)) == {
        "row_dq": 200,
        "agg_dq": 10,
        "query_dq": 5,
    }
    assert (
        jobs(count_jobs, Gate(tmp_path / "few", value, few)),
        jobs(count_jobs, Gate(tmp_path / "many", value, many)),
    ) == (MOST_OF_SMALL, MOST_OF_SMALL)


@pytest.mark.usefixtures("large")
def test_more_partitions_take_no_more_jobs(
    spark: SparkSession, tmp_path: Path, count_jobs: Count
) -> None:
    def taken(name: str, parts: int, count: int) -> int:
        gate = Gate(
            tmp_path / name,
            lambda keys: table(spark, parts),
            rules(count),
            partitions_def=dg.StaticPartitionsDefinition(PARTS),
            metadata={"partition_expr": "part"},
        )
        return jobs(count_jobs, gate, PARTS[0], PARTS[parts - 1])

    assert [taken("two", 2, 20), taken("eight", 8, 20), taken("many", 8, 60)] == [MOST] * 3


def test_good_rows_take_fewer_jobs(spark: SparkSession, tmp_path: Path, count_jobs: Count) -> None:
    gate = Gate(tmp_path, table(spark), [dq.ColumnNotEmpty(columns=name) for name in COLUMNS])
    assert count_jobs(lambda: gate.build(job="asset_alone")) <= MOST_OF_GOOD


@pytest.mark.deep
def test_hundreds_of_rules(spark: SparkSession, tmp_path: Path, count_jobs: Count) -> None:
    # So many are measured in several passes, as they are in checks.
    assert jobs(count_jobs, Gate(tmp_path, table(spark), rules(500))) <= MOST + 16
