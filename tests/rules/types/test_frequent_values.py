"""How verdicts on frequent values read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.judging.evidence import Evidence
from dq_dagster.metrics.frequency import Level

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("top", "values", "inside", "message"),
    [
        (1, [1], [1], "The most frequent value of 'a' is in the set of 1 value."),
        (1, [1], [0], "The most frequent value of 'a' is not in the set of 1 value."),
        (2, [1, 1], [1, 1], "The 2 most frequent values of 'a' are in the set of 1 value."),
        (2, [1, 1], [0, 0], "The 2 most frequent values of 'a' are not in the set of 1 value."),
        (2, [1, 1], [1, 0], "1 of the 2 most frequent values of 'a' is not in the set of 1 value."),
        (
            2,
            [1, 3],
            [1, 1],
            (
                "2 of the 4 most frequent values of 'a' are not in the set of 1 value. "
                "3 of them tie for 1 place."
            ),
        ),
    ],
)
def test_messages(top: int, values: list[int], inside: list[int], message: str) -> None:
    rule = dq.ColumnTopValuesInSet(columns="a", top=top, values=["x"])
    leading, rows = rule.metrics()
    members = leading.against  # type: ignore[attr-defined]
    levels = tuple(
        Level(9 - n, many, (9 - n) * many, {members: good})
        for n, (many, good) in enumerate(zip(values, inside, strict=True))
    )
    verdict = rule.judge(Evidence({leading: levels, rows: 99}))
    assert verdict.message == message
    assert verdict.status == (dq.Status.OK if inside == values else dq.Status.ERROR)


TIES: list[tuple[int, list[int], list[int], str, str]] = [
    # places, values of each frequency, members among them, status, what is said of the tie
    (1, [3], [1], "Ok", "3 of them tie for 1 place, and 1 of those is in the set."),
    (1, [3], [0], "Error", "3 of them tie for 1 place, and 0 of those are in the set."),
    (1, [1], [0], "Error", ""),
    (2, [1, 3], [1, 1], "Ok", "3 of them tie for 1 place, and 1 of those is in the set."),
    (2, [1, 3], [0, 3], "Error", "3 of them tie for 1 place, and 3 of those are in the set."),
    (3, [1, 4], [1, 1], "Error", "4 of them tie for 2 places, and 1 of those is in the set."),
    (3, [1, 4], [1, 2], "Ok", "4 of them tie for 2 places, and 2 of those are in the set."),
    (5, [1, 2], [1, 2], "Ok", ""),
    (5, [1, 2], [1, 1], "Error", ""),
]


@pytest.mark.parametrize(("top", "values", "inside", "status", "tie"), TIES)
def test_any_of_the_values_that_tie(
    top: int, values: list[int], inside: list[int], status: str, tie: str
) -> None:
    rule = dq.ColumnTopValuesInSet(columns="a", top=top, values=["x"], ties="any")
    leading, rows = rule.metrics()
    members = leading.against  # type: ignore[attr-defined]
    levels = tuple(
        Level(9 - n, many, (9 - n) * many, {members: good})
        for n, (many, good) in enumerate(zip(values, inside, strict=True))
    )
    verdict = rule.judge(Evidence({leading: levels, rows: 99}))
    assert verdict.status == status
    assert verdict.message.endswith(tie or "in the set of 1 value.")


def test_ties_in_data(spark: SparkSession) -> None:
    data = spark.createDataFrame([("x",), ("y",), ("z",), (None,)], "a string")
    makers: list[tuple[str, Any, dict[str, Any]]] = [
        ("most", dq.ColumnMostFrequentInSet, {}),
        ("about", dq.ColumnMostFrequentInSet, {"approximate": True}),
        ("top", dq.ColumnTopValuesInSet, {"top": 2}),
    ]
    rules = [
        make(name=f"{name}_{ties}", columns="a", values=["y"], ties=ties, **fields)
        for name, make, fields in makers
        for ties in ("all", "any")
    ]
    found = {outcome.rule.name: str(outcome.status) for outcome in dq.evaluate(data, rules)}
    assert found == {
        "most_all": "Error", "most_any": "Ok", "about_all": "Error", "about_any": "Ok",
        "top_all": "Error", "top_any": "Error",
    }  # fmt: skip
