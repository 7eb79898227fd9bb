"""Two tables compared by key, against plain Python: many types, odd values, hostile names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Context, Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.depth import deep_after
from tests.oracle import kinds
from tests.oracle.frames import frame
from tests.oracle.generate import Column, Table, values
from tests.oracle.names import HOSTILE_NAMES
from tests.oracle.plain import by_threshold, identity

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The first one also looks at rows and at the rule; one has no rows on the left.
SEEDS = (1, 0, 2, 3, 4, 5)
COMPARED = (*kinds.ORDERED, kinds.VOID, *kinds.OPAQUE)
WIDE = Context(prec=120)
THRESHOLDS: tuple[Any, ...] = ("all", 2, 0.5, {"soft_max": 1, "max": 30})


@dataclass(frozen=True, slots=True)
class Case:
    left: Table
    right: Table
    names: Sequence[str]
    tolerances: dict[str, Any]
    thresholds: dict[str, Any]


def case(seed: int) -> Case:
    random = Random(seed)
    names = random.sample(HOSTILE_NAMES, len(COMPARED))
    left, right = ids(random) if seed else [], ids(random)
    columns = []
    for name, kind in zip(names, COMPARED, strict=True):
        pool = dict(zip(range(60), values(random, kind, 60), strict=True))
        other = dict(zip(range(60), values(random, kind, 60), strict=True))
        changed = {n for n in range(60) if random.random() < 0.1}
        columns.append(
            (
                Column(name, kind, [pool[n] for n in left]),
                Column(name, kind, [(other if n in changed else pool)[n] for n in right]),
            )
        )
    numbers = [n for n, kind in zip(names, COMPARED, strict=True) if kind in kinds.NUMERIC]
    return Case(
        Table(len(left), [Column("key", "int", left), *(one for one, _ in columns)]),
        Table(len(right), [Column("key", "int", right), *(one for _, one in columns)]),
        names,
        {name: random.choice((0, 1, 50, 0.5)) for name in random.sample(numbers, 4)},
        {kind: random.choice(THRESHOLDS) for kind in ("only_here", "only_there", "changed")},
    )


def ids(random: Random) -> list[int]:
    return random.sample(range(60), 45)


# --- The same in plain Python -----------------------------------------------------------------


def is_equal(one: Any, other: Any, tolerance: Any) -> bool:
    if one is None or other is None:
        return one is other
    if same(one) == same(other):
        return True
    if isinstance(one, bool) or not isinstance(one, int | float | Decimal):
        return False
    apart = distance(one, other)
    return not math.isinf(apart) and apart <= Decimal(str(tolerance))


def same(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted(value.items())
    return identity(value)


def distance(one: Any, other: Any) -> Any:
    if isinstance(one, float):
        apart = abs(one - other)
        return math.inf if math.isnan(apart) else apart
    if isinstance(one, date):
        return abs(one - other)
    return abs(WIDE.subtract(Decimal(one), Decimal(other)))


def is_measured(value: Any) -> bool:
    return isinstance(value, int | float | Decimal | date) and not isinstance(value, bool)


def expected(given: Case) -> dict[str, Any]:
    left = {row["key"]: row for row in given.left.rows()}
    right = {row["key"]: row for row in given.right.rows()}
    common = [(left[key], right[key]) for key in left if key in right]
    columns, changed = {}, set()
    for name in given.names:
        tolerance = given.tolerances.get(name, 0)
        pairs = [
            (one[name], other[name], one["key"])
            for one, other in common
            if not is_equal(one[name], other[name], tolerance)
        ]
        changed |= {key for *_, key in pairs}
        apart = [distance(a, b) for a, b, _ in pairs if is_measured(a) and is_measured(b)]
        columns[name] = (
            len(pairs),
            sum(b is None for _, b, _ in pairs),
            sum(a is None for a, _, _ in pairs),
            max(apart, default=None),
        )
    return {
        "only_left": len(left.keys() - right.keys()),
        "only_right": len(right.keys() - left.keys()),
        "changed": len(changed),
        "same": len(common) - len(changed),
        "columns": columns,
    }


def alike(found: Any, right: Any) -> bool:
    if found is None or right is None or isinstance(found, timedelta):
        return bool(found == right)
    return math.isclose(float(found), float(right), rel_tol=1e-9)


@pytest.mark.parametrize("seed", deep_after(1, SEEDS))
def test_diffs_say_what_plain_python_says(spark: SparkSession, seed: int) -> None:
    given = case(seed)
    # In another order: neither that of rows nor that of columns matters.
    left = frame(spark, given.left).coalesce(1)
    right = frame(spark, given.right).coalesce(1)
    right = right.select(*(right[f"`{n.replace('`', '``')}`"] for n in reversed(right.columns)))
    found = dq.diff(left, right, keys="key", tolerance=given.tolerances)
    wanted = expected(given)
    assert {k: getattr(found, k) for k in wanted if k != "columns"} == {
        k: number for k, number in wanted.items() if k != "columns"
    }
    for name, (changed, emptied, filled, largest) in wanted["columns"].items():
        one = found.columns[name]
        assert (one.changed, one.emptied, one.filled) == (changed, emptied, filled), name
        assert alike(one.largest, largest), (name, one.largest, largest)
    if seed == 1:
        assert found.only_left_rows.count() == wanted["only_left"]
        assert found.only_right_rows.count() == wanted["only_right"]
        rows = found.changed_rows.select("key", "changed").collect()
        assert len(rows) == wanted["changed"]
        named = [name for row in rows for name in row["changed"]]
        assert {n: named.count(n) for n in set(named)} == {
            n: numbers[0] for n, numbers in wanted["columns"].items() if numbers[0]
        }
        outcomes(given, wanted, left, right)


def outcomes(given: Case, wanted: dict[str, Any], left: Any, right: Any) -> None:
    """The rule on the same tables: as a whole, and by partitions, whose counts add up to it."""
    rule = dq.TableDiff(
        keys="key",
        reference=dq.Reference(asset="right"),
        tolerance=given.tolerances,
        scope="both",
        **given.thresholds,
    )
    references = {"right": right}
    found = dq.evaluate(left, [rule], references=references, partition_by="key % 3")
    whole = found[rule.name]
    sizes = given.left.size, given.right.size
    common = wanted["changed"] + wanted["same"]
    worst = max(
        (
            by_threshold(given.thresholds["only_here"], wanted["only_left"], sizes[0]),
            by_threshold(given.thresholds["only_there"], wanted["only_right"], sizes[1]),
            by_threshold(given.thresholds["changed"], wanted["changed"], common),
        ),
        key=["Ok", "Warning", "Error"].index,
    )
    assert whole.status == worst
    assert whole.observed == wanted["only_left"] + wanted["only_right"] + wanted["changed"]
    parts = [outcome for outcome in found if outcome.partition is not None]
    assert len(parts) == 3
    for name in ("only_here", "only_there", "changed", "same", "rows_there"):
        assert sum(part.details[name] for part in parts) == whole.details[name]
