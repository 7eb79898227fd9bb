"""Row expressions that look beyond their row: what is taken, and what windows are made of."""

from __future__ import annotations

import pytest

from dq_dagster.sql.across_rows import (
    across_rows_columns,
    across_rows_refusals,
    among,
    needs_other_rows,
    window_comparison,
)
from dq_dagster.sql.expressions import refusals

TAKEN = [
    "count(*) over (partition by id) = 1",
    "count(*) over(partition by a, b order by 1)=1",
    "row_number() over (partition by a order by b desc nulls last, c) = 1",
    "sum(a) over (partition by b rows between 1 preceding and current row) > 3 and c > 0",
    "avg(a) over (order by b range between unbounded preceding and 2 following) > 3",
    "lag(a, 1) ignore nulls over (order by b) <= a",
    "size(collect_set(a) over (partition by b)) > 2",
    "case when x then rank() over (order by y) > 1 else true end",
    "a > (select avg(a) from limits)",
    "a in (select b from warehouse.allowed where c = 'x')",
    "count(*) over () > 0",
    "a > 1",
]
REFUSED = [
    ("sum(a) > 3", "is an aggregate over many rows"),
    ("count(distinct a) over (partition by b) = 1", "Spark has no DISTINCT over a window."),
    ("sum(a) over w > 1", "'over w' names a window: write the window itself between brackets."),
    ("avg(sum(a) over ()) over () > 1", "is a window function"),
    ("sum((select 1)) over () > 1", "is a subquery"),
    ("abs(a) over () > 1", "ends in what is not possible here"),
    ("sum(a) over (partition by b) = 1) or (1 = 1", "closes nothing"),
    ("sum(a) over (order by b; drop table t) > 1", "ends a statement"),
    ("sum(a) over (rows between b and c) > 1", "PRECEDING or FOLLOWING"),
    ("a > (select java_method('a', 'b'))", "runs arbitrary Java code"),
    ("a > (select max(b) from parquet.`/etc/x`)", "reads files by their path"),
    ("a > (select max(input_file_name()) from t)", "input_file_name"),
    ("rand() > count(*) over ()", "is not deterministic"),
    ("my_function(a) over () > 1", "is not among the functions allowed here"),
    ("select count(*) over () from t", "is a subquery"),
    ("sum(a) over (partition by {x}) > 1", "belongs to a template"),
    ("count(*) over (partition by a", "is never closed"),
    ("sum(a) over (order by b nulls) > 1", "FIRST or LAST"),
]


@pytest.mark.parametrize("text", TAKEN)
def test_windows_and_subqueries_are_taken(text: str) -> None:
    assert across_rows_refusals(text) == ()
    # The others need nothing but their row, and are no less than row expressions.
    assert needs_other_rows(text) is bool(refusals(text))


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_everything_else_is_refused(text: str, why: str) -> None:
    reasons = [refusal.reason for refusal in across_rows_refusals(text)]
    assert any(why in reason for reason in reasons), reasons


def test_deep_nesting_is_refused() -> None:
    text = "sum(" * 60 + "a" + ") over ()" * 60 + " > 1"
    assert across_rows_refusals(text)


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("count(*) over (partition by `a b`, c order by d) = e", ("a b", "c", "d", "e")),
        ("x > (select max(y) from t) and sum(z) over () > 1", ("x", "z")),
    ],
)
def test_columns_are_those_of_the_row_and_of_windows(text: str, columns: tuple[str, ...]) -> None:
    assert across_rows_columns(text) == columns


@pytest.mark.parametrize(
    ("text", "within"),
    [
        ("count(*) over () = 1", "count(*) over (PARTITION BY k, w) = 1"),
        ("count(*) over (order by a) = 1", "count(*) over (PARTITION BY k, w order by a) = 1"),
        (
            "sum( a + 1 ) over (partition by b, c rows 1 preceding) > lag(d, 2) over (order by e)",
            (
                "sum( if(w, a + 1, NULL) ) over (PARTITION BY k, w, b, c rows 1 preceding) > "
                "lag(if(w, d, NULL), 2) over (PARTITION BY k, w order by e)"
            ),
        ),
        ("ntile(4) over (order by a) > 1", "ntile(4) over (PARTITION BY k, w order by a) > 1"),
        ("a > 1", "a > 1"),
    ],
)
def test_windows_are_kept_to_rows_that_are_alike(text: str, within: str) -> None:
    assert among(text, ["k", "w"], "w") == within
    assert among(text, []) == text


COMPARISONS = [
    ("count(*) over (partition by id) = 1", ("id",), True),
    ("COUNT(1) OVER (PARTITION BY a, `b c` ORDER BY 1) == 1", ("a", "b c"), True),
    ("((count(*) over (partition by id)) <= 1)", ("id",), True),
    ("1 = row_number() over (partition by id order by x)", ("id",), True),
    ("2 > count(*) over (partition by id)", ("id",), True),
    ("count(*) over (partition by id) < 2", ("id",), True),
    ("count(*) over (partition by id) = 2", ("id",), False),
    ("count(*) over (partition by lower(id)) = 1", None, True),
    ("count(*) over () = 1", None, True),
]


@pytest.mark.parametrize(("text", "columns", "at_most_one"), COMPARISONS)
def test_comparisons_of_one_window(
    text: str, columns: tuple[str, ...] | None, at_most_one: bool
) -> None:
    found = window_comparison(text)
    assert found is not None
    assert (found.columns, found.means_at_most_one) == (columns, at_most_one)


@pytest.mark.parametrize(
    "text",
    [
        "count(*) over (partition by id) = 1 and a > 1",
        "not count(*) over (partition by id) = 1",
        "count(*) over (partition by id) + 1 = 1",
        "count(*) over (partition by id) = count(*) over ()",
        "count(*) over (partition by id) = 1.5",
        "count(*) over (partition by id) = one",
        "a = 1",
        "count(*) over (partition by id) <> 1",
    ],
)
def test_anything_else_is_no_comparison_of_one_window(text: str) -> None:
    assert window_comparison(text) is None
