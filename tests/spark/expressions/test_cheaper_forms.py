"""What is computed in a cheaper form has the same answers: patterns, sets beside them, decimals."""

from __future__ import annotations

import math
from decimal import Decimal
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import types as T

import dq_dagster as dq
from dq_dagster.rules.fields.regex import pattern_length
from dq_dagster.spark.expressions.literals import compact

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ATOMS = (
    "a",
    "-",
    " ",
    "[A-Z]",
    "[a-c]",
    "[0-9]",
    r"\d",
    r"\w",
    r"\+",
    r"\.",
    "[ -~]",
    "[a-z_-]",
    "[A-Za-z0-9]",
)
CHARS = "aabcAZ0199_- +.\n\x00é٣K\U0001f600"
PATTERNS = 250


def generated(random: Random) -> tuple[str, list[str]]:
    """A pattern of one length, or with a part that varies, and texts of about that length."""
    atoms = random.choices(ATOMS, k=random.randint(1, 4))
    counts = [random.choice((1, 1, 2, 3)) for _ in atoms]
    repeats = ["" if count == 1 else f"{{{count}}}" for count in counts]
    varying = random.randrange(2 * len(atoms))
    if varying < len(atoms):
        least = random.choice((0, 1, 2))
        repeats[varying] = f"{{{least},{random.choice((3, 4, ''))}}}"
        counts[varying] = least + random.choice((0, 1))
    pattern = "".join(atom + times for atom, times in zip(atoms, repeats, strict=True))
    near = [example(random, atoms, counts) for _ in range(4)]
    spoilt = [mutated(random, text) for text in near for _ in range(3)]
    return pattern, [*near, *spoilt, ""]


def example(random: Random, atoms: list[str], counts: list[int]) -> str:
    inside = {
        "[A-Z]": "AZ", "[a-c]": "ac", "[0-9]": "09", r"\d": "07", r"\w": "a_9", r"\+": "+",
        r"\.": ".", "[ -~]": " z~", "[a-z_-]": "z_-", "[A-Za-z0-9]": "aZ5",
    }  # fmt: skip
    return "".join(
        random.choice(inside.get(atom, atom))
        for atom, count in zip(atoms, counts, strict=True)
        for _ in range(count)
    )


def mutated(random: Random, text: str) -> str:
    place = random.randrange(len(text) + 1)
    end = place + random.choice((0, 1, 1))
    return text[:place] + random.choice((*CHARS, "")) + text[end:]


def test_patterns_of_known_length_match_what_java_matches(spark: SparkSession) -> None:
    java: Any = spark.sparkContext._jvm.java.util.regex.Pattern  # type: ignore[union-attr]  # noqa: SLF001
    random = Random(3)
    seen: dict[bool, int] = {True: 0, False: 0}
    for _ in range(PATTERNS):
        pattern, texts = generated(random)
        known = pattern_length(pattern)
        if known is None:
            continue
        most = math.inf if known.most is None else known.most
        alone, fast = java.compile(pattern), java.compile(known.pattern)
        for text in texts:
            wanted = alone.matcher(text).matches()
            found = known.least <= len(text.encode()) <= most and fast.matcher(text).find()
            assert found == wanted, (pattern, text)
            seen[wanted] += 1
    assert min(seen.values()) > 500


CODES = ("EUR", "USD", "eur", "EURO", "", "É10", "E\n", "EUR\n", None)
MATCHING, MIXED, FOREIGN = ["EUR", "USD"], ["EUR", "eur"], ["eur", "EURO"]


@pytest.fixture(scope="module")
def codes(spark: SparkSession) -> DataFrame:
    plain = spark.createDataFrame(pa.table({"plain": pa.array(CODES)}))
    return plain.selectExpr("plain", "collate(plain, 'UTF8_LCASE') AS lenient")


@pytest.mark.parametrize("listed", [MATCHING, MIXED, FOREIGN], ids=["all", "some", "none"])
def test_a_set_beside_a_pattern_changes_no_answer(codes: DataFrame, listed: list[str]) -> None:
    forms = product(("plain", "lenient"), ("[A-Z]{3}", "[A-Z]+", r"\p{Lu}{3}"), ("full", "search"))
    patterns: list[dict[str, Any]] = [
        {"type": kind, "name": f"{kind} {n}", "columns": column, "pattern": pattern, "match": how}
        for n, (column, pattern, how) in enumerate(forms)
        for kind in ("column_values_match", "column_values_not_match")
    ]
    sets = [
        dq.ColumnValuesInSet(name=f"{column} in", columns=column, values=listed)
        for column in ("plain", "lenient")
    ]
    alone = {outcome.rule.name: outcome.message for outcome in dq.evaluate(codes, patterns)}
    together = {o.rule.name: o.message for o in dq.evaluate(codes, [*sets, *patterns])}
    assert {name: together[name] for name in alone} == alone
    assert alone["column_values_match 0"].startswith("6 of 8 values")
    assert len(set(alone.values())) > 10


