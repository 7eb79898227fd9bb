"""Spark's own parser and analyser as the judges of the conditions on aggregates let in."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BooleanType, StructType

from dq_dagster.metrics.sources import SqlAggregate
from dq_dagster.sql import aggregate_columns_used, aggregate_refusals
from dq_dagster.sql.expressions import restricted
from dq_dagster.sql.functions import AGGREGATES, GATHERED, ORDERED, Role
from dq_dagster.sql.keywords import CLOCKS
from dq_dagster.sql.refused_functions import GATHERING, GROUPED, REFUSED, SKETCH, UNORDERED
from tests.sql.aggregate_benign import BENIGN_AGGREGATES
from tests.sql.agreement import disagreements
from tests.sql.benign import ROWS, SCHEMA
from tests.sql.soup import aggregate_expressions
from tests.sql.spark_reading import SparkParser, Tree

KEYWORD_PLACES = (
    *("max({}) > 0", "count(distinct {}) > 0", "sum(a) filter (where {}) > 0", "sum({} a) > 0"),
    *("sum(a) {} > 0", "{}(a) > count(*)", "count({} *) > 0", "sum(a) {} (where b) > 0"),
    *("{} sum(a) > 0", "sum(a) {} sum(b)", "{}(distinct a) > 0", "mode(a, {}) = 1"),
)


@pytest.fixture(scope="module")
def parser(spark: SparkSession) -> SparkParser:
    return SparkParser(spark)


@pytest.fixture(scope="module")
def orders(spark: SparkSession) -> DataFrame:
    schema = StructType.fromDDL(SCHEMA)
    assert isinstance(schema, StructType)
    return spark.sql(ROWS).toDF(*schema.names).to(schema).coalesce(1)


def problems(parser: SparkParser, text: str) -> Iterator[str]:
    """How Spark's reading differs from ours, and columns and aggregates out of their place."""
    yield from disagreements(parser, text, aggregate_columns_used)
    reading = parser.read(text)
    if reading is None:
        return
    for path in reading.tree.paths():
        around = sum(_is_aggregate(node) for node in path[:-1])
        if path[-1].kind == "UnresolvedAttribute" and around != 1 and not _is_clock(path[-1]):
            yield f"{path[-1].name} within {around} aggregates"
        if _is_aggregate(path[-1]) and around:
            yield f"{path[-1].name} within an aggregate"


def changes(parser: SparkParser, text: str, where: str | None) -> Iterator[str]:
    """How the text that runs differs from the one that was written, for Spark's parser."""
    written, running = parser.read(text), parser.read(restricted(text, where))
    if written is None or running is None:
        return
    if running.columns != written.columns.union({"[w]"} if where else ()):
        yield f"columns {sorted(running.columns)}"
    calls, filtered = ({name.lower() for name in r.functions} for r in (written, running))
    if calls | {"[if]"} != filtered | {"[if]"}:
        yield f"functions {sorted(filtered)}"


def _is_aggregate(node: Tree) -> bool:
    known = AGGREGATES.keys() | GATHERED.keys()
    return node.kind == "UnresolvedFunction" and node.name[1:-1].lower() in known


def _is_clock(node: Tree) -> bool:
    return node.name[1:-1].lower() in CLOCKS


def test_what_is_accepted_means_the_same_to_spark(parser: SparkParser) -> None:
    every = list(aggregate_expressions(20240131, 400))
    accepted = [text for text in every if not aggregate_refusals(text)]
    found = {
        text: [*problems(parser, text), *changes(parser, text, None), *changes(parser, text, "w")]
        for text in accepted
    }
    assert {text: wrong for text, wrong in found.items() if wrong} == {}
    assert 80 <= len(accepted) <= len(every) * 0.8


@pytest.mark.deep
def test_no_keyword_means_something_else_to_spark(parser: SparkParser) -> None:
    keywords = parser.keywords()
    texts = [place.replace("{}", word) for word in keywords for place in KEYWORD_PLACES]
    accepted = [text for text in texts if not aggregate_refusals(text)]
    assert len(texts) / 2 > len(accepted) > 1_000
    # Many at a time, for speed; each word is in its own texts only.
    for start in range(0, len(accepted), 20):
        together = " and ".join(f"({text})" for text in accepted[start : start + 20])
        assert list(problems(parser, together)) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a > sum(b)", "[a] within 0 aggregates"),
        ("sum(max(a)) > 0", "[max] within an aggregate"),
        ("sum(a) filter (where max(b) > 0) > 0", "[max] within an aggregate"),
    ],
)
def test_columns_and_aggregates_out_of_place_are_seen(
    parser: SparkParser, text: str, said: str
) -> None:
    assert said in list(problems(parser, text))


