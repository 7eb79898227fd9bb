"""The rows of small tables as declarations: a cell is a field, and NULL or blank is none at all."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import DeclarationError, Problem
from dq_dagster.sources.reading import Declaration

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import SparkSession

#: A table with more is a mistake: the rules of all assets take a fraction of it.
MOST_ROWS = 10_000
MOST_CHARACTERS = 5_000_000
# What stands for a missing value in pandas, beside None and NaN.
_MISSING = {"NAType", "NaTType"}


def is_table(source: Any) -> bool:
    """Whether it is a DataFrame, or the name of a table as ``dq.Table`` has it."""
    return not isinstance(source, str | PurePath) and (
        hasattr(source, "columns") or isinstance(getattr(source, "name", None), str)
    )


def table_rows(source: Any, session: SparkSession | None = None) -> tuple[str, list[Declaration]]:
    """What a table is called, and its rows; columns are known by their names in lower case.

    All columns of a row have a place, also those that are NULL there. Raises DeclarationError if
    there is no row, if there are too many, or if two columns have one name.
    """
    name, cells = _cells(source, session)
    if not cells:
        raise DeclarationError([Problem("there are no rules in it.", place=name)])
    rows = []
    for number, row in enumerate(cells, 1):
        present = {key: _plain(value) for key, value in row.items()}
        given = {key: value for key, value in present.items() if not _is_nothing(value)}
        place = f"{name}, row {number}"
        rows.append(Declaration(given, place, dict.fromkeys(row, place)))
    return name, rows


def _cells(source: Any, session: SparkSession | None) -> tuple[str, list[Mapping[str, Any]]]:
    if hasattr(source, "columns"):
        name = "rules table"
        named = _lower([str(column) for column in source.columns], name)
        if hasattr(source, "sparkSession"):
            return name, _of_spark(source, named, name)
        return name, _of_pandas(source, named, name)
    # Here: rules in files need no Spark.
    from dq_dagster.spark.frames.reading import read_table
    from dq_dagster.spark.session.session import current_session

    name = f"table '{source.name}'"
    frame = read_table(session or current_session(), source.name)
    return name, _of_spark(frame, _lower(frame.columns, name), name)


def _lower(columns: list[str], name: str) -> list[str]:
    lower = [column.strip().lower() for column in columns]
    twice = sorted({column for column in lower if lower.count(column) > 1})
    if twice:
        message = f"column '{twice[0]}' is there twice: case makes no difference."
        raise DeclarationError([Problem(message, place=name)])
    return lower


def _of_spark(frame: Any, columns: list[str], name: str) -> list[Mapping[str, Any]]:
    from dq_dagster.spark.frames.reading import few_rows

    rows = few_rows(frame, columns, most_rows=MOST_ROWS, most_characters=MOST_CHARACTERS)
    if isinstance(rows, str):
        raise DeclarationError([Problem(rows, place=name)])
    return list(rows)


def _of_pandas(frame: pd.DataFrame, columns: list[str], name: str) -> list[Mapping[str, Any]]:
    if len(frame) > MOST_ROWS:
        message = f"it has {len(frame):,} rows; at most {MOST_ROWS:,} are read."
        raise DeclarationError([Problem(message, place=name)])
    values = [_whole(list(frame.iloc[:, number])) for number in range(len(columns))]
    size = sum(len(one) for column in values for one in column if isinstance(one, str))
    if size > MOST_CHARACTERS:
        message = f"it has {size:,} characters; at most {MOST_CHARACTERS:,} are read."
        raise DeclarationError([Problem(message, place=name)])
    return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]


def _whole(values: list[Any]) -> list[Any]:
    """Whole numbers as such: where one is missing, pandas makes floats of all others."""
    there = [value for value in values if not _is_nothing(value)]
    gaps = len(there) < len(values)
    floats = all(isinstance(value, float) and value.is_integer() for value in there)
    if not (gaps and floats):
        return values
    return [None if _is_nothing(value) else int(value) for value in values]


def _plain(value: Any) -> Any:
    """What Python has for a value of NumPy, of pandas or of Spark, at any depth."""
    if isinstance(value, str):
        return value.strip()
    if hasattr(value, "asDict"):
        value = value.asDict()
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items() if not _is_nothing(v)}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value.to_pydatetime() if hasattr(value, "to_pydatetime") else value


def _is_nothing(value: Any) -> bool:
    if value is None or type(value).__name__ in _MISSING:
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, float) and math.isnan(value)
