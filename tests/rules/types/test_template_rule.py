"""The rule template without Spark: what it takes, what it measures, what it says."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

import dq_dagster as dq
from dq_dagster.errors import Misfit
from dq_dagster.judging.evidence import Evidence, PastValue
from dq_dagster.judging.judgement import Judgement
from dq_dagster.metrics.metric import RecordCount
from dq_dagster.metrics.queries import QueryNumber, QueryTemplate
from dq_dagster.metrics.sources import AssetData, SqlAggregate
from tests.oracle.names import HOSTILE_NAMES

NOW = datetime(2024, 3, 10, 12, tzinfo=UTC)
EMPTY_IDS: dict[str, Any] = {"template": "rows_with_empty_field", "parameters": {"column": "id"}}


def rule(**fields: Any) -> dq.TemplateRule:
    return dq.TemplateRule(**{**EMPTY_IDS, **fields})


def judged(
    value: Any, *, rows: int = 8, past: Any = (), one: Any = None, **fields: Any
) -> Judgement:
    made = one or rule(**fields)
    number, counted = made.metrics()
    points = [
        PastValue(value, NOW - timedelta(days=len(past) - place))
        for place, value in enumerate(past)
    ]
    evidence = Evidence({number: value, counted: rows}, now=NOW, pasts={number.key: points})
    return made.judge(evidence)


def refusal(**fields: Any) -> str:
    with pytest.raises(dq.DeclarationError) as raised:
        dq.RuleSet(asset="orders", rules=[rule(**fields)])
    return str(raised.value)


def test_what_is_measured() -> None:
    aggregates = rule(where="a > 1")
    assert aggregates.metrics() == (
        SqlAggregate("count(if((`id` is null), 1, NULL))", where="a > 1"),
        RecordCount(where="a > 1"),
    )
    assert aggregates.name == "template_rows_with_empty_field_id"
    assert aggregates.quality_dimension == "completeness"
    assert rule(quality_dimension="accuracy").quality_dimension == "accuracy"
    own = rule(
        template={
            "sql": "select count(*) from {table} cross join {o}",
            "parameters": {"o": "dataset"},
        },
        parameters={"o": "shop/others"},
        fails_when="> 3",
    )
    assert own.other_assets == ("shop/others",)
    template = QueryTemplate(
        "select count(*) from {table} cross join {o}", (("o", AssetData("shop/others")),)
    )
    assert own.metrics()[0] == QueryNumber(template)


COMPARED: list[tuple[dict[str, Any], Any, str, str]] = [
    ({}, 0, "Ok", "is 0, as expected (at most 0)."),
    ({}, 1, "Error", "is 1, but at most 0 is expected."),
    ({"expected": 5}, 5, "Ok", "is 5, as expected (at most 5)."),
    ({"expected": 5}, 6, "Error", "is 6, but at most 5 is expected."),
    # What fails, as in the template.
    ({"operator": ">="}, 0, "Error", "is 0, but less than 0 is expected."),
    ({"operator": "<", "expected": 2}, 1, "Error", "is 1, but at least 2 is expected."),
    ({"operator": "=", "expected": 2}, 2, "Error", "is 2, but different from 2 is expected."),
    ({"fails_when": "!= 3"}, 3, "Ok", "is 3, as expected (equal to 3)."),
    ({"fails_when": "<>3"}, 4, "Error", "is 4, but equal to 3 is expected."),
    ({"holds_when": "= 0"}, 0, "Ok", "is 0, as expected (equal to 0)."),
    ({"holds_when": "== 0"}, 1, "Error", "is 1, but equal to 0 is expected."),
    ({"holds_when": "> 0"}, 1, "Ok", "is 1, as expected (greater than 0)."),
    ({"holds_when": "> 0"}, 0, "Error", "is 0, but greater than 0 is expected."),
    ({"fails_when": "> 0.1"}, Decimal("0.1"), "Ok", "is 0.1, as expected (at most 0.1)."),
    ({"fails_when": "> 0.1"}, 0.10000000001, "Error", "but at most 0.1 is expected."),
    ({"fails_when": ">= 1e-999"}, 0, "Ok", "is 0, as expected (less than 1E-999)."),
    ({"fails_when": ">= -2.5e3"}, -2_500, "Error", "but less than -2,500 is expected."),
    (
        {"fails_when": "< 5"},
        math.nan,
        "Error",
        "is NaN (not a number), which is never as expected.",
    ),
    (
        {"holds_when": "!= 5"},
        math.nan,
        "Error",
        "is NaN (not a number), which is never as expected.",
    ),
    ({"fails_when": "> 5"}, math.inf, "Error", "is inf, but at most 5 is expected."),
]


@pytest.mark.parametrize(("fields", "value", "status", "says"), COMPARED)
def test_what_fails_and_what_holds(
    fields: dict[str, Any], value: Any, status: str, says: str
) -> None:
    found = judged(value, **fields)
    assert (str(found.status), found.message.endswith(says)) == (status, True), found.message
    assert found.message.startswith("'rows_with_empty_field' (column: id) is ")
    assert found.rows == 8


def test_where_there_is_no_number() -> None:
    assert judged(0, rows=0).message == "Nothing to judge: there are no rows."
    sum_of: dict[str, Any] = {
        "template": "column_sum", "parameters": {"column": "a"}, "fails_when": "> 1"
    }  # fmt: skip
    nothing = judged(None, **sum_of)
    assert (str(nothing.status), nothing.message) == (
        "Empty",
        "Nothing to judge: 'column_sum' (column: a) has no value.",
    )
    counted = judged(0, rows=0, template="row_count", parameters={})
    assert counted.message == "'row_count' is 0, but at least 1 is expected."
    with pytest.raises(Misfit, match="one row with one number, and it gives a text of 3 char"):
        judged("abc", **sum_of)
    with pytest.raises(Misfit, match="and it gives true"):
        judged(True, **sum_of)


def changes(name: str, value: Any, past: Any, **fields: Any) -> tuple[str, str]:
    parameters = {} if name.startswith("row_count") else {"column": "a"}
    found = judged(value, past=past, template=name, parameters=parameters, **fields)
    return str(found.status), found.message


def test_changes() -> None:
    assert changes("row_count_change_1", 110, [90, 100]) == (
        "Ok",
        (
            "'row_count_change_1' changed by 0.1, as a share, from 100 (that of 1 period ago) to "
            "110, as expected (at most 0.1)."
        ),
    )
    assert changes("row_count_change_1", 111, [100])[0] == "Error"
    assert changes("row_count_change_1", 50, [100])[0] == "Error"
    assert changes("row_count_change_7", 5, range(1, 7)) == (
        "Empty",
        (
            "Nothing to judge: 'row_count_change_7' was 5, and there is none on record of 7 "
            "periods ago to compare with."
        ),
    )
    assert changes("row_count_change_7", 5, [5, *range(6)])[0] == "Ok"
    assert changes("row_count_change_from_average_7", 4, range(1, 8)) == (
        "Ok",
        (
            "'row_count_change_from_average_7' changed by 0, as a share, from 4 (the average of "
            "the last 7 periods) to 4, as expected (at most 0.1)."
        ),
    )
    assert changes("row_count_change_from_average_7", 4, range(6))[1].endswith(
        "and there are not yet 7 earlier values to average."
    )
    assert changes("sum_change_1", 5.0, [0])[0] == "Error"
    assert changes("sum_change_1", 0.0, [0])[0] == "Ok"
    assert changes("sum_change_1", math.nan, [3])[0] == "Error"
    assert changes("sum_change_1", math.inf, [3])[0] == "Error"
    assert changes("sum_change_1", Decimal("-1.1"), [-1.0])[0] == "Ok"
    assert changes("empty_share_change_1", 0.35, [0.25])[0] == "Ok"
    assert changes("empty_share_change_1", 0.36, [0.25])[0] == "Error"
    signed = rule(
        parameters={},
        template={
            "sql": "select count(*) from {table}", "change": {"by": "difference", "signed": True}
        },
        fails_when="< -3",
    )  # fmt: skip
    assert str(judged(5, past=[9], one=signed).status) == "Error"
    assert str(judged(50, past=[9], one=signed).status) == "Ok"
    assert signed.on == "validated"
    assert signed.model_copy(update={"on": "source"}).on == "source"


def test_a_period_of_time_is_that_period_or_none() -> None:
    one = rule(template="row_count_change_7", parameters={})
    number, counted = one.metrics()
    points = [PastValue(n, NOW - timedelta(days=n)) for n in range(9, 0, -1) if n != 7]
    evidence = Evidence(
        {number: 8, counted: 8}, now=NOW, pasts={number.key: points},
        earlier=NOW - timedelta(days=7),
    )  # fmt: skip
    assert str(one.judge(evidence).status) == "Empty"


def test_ages() -> None:
    newest = (NOW - timedelta(hours=25)).timestamp()
    aged: dict[str, Any] = {"template": "age_of_newest", "parameters": {"column": "at"}}
    found = judged(newest, **aged)
    assert found.message == (
        "'age_of_newest' (column: at) is 25 (hours), but at most 24 is expected."
    )
    assert judged(newest, **aged, expected=25).observed == 25


REFUSED: list[tuple[dict[str, Any], str]] = [
    (
        {"template": "rows_with_emty_field"},
        "unknown template 'rows_with_emty_field'. Did you mean 'rows_with_empty_field'?",
    ),
    ({"template": 5}, "field 'template'"),
    ({"parameters": {}}, "'column' is missing: of type column"),
    (
        {"parameters": {"colum": "id"}},
        "'colum' is no parameter of the template. Did you mean 'column'?",
    ),
    ({"parameters": {"column": 5}}, "'column': the name of a column is needed, not 5."),
    ({"parameters": {"column": ["id"]}}, "'column': the name of a column is needed, not ['id']."),
    ({"parameters": {"column": "${x}"}}, "Spark replaces '${...}' in names"),
    ({"parameters": {"column": "x" * 5_000_000}}, "a name of 5,000,000 characters is a mistake"),
    ({"fails_when": "> 1e999"}, "no query gives a number as large as 1e+999"),
    ({"holds_when": "< -1e400"}, "no query gives a number as large as -1e+400"),
    ({"fails_when": f"> 1{'0' * 90}e300"}, "no query gives a number as large as 1.00e+390"),
    ({"expected": Decimal("1e999")}, "no query gives a number as large as 1e+999"),
    ({"expected": 10**400}, "no query gives a number as large as 1.00e+400"),
    ({"fails_when": "> 0", "holds_when": "= 0"}, "fails_when and holds_when say opposite things"),
    (
        {"fails_when": "> 0", "expected": 3},
        "fails_when says it all: leave expected and operator out",
    ),
    ({"holds_when": "= 0; drop"}, "a comparison with a number is needed"),
    ({"holds_when": "= (select 1)"}, "a comparison with a number is needed"),
    ({"holds_when": "> 1e999999999"}, "a number of that many digits is a mistake"),
    ({"operator": "<>"}, "field 'operator'"),
    ({"expected": "0 or true"}, "a number is needed"),
    ({"expected": math.nan}, "finite number"),
    ({"template": "column_sum", "parameters": {"column": "a"}}, "says no number to compare with"),
    (
        {"template": "values_not_in_list", "parameters": {"column": "a", "values": "x"}},
        "a list of values is needed, not 'x'",
    ),
    (
        {"template": "values_not_in_list", "parameters": {"column": "a", "values": []}},
        "a list has 1 to 1,000 values",
    ),
    (
        {"template": "values_not_in_list", "parameters": {"column": "a", "values": [{"x": 1}]}},
        "a boolean, a date or a time is needed, not dict",
    ),
    (
        {
            "template": "values_not_in_list",
            "parameters": {"column": "a", "values": ["x" * 50_000_000]},
        },
        "a text has at most 10,000 characters",
    ),
    (
        {
            "template": "values_out_of_range",
            "parameters": {"column": "a", "least": "1) or (1=1", "most": 2},
        },
        "'least': a number is needed",
    ),
    (
        {"template": "values_not_matching", "parameters": {"column": "a", "pattern": "a)|(b"}},
        "at position 1 of the pattern",
    ),
    (
        {
            "template": "dates_out_of_range",
            "parameters": {"column": "a", "least": "yesterday", "most": "2024-01-01"},
        },
        "a time such as 2024-03-01 12:30:00 is needed, not 'yesterday'",
    ),
    ({"template": "duplicate_keys", "parameters": {"columns": ["a", "a"]}}, "'a' is named twice"),
    (
        {"template": "duplicate_keys", "parameters": {"columns": []}},
        "'columns': at least one is needed",
    ),
    (
        {"template": "row_count_difference", "parameters": {"other": {"asset": "a", "table": "b"}}},
        "one of asset, table and files is needed",
    ),
    (
        {"template": "rows_breaking", "parameters": {"condition": "id in (select 1)"}},
        "'condition':",
    ),
    (
        {"template": "rows_breaking", "parameters": {"condition": "id > 0) or (1 = 1"}},
        "'condition':",
    ),
    (
        {"template": "rows_breaking", "parameters": {"condition": "true -- "}},
        "starts or ends a comment",
    ),
    ({"template": "rows_breaking", "parameters": {"condition": "sum(id) > 0"}}, "'condition':"),
    (
        {"template": "rows_breaking", "parameters": {"condition": "java_method('a', 'b') = 1"}},
        "'condition':",
    ),
    ({"template": "rows_breaking", "parameters": {"condition": "rand() > 0"}}, "'condition':"),
    ({"template": "rows_breaking", "parameters": {"condition": "{table}"}}, "'condition':"),
    ({"template": "rows_breaking", "parameters": {"condition": "(" * 9_000}}, "'condition':"),
    ({"template": {"sql": "drop table x"}}, "template"),
    ({"template": {"sql": "count(*) > 0"}}, "field 'template.sql'"),
    ({"template": {"sql": "select 1"}}, "the query must read the rows, which it calls {table}"),
    ({"template": {"sql": "select 1 from {table}; drop table x"}}, "ends a statement"),
    ({"template": {"sql": "select 1 from {table} where {x} > 1"}}, "{x}"),
    (
        {"template": {"sql": "select 1 from {table}", "parameters": {"x": "column"}}},
        "{x} of parameters is not used in the query.",
    ),
    (
        {"template": {"sql": "select 1 from {table} where a = :v", "parameters": {"v": "values"}}},
        ":v is a list of values, which stands behind IN only",
    ),
    (
        {
            "template": {
                "sql": "select 1 from {table} where {a b} > 1",
                "parameters": {"a b": "column"},
            }
        },
        "belongs to no name",
    ),
    (
        {"template": {"sql": "select 1 from {table}", "parameters": {"table": "dataset"}}},
        "{table} stands for the rows that are judged",
    ),
    (
        {"template": {"sql": "select 1 from {table}", "change": {}, "age": "days"}},
        "one of change and age can be compared, not both",
    ),
    (
        {
            "template": {
                "sql": "select 1 from {table} where a > :n",
                "parameters": {"n": {"type": "number", "default": "x"}},
            }
        },
        "the default does not fit: a number is needed",
    ),
    (
        {"template": {"sql": "select 1 from {table}", "fails": "> 0"}},
        "unknown field 'template.fails'. Did you mean 'fails_when'?",
    ),
]


@pytest.mark.parametrize(("fields", "message"), REFUSED, ids=range(len(REFUSED)))
def test_refusals(fields: dict[str, Any], message: str) -> None:
    start = time.process_time()
    said = refusal(**fields)
    assert message in said
    assert len(said) < 2_000
    assert time.process_time() - start < 1


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_names_stay_names(name: str) -> None:
    [number, _] = rule(parameters={"column": name}).metrics()
    assert isinstance(number, SqlAggregate)
    assert number.columns == (name,)
    assert judged(1, parameters={"column": name}).message.startswith("'rows_with_empty_field' (")


def test_one_declaration_for_many_assets() -> None:
    found = dq.bind([rule()], assets=["orders", "shop/returns"], on_empty="warn")
    assert [one.asset_name for one in found] == ["orders", "shop/returns"]
    assert all(one.rules[0].on_empty == "warn" for one in found)
    with pytest.raises(dq.DeclarationError, match="takes a list of assets, not 'orders'"):
        dq.bind([rule()], assets="orders")


def test_templates_of_a_rule_set() -> None:
    late = dq.Template(
        sql="select count(*) from {table} where {d} > :l",
        parameters={"d": "column", "l": "date"},  # type: ignore[dict-item]
        holds_when="= 0",
    )
    fields = {"type": "template", "template": "late", "parameters": {"d": "day", "l": "2024-01-01"}}
    [found] = dq.RuleSet(asset="orders", rules=[fields], templates={"late": late}).rules
    assert found.name == "template_late_day"
    assert found.demand() == "'late' (d: day, l: 2024-01-01) is equal to 0."
    with pytest.raises(dq.DeclarationError) as raised:
        dq.RuleSet(
            asset="orders",
            rules=[
                {**fields, "parameters": {"d": "day"}},
                {**fields, "name": "b", "expected": True},
            ],
            templates={"late": late, "bad": {"sql": "x"}, "short": "select count(*) from {table}"},
        )
    text = str(raised.value)
    assert "3 problems" in text
    assert "rule 'template_late', asset 'orders': field 'parameters': 'l' is missing" in text
    assert "template 'bad': field 'sql'" in text
