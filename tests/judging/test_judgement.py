"""Several columns: the worst verdict wins, and the message names what caused it."""

from __future__ import annotations

import pytest

from dq_dagster.judging.judgement import Judgement, Status, worst

OK = Judgement(Status.OK, "a is fine.", observed=0, rows=10, failed_rows=0, bounds={"max": 1})
WARNING = Judgement(Status.WARNING, "b is odd.", observed=2, rows=8, failed_rows=2)
ERROR = Judgement(Status.ERROR, "c is wrong.", observed=5, rows=5, failed_rows=5)
EMPTY = Judgement(Status.EMPTY, "d is empty.", rows=0, failed_rows=0)
BROKEN = Judgement.error(ValueError("e broke."))


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        ([], "NotComputed"),
        (["Ok"], "Ok"),
        (["Ok", "NotComputed"], "Ok"),
        (["Ok", "Empty"], "Empty"),
        (["Empty", "Warning", "Ok"], "Warning"),
        (["Warning", "Error", "Empty", "Ok"], "Error"),
    ],
)
def test_the_order_of_badness(statuses: list[str], expected: str) -> None:
    assert worst(Status(status) for status in statuses) == expected
    assert worst(Status(status) for status in reversed(statuses)) == expected


def test_one_column_speaks_for_itself() -> None:
    assert Judgement.of_columns({"a": OK}) is OK


def test_the_worst_column_speaks_for_all() -> None:
    joint = Judgement.of_columns({"a": OK, "b": WARNING, "c": ERROR, "d": EMPTY})
    assert joint.status == "Error"
    assert joint.message == "c is wrong."
    assert joint.observed == {"a": 0, "b": 2, "c": 5, "d": None}
    assert (joint.rows, joint.failed_rows) == (10, 5)
    assert joint.bounds == {"max": 1}
    assert {name: kept.status for name, kept in joint.columns.items()} == {
        "a": "Ok",
        "b": "Warning",
        "c": "Error",
        "d": "Empty",
    }


def test_every_cause_is_named_up_to_three() -> None:
    joint = Judgement.of_columns({"c": ERROR, "a": OK, "e": BROKEN})
    assert joint.message == "c is wrong. e broke."
    many = Judgement.of_columns({f"c{n}": ERROR for n in range(1500)})
    assert many.message.startswith("c is wrong. c is wrong. c is wrong. Likewise 'c3', ")
    assert many.message.endswith(" and 1,487 more, of 1,500 columns.")


def test_columns_that_are_all_fine_are_said_to_be() -> None:
    joint = Judgement.of_columns({"a": OK, "b": OK})
    assert joint.message == "Both columns are as expected: 'a' and 'b'."


def test_a_broken_rule_keeps_the_class_of_its_error() -> None:
    assert BROKEN.status == "Error"
    assert BROKEN.details == {"error": "ValueError"}
    assert BROKEN.rows is None
