"""What every rule must say about a list of rows, computed with plain Python.

Rules are read as they are declared (dicts), rows are dicts, types are Spark's names. Nothing here
uses the library, Spark or pandas; numbers are fractions, so every comparison is exact. A new rule
type needs one function here, one in ``rules.py``, and nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tests.oracle import aggregates, kinds, measures
from tests.oracle.meanings import judge_of
from tests.oracle.patterns import matches
from tests.oracle.sql import answer
from tests.oracle.values import Misfit, constant, exactly, is_empty, is_nan
from tests.oracle.verdicts import (
    ANYTHING,
    MISFIT,
    NOTHING,
    ORACLES,
    Row,
    Rule,
    Types,
    Verdict,
    column_oracle,
    oracle,
)

ON_EMPTY = {"warn": "Warning", "error": "Error"}


def expected(rule: Rule, rows: Sequence[Row], types: Types) -> Verdict:
    """The verdict on the rows that pass the rule's filter."""
    where = rule.get("where")
    kept = rows if where is None else [row for row in rows if answer(where, row) is True]
    found = ORACLES[rule["type"]](rule, kept, types)
    policy = ON_EMPTY.get(rule.get("on_empty", "pass"))
    if found.status != "Empty" or policy is None:
        return found
    return replace(found, status=policy)


def _present(rule: Rule, values: Sequence[Any]) -> list[Any]:
    blank = bool(rule.get("empty_includes_blank"))
    return [value for value in values if not is_empty(value, blank=blank)]


# --- ranges -------------------------------------------------------------------------------------


def place(rule: Rule, value: Any, kind: str) -> str:
    """Where an exact value lies in the rule's range."""
    if outside(value, rule.get("min"), rule.get("max"), kind, rule.get("exclusive")):
        return "Error"
    soft = outside(value, rule.get("soft_min"), rule.get("soft_max"), kind)
    return "Warning" if soft else "Ok"


def outside(value: Any, low: Any, high: Any, kind: str, exclusive: str | None = None) -> bool:
    if is_nan(value):
        return low is not None or high is not None
    for side, bound, sign in (("min", low, 1), ("max", high, -1)):
        if bound is None:
            continue
        limit = constant(bound, kind)
        if value == limit and exclusive in {side, "both"}:
            return True
        if (value < limit) if sign > 0 else (value > limit):
            return True
    return False


def _bounds_fit(rule: Rule, kind: str) -> bool:
    try:
        for name in ("min", "soft_min", "soft_max", "max"):
            if rule.get(name) is not None:
                constant(rule[name], kind)
    except Misfit:
        return False
    return True


def _statistic(name: str, measure: measures.Measure, fits: Sequence[str]) -> None:
    @column_oracle(f"column_{name}_in_range")
    def judge(rule: Rule, values: Sequence[Any], kind: str) -> Verdict:
        if kind not in fits and kind != kinds.VOID:
            return MISFIT
        present = _present(rule, values)
        found = measure(present, kind)
        if found is None:
            return Verdict("Empty", rows=len(present))
        return _judge_statistic(rule, found, kind, len(present))


def _judge_statistic(rule: Rule, found: measures.Measured, kind: str, count: int) -> Verdict:
    if is_nan(found.value):
        return Verdict("Error", ANYTHING if found.infinite else found.value, rows=count)
    if not _bounds_fit(rule, kind):
        return MISFIT
    near = {place(rule, value, kind) for value in found.nearby()}
    observed = None if found.overflows else found.value
    slack = found.slack
    if kind == "float" and not slack and isinstance(found.value, Fraction):
        # Any number that means this 32-bit one may be shown for it, such as 0.1.
        slack = abs(found.value) / 2**24
    status = "Error" if found.overflows else place(rule, found.value, kind)
    return Verdict(status, observed, None, count, frozenset(near), slack, found.may_refuse)


_statistic("min", measures.minimum, kinds.ORDERED)
_statistic("max", measures.maximum, kinds.ORDERED)
_statistic("avg", measures.mean, kinds.NUMERIC)
_statistic("sum", measures.total, kinds.NUMERIC)
_statistic("stddev", measures.deviation, kinds.NUMERIC)
_statistic("median", measures.median, kinds.NUMERIC)


