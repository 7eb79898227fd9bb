"""What an oracle says, and the list of oracles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias

Rule: TypeAlias = Mapping[str, Any]
Row: TypeAlias = Mapping[str, Any]
Types: TypeAlias = Mapping[str, str]

BADNESS = {"Ok": 0, "Empty": 1, "Warning": 2, "Error": 3}
#: An observed value that the contract leaves open.
ANYTHING = object()


@dataclass(frozen=True, slots=True)
class Verdict:
    """The right outcome; ``also`` holds statuses that rounding of doubles may lead to.

    With ``may_refuse``, an Error without an observed value is right too.
    """

    status: str
    observed: Any = None
    failed_rows: int | None = None
    rows: int | None = None
    also: frozenset[str] = frozenset()
    slack: Fraction = Fraction(0)
    may_refuse: bool = False
    by_column: Mapping[str, Verdict] = field(default_factory=dict)


Judge: TypeAlias = Callable[[Rule, Sequence[Any], str], Verdict]
Oracle: TypeAlias = Callable[[Rule, Sequence[Row], Types], Verdict]
ORACLES: dict[str, Oracle] = {}
NOTHING = Verdict("Empty", failed_rows=0, rows=0)
MISFIT = Verdict("Error")


def oracle(*names: str) -> Callable[[Oracle], Oracle]:
    def register(function: Oracle) -> Oracle:
        ORACLES.update(dict.fromkeys(names, function))
        return function

    return register


def column_oracle(*names: str) -> Callable[[Judge], Judge]:
    """For rules that judge each column on its own: the worst verdict is the rule's."""

    def register(judge: Judge) -> Judge:
        def judge_all(rule: Rule, rows: Sequence[Row], types: Types) -> Verdict:
            listed = rule["columns"]
            columns = [listed] if isinstance(listed, str) else listed
            return _worst({name: judge_one(rule, rows, types, name) for name in columns})

        def judge_one(rule: Rule, rows: Sequence[Row], types: Types, name: str) -> Verdict:
            if name not in types:
                return MISFIT
            return judge(rule, [row[name] for row in rows], types[name])

        oracle(*names)(judge_all)
        return judge

    return register


def _worst(verdicts: Mapping[str, Verdict]) -> Verdict:
    if len(verdicts) == 1:
        return next(iter(verdicts.values()))
    return Verdict(
        max((verdict.status for verdict in verdicts.values()), key=BADNESS.__getitem__),
        {name: verdict.observed for name, verdict in verdicts.items()},
        _largest([verdict.failed_rows for verdict in verdicts.values()]),
        _largest([verdict.rows for verdict in verdicts.values()]),
        by_column=verdicts,
    )


def _largest(counts: Sequence[int | None]) -> int | None:
    return max((count for count in counts if count is not None), default=None)
