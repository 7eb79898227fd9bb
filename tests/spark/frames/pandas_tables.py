"""pandas columns of every kind, beside one that is always fine, and what rules say about them.

Run as a script it prints the outcomes on Spark Connect, in a process of its own.
"""

from __future__ import annotations

import datetime as dt
import json
import sys
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import dq_dagster as dq
from tests.connect_port import wait_for_port
from tests.spark.session.connect_session import said

NOON = dt.datetime.fromisoformat("2024-01-01 12:00")
# In New York the clocks go from 2 to 3 on the tenth of March, and from 2 to 1 in November.
GAP = dt.datetime.fromisoformat("2024-03-10 02:30")
TWICE = dt.datetime.fromisoformat("2024-11-03 01:30")


def objects(*values: Any) -> pd.Series[Any]:
    return pd.Series(values, dtype=object)


def arrow(kind: pa.DataType, *values: Any) -> pd.Series[Any]:
    return pd.Series(pd.array(pa.array(values, kind), dtype=pd.ArrowDtype(kind)))


def times(*values: dt.datetime | None) -> pd.Series[Any]:
    return pd.Series(np.array(values, dtype="datetime64[ns]"))


# By name: the column, the type of Spark, and its values as texts (of two rows, all different).
RIGHT: dict[str, tuple[pd.Series[Any], str, list[str | None]]] = {
    "uint8": (pd.Series([1, 200], dtype="uint8"), "smallint", ["1", "200"]),
    "uint16": (pd.Series([1, 2**16 - 1], dtype="uint16"), "int", ["1", "65535"]),
    "uint32": (pd.Series([1, 2**32 - 1], dtype="uint32"), "bigint", ["1", "4294967295"]),
    "Int64": (pd.Series([1, None], dtype="Int64"), "bigint", ["1", None]),
    "Float32": (pd.Series([1.5, None], dtype="Float32"), "float", ["1.5", None]),
    "boolean": (pd.Series([True, None], dtype="boolean"), "boolean", ["true", None]),
    "string": (pd.Series(["a", None], dtype="string"), "string", ["a", None]),
    "string[pyarrow]": (pd.Series(["a", None], dtype="string[pyarrow]"), "string", ["a", None]),
    "nan": (pd.Series([np.nan, np.inf]), "double", [None, "Infinity"]),
    "objects": (objects("a", np.nan), "string", ["a", None]),
    "nothing": (objects(None, None), "void", [None, None]),
    "int and float": (objects(1, 2.5), "double", ["1.0", "2.5"]),
    "largest": (objects(2**63 - 1, -(2**63)), "bigint", [str(2**63 - 1), str(-(2**63))]),
    "decimal": (objects(Decimal("1.5"), 100), "decimal(4,1)", ["1.5", "100.0"]),
    "large_string": (arrow(pa.large_string(), "a", None), "string", ["a", None]),
    "string_view": (arrow(pa.string_view(), "a", None), "string", ["a", None]),
    "arrow decimal": (arrow(pa.decimal128(9, 2), Decimal(1), None), "decimal(9,2)", ["1.00", None]),
    "arrow list": (arrow(pa.list_(pa.uint8()), [1], None), "array<smallint>", ["[1]", None]),
    "arrow map": (
        arrow(pa.map_(pa.string(), pa.int64()), [("a", 1)], None),
        "map<string,bigint>",
        ["{a -> 1}", None],
    ),
    "struct": (
        objects({"a": 1}, {"b": "x"}),
        "struct<a:bigint,b:string>",
        ["{1, null}", "{null, x}"],
    ),
    "categories": (pd.Series(["a", None], dtype="category"), "string", ["a", None]),
    "categories of times": (
        times(NOON, None).astype("category"),
        "timestamp",
        ["2024-01-01 12:00:00", None],
    ),
    "dates": (
        objects(dt.date(1, 1, 1), dt.date(9999, 12, 31)),
        "date",
        ["0001-01-01", "9999-12-31"],
    ),
    "zoned": (times(NOON, NOON).dt.tz_localize("UTC"), "timestamp", ["2024-01-01 07:00:00"] * 2),
    "naive": (times(NOON, None), "timestamp", ["2024-01-01 12:00:00", None]),
    "far": (
        pd.Series(np.array(["20000-01-01", "0001-01-01"], dtype="datetime64[s]")),
        "timestamp",
        ["+20000-01-01 00:00:00", "0001-01-01 00:00:00"],
    ),
    # An hour that is there twice: the first is meant, as Spark itself means it.
    "overlap": (
        times(TWICE, NOON),
        "timestamp",
        ["2024-11-03 01:30:00", "2024-01-01 12:00:00"],
    ),
    # An hour that is not there: as instants 2:30 and 3:30 would be one.
    "gap": (
        times(GAP, GAP + dt.timedelta(hours=1)),
        "timestamp_ntz",
        ["2024-03-10 02:30:00", "2024-03-10 03:30:00"],
    ),
    "gap of objects": (objects(GAP, None), "timestamp_ntz", ["2024-03-10 02:30:00", None]),
    "gap of arrow": (
        arrow(pa.timestamp("us"), GAP, None),
        "timestamp_ntz",
        ["2024-03-10 02:30:00", None],
    ),
    "gap in a list": (
        objects([GAP], None),
        "array<timestamp_ntz>",
        ["[2024-03-10 02:30:00]", None],
    ),
    "overlap in a struct": (
        objects({"t": TWICE}, None),
        "struct<t:timestamp_ntz>",
        ["{2024-11-03 01:30:00}", None],
    ),
    "timedelta": (
        pd.Series(pd.to_timedelta([1, 2], unit="D")),
        "interval day to second",
        [f"INTERVAL '{n} 00:00:00' DAY TO SECOND" for n in (1, 2)],
    ),
}