def _each_in_range(rule: Rule, values: Sequence[Any], kind: str) -> Verdict:
    """``values`` are exact and not empty."""
    if not values:
        return NOTHING
    ends = rule.get("min"), rule.get("max"), kind, rule.get("exclusive")
    hard = sum(outside(value, *ends) for value in values)
    soft = sum(outside(value, rule.get("soft_min"), rule.get("soft_max"), kind) for value in values)
    by_hard, by_soft = (by_threshold(rule.get("threshold"), n, len(values)) for n in (hard, soft))
    if by_hard != "Ok":
        return Verdict(by_hard, hard, hard, len(values))
    bad = soft if by_soft != "Ok" else hard or soft
    return Verdict("Ok" if by_soft == "Ok" else "Warning", bad, bad, len(values))


@column_oracle("column_values_in_range")
def values_in_range(rule: Rule, values: Sequence[Any], kind: str) -> Verdict:
    if kind == kinds.VOID:
        return NOTHING
    if kind not in kinds.ORDERED or not _bounds_fit(rule, kind):
        return MISFIT
    return _each_in_range(rule, [exactly(value) for value in _present(rule, values)], kind)


@column_oracle("column_value_lengths_in_range")
def value_lengths_in_range(rule: Rule, values: Sequence[Any], kind: str) -> Verdict:
    if kind not in {kinds.TEXT, kinds.VOID}:
        return MISFIT
    lengths = [Fraction(len(value)) for value in _present(rule, values)]
    return _each_in_range(rule, lengths, "int")


@oracle("record_count_in_range")
def record_count(rule: Rule, rows: Sequence[Row], types: Types) -> Verdict:
    return Verdict(place(rule, Fraction(len(rows)), "int"), len(rows), None, len(rows))


@oracle("column_count_in_range")
def column_count(rule: Rule, rows: Sequence[Row], types: Types) -> Verdict:
    return Verdict(place(rule, Fraction(len(types)), "int"), len(types))


# --- thresholds ---------------------------------------------------------------------------------


def by_threshold(threshold: Any, bad: int, considered: int) -> str:
    """The status of ``bad`` rows among those considered, whatever way the threshold is written."""
    if threshold is None or threshold == "all":
        return "Error" if bad else "Ok"
    if isinstance(threshold, int | float):
        unit = "count" if isinstance(threshold, int) else "proportion"
        threshold = {"type": unit, "max": threshold}
    whole = 1 if _unit(threshold) == "count" else considered
    for status, most, least in (("Error", "max", "min"), ("Warning", "soft_max", "soft_min")):
        if most in threshold and Fraction(bad, whole) > Fraction(str(threshold[most])):
            return status
        good = Fraction(considered - bad, whole)
        if least in threshold and good < Fraction(str(threshold[least])):
            return status
    return "Ok"


def _unit(threshold: dict[str, Any]) -> str:
    """Where no type is given, whole numbers count rows and others are shares."""
    shares = any(isinstance(bound, float) for bound in threshold.values())
    return str(threshold.get("type", "proportion" if shares else "count"))


def _counted(rule: Rule, bad: int, considered: int) -> Verdict:
    if not considered:
        return NOTHING
    return Verdict(by_threshold(rule.get("threshold"), bad, considered), bad, bad, considered)


@column_oracle("column_not_empty")
def not_empty(rule: Rule, values: Sequence[Any], kind: str) -> Verdict:
    return _counted(rule, len(values) - len(_present(rule, values)), len(values))


@column_oracle("column_empty")
def empty(rule: Rule, values: Sequence[Any], kind: str) -> Verdict:
    found = _counted(rule, len(_present(rule, values)), len(values))
    # What is counted here are the empties; the rows that fail are the others.
    observed = None if found.observed is None else len(values) - found.observed
    return Verdict(found.status, observed, found.failed_rows, found.rows)


@column_oracle("column_values_in_set", "column_values_not_in_set")
def values_and_set(rule: Rule, values: Sequence[Any], kind: str) -> Verdict:
    if kind == kinds.VOID:
        return NOTHING
    try:
        members = [constant(value, kind) for value in rule["values"]]
    except Misfit:
        return MISFIT
    present = [exactly(value) for value in _present(rule, values)]
    if rule.get("ignore_case") and kind == kinds.TEXT:
        present, members = ([text.lower() for text in texts] for texts in (present, members))
    inside = sum(
        value in members or (is_nan(value) and any(map(is_nan, members))) for value in present
    )
    wanted = rule["type"] == "column_values_in_set"
    return _counted(rule, len(present) - inside if wanted else inside, len(present))


