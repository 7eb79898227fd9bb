"""Functions of users against plain Python: 210 tables, each told in one of many forms.

A table is a partition of one frame. Its form says what the function does with the numbers in it:
how it answers, what is wrong with its answer, or what it raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import dq_dagster as dq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLES = 210
WITHOUT_ROWS = 12
LIMIT = 40
Numbers = Sequence[int | None]


@dataclass(frozen=True)
class Facts:
    """What plain Python says of a table's numbers."""

    rows: int
    missing: int
    total: int

    @classmethod
    def of(cls, numbers: Numbers) -> Facts:
        present = [number for number in numbers if number is not None]
        return cls(len(numbers), len(numbers) - len(present), sum(present))

    @property
    def status(self) -> str:
        if not self.rows:
            return "Empty"
        if self.total > LIMIT:
            return "Error"
        return "Warning" if self.missing else "Ok"

    @property
    def sentence(self) -> str:
        return f"{self.total} of at most {LIMIT}"


def _divided(facts: Facts) -> Any:
    return facts.total / 0


def _raised(error: BaseException) -> Callable[[Facts], Any]:
    def raising(facts: Facts) -> Any:
        raise error

    return raising


# What the function returns, by the form of the table.
ANSWERS: dict[str, Callable[[Facts], Any]] = {
    "bool": lambda f: f.total <= LIMIT,
    "numpy": lambda f: np.bool_(f.total <= LIMIT),
    "pair": lambda f: (f.status, f.sentence),
    "silent pair": lambda f: (f.status.upper(), None),
    "triple": lambda f: (f.status.lower(), f.total, f"{f.sentence}!"),
    "number": lambda f: (f.status, np.int64(f.total), ""),
    "decimal": lambda f: (dq.Status(f.status), Decimal(f.total) / 4, f"In\n  lines: {f.sentence}"),
    "mapping": lambda f: (f.status, {"total": f.total, 1: f.missing}, None),
    "judgement": lambda f: dq.plugins.Judgement(
        dq.Status(f.status), f.sentence, observed=f.total, rows=f.rows, failed_rows=f.missing
    ),
    "object": lambda f: SimpleNamespace(status=f.status, failed_rows=f.missing, rows=True),
    "nothing": lambda f: None,
    "word": lambda f: f.status,
    "count": lambda f: f.total,
    "quadruple": lambda f: (f.status, f.total, f.sentence, f.rows),
    "status": lambda f: ("fine", f.sentence),
    "message": lambda f: (f.status, f.total, f.missing),
    "observed": lambda f: (f.status, [f.total], f.sentence),
    "division": _divided,
    "error": _raised(ValueError("no\n answer: password=abc")),
    "empty error": _raised(KeyError()),
    "exit": _raised(SystemExit(3)),
}
WRONG = {
    "nothing": "nothing",
    "word": "of type str",
    "count": "of type int",
    "quadruple": "a tuple of 4",
    "status": "a status that is of type str",
    "message": "a message that is of type int",
    "observed": "an observed value that is of type list",
}
RAISED = {
    "division": "ZeroDivisionError: division by zero",
    "error": "ValueError: no answer: password=***",
    "empty error": "KeyError",
    "exit": "SystemExit: 3",
}
# Raised by Spark, whose own words may quote rows.
IN_SPARK = "spark"
FORMS = (*ANSWERS, IN_SPARK)


@dataclass(frozen=True)
class Expected:
    """The outcome: its status, what it observed, what it says, and its counts of rows."""

    status: str
    observed: Any
    says: str
    rows: int | None = None
    failed_rows: int | None = None


