"""Rows that know the partition they are stored in, whatever they say themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pyspark.ml.linalg import Vectors
from pyspark.sql import DataFrame, SparkSession

import dq_dagster as dq
from dq_dagster.spark.frames.frames import HIDDEN_KEY
from dq_dagster.storage.local import LocalStore
from tests.integration.io_manager.warehouse import ORDERS, build, days, manager, orders_of, rows

ODD = [
    "01",
    "1",
    "1e3",
    "2024-01-01",
    "null",
    "true",
    "a b/c",
    "\U0001f600",
    "x" * 300,
    "x" * 301,
    "2024-01-01|eu",
    "%41",
    'it\'s \\ "quoted"',
    "__HIVE_DEFAULT_PARTITION__",
    "!01",
    "",
]


def write(folder: Path, frames: Mapping[str, DataFrame], kind: str = "parquet") -> None:
    LocalStore("orders", folder / "orders", kind).write(frames)


def keys_of(frame: DataFrame, *columns: str) -> list[Any]:
    found = sorted(tuple(row) for row in frame.select(HIDDEN_KEY, *columns).collect())
    return [one[0] for one in found] if not columns else found


@pytest.mark.parametrize("kind", ["parquet", "json", "csv", "text", "orc"])
def test_keys_of_any_kind_come_back_as_they_were(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    keys = ODD if kind == "parquet" else ODD[:8]
    write(tmp_path, {key: spark.sql(f"SELECT 'v{n}' AS v") for n, key in enumerate(keys)}, kind)
    divided = manager(tmp_path, format=kind).load_divided(ORDERS, None)
    assert divided.others == ()
    assert divided.frame.dtypes == [("v", "string"), (HIDDEN_KEY, "string")]
    expected = sorted((key, f"v{n}") for n, key in enumerate(keys))
    assert keys_of(divided.frame, "v") == expected
    for key, value in expected[::5]:
        named = manager(tmp_path, format=kind).load_divided(ORDERS, [key, "none"]).frame
        assert keys_of(named, "v") == [(key, value)]
    assert manager(tmp_path, format=kind).load_partitions(ORDERS, None).columns == ["v"]


def test_storage_decides_not_what_the_rows_say(spark: SparkSession, tmp_path: Path) -> None:
    """Nobody asked ``partition_expr`` when the partition was built by a run of its own."""
    other = orders_of(lambda keys: rows(spark, {"2024-04-01": [1, 2]}))
    build(tmp_path, other, "2024-03-01")
    build(tmp_path, orders_of(lambda keys: rows(spark, {"2024-03-01": [3]})), "2024-03-02")
    frame = manager(tmp_path).load_divided(ORDERS, days(1, 3)).frame
    assert keys_of(frame, "amount") == [("2024-03-01", 1), ("2024-03-01", 2), ("2024-03-02", 3)]


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_partitions_without_all_columns_are_told(
    spark: SparkSession, tmp_path: Path, scheme: str
) -> None:
    def frame(keys: Any) -> Any:
        full = rows(spark, {keys[0]: [1]})
        return {key: full.drop("amount") if key == "2024-03-02" else full for key in keys}

    place = f"{scheme}{tmp_path}"
    with dg.DagsterInstance.ephemeral() as instance:
        build(place, orders_of(frame), *days(1, 3), instance=instance)
        with dg.build_resources({"io": manager(place)}, instance=instance) as resources:
            divided = resources.io.load_divided(ORDERS, None)
            same = resources.io.load_divided(ORDERS, ["2024-03-01", "2024-03-03"])
    assert keys_of(divided.frame, "amount") == [
        ("2024-03-01", 1),
        ("2024-03-02", None),
        ("2024-03-03", 1),
    ]
    [lost] = divided.others
    assert lost.partitions == {"2024-03-02"}
    assert (lost.frame.columns, keys_of(lost.frame)) == (["day", HIDDEN_KEY], ["2024-03-02"])
    assert same.others == ()


@pytest.mark.parametrize("name", ["dq_partition", "DQ_Partition"])
@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_column_that_is_called_as_the_folders_are(
    spark: SparkSession, tmp_path: Path, name: str, scheme: str
) -> None:
    place = f"{scheme}{tmp_path}"
    with dg.DagsterInstance.ephemeral() as instance:
        for key in days(1, 2):
            asset = orders_of(lambda keys: spark.sql(f"SELECT 'own {keys[0]}' AS {name}"))
            build(place, asset, key, instance=instance)
        with dg.build_resources({"io": manager(place)}, instance=instance) as resources:
            frame = resources.io.load_divided(ORDERS, None).frame
            plain = resources.io.load_partitions(ORDERS, None)
    assert keys_of(frame, name) == [(key, f"own {key}") for key in days(1, 2)]
    assert keys_of(frame.where(f"{HIDDEN_KEY} = '2024-03-02'")) == ["2024-03-02"]
    assert plain.columns == [name]


def test_other_partitions_are_not_opened(spark: SparkSession, tmp_path: Path) -> None:
    odd = "2024-01-01|eu"
    for keys in (days(1, 3), [odd, "plain"]):
        write(tmp_path, {key: rows(spark, {"2024-03-01": [1]}) for key in keys})
    for key in ("dq_partition=2024-03-02", "dq_partition=plain"):
        for file in (tmp_path / "orders" / key).rglob("*.parquet"):
            file.write_bytes(b"no parquet")
    for asked in (None, [*days(1, 3), odd]):
        frame = manager(tmp_path).load_divided(ORDERS, asked).frame
        for key in ("2024-03-01", odd):
            assert keys_of(frame.where(f"{HIDDEN_KEY} = '{key}'"), "amount") == [(key, 1)]
        some = frame.where(f"{HIDDEN_KEY} IN ('2024-03-01', '2024-03-03')")
        assert keys_of(some) == ["2024-03-01", "2024-03-03"]


@pytest.mark.deep
def test_few_of_many_partitions_are_loaded_without_a_job(
    spark: SparkSession, tmp_path: Path, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    keys = [f"{number:04}" for number in range(1_000)]
    frame = spark.range(2_000).selectExpr("id", "lpad(id % 1000, 4, '0') AS key")
    store = LocalStore("orders", tmp_path / "orders", "parquet")
    store.write_split(frame.repartition(2), "key", keys)
    loaded: list[Any] = []
    few = ["0001", "0500", "0999"]
    assert count_jobs(lambda: loaded.append(manager(tmp_path).load_divided(ORDERS, few))) == 0
    assert keys_of(loaded[0].frame) == ["0001", "0001", "0500", "0500", "0999", "0999"]
    every = manager(tmp_path).load_divided(ORDERS, None)
    assert every.others == ()
    counts = every.frame.groupBy(HIDDEN_KEY).count().where("count = 2")
    assert (counts.count(), every.frame.where(f"key = {HIDDEN_KEY}").count()) == (1_000, 2_000)


def test_partitions_without_rows(spark: SparkSession, tmp_path: Path) -> None:
    for kind in ("parquet", "text"):
        frame = spark.sql("SELECT 'x' AS v").where("v = 'y'")
        write(tmp_path / kind, {"a": frame, "b": frame}, kind)
        found = manager(tmp_path / kind, format=kind).load_divided(ORDERS, None).frame
        assert (found.columns, found.collect()) == (["v", HIDDEN_KEY], [])


def test_types_that_do_not_fit_are_told(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, {"a": spark.sql("SELECT 1 AS x"), "b": spark.sql("SELECT 'x' AS x")})
    said = "Column 'x' is of type int in partition 'a', but of type string in partition 'b'"
    with pytest.raises(dq.DqError, match=said):
        manager(tmp_path).load_partitions(ORDERS, None)
    # Each of them can still be looked at.
    divided = manager(tmp_path).load_divided(ORDERS, None)
    assert str(divided.clashes["x"]).startswith(said)
    assert (keys_of(divided.frame), divided.frame.columns) == (["a", "b"], [HIDDEN_KEY])
    assert [kind.partitions for kind in divided.others] == [{"a"}, {"b"}]


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_formats_whose_schema_cannot_be_told(
    spark: SparkSession, tmp_path: Path, scheme: str
) -> None:
    place = f"{scheme}{tmp_path}"
    settings = {"format": "libsvm"}
    points = [(float(day), Vectors.sparse(2, {0: 1.0})) for day in (1, 2)]
    frames = dict(zip(days(1, 2), [[point] for point in points], strict=True))
    asset = orders_of(
        lambda keys: {key: spark.createDataFrame(frames[key], ["label", "x"]) for key in keys}
    )
    with dg.DagsterInstance.ephemeral() as instance:
        build(place, asset, *days(1, 2), instance=instance, settings=settings)
        with dg.build_resources({"io": manager(place, **settings)}, instance=instance) as resources:
            frame = resources.io.load_divided(ORDERS, None).frame
    assert keys_of(frame, "label") == [("2024-03-01", 1.0), ("2024-03-02", 2.0)]
    assert keys_of(frame.where(f"{HIDDEN_KEY} = '2024-03-02'")) == ["2024-03-02"]
