"""The rows that have any of several faults, said in fewer faults.

Where a row goes depends on whether it has any fault at all, and where no row has any, none needs to
be counted. Many rules about one column ask the
same of it again and again. Of several ranges the tightest decides, as it does of conditions like
``amount < 100``; of several sets it is their union. Of patterns that differ in length alone, like
``[a-z]{1,9}``, it is the shortest if texts have to match, and the longest if none may; what lengths
texts may have, such a pattern says as well.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import reduce
from typing import Any

from dq_dagster.metrics.conditions import (
    Fault,
    Outside,
    PatternMatch,
    RowBreaks,
    SetMembership,
    ValueCondition,
)
from dq_dagster.metrics.constant import Constant
from dq_dagster.rules.fields.regex import PatternLength, of_length, pattern_length
from dq_dagster.sql.bounds import ColumnBound, column_bound


def united(faults: Iterable[Fault]) -> list[Fault]:
    """At most as many faults: a row has one of these if and only if it has one of those."""
    return _with_lengths([fault for group in _groups(faults) for fault in _united(group)])


def in_one(faults: Iterable[Fault], least: int) -> list[tuple[Fault, list[Fault]]]:
    """Faults that can be said in one, and those that it stands for, which are as many at least."""
    groups = [group for group in _groups(faults) if len(group) >= least]
    return [(any_[0], group) for group in groups if len(any_ := _united(group)) == 1]


def _groups(faults: Iterable[Fault]) -> Iterable[list[Fault]]:
    groups: dict[Hashable, list[Fault]] = {}
    for fault in faults:
        groups.setdefault(_alike(fault), []).append(fault)
    return groups.values()


def _alike(fault: Fault) -> Hashable:
    """What faults have in common that can be said in one; most stand alone."""
    condition = fault.condition
    if not fault.lasting:
        # What is known of those was found out when the rows were written.
        return fault
    if isinstance(condition, Outside):
        order = {_order(bound) for bound in (condition.low, condition.high) if bound is not None}
        # Bounds of different kinds have no order. Rounded to a column's type, one that is exclusive
        # may fall on one that is not.
        if len(order) == 1 and None not in order:
            bare = replace(condition, low=None, high=None)
            return Outside, bare, *order, fault.where
    if isinstance(condition, SetMembership) and condition.member:
        return SetMembership, replace(condition, values=()), fault.where
    length = _length(fault)
    if isinstance(condition, PatternMatch) and length is not None:
        return PatternMatch, replace(condition, pattern=length.pattern), fault.where
    bound = _bound(fault)
    if isinstance(condition, RowBreaks) and bound is not None:
        alike = bound.column, bound.operator, bound.kind
        return RowBreaks, *alike, condition.null_breaks, fault.where
    return condition, fault.where


def _bound(fault: Fault) -> ColumnBound | None:
    """What a row's column is compared with, where that is all that a condition in SQL does."""
    condition = fault.condition
    # Not those that look at other rows, which are RowBreaks, too.
    return column_bound(condition.sql) if type(condition) is RowBreaks else None


def _length(fault: Fault) -> PatternLength | None:
    """How long a text has to be, where a pattern asks for that and for characters alone."""
    condition = fault.condition
    if not isinstance(condition, PatternMatch) or not condition.whole:
        return None
    return pattern_length(condition.pattern)


def _united(alike: list[Fault]) -> list[Fault]:
    if _length(alike[0]) is None and _bound(alike[0]) is None:
        return [reduce(_union, alike)]
    found: list[Fault] = []
    for fault in alike:
        if not any(_decides(other, fault) for other in found):
            found = [other for other in found if not _decides(fault, other)]
            found.append(fault)
    return found


def _with_lengths(faults: list[Fault]) -> list[Fault]:
    """Without the lengths of texts that a pattern for the same column can ask for as well."""
    patterns: dict[Hashable, int] = {}
    for place, fault in enumerate(faults):
        condition = fault.condition
        if isinstance(condition, PatternMatch) and condition.whole and not condition.matches:
            patterns.setdefault(_texts(fault), place)
    found: list[Fault | None] = [*faults]
    for place, fault in enumerate(faults):
        other = patterns.get(_texts(fault))
        narrowed = None if other is None else _narrowed(found[other], fault)
        if other is not None and narrowed is not None:
            found[other], found[place] = narrowed, None
    return [fault for fault in found if fault is not None]


def _texts(fault: Fault) -> Hashable:
    """The values that it is about, if it is about those of one column."""
    condition = fault.condition
    if not isinstance(condition, ValueCondition):
        return condition
    return condition.column, condition.blank_is_empty, fault.where


def _narrowed(fault: Fault | None, length: Fault) -> Fault | None:
    """Both in one, where texts have to match a pattern and to be of some length."""
    outside = length.condition
    if fault is None or not isinstance(outside, Outside) or outside.of != "length":
        return None
    pattern, allowed = fault.condition, _allowed(outside)
    if not isinstance(pattern, PatternMatch) or allowed is None:
        return None
    both = of_length(pattern.pattern, *allowed)
    return None if both is None else replace(fault, condition=replace(pattern, pattern=both))


def _allowed(outside: Outside) -> tuple[int, int | None] | None:
    """The lengths that are not outside; None if they are not said in whole numbers."""
    low, high = (None if one is None else one.value for one in (outside.low, outside.high))
    if not isinstance(low, int | None) or not isinstance(high, int | None):
        return None
    least = 0 if low is None else low + outside.low_is_outside
    return max(least, 0), None if high is None else high - outside.high_is_outside


def _decides(one: Fault, other: Fault) -> bool:
    """Whether every row that has the other fault has this one, too."""
    bound, other_bound = _bound(one), _bound(other)
    if bound is not None and other_bound is not None:
        return bound.is_as_tight_as(other_bound)
    mine, theirs = _length(one), _length(other)
    condition = one.condition
    if isinstance(condition, PatternMatch) and condition.matches:
        # What matches is the fault here: the longer one has more of them.
        mine, theirs = theirs, mine
    if mine is None or theirs is None or mine.least < theirs.least:
        return False
    return theirs.most is None or (mine.most is not None and mine.most <= theirs.most)


def _union(one: Fault, other: Fault) -> Fault:
    mine, theirs = one.condition, other.condition
    if isinstance(mine, Outside) and isinstance(theirs, Outside):
        low = _tightest(mine.low, theirs.low, max)
        high = _tightest(mine.high, theirs.high, min)
        return replace(one, condition=replace(mine, low=low, high=high))
    if isinstance(mine, SetMembership) and isinstance(theirs, SetMembership):
        values = tuple(dict.fromkeys([*mine.values, *theirs.values]))
        return replace(one, condition=replace(mine, values=values))
    return one


def _tightest(one: Constant | None, other: Constant | None, choose: Any) -> Constant | None:
    if one is None or other is None:
        return other if one is None else one
    found: Constant = choose(one, other, key=_comparable)
    return found


def _order(bound: Constant) -> str | None:
    """The values that a bound can be compared with; None if that depends on the column."""
    value = bound.value
    if isinstance(value, bool | str | datetime):
        return None
    if isinstance(value, float | Decimal) and math.isnan(value):
        return None
    return "day" if isinstance(value, date) else "number"


def _comparable(bound: Constant) -> Any:
    # 0.1 means the decimal 0.1 to the person who wrote it.
    return Decimal(bound.text) if bound.kind == "float" else bound.value