@column_oracle("column_values_match", "column_values_not_match")
def values_and_pattern(rule: Rule, values: Sequence[Any], kind: str) -> Verdict:
    if kind not in {kinds.TEXT, kinds.VOID}:
        return MISFIT
    present = _present(rule, values)
    whole = rule.get("match", "full") == "full"
    found = sum(matches(rule["pattern"], value, whole=whole) for value in present)
    wanted = rule["type"] == "column_values_match"
    return _counted(rule, len(present) - found if wanted else found, len(present))


@column_oracle("column_valid_meaning")
def valid_meaning(rule: Rule, values: Sequence[Any], kind: str) -> Verdict:
    try:
        is_valid = judge_of(rule["meaning"], kind)
    except Misfit:
        return MISFIT
    present = _present(rule, values)
    bad = sum(not is_valid(value) for value in present)
    if not rule.get("empty_is_valid"):
        bad += len(values) - len(present)
    return _counted(rule, bad, len(values))


@oracle("row_dq")
def row_expectation(rule: Rule, rows: Sequence[Row], types: Types) -> Verdict:
    unknown_is_fine = rule.get("null_is") == "pass"
    answers = [answer(rule["expectation"], row) for row in rows]
    bad = sum(not (unknown_is_fine if found is None else found) for found in answers)
    return _counted(rule, bad, len(rows))


@oracle("agg_dq")
def aggregate_expectation(rule: Rule, rows: Sequence[Row], types: Types) -> Verdict:
    return aggregates.verdict(rule, rows)


# --- frequencies --------------------------------------------------------------------------------


def identity(value: Any) -> Any:
    """What makes two values of one column the same; NaN equals itself here."""
    if isinstance(value, float):
        return "NaN" if is_nan(value) else exactly(value)
    if isinstance(value, dict | list | tuple):
        return repr(value)
    return exactly(value)


@column_oracle("column_unique")
def unique(rule: Rule, values: Sequence[Any], kind: str) -> Verdict:
    if kind.startswith("map"):
        return MISFIT
    return _unique(rule, [identity(value) for value in _present(rule, values)])


@oracle("unique_key")
def unique_key(rule: Rule, rows: Sequence[Row], types: Types) -> Verdict:
    names = [rule["columns"]] if isinstance(rule["columns"], str) else rule["columns"]
    if any(name not in types or types[name].startswith("map") for name in names):
        return MISFIT
    blank = bool(rule.get("empty_includes_blank"))
    keys = [
        tuple(None if is_empty(row[name], blank=blank) else identity(row[name]) for name in names)
        for row in rows
    ]
    return _unique(rule, [key for key in keys if any(part is not None for part in key)])


def _unique(rule: Rule, keys: Sequence[Any]) -> Verdict:
    once = sum(count == 1 for count in Counter(keys).values())
    return _counted(rule, len(keys) - once, len(keys))


@column_oracle("column_top_values_in_set", "column_most_frequent_in_set")
def frequent_values(rule: Rule, values: Sequence[Any], kind: str) -> Verdict:
    if kind == kinds.VOID:
        return NOTHING
    try:
        members = [constant(value, kind) for value in rule["values"]]
    except Misfit:
        return MISFIT
    lower = bool(rule.get("ignore_case")) and kind == kinds.TEXT
    counts = Counter(identity(value) for value in _present(rule, values))
    if not counts:
        return NOTHING
    ranked = sorted(counts.values(), reverse=True)
    last = ranked[min(rule.get("top", 1), len(ranked)) - 1]
    allowed = {"NaN" if is_nan(m) else m.lower() if lower else m for m in members}
    leaders = [value for value, count in counts.items() if count >= last]
    inside = [(value.lower() if lower else value) in allowed for value in leaders]
    fine = all(inside)
    if rule.get("ties") == "any":
        # Every choice for the places is a way to be right; the best one takes members first.
        sure = [value for value in leaders if counts[value] > last]
        tied = [value for value in leaders if counts[value] == last]
        members_first = sorted(tied, key=lambda value: not inside[leaders.index(value)])
        places = min(rule.get("top", 1), len(ranked))
        chosen = (sure + members_first)[:places]
        fine = all(inside[leaders.index(value)] for value in chosen)
    return Verdict("Ok" if fine else "Error", ANYTHING, None, sum(counts.values()))