CANARY = "canary-4711"
# By name: the column, and the type that the message names.
WRONG: dict[str, tuple[pd.Series[Any], str]] = {
    "uint64": (pd.Series([1, 4711], dtype="uint64"), "uint64"),
    "missing uint64": (pd.Series([4711, None], dtype="UInt64"), "UInt64"),
    "arrow uint64": (arrow(pa.uint64(), 4711, None), "uint64[pyarrow]"),
    "float16": (pd.Series([1, 4711], dtype="float16"), "float16"),
    "period": (pd.Series(pd.period_range("4711-01", periods=2, freq="M")), "period[M]"),
    "interval": (pd.Series(pd.interval_range(4711, 4713)), "interval[int64, right]"),
    "complex": (pd.Series([1j, 4711]), "complex128"),
    "sparse": (pd.Series(pd.arrays.SparseArray([0, 4711])), "Sparse[int64, 0]"),
    "huge": (objects(1, 4711 * 10**30), "object (int)"),
    "just too large": (objects(1, 2**63), "object (int)"),
    "digits": (objects(Decimal("4711" * 10), None), "object (Decimal)"),
    "infinite": (objects(Decimal("Infinity"), Decimal(4711)), "object (Decimal)"),
    "decimal256": (arrow(pa.decimal256(50, 2), Decimal(4711), None), "decimal256(50, 2)[pyarrow]"),
    "int and str": (objects(4711, CANARY), "object (int and str)"),
    "str and int": (objects(CANARY, 4711), "object (int and str)"),
    "bool and int": (objects(True, 4711), "object (bool and int)"),
    "float and bool": (objects(4711.0, True), "object (bool and float)"),
    "str and bytes": (objects(CANARY, b"4711"), "object (bytes and str)"),
    "not exact": (objects(2**53 + 4711, 2.5), "object (float and int)"),
    "date and datetime": (objects(dt.date(4711, 1, 1), NOON), "object (date and datetime)"),
    "half zoned": (
        objects(pd.Timestamp("2024-01-01", tz="UTC"), pd.Timestamp(NOON)),
        "object (Timestamp), with and without a zone",
    ),
    "timedelta and int": (objects(dt.timedelta(1), 4711), "object (int and timedelta)"),
    "time": (objects(dt.time(1, 47, 11), None), "object (time)"),
    "arrow time": (arrow(pa.time32("s"), dt.time(1, 47, 11), None), "time32[s][pyarrow]"),
    "uuid": (objects(uuid.UUID(int=4711), None), "object (UUID)"),
    "dicts": (objects({"a": 1}, {"a": CANARY}), "object (dict)"),
    "surrogates": (objects(f"{CANARY}\ud800", "b"), "object (str)"),
    "nanoseconds": (pd.Series(pd.DatetimeIndex([4711, 1])), "datetime64[ns]"),
    "zoned nanoseconds": (pd.Series(pd.DatetimeIndex([4711, 1], tz="UTC")), "datetime64[ns, UTC]"),
    "nanoseconds of objects": (objects(pd.Timestamp(4711), None), "object (Timestamp)"),
    "nanoseconds that last": (pd.Series(pd.to_timedelta([4711, 1])), "timedelta64[ns]"),
    "out of range": (
        pd.Series(np.array(["4711000-01-01", "2024-01-01"], dtype="datetime64[s]")),
        "datetime64[s]",
    ),
}


