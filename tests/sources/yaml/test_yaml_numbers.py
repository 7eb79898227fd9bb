"""Numbers in YAML mean what is written: no digit is lost on the way to a rule, nor back."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import dq_dagster as dq
from dq_dagster.sources.yaml.text import read_documents, to_yaml

WRITTEN: dict[str, Any] = {
    "1": 1,
    "-0": 0,
    "+7": 7,
    "123456789012345678901234567890": 123456789012345678901234567890,
    "0.1": 0.1,
    "1.10": 1.1,
    "5.": 5.0,
    ".5": 0.5,
    "1e3": 1000.0,
    "1E-7": 1e-07,
    "0.1000000000000000055511151231257827": Decimal("0.1000000000000000055511151231257827"),
    "12345678901234567890.5": Decimal("12345678901234567890.5"),
    "-12345678901234567890.5": Decimal("-12345678901234567890.5"),
    "9007199254740993.0": Decimal("9007199254740993.0"),
    "0.12345678901234567890": Decimal("0.12345678901234567890"),
    "1e400": Decimal("1e400"),
    "1e-400": Decimal("1e-400"),
    ".inf": float("inf"),
    "-.inf": float("-inf"),
    "!!float 12345678901234567890.5": Decimal("12345678901234567890.5"),
    # Texts, as YAML 1.2 says.
    "1_000": "1_000",
    "0x1F": "0x1F",
    "010": "010",
    "12:30": "12:30",
}


@pytest.mark.parametrize(("text", "value"), WRITTEN.items())
def test_what_a_number_is_read_as(text: str, value: Any) -> None:
    [read] = read_documents(text, name="r.yaml")
    assert (type(read), read) == (type(value), value)


REFUSED = {
    "1e999999999": "a number of that many digits is a mistake",
    "1e-999999999": "a number of that many digits is a mistake",
    "1e99999999999999999999999": "a number of that size is a mistake",
    "9" * 5_000: "a number of that many digits is a mistake",
    "!!int 0x1F": "write a number in digits",
    '!!int "12:30"': "write a number in digits",
    "!!float abc": "write a number in digits",
    "2024-01-01 00:00:00.1234567": "a time has at most six digits behind the point",
}


@pytest.mark.parametrize(("text", "why"), REFUSED.items())
def test_what_is_no_number_to_reckon_with_is_refused(text: str, why: str) -> None:
    with pytest.raises(dq.DeclarationError, match=why) as caught:
        read_documents(f"a:\n- {text}\n", name="r.yaml")
    [problem] = caught.value.problems
    assert problem.place == "r.yaml:2"
    assert len(problem.message) < 150


def test_what_is_written_is_read_again_as_the_same() -> None:
    values = [
        0, 10**40, 0.1, 1e300, 5e-324, 1.5, -0.25, float("inf"),
        Decimal("12345678901234567890.5"), Decimal("1E+400"), Decimal("-0.10000000000000000000001"),
        Decimal(10**30), Decimal("0.5"), True, "0.1", "1e3", ".inf", "12345678901234567890.5",
        date(2024, 1, 31), datetime(2024, 1, 31, 10, 0, 0, 5, tzinfo=UTC),
    ]  # fmt: skip
    [read] = read_documents(to_yaml(values), name="r.yaml")
    assert read == values
    assert to_yaml(read) == to_yaml(values)
    [nan] = read_documents(to_yaml([Decimal("NaN")]), name="r.yaml")
    assert str(nan) == "[nan]"


@pytest.mark.parametrize("text", ["0.1", "0.10", "1E+2", "5", "5.0", "-0.3", "1e-7"])
def test_a_decimal_comes_back_with_the_same_digits(text: str) -> None:
    """As a float, if that is written so: each judge takes both for what their text says."""
    [[read]] = read_documents(to_yaml([Decimal(text)]), name="r.yaml")
    assert Decimal(str(read)) == Decimal(text)


RULES = """
asset: a
rules:
  - {type: column_values_in_range, name: range, columns: [d], max: 12345678901234567890.5}
  - {type: column_max_in_range, name: max, columns: [d], max: 12345678901234567890.5}
  - {type: column_values_in_set, name: set, columns: [d], values: [12345678901234567890.50]}
  - {type: column_values_in_range, name: tenth, columns: [t], max: 0.1}
  - {type: column_max_in_range, name: tenth_max, columns: [t], max: 0.1}
  - {type: column_values_in_range, name: above_all, columns: [f], max: 1e400}
  - {type: column_max_in_range, name: above_all_max, columns: [f], max: 1e400}
  - {type: column_values_in_set, name: not_infinity, columns: [f], values: [1e400]}
  - {type: column_values_in_range, name: below_all, columns: [f], min: -1e400}
  - {type: metric_in_range, name: metric, metric: "column_max:d", max: 12345678901234567890.5}
  - {type: metric_in_set, name: in_set, metric: "column_max:d", values: [12345678901234567890.5]}
