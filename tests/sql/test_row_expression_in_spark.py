"""Spark's own parser and analyser as the judges of what the front door lets in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, StructType

from dq_dagster.sql import columns_used, refusals
from dq_dagster.sql.functions import ALLOWED
from dq_dagster.sql.keywords import CLOCKS
from dq_dagster.sql.refused_functions import (
    AGGREGATE,
    GATHERING,
    GENERATOR,
    GROUPED,
    REFUSED,
    SKETCH,
    UNORDERED,
    WINDOW,
)
from tests.sql.agreement import disagreements
from tests.sql.benign import BENIGN, ROWS, SCHEMA
from tests.sql.soup import expressions, quote_soup, quoted_texts
from tests.sql.spark_reading import SparkParser

KEYWORD_PLACES = (
    *(
        "({} - 1) > 0",
        "a in ({}, {} + 1)",
        "not {}",
        "a = -{}",
        "abs({}, b)",
        "{}.b = a.{}",
        "{}[0]",
    ),
    *("case {} when 1 then {} end", "a is distinct from {}", "exists(a, {} -> {} > 1)", "{}(a)"),
    *("a {} b", "a {}", "{} '1'", "{} a", "cast(a as {})", "a::{}", "a is {}", "interval 1 {}"),
    *("a not {} b", "{}(a, b -> c)", "abs({} a)", "abs(a {} b)", "a.{}(b)", "{} 1", "{} (a) b"),
)


@pytest.fixture(scope="module")
def parser(spark: SparkSession) -> SparkParser:
    return SparkParser(spark)


@pytest.fixture(scope="module")
def orders(spark: SparkSession) -> DataFrame:
    schema = StructType.fromDDL(SCHEMA)
    assert isinstance(schema, StructType)
    return spark.sql(ROWS).toDF(*schema.names).to(schema)


@pytest.mark.parametrize(
    ("texts", "count", "least"),
    [(quote_soup, 6_000, 150), (quoted_texts, 900, 500), (expressions, 1_000, 500)],
)
def test_what_is_accepted_means_the_same_to_spark(
    parser: SparkParser, texts: Callable[[int, int], Iterator[str]], count: int, least: int
) -> None:
    every = list(texts(20240131, count))
    accepted = [text for text in every if not refusals(text)]
    found = {text: list(disagreements(parser, text)) for text in accepted}
    assert {text: problems for text, problems in found.items() if problems} == {}
    assert least <= len(accepted) <= len(every) * 0.8


@pytest.mark.deep
def test_no_keyword_means_something_else_to_spark(parser: SparkParser) -> None:
    keywords = parser.keywords()
    assert len(keywords) > 400
    texts = [place.replace("{}", word) for word in keywords for place in KEYWORD_PLACES]
    accepted = [text for text in texts if not refusals(text)]
    assert len(texts) / 2 > len(accepted) > 3_000
    # Many at a time, for speed; each word is in its own texts only.
    for start in range(0, len(accepted), 50):
        together = " and ".join(f"({text})" for text in accepted[start : start + 50])
        assert list(disagreements(parser, together)) == []


def test_a_keyword_as_a_column_is_taken_or_told_to_be_quoted(parser: SparkParser) -> None:
    places = (
        *("{} > 1", "a = {}", "{} is not null", "{} in (1)", "{} not like 'x'", "abs({}) > 1"),
        *("not {}", "a and {}", "case when {} then 1 end = 1", "{} between 1 and 2"),
    )
    texts = [place.format(word) for word in parser.keywords() for place in places]
    refused = {text: found[0].reason for text in texts if (found := refusals(text))}
    unaided = {text for text, reason in refused.items() if "backquotes" not in reason}
    # No backquotes help the names of users; and a text that ends in NOT may go on.
    endings = {"not not", "a and not", "abs(not) > 1"}
    assert {text for text in unaided if "_user" not in text} <= endings
    assert len(texts) - len(refused) > 3_000
    for word in ("end", "interval", "to", "on", "order", "case", "not"):
        assert refusals(f"`{word}` > 1") == ()
        assert columns_used(f"`{word}` > 1") == (word,)


@pytest.mark.parametrize("text", BENIGN)
def test_benign_texts_mean_the_same_to_spark(parser: SparkParser, text: str) -> None:
    assert list(disagreements(parser, text)) == []


def test_benign_texts_are_conditions_that_run(orders: DataFrame) -> None:
    for text in BENIGN:
        orders.filter(F.expr(text))
    answers = orders.select(*(F.expr(f"({text})").alias(text) for text in BENIGN))
    assert {field.dataType for field in answers.schema} == {BooleanType()}
    assert len(answers.collect()) == 3


def test_the_columns_used_are_those_spark_resolves(orders: DataFrame) -> None:
    for text in BENIGN:
        names = {name.lower() for name in columns_used(text)}
        assert names <= {name.lower() for name in orders.columns}
        needed = [f"`{name}`" for name in orders.columns if name.lower() in names]
        orders.select(*needed or ["id"]).filter(F.expr(text))


def test_spark_fills_in_settings_even_within_strings(spark: SparkSession) -> None:
    # The reason why '${' is refused wherever it stands.
    text = "'${spark.app.name}'"
    setting = spark.conf.get("spark.app.name")
    assert spark.range(1).selectExpr(f"{text} as value").first() == (setting,)
    assert "${" in refusals(f"{text} = 'x'")[0].reason


def test_only_row_functions_of_spark_are_allowed(parser: SparkParser) -> None:
    found = parser.functions()
    # Spark's grammar knows these by itself.
    assert ALLOWED - set(found) == {"timediff", "timestampadd", "timestampdiff"}
    groups = {found[name][0] for name in ALLOWED - {"typeof"} if name in found}
    assert groups.isdisjoint({"agg_funcs", "window_funcs", "generator_funcs", "misc_funcs"})


def test_every_other_function_of_spark_is_refused(parser: SparkParser) -> None:
    families = {
        "agg_funcs": {AGGREGATE, UNORDERED, GATHERING, SKETCH, GROUPED},
        "window_funcs": {WINDOW},
        "generator_funcs": {GENERATOR},
    }
    for name, (group, _) in parser.functions().items():
        if name.isidentifier() and name not in ALLOWED | {"not"}:
            assert refusals(f"{name}(a, b)") != ()
        if group in families:
            assert REFUSED[name] in families[group]


def test_the_examples_of_allowed_functions_are_accepted(parser: SparkParser) -> None:
    # Operators that are not taken, and several columns of which later ones use earlier ones.
    spelled_otherwise = re.compile(r" >>|<<| AS S, ")
    accepted = 0
    for name, (_, examples) in parser.functions().items():
        for text in re.findall(r"> SELECT (.*?);\s*$", examples, re.MULTILINE | re.DOTALL):
            if name in ALLOWED - CLOCKS and not spelled_otherwise.search(text):
                example = text.replace("_FUNC_", name)
                assert refusals(example) == ()
                assert list(disagreements(parser, example)) == []
                accepted += 1
    assert accepted > 600