def _rows(data: Any, context: Any) -> bool:
    return bool(data.count() == 2)


def _all_columns(data: Any, context: Any) -> bool:
    return len(data.collect()) == 2


RULES: list[dq.Rule] = [
    dq.RecordCountInRange(min=2, max=2),
    dq.ColumnCountInRange(min=2, max=2),
    dq.ColumnNotEmpty(columns="fine"),
    dq.AggregateExpectation(name="sum", expectation="sum(fine) = 3"),
    dq.MetricInRange(
        name="query", metric=dq.MetricSource(query="select max(fine) from {table}"), max=2
    ),
    dq.SchemaContains(name="fine there", expected=[{"name": "fine", "type": "bigint"}]),
    dq.RecordCountInRange(name="groups", min=2, dimensions=["fine"]),
    dq.PythonRule(name="rows", function=_rows),
    dq.ColumnNotEmpty(columns="odd"),
    dq.ColumnUnique(columns="odd"),
    dq.ColumnMedianInRange(columns="odd", min=0),
    dq.ColumnNotEmpty(name="both", columns=["fine", "odd"]),
    dq.RowExpectation(name="row", expectation="odd is not null"),
    dq.AggregateExpectation(name="aggregate", expectation="count(odd) = 2"),
    dq.RecordCountInRange(name="filtered", min=2, where="odd is not null"),
    dq.MetricInRange(
        name="query odd", metric=dq.MetricSource(query="select max(odd) from {table}"), max=2
    ),
    dq.ColumnValuesInReference(name="self", columns="odd", reference=dq.Reference(asset="data")),
    dq.SchemaContains(name="odd there", expected=[{"name": "odd", "type": "bigint"}]),
    dq.PythonRule(name="all columns", function=_all_columns),
]
FINE = {"record_count_in_range", "column_count_in_range", "column_not_empty_fine", "sum", "query",
        "fine there", "groups", "rows"}  # fmt: skip


def table(odd: pd.Series[Any]) -> pd.DataFrame:
    return pd.DataFrame({"fine": [1, 2], "odd": odd})


def seen(frame: Any) -> dict[str, list[Any]]:
    """The type of each column, and its values as texts."""
    rows = frame.selectExpr(*(f"CAST(`{name}` AS STRING)" for name in frame.columns)).toDF(
        *frame.columns
    ).collect()  # fmt: skip
    return {
        field.name: [field.dataType.simpleString(), [row[field.name] for row in rows]]
        for field in frame.schema.fields
    }


def main() -> None:
    dq.ensure_java()
    from pyspark.sql import SparkSession

    from dq_dagster.spark.frames.frames import as_spark

    wait_for_port()
    builder = SparkSession.builder.remote("local[1]")
    session = builder.config("spark.sql.session.timeZone", sys.argv[1]).getOrCreate()
    kinds = seen(as_spark(pd.DataFrame({name: odd for name, (odd, _, _) in RIGHT.items()})))
    wrong = said(dq.evaluate(table(WRONG["uint64"][0]), RULES))
    nothing = said(dq.evaluate(pd.DataFrame(index=range(3)), RULES[:2]))
    sys.stdout.write(json.dumps([kinds, wrong, nothing]))
    session.stop()


if __name__ == "__main__":
    main()
