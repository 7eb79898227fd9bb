"""Meanings against plain Python: text by text, and as rules on generated columns."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.metrics.conditions import Fault, NotValid
from dq_dagster.metrics.meanings.meaning import DEFINITIONS, BuiltIn
from dq_dagster.spark.expressions.predicates import fault_sql
from dq_dagster.spark.frames.columns import JudgedTable as SparkTable
from tests.depth import deep_after
from tests.oracle.comparing import differences
from tests.oracle.frames import frame
from tests.oracle.generate import Column, Table
from tests.oracle.meaning_examples import HOSTILE, INVALID, VALID
from tests.oracle.meaning_texts import ORACLE
from tests.oracle.meaning_values import texts
from tests.oracle.names import HOSTILE_NAMES
from tests.oracle.plain import expected

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FAMILIES = {
    "numbers": ["text", "decimal", "integer", "boolean", "latitude", "longitude"],
    "times": ["date", "datetime_with_zone", "datetime_without_zone", "date_to_parse"],
    "structures": ["json_object", "json_array", "geopoint", "geometry"],
    "codes": ["country", "us_state", "currency", "language"],
    "networks": ["ip_address", "ipv4", "ipv6", "url", "http_query", "user_agent"],
    "people": ["email", "phone", "natural_language", "uuid", "iban"],
}
COLUMNS = 210
ROWS = 15
TEXTS = 400


@cache
def generated() -> list[str]:
    """Texts made for each meaning; each is judged by every meaning."""
    random = Random(11)
    made = [text for name in DEFINITIONS for text in texts(random, name, TEXTS)]
    examples = [text for table in (VALID, INVALID) for some in table.values() for text in some]
    return list(dict.fromkeys([*made, *examples, *HOSTILE]))


@pytest.fixture(scope="module")
def judged(spark: SparkSession) -> dict[str, list[bool]]:
    """By meaning, what Spark holds of each text; one Spark job."""
    rows = list(enumerate(generated()))
    data = spark.createDataFrame(rows, "n int, t string").coalesce(2)
    table = SparkTable(data.schema)
    invalid = {name: fault_sql(Fault(_condition(name)), table) for name in DEFINITIONS}
    found = data.selectExpr("n", *[f"NOT {sql} AS `{name}`" for name, sql in invalid.items()])
    answers = sorted(found.collect(), key=lambda row: row["n"])
    return {name: [bool(row[name]) for row in answers] for name in DEFINITIONS}


def _condition(name: str) -> NotValid:
    return NotValid("t", blank_is_empty=False, meaning=BuiltIn(name), empty_is_valid=False)


def test_every_meaning_has_an_oracle_examples_and_a_family() -> None:
    families = [name for family in FAMILIES.values() for name in family]
    assert sorted(families) == sorted(DEFINITIONS)
    assert set(ORACLE) == set(VALID) == set(INVALID) == set(DEFINITIONS)
    for name in DEFINITIONS:
        assert len(VALID[name]) >= 8
        assert len(INVALID[name]) >= 8 or name == "text"


@pytest.mark.parametrize("name", DEFINITIONS)
def test_examples(judged: dict[str, list[bool]], name: str) -> None:
    answers = dict(zip(generated(), judged[name], strict=True))
    assert [text for text in VALID[name] if not answers[text]] == []
    assert [text for text in INVALID[name] if answers[text]] == []
    if name != "text":
        assert [text for text in HOSTILE if answers[text]] == []


@pytest.mark.parametrize("name", DEFINITIONS)
def test_each_text_is_what_plain_python_says(judged: dict[str, list[bool]], name: str) -> None:
    pairs = zip(generated(), judged[name], strict=True)
    wrong = [(text, found) for text, found in pairs if ORACLE[name](text) is not found]
    assert wrong[:10] == []
    assert sum(judged[name]) >= 15, "too few valid texts to tell anything"


@pytest.mark.parametrize("family", deep_after(1, FAMILIES))
def test_rules_on_generated_columns(spark: SparkSession, family: str) -> None:
    random = Random(family)
    names = [*HOSTILE_NAMES, *[f"c{n}" for n in range(COLUMNS - len(HOSTILE_NAMES))]]
    meanings = [FAMILIES[family][n % len(FAMILIES[family])] for n in range(COLUMNS)]
    columns = [
        Column(name, "string", _values(random, meaning))
        for name, meaning in zip(names, meanings, strict=True)
    ]
    rules = [_rule(random, n, *pair) for n, pair in enumerate(zip(names, meanings, strict=True))]
    given = Table(ROWS, columns)
    rows = given.rows()
    statuses = set()
    found = dq.evaluate(frame(spark, given), rules, samples=False)
    for rule, outcome in zip(rules, found, strict=True):
        right = expected(rule, rows, given.types)
        statuses.add(right.status)
        assert differences(outcome, right) == [], (rule, outcome.message)
    assert statuses == {"Ok", "Warning", "Error"}


def _values(random: Random, meaning: str) -> list[str | None]:
    odd = random.choice((0.0, 0.0, 0.3))
    good = random.choice((0.0, 0.0, 0.9, 1.0))
    return [
        random.choice((None, None, " ", "")) if random.random() < odd
        else random.choice(VALID[meaning]) if random.random() < good
        else text
        for text in texts(random, meaning, ROWS)
    ]  # fmt: skip


def _rule(random: Random, number: int, column: str, meaning: str) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "type": "column_valid_meaning",
        "name": f"r{number}",
        "columns": column,
        "meaning": meaning,
        "empty_is_valid": random.random() < 0.5,
        "empty_includes_blank": random.random() < 0.5,
    }
    bounds = random.choice((
        None, {"type": "count", "max": 8, "soft_max": 2}, {"type": "proportion", "max": 0.6},
        {"type": "count", "min": 3, "soft_min": 9},
        {"type": "proportion", "min": 0.2, "soft_min": 0.8},
    ))  # fmt: skip
    return rule if bounds is None else rule | {"threshold": bounds}
