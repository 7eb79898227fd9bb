"""Rules about metrics against plain Python, on generated tables: 200 and more cases a type."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.depth import deep_after
from tests.oracle import kinds, measures
from tests.oracle.comparing import same
from tests.oracle.constants import bounds, members
from tests.oracle.frames import frame
from tests.oracle.generate import Column, Table, table
from tests.oracle.measures import Measured
from tests.oracle.plain import identity, place
from tests.oracle.sql import answer, row_filter
from tests.oracle.values import Misfit, constant, is_empty, is_nan

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(7)
CASES = 90
SIGNS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    ">=": lambda left, right: left >= right,
    ">": lambda left, right: left > right,
}
STATISTICS: dict[str, tuple[measures.Measure, Sequence[str]]] = {
    "column_min": (measures.minimum, kinds.ORDERED),
    "column_max": (measures.maximum, kinds.ORDERED),
    "column_sum": (measures.total, kinds.NUMERIC),
    "column_avg": (measures.mean, kinds.NUMERIC),
    "column_stddev": (measures.deviation, kinds.NUMERIC),
    "column_median": (measures.median, kinds.NUMERIC),
}
COUNTS: dict[str, Callable[[Sequence[Any]], int]] = {
    "unique_count": lambda present: sum(n == 1 for n in Counter(map(identity, present)).values()),
    "distinct_count": lambda present: len(set(map(identity, present))),
}


@dataclass(frozen=True, slots=True)
class Subject:
    """A metric as text, and what it is: None if there is nothing, ``misfit`` if it can not be."""

    text: str
    kind: str
    found: Measured | None
    misfit: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    rule: dict[str, Any]
    subjects: Sequence[Subject]


def subject(random: Random, given: Table, where: str | None, *, blank: bool) -> Subject:
    rows = given.rows()
    kept = [row for row in rows if where is None or answer(where, row) is True]
    column = random.choice(given.columns[1:])
    word = random.choice(["record_count", "empty_count", *COUNTS, *STATISTICS, *STATISTICS])
    if word == "record_count":
        return Subject(word, "int", Measured(Fraction(len(kept))))
    text = f"{word}:{column.name}"
    values = [row[column.name] for row in kept]
    present = [value for value in values if not is_empty(value, blank=blank)]
    if word == "empty_count":
        return Subject(text, "int", Measured(Fraction(len(values) - len(present))))
    if word in COUNTS:
        misfit = column.kind.startswith("map")
        count = 0 if misfit else COUNTS[word](present)
        return Subject(text, "int", Measured(Fraction(count)), misfit)
    return _statistic(text, word, column, present)


def _statistic(text: str, word: str, column: Column, present: Sequence[Any]) -> Subject:
    measure, fits = STATISTICS[word]
    if column.kind == kinds.VOID:
        return Subject(text, "int", None)
    misfit = column.kind not in fits
    found = None if misfit else measure(present, column.kind)
    return Subject(text, column.kind, found, misfit)


def cases(seed: int, given: Table) -> list[Case]:
    random = Random(seed)
    return [_case(random, f"r{n}", given) for n in range(CASES)]


def _case(random: Random, name: str, given: Table) -> Case:
    where = row_filter(random) if random.random() < 0.1 else None
    blank = random.random() < 0.2
    rule: dict[str, Any] = {"name": name, "empty_includes_blank": blank}
    if where is not None:
        rule["where"] = where
    first = subject(random, given, where, blank=blank)
    rule["metric"] = first.text
    kind = random.choice(("metric_in_range", "metric_in_set", "compare_metrics"))
    rule["type"] = kind
    if kind == "compare_metrics":
        other = subject(random, given, where, blank=blank)
        while not _comparable(first, other):
            other = subject(random, given, where, blank=blank)
        rule |= {"operator": random.choice(list(SIGNS)), "other": other.text}
        return Case(rule, [first, other])
    near = [_number(first)] if first.kind in kinds.NUMERIC else _values(given, first)
    made = bounds if kind == "metric_in_range" else members
    written = made(random, first.kind if first.kind in kinds.ORDERED else "int", near)
    rule |= written if isinstance(written, dict) else {"values": written}
    return Case(rule, [first])


def _comparable(one: Subject, other: Subject) -> bool:
    """Whether this oracle can tell what comes first: texts of numbers are not its business."""
    numbers = [subject.kind in kinds.NUMERIC or subject.misfit for subject in (one, other)]
    return all(numbers) or one.kind == other.kind


def _number(subject: Subject) -> Any:
    value = subject.found.value if subject.found else 0
    if isinstance(value, float) or value.denominator != 1 or abs(value) > 10**20:
        return 1
    return int(value)


def _values(given: Table, subject: Subject) -> Sequence[Any]:
    name = subject.text.partition(":")[2]
    return next(column.values for column in given.columns if column.name == name)


def statuses(case: Case) -> set[str]:
    """The statuses that are right: rounding of doubles, or refusing, may allow for several."""
    if any(subject.misfit for subject in case.subjects):
        return {"Error"}
    if any(subject.found is None for subject in case.subjects):
        return {"Empty"}
    found = [subject.found for subject in case.subjects if subject.found]
    if any(is_nan(one.value) or one.overflows for one in found):
        return {"Error"}
    refused = {"Error"} if any(one.may_refuse for one in found) else set()
    return _verdicts(case, found) | refused


def _verdicts(case: Case, found: Sequence[Measured]) -> set[str]:
    rule, kind = case.rule, case.subjects[0].kind
    if rule["type"] == "metric_in_range":
        try:
            return {place(rule, value, kind) for value in found[0].nearby()}
        except Misfit:
            return {"Error"}
    if rule["type"] == "metric_in_set":
        return _in_set(rule["values"], kind, found[0])
    truths = {
        SIGNS[rule["operator"]](left, right)
        for left in found[0].nearby()
        for right in found[1].nearby()
    }
    return {"Ok" if truth else "Error" for truth in truths}


def _in_set(values: Sequence[Any], kind: str, found: Measured) -> set[str]:
    fitting = []
    for member in values:
        try:
            fitting.append(constant(member, kind))
        except Misfit:
            continue
    inside = found.value in [member for member in fitting if not is_nan(member)]
    if found.slack and any(
        not is_nan(member) and abs(member - found.value) <= found.slack for member in fitting
    ):
        return {"Ok", "Error"}
    return {"Ok"} if inside else {"Error"}


def test_there_are_enough_cases() -> None:
    count: Counter[tuple[str, str]] = Counter()
    types: Counter[str] = Counter()
    for seed in SEEDS:
        for case in cases(seed, table(seed)):
            types[case.rule["type"]] += 1
            for status in statuses(case):
                count[case.rule["type"], status] += 1
    assert min(types.values()) >= 190, types
    wanted = {"metric_in_range": ("Ok", "Warning", "Error", "Empty")}
    for kind in types:
        for status in wanted.get(kind, ("Ok", "Error", "Empty")):
            assert count[kind, status] >= 10, (kind, status)


@pytest.mark.parametrize("seed", deep_after(1, SEEDS))
def test_metrics_say_what_plain_python_says(spark: SparkSession, seed: int) -> None:
    given = table(seed)
    asked = cases(seed, given)
    evaluation = dq.evaluate(frame(spark, given), [case.rule for case in asked])
    wrong = []
    for case, outcome in zip(asked, evaluation, strict=True):
        right = statuses(case)
        if outcome.status not in right or not _observed(case, outcome):
            wrong.append(f"{case}\n  {right}\n  {outcome.observed!r}: {outcome.message}")
    assert not wrong, f"{len(wrong)} rules differ:\n" + "\n".join(wrong[:5])


def _observed(case: Case, outcome: dq.Outcome) -> bool:
    """Whether the observed values are right, where there are any."""
    if outcome.observed is None:
        return True
    shown = outcome.observed
    values = list(shown.values()) if isinstance(shown, dict) else [shown]
    if len(values) < len(case.subjects):
        # Both metrics are the same one.
        values *= 2
    return all(
        found.found is not None
        and (isinstance(value, date) or same(value, found.found.value, _slack(found)))
        for value, found in zip(values, case.subjects, strict=True)
    )


def _slack(subject: Subject) -> Fraction:
    found = subject.found
    if found is None or not isinstance(found.value, Fraction):
        return Fraction(0)
    # Any number that means a 32-bit one may be shown for it, such as 0.1.
    single = abs(found.value) / 2**24 if subject.kind == "float" else Fraction(0)
    return found.slack or single
