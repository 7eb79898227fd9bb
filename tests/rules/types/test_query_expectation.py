"""The rule query_dq without Spark: what it takes, what it measures, what it says."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.errors import SparkFailure
from dq_dagster.evaluation.outcome import Outcome
from dq_dagster.judging.evidence import Evidence
from dq_dagster.metrics.conditions import PassKind
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.metric import Metric, RecordCount
from dq_dagster.metrics.queries import (
    ListParameter,
    QueryCondition,
    QueryInPass,
    QueryPart,
    QueryTemplate,
    ValueParameter,
)
from dq_dagster.metrics.sources import AssetData, SqlAggregate
from dq_dagster.rules.catalogue import RULE_TYPES
from dq_dagster.rules.fields.sql_parameters import parameter

NAN = math.nan
IN_PASS = "(select sum(a) from {table}) > 1"
OWN = "(select sum(t.a) from {table} t) > 1"


def judged(expectation: str, answer: Any, *parts: Any, rows: int = 8, **fields: Any) -> Outcome:
    """The outcome where Spark gave that answer, and the subqueries these values."""
    rule = dq.QueryExpectation(expectation=expectation, **fields)
    whole, *measured, counted = rule.metrics()
    values: dict[Metric, Any] = {whole: answer, counted: rows}
    values |= dict(zip(measured, parts, strict=True))
    zone = timezone(timedelta(hours=-5))
    return Outcome.of(rule, rule.judge(Evidence(values, zone)))


def test_queries_that_only_aggregate_the_rows_are_aggregates() -> None:
    rule = dq.QueryExpectation(
        expectation="(select sum(amount) from {table} where items > :n) > (select count(*) from "
        "{table})",
        parameters={"n": 2},
        where="amount > 0",
    )
    restricted = "sum(if((items > 2), amount, NULL))"
    assert rule.metrics() == (
        QueryInPass(
            f"({restricted}) > (count(*))", f"{rule.expectation} (n=2)", where="amount > 0"
        ),
        SqlAggregate(restricted, where="amount > 0"),
        SqlAggregate("count(*)", where="amount > 0"),
        RecordCount(where="amount > 0"),
    )
    assert {metric.kind for metric in rule.metrics()} == {PassKind.AGGREGATE}
    assert len(dq.explain([rule, dq.ColumnNotEmpty(columns="amount")]).passes) == 1


def test_other_queries_are_measured_as_they_are() -> None:
    rule = dq.QueryExpectation(
        expectation="(select count(*) from {table}) > (select count(*) from {others}) * :f",
        references={"others": dq.Reference(asset="customers")},
        parameters={"f": 0.9},
        where="amount > 0",
    )
    template = QueryTemplate(
        rule.expectation,
        (("others", AssetData("customers")),),
        (("f", ValueParameter(Constant.of(0.9))),),
    )
    assert rule.metrics() == (
        QueryCondition(template, where="amount > 0"),
        QueryPart(template, "(select count(*) from {table})", where="amount > 0"),
        QueryPart(template, "(select count(*) from {others})", where="amount > 0"),
        RecordCount(where="amount > 0"),
    )
    assert [metric.key for metric in rule.metrics()[:3]] == [
        f"holds:{rule.expectation} (f=0.9, others=asset 'customers') where amount > 0",
        "query:(select count(*) from {table}) where amount > 0",
        "query:(select count(*) from {others}) (others=asset 'customers') where amount > 0",
    ]
    assert rule.other_assets == ("customers",)
    assert rule.name.startswith("query_dq__select_count_from_table_select_count_from_others_f_")
    assert rule.summary() == (
        "Where amount > 0: this holds: (select count(*) from {table}) > (select count(*) from "
        "{others}) * :f, where :f is 0.9."
    )


@pytest.mark.parametrize("expectation", [IN_PASS, OWN])
@pytest.mark.parametrize(
    ("answer", "null_is", "status", "verdict"),
    [
        (True, "fail", "Ok", "holds"),
        (False, "pass", "Error", "does not hold"),
        (None, "fail", "Error", "is unknown (NULL), which fails"),
        (None, "pass", "Ok", "is unknown (NULL), which passes"),
    ],
)
def test_the_answer_decides(
    expectation: str, answer: bool | None, null_is: str, status: str, verdict: str
) -> None:
    outcome = judged(expectation, answer, 7_000, null_is=null_is)
    assert outcome.status == status
    subquery = expectation.removesuffix(" > 1")
    assert outcome.message == f"'{expectation}' {verdict}: {subquery} = 7,000."
    assert (outcome.observed, outcome.rows, outcome.expected) == (7_000, 8, expectation)


@pytest.mark.parametrize("expectation", [IN_PASS, OWN])
def test_no_rows_texts_and_values_that_cannot_be_had(expectation: str) -> None:
    assert judged(expectation, None, None, rows=0).status == "Empty"
    over = judged(expectation, False, 0, rows=0)
    assert over.message.startswith(f"'{expectation}' does not hold over no rows: ")
    assert judged(expectation, True, "secret").message.endswith(" = a text of 6 characters.")
    missing = judged(expectation, True, SparkFailure("Spark raised X."))
    assert (missing.message, missing.observed) == (f"'{expectation}' holds.", None)


@pytest.mark.parametrize(
    ("expectation", "status"),
    [(IN_PASS, "Error"), (OWN, "Error"), (f"{OWN} or isnan(1D)", "Ok")],
)
def test_nan_is_never_right_by_chance(expectation: str, status: str) -> None:
    outcome = judged(expectation, True, NAN)
    assert outcome.status == status
    untrusted = "is not to be trusted, as a value is NaN (not a number)" in outcome.message
    assert untrusted is (status == "Error")


def test_a_whole_query_lists_its_aggregates_or_nothing() -> None:
    plain = judged("select sum(a) > 1 and max(b) < 3 from {table}", True, 5, 2)
    assert plain.message.endswith("holds: sum(a) = 5, max(b) = 2.")
    assert plain.observed == {"sum(a)": 5, "max(b)": 2}
    other = judged("select max(t.a) > 1 from {table} t", False)
    assert other.message == "'select max(t.a) > 1 from {table} t' does not hold."
    assert other.observed is None


@pytest.mark.parametrize(
    ("written", "bound", "marked", "literal"),
    [
        (3, 3, ":x", "3"),
        (-3, -3, ":x", "(-3)"),
        (2**63 - 1, 2**63 - 1, ":x", "9223372036854775807"),
        (True, True, ":x", "true"),
        ("it's {x} :y", "it's {x} :y", ":x", "CAST(X'69742773207b787d203a79' AS STRING)"),
        ("plain", "plain", ":x", "'plain'"),
        (2**63, str(2**63), "CAST(:x AS DECIMAL(19, 0))", None),
        (0.1, "0.1", "CAST(:x AS DECIMAL(1, 1))", "CAST('0.1' AS DECIMAL(1, 1))"),
        (-12.5, "-12.5", "CAST(:x AS DECIMAL(3, 1))", "CAST('-12.5' AS DECIMAL(3, 1))"),
        (1e-9, "1e-09", "CAST(:x AS DOUBLE)", "CAST('1e-09' AS DOUBLE)"),
        (Decimal("10.50"), "10.50", "CAST(:x AS DECIMAL(4, 2))", None),
        (Decimal("1E+3"), "1000", "CAST(:x AS DECIMAL(4, 0))", None),
        (Decimal(0), "0", "CAST(:x AS DECIMAL(1, 0))", None),
        (date(2024, 1, 31), "2024-01-31", "CAST(:x AS DATE)", "CAST('2024-01-31' AS DATE)"),
        (
            datetime(2024, 1, 31, 12, tzinfo=UTC),
            "2024-01-31T12:00:00+00:00",
            "CAST(:x AS TIMESTAMP_LTZ)",
            None,
        ),
    ],
)
def test_values_are_bound_and_of_one_type_in_both_ways(
    written: Any, bound: Any, marked: str, literal: str | None
) -> None:
    value = parameter(written)
    assert isinstance(value, ValueParameter)
    assert (value.bound, value.sql(":x")) == (bound, marked)
    assert type(value.bound) is type(bound)
    assert literal is None or value.literal == literal


def test_columns_are_quoted_and_lists_have_a_marker_each() -> None:
    rule = dq.QueryExpectation(
        expectation="(select max(t.{of}) from {table} t where t.k in :ks) > 1",
        parameters={"of": {"column": "a`b} {x"}, "ks": ["x", 1]},
    )
    condition = rule.metrics()[0]
    assert isinstance(condition, QueryCondition)
    assert condition.template.marked == {"{of}": "`a``b} {x`", ":ks": "(:dq_1_0, :dq_1_1)"}
    assert condition.template.bound == {"dq_1_0": "x", "dq_1_1": 1}
    assert isinstance(dict(condition.template.parameters)["ks"], ListParameter)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"expectation": "amount > 0"},
            ("field 'expectation': there is no query in the expression: put a condition on single "
            "rows into a rule of type row_dq."),
        ),
        (
            {"expectation": "sum(amount) > 0"},
            ("field 'expectation': there is no query in the expression: put a condition on "
            "aggregates into a rule of type agg_dq."),
        ),
        (
            {"type": "row_dq", "expectation": "id in (select id from other)"},
            ("field 'expectation': '(select id from other)' is a subquery, and subqueries are not "
            "possible here: write a condition on the columns of this table, or a rule of type "
            "query_dq. (A column of that name needs backquotes.)"),
        ),
        (
            {"expectation": "select true from {custmers}", "references": {"customers": "c"}},
            None,
        ),
        (
            {
                "expectation": "select true from {custmers}",
                "references": {"customers": {"asset": "c"}},
            },
            ("'{custmers}' is not declared under references or parameters. Did you mean "
            "'{customers}'? {customers} of references is not used in the expectation."),
        ),
        (
            {"expectation": "(select 1) > :leest", "parameters": {"least": 1}},
            ("':leest' is not declared under parameters. Did you mean ':least'? :least of "
            "parameters is not used in the expectation."),
        ),
        (
            {"expectation": "(select 1) > :least"},
            "':least' is not declared under parameters. There is {table}.",
        ),
        (
            {"expectation": "(select 1) > 0", "parameters": {"least": 1}},
            ":least of parameters is not used in the expectation.",
        ),
        (
            {"expectation": "(select 1) = :x", "parameters": {"x": [1, 2]}},
            ":x is a list of values, which stands behind IN only: write 'x in :x'.",
        ),
        (
            {"expectation": "(select 1) = :x", "parameters": {"x": {"column": "a"}}},
            ("':x' is not declared under parameters. Did you mean '{x}'? {x} of parameters is not "
            "used in the expectation."),
        ),
        (
            {
                "expectation": "(select max({x}) from {table}) = 1",
                "parameters": {"x": {"column": "a"}},
                "references": {"x": {"asset": "a"}},
            },
            "'x' is the name of a reference and of a parameter.",
        ),
        (
            {"expectation": "(select 1) = :x", "parameters": {"x": {"columns": "a"}}},
            ("field 'parameters': parameter 'x': a value, a list of values, or {column: ...} is "
            "needed."),
        ),
        (
            {"expectation": "(select 1) = :x", "parameters": {"x": NAN}},
            "field 'parameters': parameter 'x': a finite number is needed.",
        ),
        (
            {"expectation": "(select 1) = :x", "parameters": {"x": None}},
            ("field 'parameters': parameter 'x': a number, a text, a boolean, a date or a time is "
            "needed, not NoneType."),
        ),
        (
            {"expectation": "(select 1) = :x", "parameters": {"x": 10**40}},
            "field 'parameters': parameter 'x': a number has at most 38 digits in Spark.",
        ),
        (
            {"expectation": "1 in :x and (select true)", "parameters": {"x": []}},
            "field 'parameters': parameter 'x': a list has 1 to 1,000 values.",
        ),
        (
            {"expectation": "(select max({x}) from {table}) = 1",
             "parameters": {"x": {"column": "${y}"}}},
            ("field 'parameters': parameter 'x': Spark replaces '${...}' in names: rename the "
            "column."),
        ),
        (
            {"expectation": "(select 1) = :x", "parameters": {"a b": 1}},
            "field 'parameters': 'a b' is no name: letters, digits and underscores make one.",
        ),
        (
            {"expectation": "select true from {table}", "references": {"table": {"asset": "a"}}},
            "field 'references': {table} stands for the rows that are judged: call it otherwise.",
        ),
        (
            {"expectation": "select true", "action_if_failed": "drop"},
            None,
        ),
        ({"expectation": "select true", "threshold": 0.1}, None),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_told_when_declared(fields: dict[str, Any], said: str | None) -> None:
    with pytest.raises(dq.DeclarationError) as caught:
        dq.RuleSet(asset="orders", rules=[{"type": "query_dq", "name": "n", **fields}])
    (problem,) = caught.value.problems
    assert said is None or problem.message == said


def test_only_rules_that_run_code_of_their_author_are_to_be_trusted() -> None:
    # A source of rules that anybody may write to must refuse these.
    assert {kind for kind, rule in RULE_TYPES.items() if rule.trusted} == {"query_dq", "python"}


def test_it_comes_from_files_and_has_a_schema(tmp_path: Any) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        "asset: orders\n"
        "rules:\n"
        "  - type: query_dq\n"
        "    expectation: (select max(day) from {table}) >= :day and :least < 2\n"
        "    parameters: {day: 2024-01-31, least: 0.5}\n"
    )
    [rule_set] = dq.load_rules(file)
    (rule,) = rule_set.rules
    assert isinstance(rule, dq.QueryExpectation)
    assert rule.parameters["day"] == date(2024, 1, 31)
    fields = dq.json_schema()["$defs"]["query_dq"]["properties"]
    assert fields["references"]["additionalProperties"]["$ref"].endswith("/Reference")
    assert fields["action_if_failed"]["enum"] == ["ignore", "fail"]