def expected(form: str, facts: Facts) -> Expected:
    status, total = facts.status, facts.total
    verdict = "Ok" if total <= LIMIT else "Error"
    if form in WRONG:
        return Expected("Error", None, f"something else than expected ({WRONG[form]}): it must")
    if form in RAISED:
        return Expected("Error", None, f"The function raised {RAISED[form]}.")
    return {
        "bool": Expected(verdict, None, f"The function answered {verdict}."),
        "numpy": Expected(verdict, None, f"The function answered {verdict}."),
        "pair": Expected(status, None, f"{facts.sentence}."),
        "silent pair": Expected(status, None, f"The function answered {status}."),
        "triple": Expected(status, total, f"{facts.sentence}!"),
        "number": Expected(status, total, f"The function answered {status} for {total:,}."),
        "decimal": Expected(status, Decimal(total) / 4, f"In lines: {facts.sentence}."),
        "mapping": Expected(
            status,
            {"total": total, "1": facts.missing},
            f"The function answered {status} for total, 1.",
        ),
        "judgement": Expected(status, total, f"{facts.sentence}.", facts.rows, facts.missing),
        # True is no number of rows.
        "object": Expected(status, None, f"answered {status}.", None, facts.missing),
        IN_SPARK: Expected("Error", None, "Spark raised CAST_INVALID_INPUT while computing"),
    }[form]


@dataclass(frozen=True)
class Made:
    """A generated table."""

    key: str
    form: str
    numbers: Numbers


def made() -> list[Made]:
    random = Random(5)
    tables = []
    for number in range(TABLES):
        nulls = random.choice((0.0, 0.0, 0.4, 1.0))
        size = random.randint(1, 6) if number >= WITHOUT_ROWS else 0
        values = [None if random.random() < nulls else random.randint(-9, 30) for _ in range(size)]
        form = FORMS[number % len(FORMS)]
        tables.append(Made(f"{number} {form}", form, values))
    return tables


def frame(spark: SparkSession, tables: Sequence[Made]) -> DataFrame:
    rows = [{"key": one.key, "number": value} for one in tables for value in one.numbers]
    schema = pa.schema({"key": pa.string(), "number": pa.int32()})
    return spark.createDataFrame(pa.Table.from_pylist(rows, schema))


def told(data: DataFrame, context: dq.CallContext, *, forms: dict[str, str]) -> Any:
    """The function under test: it reads its partition, and nothing but that."""
    if context.partition is None:
        return ("Ok", data.count(), "All of them.")
    rows = data.collect()
    form = forms[context.partition]
    if form == IN_SPARK:
        return bool(data.sparkSession.sql("SELECT CAST('canary' AS INT)").collect())
    assert {row["key"] for row in rows} <= {context.partition}
    return ANSWERS[form](Facts.of([row["number"] for row in rows]))


@pytest.mark.parametrize(("where", "every"), [(None, 1), ("number IS NULL OR number > 0", 3)])
def test_what_functions_say_is_what_comes_out(
    spark: SparkSession, where: str | None, every: int
) -> None:
    tables = made()[::every]
    rule = dq.PythonRule(
        name="told",
        function=told,
        arguments={"forms": {one.key: one.form for one in tables}},
        scope="both",
        where=where,
    )
    keys = [one.key for one in tables]
    outcomes = dq.evaluate(frame(spark, tables), [rule], partition_by="key", partitions=keys)
    found = {outcome.partition: outcome for outcome in outcomes}
    kept = {one.key: [n for n in one.numbers if where is None or n is None or n > 0]
            for one in tables}  # fmt: skip
    assert found[None].observed == sum(map(len, kept.values()))
    assert len(found) == len(tables) + 1
    for one in tables:
        require_same(found[one.key], expected(one.form, Facts.of(kept[one.key])), where)


def require_same(outcome: dq.Outcome, wanted: Expected, where: str | None) -> None:
    case = f"{outcome.partition}: {outcome.message}"
    assert (outcome.status.value, outcome.observed) == (wanted.status, wanted.observed), case
    assert type(outcome.observed) is type(wanted.observed), case
    assert (outcome.rows, outcome.failed_rows) == (wanted.rows, wanted.failed_rows), case
    assert wanted.says.removesuffix(".") in outcome.message, case
    assert (where is None) == ("rows where" not in outcome.message), case
    assert "canary" not in outcome.message, case


def test_the_tables_are_many_and_of_all_kinds() -> None:
    tables = made()
    seen = {(one.form, Facts.of(one.numbers).status) for one in tables}
    assert len(tables) >= 200
    assert {form for form, _ in seen} == set(FORMS)
    assert {status for _, status in seen} == {"Ok", "Warning", "Error", "Empty"}
