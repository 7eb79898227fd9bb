"""Meanings in Spark: typed columns, meanings of users, empties, filters, cost, hostile texts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.metrics.meanings.meaning import DEFINITIONS
from dq_dagster.spark.expressions.meanings.validity import VALID_TEXTS, VALID_TYPED
from tests.oracle.cases import Case, judge_all, labels
from tests.oracle.cases import rule as any_rule
from tests.oracle.frames import frame
from tests.oracle.generate import Column, Table
from tests.oracle.meaning_examples import VALID

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAN, INF = float("nan"), float("inf")


def rule(meaning: Any, **fields: Any) -> dict[str, Any]:
    # Cases are filled up with NULLs.
    return any_rule(
        "column_valid_meaning", **{"meaning": meaning, "empty_is_valid": True, **fields}
    )


def test_every_built_in_meaning_has_sql() -> None:
    assert set(VALID_TEXTS) == set(DEFINITIONS)
    assert set(VALID_TYPED) == {name for name, words in DEFINITIONS.items() if words.fits}


BIG = Decimal(10**37)
CASES = [
    # Columns that are no strings.
    Case("whole", "bigint", [2**63 - 1, 0], rule("integer"), "Ok", 0),
    Case("whole decimals", "decimal(38,18)", [Decimal(5), Decimal("1e-18"), -Decimal("0.5")],
         rule("integer"), "Error", 2),
    Case("decimals below one", "decimal(38,38)", [Decimal(0), Decimal("1e-38")], rule("integer"),
         "Error", 1),
    Case("wide decimals", "decimal(38,0)", [BIG, -BIG], rule("integer"), "Ok", 0),
    Case("whole doubles", "double", [1.0, 1e300, -0.0, 0.5, NAN, INF, -INF], rule("integer"),
         "Error", 4),
    Case("whole floats", "float", [1.0, 0.5], rule("integer"), "Error", 1),
    Case("numbers", "double", [1.0, NAN, INF, 1e308], rule("decimal"), "Error", 2),
    Case("exact numbers", "decimal(10,2)", [Decimal("1.50")], rule("decimal"), "Ok", 0),
    Case("latitudes", "double", [90.0, -90.0, 90.00000000000001, NAN, INF], rule("latitude"),
         "Error", 3),
    Case("decimal latitudes", "decimal(38,18)", [Decimal(90), Decimal("90.000000000000000001")],
         rule("latitude"), "Error", 1),
    Case("longitudes", "int", [180, -180, 181, -181], rule("longitude"), "Error", 2),
    Case("narrow longitudes", "tinyint", [127, -128], rule("longitude"), "Ok", 0),
    Case("booleans", "boolean", [True, False], rule("boolean"), "Ok", 0),
    Case("dates", "date", [date(1, 1, 1), date(9999, 12, 31)], rule("date"), "Ok", 0),
    Case("instants", "timestamp", [datetime(2024, 1, 1)], rule("datetime_with_zone"), "Ok", 0),  # noqa: DTZ001
    Case("wall clocks", "timestamp_ntz", [datetime(2024, 1, 1)], rule("datetime_without_zone"),  # noqa: DTZ001
         "Ok", 0),
    Case("nothing", "void", [None], rule("email"), "Ok", 0),
    # Columns that do not fit say so.
    Case("mail of numbers", "int", [1], rule("email"), "Error", None,
         "of type int: it needs a string."),
    Case("boolean of numbers", "int", [1], rule("boolean"), "Error", None,
         "it needs a string or a column of booleans."),
    Case("zone of wall clocks", "timestamp_ntz", [datetime(2024, 1, 1)],  # noqa: DTZ001
         rule("datetime_with_zone"), "Error", None, "it needs a string or a column of timestamps."),
    Case("text of arrays", "array<int>", [[1]], rule("text"), "Error", None, "array<int>"),
    Case("values of structs", "struct<x:int>", [(1,)], rule({"values": [1]}), "Error", None,
         "A set of values does not fit"),
    Case("pattern of numbers", "int", [1], rule({"pattern": "1"}), "Error", None,
         "A meaning with a pattern does not fit"),
    Case("words about structs", "struct<x:int>", [(1,)], rule({"description": "d"}), "Ok", 0),
    # Meanings of users.
    Case("exact", "string", ["new", "New", "paid", "n\u0435w"], rule({"values": ["new", "paid"]}),
         "Error", 2),
    Case("ignoring case", "string", ["NEW", "Straße", "ÉTÉ", "ete", "STRASSE"],
         rule({"values": ["new", "straße", "été"], "match": "ignore_case"}), "Error", 2),
    Case("ignoring accents", "string",
         ["ete", "ÉTÉ", "e\u0301te\u0301", "été", "E\u0302TE", "ètè", "ẹ̄té"],
         rule({"values": ["été"], "match": "ignore_accents"}), "Ok", 0),
    Case("accents are no letters", "string",
         ["et", "été ", "éte\x00", "e\u200bte", "\uff45te", "øte", "\u00aaete", "\u0435te"],
         rule({"values": ["ete"], "match": "ignore_accents"}), "Error", 8),
    Case("digits are not ignored", "string", ["A1", "á1", "A\u2460", "A\u0661", "A\u00b9"],
         rule({"values": ["a1"], "match": "ignore_accents"}), "Error", 3),
    Case("letters of other scripts", "string", ["ΆΘΉΝΑ", "αθηνα", "ЙОД", "иод", "한국", "가국"],
         rule({"values": ["αθήνα", "йод", "한국"], "match": "ignore_accents"}), "Error", 1),
    Case("case in Turkey", "string", ["İzmir", "izmir", "IZMIR", "\u0131zmir"],
         rule({"values": ["İzmir"], "match": "ignore_accents"}), "Error", 1),
    Case("awkward members", "string", ["it's", "a\\b", "${x}", "\n", "x"],
         rule({"values": ["it's", "a\\b", "${x}", "\n"]}), "Error", 1),
    Case("numbers as members", "int", [1, 2, 3], rule({"values": [1, 2.0]}), "Error", 1),
    Case("a text among numbers", "int", [1], rule({"values": [1, "2"]}), "Error", None,
         "write it in the column's own type"),
    Case("mapping", "string", ["M", "F", "X"], rule({"mapping": {"M": "male", "F": "female"}}),
         "Error", 1),
    Case("mapping, ignoring case", "string", ["m", "F"],
         rule({"mapping": {"M": "male", "F": "female"}, "match": "ignore_case"}), "Ok", 0),
    Case("mapping of numbers", "int", [1, -1, 7], rule({"mapping": {"1": "yes", "-1": "no"}}),
         "Error", 1),
    Case("mapping of decimals", "decimal(10,2)", [Decimal("1.50"), Decimal(2)],
         rule({"mapping": {"1.5": "a"}}), "Error", 1),
    Case("mapping of booleans", "boolean", [True, False], rule({"mapping": {"true": "on"}}),
         "Error", 1),
    Case("mapping of dates", "date", [date(2024, 1, 1)], rule({"mapping": {"2024-01-01": "a"}}),
         "Ok", 0),
    Case("mapping that does not fit", "int", [1], rule({"mapping": {"NaN": "a", "x": "b"}}),
         "Error", None, "cannot be compared with column"),
    Case("pattern", "string", ["AB-1", "ab-1", "AB-1\n", "xAB-1"],
         rule({"pattern": "[A-Z]+-[0-9]"}), "Error", 3),
    Case("pattern with choices", "string", ["a", "b", "ab"], rule({"pattern": "a|b"}), "Error", 1),
    Case("a pattern that is none", "string", ["a"], rule({"pattern": r"\p{IsNonsense}"}), "Error",
         None, "not a regular expression"),
    Case("words only", "string", ["anything", ""], rule({"description": "free text"}), "Ok", 0),
    # Thresholds.
    Case("at most", "string", ["DE", "XX", "YY"], rule("country", threshold={"type": "count",
         "soft_max": 1, "max": 2}), "Warning", 2),
    Case("at least", "string", ["DE", "FR", "YY"], rule("country", threshold={"type": "count",
         "min": 9999}), "Error", 1),
]  # fmt: skip


@pytest.fixture(scope="module")
def outcomes(spark: SparkSession) -> dict[str, dq.Outcome]:
    return judge_all(spark, CASES)


@pytest.mark.parametrize("case", CASES, ids=labels(CASES))
def test_meanings(outcomes: dict[str, dq.Outcome], case: Case) -> None:
    case.check(outcomes[case.label])


def test_messages_quote_no_value_of_the_data(outcomes: dict[str, dq.Outcome]) -> None:
    assert "XX" not in outcomes["at most"].message


@pytest.fixture(scope="module")
def mails(spark: SparkSession) -> DataFrame:
    rows = [("a@b.co", 1), ("nothing", 1), (None, 1), (" ", 2), ("c@d.ef", 2)]
    return spark.createDataFrame(rows, "mail string, part int")


def test_empties_filters_and_schema(mails: DataFrame) -> None:
    asked: list[dict[str, Any]] = [
        {"meaning": "email"},
        {"meaning": "email", "empty_is_valid": True},
        {"meaning": "email", "empty_includes_blank": True},
        {"meaning": "email", "empty_is_valid": True, "empty_includes_blank": True},
        {"meaning": "email", "where": "part = 1"},
        {"meaning": "email", "where": "part = 1 AND mail LIKE '%@%'"},
        {"meaning": "email", "where": "part = 3"},
        {"meaning": "from_schema"},
        {"meaning": "from_schema", "columns": ["mail", "part"]},
        {"meaning": "known", "empty_is_valid": True},
    ]
    rules = [
        {"type": "column_valid_meaning", "name": f"r{n}", "columns": "mail", **fields}
        for n, fields in enumerate(asked)
    ]
    rule_set = dq.RuleSet(
        asset="mails",
        rules=rules,
        meanings={"known": {"pattern": "[a-z@. ]+"}},
        column_meanings={"MAIL": "email"},
    )
    found = [
        (outcome.status, outcome.observed, outcome.rows) for outcome in dq.evaluate(mails, rule_set)
    ]
    assert found == [
        ("Error", 3, 5),
        ("Error", 2, 5),
        ("Error", 3, 5),
        ("Error", 1, 5),
        ("Error", 2, 3),
        ("Ok", 0, 1),
        ("Empty", None, 0),
        ("Error", 3, 5),
        ("Error", {"mail": 3, "part": None}, 5),
        ("Ok", 0, 5),
    ]


def test_only_empties(spark: SparkSession) -> None:
    nothing = spark.createDataFrame([(None,), (None,)], "x string")
    strict, lenient = dq.evaluate(
        nothing,
        [
            {**any_rule("column_valid_meaning", columns="x", meaning="email"), "name": "strict"},
            {**rule("email", columns="x"), "name": "lenient"},
        ],
    )
    assert (strict.status, strict.observed, strict.failed_rows) == ("Error", 2, 2)
    assert (lenient.status, lenient.observed, lenient.failed_rows) == ("Ok", 0, 0)


def test_collated_texts_are_judged_as_they_are_written(spark: SparkSession) -> None:
    data = spark.createDataFrame([("AB",), ("ab",), ("Été",)], "x string")
    collated = data.selectExpr("x COLLATE UNICODE_CI AS x")
    asked = {
        "pattern": {"pattern": "[a-z]+"},
        "uuid": "uuid",
        "accents": {"values": ["ab", "ete"], "match": "ignore_accents"},
        "language": "language",
    }
    rules = [rule(meaning, columns="x", name=name) for name, meaning in asked.items()]
    found = {o.rule.name: (o.status, o.observed) for o in dq.evaluate(collated, rules)}
    assert found == {
        "pattern": ("Error", 2),
        "uuid": ("Error", 3),
        "accents": ("Ok", 0),
        "language": ("Error", 1),
    }


def test_bytes_that_are_no_text(spark: SparkSession) -> None:
    malformed = ["FF", "C0AF", "E282", "F8888080", "80", "61C3", "EDA080", "F4908080"]
    values = ", ".join(f"(CAST(X'{code}' AS STRING))" for code in [*malformed, "C3A9", ""])
    data = spark.sql(f"SELECT * FROM VALUES {values} AS t(x)")
    rules = [rule(name, columns="x", name=name) for name in DEFINITIONS]
    found = {outcome.rule.name: outcome for outcome in dq.evaluate(data, rules)}
    assert found["text"].observed == len(malformed)
    assert {o.observed for name, o in found.items() if name != "text"} == {len(malformed) + 2}


def _hostile() -> list[str]:
    """Long texts that end the stack or the patience of careless patterns, and beginnings of all."""
    many = 30_000
    pieces = [
        "a", "1", " ", "(", "[", "{", '{"a":', "a.", "a@", "a/b ", "%20", "%2", "a=1&", "1 2,",
        "POINT(", "GEOMETRYCOLLECTION(", "one ", "今", "1 ", "a\n", "\x00", "\U0001f600", "\u0661",
        "1:", "::", "é ", "-", ".", '"', "\\", "@", "\\(", ", ", "((0 0,0 1,1 1,0 0)),", "Z", "ab.",
        "\u0301",
    ]  # fmt: skip
    starts = ["", "a/1 (", "http://", "http://a/", "LINESTRING(", "MULTIPOLYGON(", "2024-01-01",
              "DE89", "a@b.", "[", "Mon, "]  # fmt: skip
    return [start + piece * many for piece in pieces for start in starts[:: 1 + len(piece) % 3]]


def test_no_text_makes_a_meaning_raise(spark: SparkSession) -> None:
    texts = _hostile()
    data = spark.createDataFrame([(text,) for text in texts], "x string")
    asked = [*DEFINITIONS, {"values": ["a" * 30_000, "é"], "match": "ignore_accents"}]
    rules = [rule(meaning, columns="x", name=f"r{n}") for n, meaning in enumerate(asked)]
    broken = [o.message for o in dq.evaluate(data, rules) if "error" in o.details]
    assert broken == []


def test_ten_rules_take_as_many_jobs_as_one(
    mails: DataFrame, count_jobs: Callable[[Callable[[], object]], int]
) -> None:
    def asked(many: int) -> list[dict[str, Any]]:
        names = ["email", "date_to_parse", "iban", "json_object", "country", "geometry", "url",
                 "user_agent", "language"]  # fmt: skip
        meanings = [*names, {"values": ["é"], "match": "ignore_accents"}]
        return [rule(meanings[n], columns="mail", name=f"r{n}") for n in range(many)]

    found: list[dq.Outcome] = []
    one = count_jobs(lambda: dq.evaluate(mails, asked(1), samples=False))
    ten = count_jobs(lambda: found.extend(dq.evaluate(mails, asked(10), samples=False)))
    assert ten == one
    assert [outcome.observed for outcome in found] == [2, 4, 4, 4, 4, 4, 4, 4, 4, 4]


def test_the_same_under_the_other_reading_of_string_literals(spark: SparkSession) -> None:
    setting = "spark.sql.parser.escapedStringLiterals"
    good = {name: [text for text in VALID[name] if len(text) < 200] for name in DEFINITIONS}
    size = max(map(len, good.values()))
    columns = [
        Column(name, "string", [*some, *[None] * (size - len(some))]) for name, some in good.items()
    ]
    data = frame(spark, Table(size, columns))
    rules = [rule(name, columns=name, name=name) for name in DEFINITIONS]
    spark.conf.set(setting, "true")
    try:
        found = {o.rule.name: o.observed for o in dq.evaluate(data, rules)}
    finally:
        spark.conf.unset(setting)
    assert found == dict.fromkeys(DEFINITIONS, 0)
