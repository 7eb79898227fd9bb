"""The built-in templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from dq_dagster.rules.templates.template import Template

_COLUMN = {"column": {"type": "column", "description": "The column to look at."}}
_KEY = {"columns": {"type": "columns", "description": "The columns that make the key, together."}}
_OTHER = {"other": {"type": "dataset", "description": "An asset, a table or files."}}
_THERE = {"other_column": {"type": "column", "description": "The column of the other dataset."}}


def _bounds(kind: str) -> dict[str, Any]:
    return {
        "least": {"type": kind, "description": "The smallest that is fine."},
        "most": {"type": kind, "description": "The largest that is fine."},
    }


_ROWS: Mapping[str, dict[str, Any]] = {
    "rows_with_empty_field": {
        "description": "Rows in which the column is empty (NULL).",
        "sql": "select count(*) from {table} where {column} is null",
        "parameters": _COLUMN,
        "quality_dimension": "completeness",
    },
    "rows_with_blank_field": {
        "description": "Rows in which the column is empty, or a text of nothing but spaces.",
        "sql": "select count(*) from {table} where {column} is null or trim({column}) = ''",
        "parameters": _COLUMN,
        "quality_dimension": "completeness",
    },
    "empty_share": {
        "description": "The share of rows in which the column is empty, from 0 to 1.",
        "sql": "select avg(if({column} is null, 1, 0)) from {table}",
        "parameters": _COLUMN,
        "quality_dimension": "completeness",
    },
    "duplicate_keys": {
        "description": "Rows whose key is that of another row, but for one of each key. Rows with "
        "an empty column in the key have none.",
        "sql": "select count({columns}) - count(distinct {columns}) from {table}",
        "parameters": _KEY,
        "quality_dimension": "uniqueness",
    },
    "repeated_keys": {
        "description": "Keys that stand in more than one row; an empty column is compared as well.",
        "sql": "select count(*) from (select 1 from {table} group by {columns} having "
        "count(*) > 1)",
        "parameters": _KEY,
        "quality_dimension": "uniqueness",
    },
    "values_not_in_list": {
        "description": "Rows whose value is none of the list; empty ones are left out.",
        "sql": "select count(*) from {table} where not {column} in :values",
        "parameters": {
            **_COLUMN,
            "values": {"type": "values", "description": "The values that are fine."},
        },
    },
    "values_in_list": {
        "description": "Rows whose value is one of the list.",
        "sql": "select count(*) from {table} where {column} in :values",
        "parameters": {
            **_COLUMN,
            "values": {"type": "values", "description": "The values that are not fine."},
        },
    },
    "values_out_of_range": {
        "description": "Rows whose number is less than the least or more than the most; NaN is.",
        "sql": "select count(*) from {table} where not {column} between :least and :most",
        "parameters": {**_COLUMN, **_bounds("number")},
    },
    "dates_out_of_range": {
        "description": "Rows whose date or time is before the least or after the most.",
        "sql": "select count(*) from {table} where {column} < :least or {column} > :most",
        "parameters": {**_COLUMN, **_bounds("time")},
    },
    "lengths_out_of_range": {
        "description": "Rows whose text has fewer characters than the least or more than the most.",
        "sql": "select count(*) from {table} where not char_length({column}) between :least and "
        ":most",
        "parameters": {**_COLUMN, **_bounds("number")},
    },
    "values_not_matching": {
        "description": "Rows whose text does not match the regular expression as a whole.",
        "sql": "select count(*) from {table} where not {column} rlike :pattern",
        "parameters": {
            **_COLUMN,
            "pattern": {"type": "pattern", "description": "A regular expression of Java."},
        },
    },
    "negative_values": {
        "description": "Rows whose number is less than 0.",
        "sql": "select count(*) from {table} where {column} < 0",
        "parameters": _COLUMN,
        "quality_dimension": "accuracy",
    },
    "rows_breaking": {
        "description": "Rows that do not meet the condition, or of which that is unknown (NULL).",
        "sql": "select count(*) from {table} where not coalesce({condition}, false)",
        "parameters": {
            "condition": {"type": "condition", "description": "What a row must meet, in SQL."}
        },
        "quality_dimension": "accuracy",
    },
    "different_columns": {
        "description": "Rows in which two columns differ; two empty ones do not.",
        "sql": "select count(*) from {table} where not {column} <=> {second}",
        "parameters": {
            **_COLUMN,
            "second": {"type": "column", "description": "The column to compare it with."},
        },
        "quality_dimension": "consistency",
    },
}

_MEASURES: Mapping[str, dict[str, Any]] = {
    "row_count": {
        "description": "The number of rows.",
        "sql": "select count(*) from {table}",
        "fails_when": "< 1",
        "quality_dimension": "completeness",
        "judges_no_rows": True,
    },
    "distinct_count": {
        "description": "The number of different values; empty is none.",
        "sql": "select count(distinct {column}) from {table}",
        "parameters": _COLUMN,
        "fails_when": "< 1",
        "quality_dimension": "uniqueness",
    },
    "column_sum": {
        "description": "The sum of the column.",
        "sql": "select sum({column}) from {table}",
        "parameters": _COLUMN,
        "quality_dimension": "accuracy",
    },
    "column_average": {
        "description": "The average of the column.",
        "sql": "select avg({column}) from {table}",
        "parameters": _COLUMN,
        "quality_dimension": "accuracy",
    },
    "column_minimum": {
        "description": "The smallest number of the column.",
        "sql": "select min({column}) from {table}",
        "parameters": _COLUMN,
        "quality_dimension": "accuracy",
    },
    "column_maximum": {
        "description": "The largest number of the column.",
        "sql": "select max({column}) from {table}",
        "parameters": _COLUMN,
        "quality_dimension": "accuracy",
    },
    "age_of_newest": {
        "description": "How old the newest date or time of the column is, in hours.",
        "sql": "select unix_micros(cast(max({column}) as timestamp)) / 1000000 from {table}",
        "parameters": _COLUMN,
        "fails_when": "> 24",
        "quality_dimension": "timeliness",
        "age": "hours",
    },
}

_TABLES: Mapping[str, dict[str, Any]] = {
    "row_count_difference": {
        "description": "How many rows there are more or less than in another dataset.",
        "sql": "select abs((select count(*) from {table}) - (select count(*) from {other}))",
        "parameters": _OTHER,
        "judges_no_rows": True,
    },
    "sum_difference": {
        "description": "By how much the sum of a column differs from that of another dataset; the "
        "sum of nothing is 0.",
        "sql": "select abs(coalesce((select sum({column}) from {table}), 0) - "
        "coalesce((select sum({other_column}) from {other}), 0))",
        "parameters": {**_COLUMN, **_OTHER, **_THERE},
        "judges_no_rows": True,
    },
    "orphan_keys": {
        "description": "Rows whose value is not in a column of another dataset; empty ones are "
        "left out.",
        "sql": "select count(*) from {table} as t where t.{column} is not null and not exists "
        "(select 1 from {other} as o where o.{other_column} = t.{column})",
        "parameters": {**_COLUMN, **_OTHER, **_THERE},
    },
    "missing_keys": {
        "description": "Different values of another dataset that are in no row here.",
        "sql": "select count(distinct o.{other_column}) from {other} as o where not exists "
        "(select 1 from {table} as t where t.{column} = o.{other_column})",
        "parameters": {**_COLUMN, **_OTHER, **_THERE},
        "judges_no_rows": True,
    },
    "different_values": {
        "description": "Rows whose value differs from that of a row with the same key in another "
        "dataset; two empty ones do not.",
        "sql": "select count(*) from {table} as t join {other} as o on t.{key} = o.{other_key} "
        "where not t.{column} <=> o.{other_column}",
        "parameters": {
            "key": {"type": "column", "description": "The key of the rows."},
            **_COLUMN,
            **_OTHER,
            "other_key": {"type": "column", "description": "The key of the other dataset."},
            **_THERE,
        },
    },
}

# What changes from period to period: the number, its words, and the changes that are watched.
_SHARE, _DIFFERENCE = "share", "difference"
_WATCHED: Mapping[str, tuple[str, str, str]] = {
    "row_count_change": ("row_count", "number of rows", _SHARE),
    "sum_change": ("column_sum", "sum of the column", _SHARE),
    "average_change": ("column_average", "average of the column", _SHARE),
    "distinct_count_change": ("distinct_count", "number of different values", _SHARE),
    "empty_share_change": ("empty_share", "share of empty values", _DIFFERENCE),
}
_PERIODS = (1, 7, 30)


def _changes() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, (measured, words, by) in _WATCHED.items():
        source = {**_ROWS, **_MEASURES}[measured]
        size = "as a share of it" if by == _SHARE else "as a difference"
        for periods in _PERIODS:
            ago = "one period" if periods == 1 else f"{periods} periods"
            yield (
                f"{name}_{periods}",
                {
                    **source,
                    "description": f"How much the {words} differs from that of {ago} ago, {size}.",
                    "fails_when": "> 0.1",
                    "quality_dimension": "consistency",
                    "change": {"periods": periods, "by": by},
                },
            )
        for periods in _PERIODS[1:]:
            yield (
                f"{name}_from_average_{periods}",
                {
                    **source,
                    "description": f"How much the {words} differs from the average of the last "
                    f"{periods} periods, {size}.",
                    "fails_when": "> 0.1",
                    "quality_dimension": "consistency",
                    "change": {"periods": periods, "by": by, "against": "average"},
                },
            )


def _built_in() -> Iterator[Template]:
    for name, fields in _ROWS.items():
        yield Template(name=name, **{"fails_when": "> 0", **fields})
    for name, fields in _MEASURES.items():
        yield Template(name=name, **fields)
    for name, fields in _TABLES.items():
        consistent = {"fails_when": "> 0", "quality_dimension": "consistency"}
        yield Template(name=name, **{**consistent, **fields})
    for name, fields in _changes():
        yield Template(name=name, **fields)


#: The built-in templates by name.
LIBRARY: Mapping[str, Template] = MappingProxyType({str(one.name): one for one in _built_in()})