"""


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_decimals_are_judged_by_every_digit(spark: SparkSession, tmp_path: Path, form: str) -> None:
    text = RULES
    if form == "json":
        [document] = read_documents(RULES, name="r.yaml")
        text = _as_json(document)
    file = tmp_path / f"rules.{form}"
    file.write_text(text)
    data = spark.sql(
        "SELECT 12345678901234567890.5001BD AS d, CAST('0.1' AS DECIMAL(38, 30)) AS t, "
        "double('Infinity') AS f UNION ALL "
        "SELECT 12345678901234567890.5BD, CAST('0.1000000000000000055' AS DECIMAL(38, 30)), 1D"
    )
    [rule_set] = dq.load_rules(file)
    result = dq.evaluate(data, rule_set)
    found = {o.rule.name: (str(o.status), o.failed_rows) for o in result}
    assert found == {
        "range": ("Error", 1),
        "max": ("Error", None),
        "set": ("Error", 1),
        "tenth": ("Error", 1),
        "tenth_max": ("Error", None),
        "above_all": ("Error", 1),
        "above_all_max": ("Error", None),
        "not_infinity": ("Error", 2),
        "below_all": ("Ok", 0),
        "metric": ("Error", None),
        "in_set": ("Error", None),
    }


def _as_json(document: Any) -> str:
    """The rules as JSON text with every digit; Python's own would write floats."""
    from dq_dagster.sources.reading import plain

    exact: dict[str, str] = {}

    def marked(value: Any) -> str:
        exact[f"<{len(exact)}>"] = str(value)
        return f"<{len(exact) - 1}>"

    text = json.dumps(plain(document), default=marked)
    for mark, digits in exact.items():
        text = text.replace(f'"{mark}"', digits)
    return text


def test_every_kind_of_field_takes_such_a_number(tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        """
asset: a
rules:
  - type: record_count_in_range
    min: 0.50000000000000000000001
    max: 1e20
  - type: column_values_in_set
    columns: a
    values: [0.30000000000000000000001]
    threshold: {type: proportion, max: 0.010000000000000000000001}
  - type: row_dq
    expectation: a > 1
    threshold: 0.010000000000000000000001
  - type: record_count_typical
    iqr_factor: 1.50000000000000000000001
    learning_period: 7.0
  - {type: freshness, columns: t, max: 3600.0000001}
  - {type: file_size_in_range, max: 1000000000000000000000.0}
"""
    )
    [rule_set] = dq.load_rules(file)
    counts, values, rows, typical, fresh, size = rule_set.rules
    assert counts.min == Decimal("0.50000000000000000000001")
    assert values.values == (Decimal("0.30000000000000000000001"),)
    assert values.threshold.max == Decimal("0.010000000000000000000001")
    assert rows.threshold.max == Decimal("0.010000000000000000000001")
    assert (typical.iqr_factor, typical.learning_period) == (1.5, 7)
    assert fresh.max == Decimal("3600.0000001")
    assert size.max == 10**21


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ("min: 0.3, max: 0.29999999999999999999999", "bounds must be ordered"),
        ("min: 0.30000000000000000000001, max: 0.3", "bounds must be ordered"),
        ("min: 1_000", "a number is needed, not '1_000': write 1000"),
        ("min: '1,000'", "a number is needed, not '1,000': write 1000"),
    ],
)
def test_bounds_are_compared_by_every_digit(tmp_path: Path, bounds: str, words: str) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(f"asset: a\nrules: [{{type: record_count_in_range, {bounds}}}]\n")
    with pytest.raises(dq.DeclarationError, match=words):
        dq.load_rules(file)


@pytest.mark.parametrize("value", [Decimal("1e999999999"), 10**2000, Decimal("1e-5000")])
def test_python_is_spared_absurd_numbers_too(value: Any) -> None:
    for declare in (
        lambda: dq.RecordCountInRange(min=value),
        lambda: dq.ColumnValuesInRange(columns="a", min=value),
        lambda: dq.ColumnValuesInSet(columns="a", values=[value]),
        lambda: dq.RecordCountTypical(learning_period=value),
    ):
        with pytest.raises(dq.DeclarationError, match="of that many digits is a mistake"):
            declare()
