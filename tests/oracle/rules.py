"""Random rules for a generated table: most fit their columns, some do not.

A new rule type needs one function here that makes the fields of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

from tests.oracle import kinds
from tests.oracle.aggregates import condition
from tests.oracle.constants import bounds, members, numeric_bounds
from tests.oracle.generate import Column, Table
from tests.oracle.meaning_texts import ORACLE
from tests.oracle.meanings import TYPED
from tests.oracle.patterns import PATTERNS
from tests.oracle.sql import predicate, row_filter

Fields: TypeAlias = dict[str, Any]
Maker: TypeAlias = Callable[[Random, Table], Fields]
MAKERS: dict[str, Maker] = {}

#: Rules that look at no rows, and so take no filter.
WITHOUT_ROWS = {
    "column_count_in_range",
    "column_count_typical",
    "file_size_in_range",
    "schema_contains",
    "schema_equals",
}
_MISFITS = 0.08
_COUNTS = (0, 1, 2, 5, 40)
_SHARES = (0, 0.0, 0.1, 0.1, 0.2, 0.3, 1 / 3, 0.5, 0.7, 0.9, 0.99, 1, 1.0)


def rules(seed: int, table: Table, many: int) -> list[Fields]:
    """``many`` rules, all types in turn."""
    random = Random(seed)
    types = list(MAKERS)
    return [_rule(random, types[(seed + n) % len(types)], f"r{n}", table) for n in range(many)]


def _rule(random: Random, kind: str, name: str, table: Table) -> Fields:
    rule: Fields = {"type": kind, "name": name, **MAKERS[kind](random, table)}
    if random.random() < 0.2 and kind not in WITHOUT_ROWS:
        rule["where"] = row_filter(random)
    if random.random() < 0.1:
        rule["on_empty"] = random.choice(("pass", "warn", "error"))
    if "columns" in rule and random.random() < 0.25:
        rule["empty_includes_blank"] = True
    return rule


def maker(*names: str) -> Callable[[Maker], Maker]:
    def register(function: Maker) -> Maker:
        MAKERS.update(dict.fromkeys(names, function))
        return function

    return register


def _columns(random: Random, table: Table, fitting: Sequence[str]) -> list[Column]:
    """Mostly one column that fits, sometimes one that does not, sometimes several."""
    wanted = kinds.ALL if random.random() < _MISFITS else fitting
    first = random.choice(table.of_kinds(wanted))
    if random.random() > 0.15:
        return [first]
    # The same bounds and members must fit them all.
    alike = [c for c in table.of_kinds((first.kind,)) if c.name != first.name]
    return [first, *random.sample(alike, min(len(alike), 2))]


def _own(fields: Fields) -> Random:
    """Chance that depends on what was made so far, and changes nothing that is made later."""
    return Random(repr(fields))


def _named(columns: Sequence[Column]) -> Fields:
    names = [column.name for column in columns]
    return {"columns": names[0] if len(names) == 1 else names}


# --- ranges -------------------------------------------------------------------------------------


@maker("column_min_in_range", "column_max_in_range")
def _extreme(random: Random, table: Table) -> Fields:
    columns = _columns(random, table, kinds.ORDERED)
    return _named(columns) | bounds(random, columns[0].kind, columns[0].values)


@maker("column_values_in_range")
def _values_in_range(random: Random, table: Table) -> Fields:
    fields = _extreme(random, table)
    return fields | _threshold(_own(fields), limit=True, requirement=True)


@maker("column_avg_in_range", "column_stddev_in_range", "column_median_in_range")
def _mean(random: Random, table: Table) -> Fields:
    columns = _columns(random, table, kinds.NUMERIC)
    return _named(columns) | numeric_bounds(random, [-6, -3, 0, 1, 2, 3, 6, 1000])


@maker("column_sum_in_range")
def _total(random: Random, table: Table) -> Fields:
    columns = _columns(random, table, kinds.NUMERIC)
    sums = [0]
    if columns[0].kind in kinds.EXACT:
        sums += [sum(value for value in columns[0].values if value is not None)]
    return _named(columns) | numeric_bounds(random, [*sums, 10**20, -(10**40), 10**40])


@maker("column_value_lengths_in_range")
def _lengths(random: Random, table: Table) -> Fields:
    columns = _columns(random, table, (kinds.TEXT,))
    fields = _named(columns) | numeric_bounds(random, range(6))
    return fields | _threshold(_own(fields), limit=True, requirement=True)


@maker("record_count_in_range")
def _record_count(random: Random, table: Table) -> Fields:
    near = range(table.size - 2, table.size + 2)
    return numeric_bounds(random, [0, 1, table.size // 2, *near])


@maker("column_count_in_range")
def _column_count(random: Random, table: Table) -> Fields:
    width = len(table.columns)
    return numeric_bounds(random, [width - 1, width, width + 1])


# --- thresholds ---------------------------------------------------------------------------------


def _threshold(random: Random, *, limit: bool, requirement: bool) -> Fields:
    ways = ["all"] + ["limit"] * limit + ["requirement"] * requirement
    way = random.choice(ways)
    if way == "all":
        return random.choice(({}, {"threshold": "all"}))
    unit = random.choice(("count", "proportion"))
    low, high = sorted(random.choices(_COUNTS if unit == "count" else _SHARES, k=2))
    both = {"soft_max": low, "max": high} if way == "limit" else {"soft_min": high, "min": low}
    kept = random.choice((list(both), [random.choice(list(both))]))
    found: Fields = {name: both[name] for name in kept}
    kinds_of = {type(bound) for bound in found.values() if bound != 0 or isinstance(bound, float)}
    plain = kinds_of <= ({int} if unit == "count" else {float}) and kinds_of
    if plain and _own(found).random() < 0.5:
        # The type goes without saying.
        return {"threshold": found}
    return {"threshold": {"type": unit, **found}}


def _also_limits(made: Fields) -> Fields:
    """At times bad rows are limited where good ones would be required."""
    own = _own(made)
    return made if own.random() < 0.6 else _threshold(own, limit=True, requirement=False)


@maker("column_not_empty")
def _not_empty(random: Random, table: Table) -> Fields:
    columns = _columns(random, table, kinds.ALL)
    return _named(columns) | _threshold(random, limit=True, requirement=False)


@maker("column_empty")
def _empty(random: Random, table: Table) -> Fields:
    columns = _columns(random, table, kinds.ALL)
    wanted = _threshold(random, limit=False, requirement=True)
    return _named(columns) | _also_limits(wanted)


@maker("column_values_in_set", "column_values_not_in_set")
def _set(random: Random, table: Table) -> Fields:
    columns = _columns(random, table, kinds.ORDERED)
    fields: Fields = {"values": members(random, columns[0].kind, columns[0].values)}
    if random.random() < 0.3:
        fields["ignore_case"] = True
    return _named(columns) | fields | _threshold(random, limit=True, requirement=True)


@maker("column_values_match", "column_values_not_match")
def _pattern(random: Random, table: Table) -> Fields:
    columns = _columns(random, table, (kinds.TEXT,))
    fields: Fields = {"pattern": random.choice(("a", random.choice(PATTERNS)))}
    if random.random() < 0.4:
        fields["match"] = random.choice(("full", "search"))
    return _named(columns) | fields | _threshold(random, limit=True, requirement=True)


@maker("column_valid_meaning")
def _meaning(random: Random, table: Table) -> Fields:
    columns = _columns(random, table, kinds.ORDERED)
    fields: Fields = {"meaning": _any_meaning(random, columns[0])}
    if random.random() < 0.5:
        fields["empty_is_valid"] = random.choice((True, False))
    return _named(columns) | fields | _threshold(random, limit=True, requirement=True)


def _any_meaning(random: Random, column: Column) -> Any:
    way = random.choice(("built-in", "built-in", "values", "pattern", "words"))
    if way == "built-in":
        fitting = [name for name, (fits, _) in TYPED.items() if column.kind in fits]
        return random.choice(list(ORACLE) if column.kind == kinds.TEXT else fitting or ["email"])
    if way == "pattern" and column.kind == kinds.TEXT:
        return {"pattern": random.choice(PATTERNS)}
    if way == "words":
        return {"description": "whatever"}
    match = random.choice(("exact", "ignore_case", "ignore_accents"))
    return {"values": members(random, column.kind, column.values), "match": match}


@maker("row_dq")
def _row(random: Random, table: Table) -> Fields:
    column = random.choice(table.columns)
    fields: Fields = {"expectation": predicate(random, column.name, column.kind)}
    if random.random() < 0.3:
        fields["null_is"] = random.choice(("fail", "pass"))
    if random.random() < 0.3:
        return fields | {"threshold": random.choice((0, 3, 0.2, 1.0))}
    return fields | _threshold(random, limit=True, requirement=False)


@maker("agg_dq")
def _aggregates(random: Random, table: Table) -> Fields:
    # Without types whose sums depend on the order of the rows, or overflow on the way.
    known = (*kinds.WHOLE[:3], "decimal(10,2)", kinds.TEXT, kinds.BOOLEAN, kinds.DATE)
    columns = [(column.name, column.kind) for column in table.of_kinds(known)]
    fields: Fields = {"expectation": condition(random, columns, burdens=0.03)}
    if random.random() < 0.3:
        fields["null_is"] = random.choice(("fail", "pass"))
    return fields


# --- frequencies --------------------------------------------------------------------------------


@maker("column_unique")
def _unique(random: Random, table: Table) -> Fields:
    columns = _columns(random, table, kinds.ORDERED)
    wanted = _threshold(random, limit=False, requirement=True)
    return _named(columns) | _also_limits(wanted)


@maker("unique_key")
def _unique_key(random: Random, table: Table) -> Fields:
    columns = random.sample(table.of_kinds(kinds.ORDERED), k=random.choice((1, 2, 2, 3)))
    wanted = _threshold(random, limit=False, requirement=True)
    return _named(columns) | _also_limits(wanted)


@maker("column_top_values_in_set")
def _top(random: Random, table: Table) -> Fields:
    return _most_frequent(random, table) | {"top": random.choice((1, 2, 3, 10))}


@maker("column_most_frequent_in_set")
def _most_frequent(random: Random, table: Table) -> Fields:
    columns = _columns(random, table, kinds.ORDERED)
    fields: Fields = {"values": members(random, columns[0].kind, columns[0].values)}
    if random.random() < 0.3:
        fields["ignore_case"] = True
    own = _own(fields)
    if own.random() < 0.5:
        fields["ties"] = own.choice(("all", "any"))
    return _named(columns) | fields
