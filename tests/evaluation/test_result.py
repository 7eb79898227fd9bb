"""How the outcomes of an evaluation read as text, as HTML and as a table."""

from __future__ import annotations

import pytest

import dq_dagster as dq
from dq_dagster.plan import make_plan

RULES: list[dq.Rule] = [
    dq.RecordCountInRange(name="<script>alert(1)</script>", min=1),
    dq.ColumnNotEmpty(name="fine", columns="id"),
]
RESULT = dq.Evaluation(
    (
        dq.Outcome(RULES[0], dq.Status.ERROR, "<b>too few</b>", observed=0, bounds={"min": 1}),
        dq.Outcome(RULES[1], dq.Status.OK, "All there.", observed=0, rows=3, failed_rows=0),
    ),
    make_plan(RULES),
)


def test_it_reads_as_text() -> None:
    assert repr(RESULT).splitlines() == [
        "2 outcomes: 1 Error, 1 Ok",
        "Error  <script>alert(1)</script>  <b>too few</b>",
        "Ok     fine                       All there.",
    ]


def test_html_shows_names_and_messages_as_text() -> None:
    html = RESULT._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "&lt;b&gt;too few&lt;/b&gt;" in html


def test_it_is_a_table_and_sums_up() -> None:
    table = RESULT.to_pandas()
    assert table["rule"].tolist() == ["<script>alert(1)</script>", "fine"]
    assert table["status"].tolist() == ["Error", "Ok"]
    assert table["bounds"].tolist() == [{"min": 1}, {}]
    assert (RESULT.status, RESULT.ok, len(RESULT)) == (dq.Status.ERROR, False, 2)
    assert RESULT["fine"].rows == 3
    with pytest.raises(KeyError, match="No rule named 'other'"):
        _ = RESULT["other"]