def test_a_pattern_that_java_refuses_takes_no_set_down(codes: DataFrame) -> None:
    rules = [
        dq.ColumnValuesInSet(name="set", columns="plain", values=MATCHING),
        dq.ColumnValuesMatch(name="broken", columns="plain", pattern=r"\p{IsNonsense}{3}"),
        dq.ColumnValuesMatch(name="fine", columns="plain", pattern="[A-Z]{3}"),
    ]
    found = dq.evaluate(codes, rules)
    assert "PATTERN" in found["broken"].message.upper()
    assert found["broken"].details["error"] == "SparkFailure"
    assert found["set"].message.startswith("6 of 8 values")
    assert found["fine"].message.startswith("6 of 8 values")


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ("0.25", (5, 4), "CAST(INTERVAL '0.25' SECOND AS DECIMAL(5, 4))"),
        ("-1.5", (5, 4), "CAST(INTERVAL '-1.5' SECOND AS DECIMAL(5, 4))"),
        ("7.0000", (5, 4), "CAST(7L AS DECIMAL(5, 4))"),
        ("-0.00", (18, 2), "CAST(0L AS DECIMAL(18, 2))"),
        ("99999999999999999", (18, 1), "CAST(99999999999999999L AS DECIMAL(18, 1))"),
        ("10", (5, 4), None),
        ("0.1234567", (18, 7), None),
        ("0.1234560", (18, 7), "CAST(INTERVAL '0.123456' SECOND AS DECIMAL(18, 7))"),
        ("1000000000000.5", (18, 1), None),
        ("1", (19, 0), None),
    ],
)
def test_decimals_that_spark_holds_as_longs(
    value: str, kind: tuple[int, int], expected: str | None
) -> None:
    assert compact(Decimal(value), T.DecimalType(*kind)) == expected


def test_decimals_keep_their_value(spark: SparkSession) -> None:
    random = Random(8)
    sql: list[str] = []
    wanted: list[tuple[Decimal, str]] = []
    for _ in range(400):
        scale = random.randint(0, 12)
        kind = T.DecimalType(random.randint(max(1, scale), 18), scale)
        unscaled = random.randint(-(10**kind.precision) + 1, 10**kind.precision - 1)
        value = Decimal(unscaled // 10 ** random.randint(0, 6)).scaleb(-scale)
        if random.random() < 0.3:
            # As bounds come: with the column's scale, and zeros at the end.
            value = value.quantize(Decimal("0.01")).quantize(Decimal(1).scaleb(-scale))
        literal = compact(value, kind)
        if literal is not None:
            sql.append(f"{literal} AS c{len(sql)}")
            wanted.append((value, kind.simpleString()))
    found = spark.range(1).selectExpr(*sql)
    kinds = [field.dataType.simpleString() for field in found.schema.fields]
    assert list(zip(found.collect()[0], kinds, strict=True)) == wanted
    assert len(sql) > 200


@pytest.mark.parametrize("digits", [1, 9, 15, 16])
def test_sums_of_decimals_are_exact(spark: SparkSession, digits: int) -> None:
    random, most = Random(digits), 10**digits - 1
    units = [most, -most, most - 1, 0, *(random.randint(-most, most) for _ in range(300)), None]
    for scale in {0, 1, digits // 2, digits}:
        values = [None if unit is None else Decimal(unit).scaleb(-scale) for unit in units]
        schema = f"part int, value decimal({digits}, {scale})"
        parted = [(n % 3, value) for n, value in enumerate(values)]
        frame = spark.createDataFrame(parted, schema)
        rule = dq.ColumnSumInRange(name="sum", columns="value", max=10**20, scope="both")
        found = dq.evaluate(frame, [rule], partition_by="part")
        for outcome in found:
            part = None if outcome.partition is None else int(outcome.partition)
            mine = [v for p, v in parted if v is not None and part in (None, p)]
            assert outcome.observed == sum(mine, Decimal(0)), (scale, part)
            assert isinstance(outcome.observed, Decimal)