@pytest.mark.parametrize("text", BENIGN_AGGREGATES)
def test_benign_texts_mean_the_same_to_spark(parser: SparkParser, text: str) -> None:
    assert list(problems(parser, text)) == []


# What is distinct, what keeps all values and what is neither: Spark is slow to mix them.
SORTS = {
    "plain": [text for text in BENIGN_AGGREGATES if not SqlAggregate(text).burdens],
    "distinct": [text for text in BENIGN_AGGREGATES if "distinct " in text.lower()],
    "bulky": [
        text
        for text in BENIGN_AGGREGATES
        if SqlAggregate(text).burdens and "distinct " not in text.lower()
    ],
}


@pytest.mark.parametrize("where", [None, "active is not null", "id > 100"])
@pytest.mark.parametrize("sort", SORTS)
def test_benign_texts_are_conditions_that_run(
    orders: DataFrame, sort: str, where: str | None
) -> None:
    # Without rows some would divide by their number.
    texts = [text for text in SORTS[sort] if where != "id > 100" or "/" not in text]
    rows = orders if where is None else orders.where(where)
    as_written = rows.selectExpr(*_numbered(texts))
    assert {field.dataType for field in as_written.schema} == {BooleanType()}
    ours = orders.selectExpr(*_numbered([restricted(text, where) for text in texts]))
    (right,), (found,) = as_written.collect(), ours.collect()
    assert found.asDict() == right.asDict()


def _numbered(texts: list[str]) -> list[str]:
    return [f"({text}) AS a{n}" for n, text in enumerate(texts)]


def test_the_columns_used_are_those_spark_resolves(orders: DataFrame) -> None:
    for text in BENIGN_AGGREGATES:
        names = {name.lower() for name in aggregate_columns_used(text)}
        needed = [f"`{name}`" for name in orders.columns if name.lower() in names]
        assert len(needed) == len(names)
        _ = orders.select(*needed or ["id"]).selectExpr(text).schema


def test_aggregates_and_families_are_those_of_spark(parser: SparkParser) -> None:
    known = {name for name, (group, _) in parser.functions().items() if group == "agg_funcs"}
    assert set(AGGREGATES) <= known
    for name in known - set(AGGREGATES):
        assert REFUSED[name] in {UNORDERED, GATHERING, SKETCH, GROUPED}
        assert aggregate_refusals(f"{name}(a, b) = 1") != ()


def test_every_aggregate_takes_what_its_signature_says(orders: DataFrame) -> None:
    written = {
        Role.FRACTION: "0.5",
        Role.ACCURACY: "100",
        Role.DEVIATION: "0.05",
        Role.TRUE: "true",
    }
    for name, signature in ORDERED.items():
        listed = ", ".join(written[role] for role in signature.roles)
        text = f"{name}({listed}) within group (order by qty desc) is null"
        assert aggregate_refusals(text) == ()
        _ = orders.selectExpr(text).schema
    for name, signature in AGGREGATES.items():
        if name in ORDERED and name != "mode":
            continue
        value = "active" if name in {"any", "some", "every", "bool_and", "bool_or"} else "qty"
        value = "active" if name == "count_if" else value
        for count in range(signature.least, len(signature.roles) + 1):
            listed = ", ".join(written.get(role, value) for role in signature.roles[:count])
            for distinct in ("", "distinct ") if signature.distinct else ("",):
                text = f"{name}({distinct}{listed}) is null"
                assert aggregate_refusals(text) == ()
                _ = orders.selectExpr(text).schema


def test_the_examples_of_allowed_aggregates_are_accepted(parser: SparkParser) -> None:
    # Several percentages at once, and a mode that may be any of several.
    spelled_otherwise = re.compile(r"array\(|^mode\(\w+(, false)?\)$", re.IGNORECASE)
    accepted = 0
    for name, (_, examples) in parser.functions().items():
        for example in re.findall(r"> SELECT (\w+\([^>]*?\)) FROM VALUES", examples):
            if name in AGGREGATES and not spelled_otherwise.search(example):
                assert aggregate_refusals(example) == ()
                assert list(problems(parser, example)) == []
                accepted += 1
    assert accepted > 60
