"""How the outcomes of an evaluation read as text, as HTML and as a table."""

from __future__ import annotations

import re
from html import escape, unescape

import pytest

import dq_dagster as dq
from dq_dagster.evaluation.outcome import GroupRow
from dq_dagster.judging.judgement import Judgement
from dq_dagster.plan.plan import make_plan
from dq_dagster.plan.request import CheckRequest

RULES: list[dq.Rule] = [
    dq.RecordCountInRange(name="<script>alert(1)</script>", min=1),
    dq.ColumnNotEmpty(name="fine", columns="id"),
]
RESULT = dq.Evaluation(
    (
        dq.Outcome(
            RULES[0], Judgement(dq.Status.ERROR, "<b>too few</b>", observed=0, bounds={"min": 1})
        ),
        dq.Outcome(
            RULES[1], Judgement(dq.Status.OK, "All there.", observed=0, rows=3, failed_rows=0)
        ),
    ),
    make_plan(CheckRequest.of(RULES)),
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


HOSTILE = "<img src=x onerror=alert(1)>"
GROUPED = dq.Outcome(
    dq.ColumnNotEmpty(name=HOSTILE, columns=["id", "name"], dimensions=["country", "shop"]),
    Judgement(
        dq.Status.ERROR,
        f"2 of 1,000 rows have no '{HOSTILE}'.",
        observed={"id": 2, HOSTILE: 0},
        expected="none allowed",
        rows=1000,
        failed_rows=2,
        columns={
            "id": Judgement(dq.Status.ERROR, "2 of 1,000 rows.", observed=2),
            HOSTILE: Judgement(dq.Status.OK, HOSTILE, observed=0),
        },
    ),
    partition=f"2024-01-01|{HOSTILE}",
    dimensions={
        "country": [
            GroupRow(HOSTILE, dq.Status.ERROR, 990, 2, 2, 0.0001, message=HOSTILE),
            GroupRow(None, dq.Status.OK, 4, 0, 0, message="fine"),
            GroupRow("Others", dq.Status.EMPTY, 6, groups=3, message="nothing"),
        ],
        HOSTILE: f"There are too many groups by '{HOSTILE}'.",
    },
)


def cells(html: str) -> list[list[str]]:
    """The texts of the rows of all tables."""
    rows = re.findall(r"<tr>(.*?)</tr>", html)
    return [
        [unescape(re.sub(r"<[^>]+>", "", cell)) for cell in re.findall(r"<t[hd].*?</t[hd]>", row)]
        for row in rows
    ]


def test_one_outcome_is_a_small_table() -> None:
    html = RESULT["fine"]._repr_html_()
    assert cells(html) == [
        ["rule", "fine (column_not_empty)"],
        ["status", "Ok"],
        ["message", "All there."],
        ["observed", "0"],
        ["rows", "3"],
        ["failed rows", "0"],
    ]


def test_columns_and_groups_are_shown_as_text() -> None:
    html = GROUPED._repr_html_()
    assert "<img" not in html
    assert cells(html) == [
        ["rule", f"{HOSTILE} (column_not_empty)"],
        ["partition", f"2024-01-01|{HOSTILE}"],
        ["status", "Error"],
        ["message", f"2 of 1,000 rows have no '{HOSTILE}'."],
        ["observed", f"id: 2, {HOSTILE}: 0"],
        ["expected", "none allowed"],
        ["rows", "1,000"],
        ["failed rows", "2"],
        ["column", "status", "observed", "message"],
        ["id", "Error", "2", "2 of 1,000 rows."],
        [HOSTILE, "Ok", "0", HOSTILE],
        ["group", "status", "observed", "rows", "failed rows", "impact", "message"],
        [HOSTILE, "Error", "2", "990", "2", "0.0001", HOSTILE],
        ["(no value)", "Ok", "0", "4", "0", "0", "fine"],
        ["Others (3 groups)", "Empty", "", "6", "", "0", "nothing"],
    ]
    assert "There are too many groups by &#x27;&lt;img" in html


def test_details_show_columns_and_groups_as_plain_data() -> None:
    details = GROUPED.details
    assert details["columns"]["id"] == {
        "status": "Error",
        "observed": 2,
        "message": "2 of 1,000 rows.",
    }
    first, nameless, others = details["dimensions"]["country"]
    assert (first["group"], first["impact"], first["groups"]) == (HOSTILE, 0.0001, 1)
    assert (nameless["group"], others["groups"], others["failed_rows"]) == (None, 3, None)
    assert details["dimensions"][HOSTILE] == f"There are too many groups by '{HOSTILE}'."
    assert GROUPED.columns["id"].status is dq.Status.ERROR


def test_all_outcomes_show_partitions_and_groups() -> None:
    html = dq.Evaluation((GROUPED, RESULT["fine"]), RESULT.plan)._repr_html_()
    assert "<img" not in html
    shown = cells(html)
    assert shown[0] == ["status", "rule", "partition", "observed", "message"]
    assert shown[2] == ["Ok", "fine", "", "0", "All there."]
    assert ["(no value)", "Ok", "0", "4", "0", "0", "fine"] in shown
    assert f"{escape(HOSTILE)}, partition 2024-01-01|{escape(HOSTILE)}, by country</p>" in html
    assert "partition" not in RESULT._repr_html_()
