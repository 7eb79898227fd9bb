"""Thresholds in every form, on every rule that counts rows."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.rules.catalogue import BUILT_IN

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The fields without which a rule of a type cannot be declared.
NEEDED: dict[str, dict[str, Any]] = {
    "column_values_in_set": {"values": [1]},
    "column_values_not_in_set": {"values": [4]},
    "column_values_in_range": {"min": 1, "max": 3},
    "column_value_lengths_in_range": {"columns": "s", "max": 1},
    "column_values_match": {"columns": "s", "pattern": "x"},
    "column_values_not_match": {"columns": "s", "pattern": "yy"},
    "column_valid_meaning": {"meaning": {"values": [1, 2, 3]}},
    "column_values_in_reference": {"reference": {"asset": "b"}},
    "row_dq": {"expectation": "a < 4"},
}
COUNTING = [rule for rule in BUILT_IN if "threshold" in rule.model_fields]
TYPES = [rule.model_fields["type"].default for rule in COUNTING]
#: Rules that only limit bad rows.
LIMITING = {"column_not_empty", "row_dq"}


def declared(kind: str, threshold: Any) -> Any:
    own = {"columns": "a", **NEEDED.get(kind, {})}
    if kind == "row_dq":
        del own["columns"]
    [rule] = dq.RuleSet(asset="t", rules=[{"type": kind, **own, "threshold": threshold}]).rules
    return rule.threshold


def test_every_rule_that_counts_rows_takes_one() -> None:
    assert set(TYPES) == {
        "column_not_empty", "column_empty", "column_unique", "unique_key", "column_values_in_set",
        "column_values_not_in_set", "column_values_in_range", "column_value_lengths_in_range",
        "column_values_match", "column_values_not_match", "column_valid_meaning",
        "column_values_in_reference", "row_dq",
    }  # fmt: skip


SHORT: list[tuple[Any, Any]] = [
    (0.05, dq.AtMost(type="proportion", max=0.05)),
    (0.0, dq.AtMost(type="proportion", max=0.0)),
    (Decimal("0.05"), dq.AtMost(type="proportion", max=Decimal("0.05"))),
    (5, dq.AtMost(type="count", max=5)),
    (1, dq.AtMost(type="count", max=1)),
    (0, dq.AtMost(type="count", max=0)),
    ({"max": 3}, dq.AtMost(type="count", max=3)),
    ({"max": 1}, dq.AtMost(type="count", max=1)),
    ({"max": 1.0}, dq.AtMost(type="proportion", max=1.0)),
    ({"max": 0.5}, dq.AtMost(type="proportion", max=0.5)),
    ({"soft_max": 0, "max": 0.05}, dq.AtMost(type="proportion", soft_max=0, max=0.05)),
    ({"soft_max": 0, "max": 3}, dq.AtMost(type="count", soft_max=0, max=3)),
    (dq.AtMost(max=3), dq.AtMost(type="count", max=3)),
    (dq.AtMost(soft_max=0.01), dq.AtMost(type="proportion", soft_max=0.01)),
    ({"type": "proportion", "max": 1}, dq.AtMost(type="proportion", max=1)),
    ("all", "all"),
]


@pytest.mark.parametrize("kind", TYPES)
def test_short_forms(kind: str) -> None:
    for written, meant in SHORT:
        assert declared(kind, written) == meant, written


@pytest.mark.parametrize("kind", sorted(set(TYPES) - LIMITING))
def test_good_rows_can_be_required(kind: str) -> None:
    assert declared(kind, {"min": 3}) == dq.AtLeast(type="count", min=3)
    assert declared(kind, {"min": 0.95}) == dq.AtLeast(type="proportion", min=0.95)
    assert declared(kind, dq.AtLeast(min=3)) == dq.AtLeast(type="count", min=3)


REFUSED: list[tuple[Any, str]] = [
    (5.0, ("5.0 has a decimal point, so it is a share, which lies between 0 and 1: write 5 for a "
          "number of rows")),
    (1.5, "1.5 has a decimal point, so it is a share, which lies between 0 and 1."),
    ({"soft_max": 0.01, "max": 3}, ("soft_max (0.01) is a share and max (3) a number of rows: give "
                                   "'type: count' or 'type: proportion'")),
    ({"soft_max": 0.01, "max": 1}, "soft_max (0.01) is a share and max (1) a number of rows"),
    (-1, "a threshold cannot be negative"),
    (-0.1, "a threshold cannot be negative"),
    (True, "'all', a share such as 0.01, or bounds such as {max: 3} needed"),
    ("0.05", "'all', a share such as 0.01, or bounds such as {max: 3} needed"),
    ({"max": "3"}, "a number is needed, not '3'"),
]  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
def test_what_no_threshold_is(kind: str) -> None:
    for written, why in REFUSED:
        with pytest.raises(dq.DeclarationError) as caught:
            declared(kind, written)
        [problem] = caught.value.problems
        assert why in problem.message, written


@pytest.mark.parametrize("kind", TYPES)
def test_good_rows_may_be_required_of_every_rule(kind: str) -> None:
    assert declared(kind, {"min": 0.95}) == dq.AtLeast(type="proportion", min=0.95)
    assert declared(kind, {"max": 0.95}) == dq.AtMost(type="proportion", max=0.95)
    assert declared(kind, 0.5) == dq.AtMost(type="proportion", max=0.5)


@pytest.mark.parametrize("kind", ["column_unique", "unique_key", "column_empty"])
def test_a_large_share_of_exceptions_is_asked_about(kind: str) -> None:
    with pytest.raises(dq.DeclarationError, match=r"write \{min: 0.95\} if so many must be right"):
        declared(kind, 0.95)
    assert declared(kind, {"max": 0.95}).max == 0.95


def test_a_share_and_a_count_on_every_rule(spark: SparkSession) -> None:
    """Of 100 rows, 4 break each rule: 0.05 and 4 tolerate that, 0.03 and 3 do not."""
    data = spark.sql(
        "SELECT if(id < 96, 1 + id % 3, 4) AS a, if(id < 96, 'x', 'yy') AS s, "
        "if(id < 4, NULL, id) AS n, if(id < 4, id, NULL) AS e, "
        "if(id < 96, id, -1 - id % 2) AS u FROM range(100)"
    )
    columns = {"column_not_empty": "n", "column_empty": "e", "column_unique": "u",
               "unique_key": "u"}  # fmt: skip
    reference = spark.sql("SELECT explode(array(1, 2, 3)) AS a")
    rules = []
    for kind in TYPES:
        own = {"columns": columns.get(kind, "a"), **NEEDED.get(kind, {})}
        if kind == "column_values_in_set":
            own["values"] = [1, 2, 3]
        if kind == "row_dq":
            del own["columns"]
        for name, threshold in (
            ("share", 0.05), ("strict_share", 0.03), ("count", {"max": 4}), ("strict", {"max": 3}),
            ("soft", {"soft_max": 3}), ("all", "all"),
        ):  # fmt: skip
            rules.append({"type": kind, "name": f"{kind} {name}", **own, "threshold": threshold})
    result = dq.evaluate(data, rules, references={"b": reference})
    expected = {"share": "Ok", "strict_share": "Error", "count": "Ok", "strict": "Error",
                "soft": "Warning", "all": "Error"}  # fmt: skip
    for outcome in result:
        _, name = outcome.rule.name.split(" ")
        assert outcome.status == expected[name], outcome.message
        assert outcome.failed_rows == 4, outcome.message
        if name == "share":
            assert "4 of 100" in outcome.message
            assert "at most 5 % allowed" in outcome.message


def test_soft_bounds_and_a_threshold(spark: SparkSession) -> None:
    data = spark.sql("SELECT CAST(id AS INT) AS a FROM range(100)")
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"max": 98, "soft_max": 94, "threshold": 3}, "Warning",
         ("5 of 100 values (5 %) of 'a' are outside the soft range (at most 98, ideally at most "
         "94; at most 3 allowed).")),
        ({"max": 98, "soft_max": 94, "threshold": 5}, "Ok",
         ("1 of 100 values (1 %) of 'a' is outside the expected range (at most 98, ideally at most "
         "94; at most 5 allowed).")),
        ({"max": 94, "threshold": {"soft_max": 3, "max": 5}}, "Warning",
         ("5 of 100 values (5 %) of 'a' are outside the range (at most 94; at most 5 allowed, "
         "ideally at most 3).")),
        ({"max": 94, "soft_max": 50, "threshold": {"min": 0.96}}, "Error",
         ("5 of 100 values (5 %) of 'a' are outside the range (at most 94, ideally at most 50; at "
         "least 96 % required).")),
    ]  # fmt: skip
    rules = [
        {"type": "column_values_in_range", "name": f"r{n}", "columns": "a", **fields}
        for n, (fields, _, _) in enumerate(cases)
    ]
    found = [(o.status, o.message) for o in dq.evaluate(data, rules)]
    assert found == [(status, message) for _, status, message in cases]


def test_a_share_is_told_apart_from_what_is_allowed(spark: SparkSession) -> None:
    data = spark.sql("SELECT if(id = 0, NULL, id) AS a FROM range(1999)")
    [limit, required] = dq.evaluate(
        data,
        [
            dq.ColumnNotEmpty(columns="a", threshold=0.0005),
            dq.ColumnValidMeaning(
                columns="a", meaning=dq.Meaning(description="any"), threshold=dq.AtLeast(min=0.9995)
            ),
        ],
    )
    assert limit.message == ("1 of 1,999 rows (0.05003 %) has no 'a' (at most 0.05 % allowed).")
    assert required.message.startswith("1 of 1,999 rows (0.05003 %) has no valid")
