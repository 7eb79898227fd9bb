"""Schema rules against plain Python: random schemas, changed at random, and texts at any depth.

Types are plain here: a name, or a tuple of "struct" and (name, type) pairs, "array" and a type,
"map" and two types.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from tests.oracle.names import HOSTILE_NAMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CASES = 260
SIMPLE = ("int", "bigint", "string", "double", "decimal(10,2)", "date", "timestamp", "boolean")
NAMES = ("a", "b", "c", "d", "A", "items", "keys", "values", *HOSTILE_NAMES[:12])
Fields = list[tuple[str, Any]]


def make_type(random: Random, depth: int) -> Any:
    kind = random.choice(("simple", "simple", "struct", "array", "map")) if depth else "simple"
    if kind == "struct":
        return ("struct", make_fields(random, depth - 1, random.randint(0, 4)))
    if kind == "array":
        return ("array", make_type(random, depth - 1))
    if kind == "map":
        return ("map", random.choice(("string", "int")), make_type(random, depth - 1))
    return random.choice(SIMPLE)


def make_fields(random: Random, depth: int, many: int) -> Fields:
    return [(name, make_type(random, depth)) for name in random.sample(NAMES, many)]


def changed(random: Random, fields: Fields) -> Fields:
    """The same with a few changes: moved, dropped, added, of another type, changed inside."""
    fields = list(fields)
    for _ in range(random.choice((0, 0, 1, 1, 2, 3))):
        way = random.choice(("move", "drop", "add", "type", "inside", "inside"))
        place = random.randrange(len(fields)) if fields else 0
        if way == "add":
            free = [name for name in NAMES if name not in dict(fields)]
            fields.insert(place, (random.choice(free), make_type(random, 1)))
        elif fields and way == "move":
            fields.insert(random.randrange(len(fields)), fields.pop(place))
        elif fields and way == "drop":
            fields.pop(place)
        elif fields and way == "type":
            fields[place] = (fields[place][0], make_type(random, 2))
        elif fields:
            fields[place] = (fields[place][0], changed_inside(random, fields[place][1]))
    return fields


def changed_inside(random: Random, kind: Any) -> Any:
    match kind:
        case ("struct", fields):
            return ("struct", changed(random, fields))
        case ("array", items):
            return ("array", changed_inside(random, items))
        case ("map", keys, values):
            return ("map", keys, changed_inside(random, values))
    return random.choice((kind, random.choice(SIMPLE)))


def declared(random: Random, name: str | None, kind: Any) -> dict[str, Any]:
    """A declaration, by type name or by parts."""
    column = {} if name is None else {"name": name}
    if random.random() < 0.4:
        return column | {"type": named(random, kind)}
    match kind:
        case ("struct", fields):
            return column | {"type": "struct", "fields": [declared(random, *f) for f in fields]}
        case ("array", items):
            return column | {"type": "array", "items": declared(random, None, items)}
        case ("map", keys, values):
            parts = {"keys": keys, "values": declared(random, None, values)}
            return column | {"type": "map", **parts}
    return column | {"type": named(random, kind)}


def named(random: Random, kind: Any) -> str:
    match kind:
        case ("struct", fields):
            inner = [f"`{name.replace('`', '``')}`: {named(random, one)}" for name, one in fields]
            return f"struct<{', '.join(inner)}>"
        case ("array", items):
            return f"ARRAY<{named(random, items)}>"
        case ("map", keys, values):
            return f"map<{keys},{named(random, values)}>"
    return random.choice((kind, kind.upper(), f" {kind} "))


def spark_type(kind: Any) -> Any:
    from pyspark.sql import types as T

    match kind:
        case ("struct", fields):
            return T.StructType([T.StructField(name, spark_type(one)) for name, one in fields])
        case ("array", items):
            return T.ArrayType(spark_type(items))
        case ("map", keys, values):
            return T.MapType(spark_type(keys), spark_type(values))
    return T.DataType.fromDDL(kind)


# --- the oracle ---------------------------------------------------------------------------------


def has_struct(kind: Any) -> bool:
    match kind:
        case ("struct", _):
            return True
        case ("array", items):
            return has_struct(items)
        case ("map", _, values):
            return has_struct(values)
    return False


def faults(
    expected: Fields, actual: Fields, above: str, *, exact: bool
) -> Iterator[tuple[str, str]]:
    """Every path that is wrong, and how; the order of names apart."""
    there = dict(actual)
    for name, kind in expected:
        if name not in there:
            yield f"{above}{name}", "missing"
        else:
            yield from type_faults(kind, there[name], f"{above}{name}", exact=exact)
    if exact:
        for name in there.keys() - dict(expected).keys():
            yield f"{above}{name}", "unexpected"


def type_faults(kind: Any, actual: Any, path: str, *, exact: bool) -> Iterator[tuple[str, str]]:
    match kind, actual:
        case ("struct", inner), ("struct", other):
            yield from faults(inner, other, f"{path}.", exact=exact)
        case ("array", items), ("array", others) if has_struct(items):
            yield from type_faults(items, others, f"{path}.items", exact=exact)
        case ("map", keys, values), ("map", others, more) if has_struct(values):
            if keys != others:
                yield f"{path}.keys", "wrong type"
            yield from type_faults(values, more, f"{path}.values", exact=exact)
        case _ if kind != actual:
            yield path, "wrong type"


def levels(expected: Fields, actual: Fields, above: str) -> Iterator[tuple[str, list[int]]]:
    """For each level where names are compared, the places of the expected names that are there."""
    there = dict(actual)
    names = [name for name, _ in actual]
    yield above, [names.index(name) for name, _ in expected if name in there]
    for name, kind in expected:
        if name in there:
            yield from inner_levels(kind, there[name], f"{above}{name}")


def inner_levels(kind: Any, actual: Any, path: str) -> Iterator[tuple[str, list[int]]]:
    match kind, actual:
        case ("struct", inner), ("struct", other):
            yield from levels(inner, other, f"{path}.")
        case ("array", items), ("array", others):
            yield from inner_levels(items, others, f"{path}.items")
        case ("map", _, values), ("map", _, more):
            yield from inner_levels(values, more, f"{path}.values")


def fewest_moves(places: list[int]) -> int:
    """How many have to move at least, by trying all ways."""
    for moves in range(len(places)):
        for staying in combinations(places, len(places) - moves):
            if list(staying) == sorted(staying):
                return moves
    return 0


def pair(number: int) -> tuple[Fields, Fields, list[dict[str, Any]]]:
    random = Random(number)
    expected = make_fields(random, 3, random.randint(1, 6))
    actual = changed(random, expected)
    return expected, actual, [declared(random, name, kind) for name, kind in expected]


def test_random_schemas_are_compared_as_plain_python_does(spark: SparkSession) -> None:
    verdicts: list[tuple[bool, bool]] = []
    for number in range(CASES):
        expected, actual, columns = pair(number)
        frame = spark.createDataFrame([], spark_type(("struct", actual)))
        equals, contains = dq.evaluate(
            frame,
            [
                {"type": "schema_equals", "expected": columns},
                {"type": "schema_contains", "expected": columns},
            ],
        )
        about = f"{number}: {expected} / {actual}"
        assert found(contains) == sorted(faults(expected, actual, "", exact=False)), about
        assert found(equals) == sorted(faults(expected, actual, "", exact=True)), about
        moves = {path: fewest_moves(places) for path, places in levels(expected, actual, "")}
        assert misplaced(equals) == sum(moves.values()), about
        for outcome in (equals, contains):
            wrong = [row for row in outcome.details["schema"] if row["verdict"] != "ok"]
            assert outcome.observed == len(wrong), about
            assert outcome.status == ("Error" if wrong else "Ok"), about
        verdicts.append((equals.status == "Ok", contains.status == "Ok"))
    # All three kinds of cases are there: neither, only contained, both.
    assert {(False, False), (False, True), (True, True)} == set(verdicts)
    assert min(verdicts.count(one) for one in set(verdicts)) >= 30


def found(outcome: dq.Outcome) -> list[tuple[str, str]]:
    """Every path with each of its faults, the order of names apart."""
    return sorted(
        (row["column"], fault)
        for row in outcome.details["schema"]
        for fault in row["verdict"].split(", ")
        if fault not in {"ok", "wrong order"}
    )


def misplaced(outcome: dq.Outcome) -> int:
    return sum("wrong order" in row["verdict"] for row in outcome.details["schema"])


# --- lengths ------------------------------------------------------------------------------------

TEXTS = ("", "a", "bb", "ccc", "\U0001f600\U0001f600", "e\u0301", "\x00\x00\x00\x00", " ", None)


def text_type(random: Random, depth: int) -> Any:
    kind = random.choice(("simple", "struct", "array", "map")) if depth else "simple"
    if kind == "struct":
        names = random.sample(HOSTILE_NAMES, random.randint(1, 3))
        return ("struct", [(name, text_type(random, depth - 1)) for name in names])
    if kind == "array":
        return ("array", text_type(random, depth - 1))
    if kind == "map":
        return ("map", "string", text_type(random, depth - 1))
    return "string"


def text_value(random: Random, kind: Any) -> Any:
    if random.random() < 0.15:
        return None
    match kind:
        case ("struct", fields):
            return tuple(text_value(random, one) for _, one in fields)
        case ("array", items):
            return [text_value(random, items) for _ in range(random.randint(0, 3))]
        case ("map", _, values):
            keys = random.sample([text for text in TEXTS if text], random.randint(0, 3))
            return {key: text_value(random, values) for key in keys}
    return random.choice(TEXTS)


def limited(random: Random, name: str | None, kind: Any) -> dict[str, Any]:
    """A declaration in which every text has a limit."""
    column = {} if name is None else {"name": name}
    match kind:
        case ("struct", fields):
            return column | {"type": "struct", "fields": [limited(random, *f) for f in fields]}
        case ("array", items):
            return column | {"type": "array", "items": limited(random, None, items)}
        case ("map", keys, values):
            parts = {"keys": limited(random, None, keys), "values": limited(random, None, values)}
            return column | {"type": "map", **parts}
    limit = random.choice((-1, 0, 1, 2, 3, 4, 9))
    return column | {"type": "string", "max_length": limit}


def too_long(wanted: dict[str, Any], values: list[Any], path: str) -> Iterator[str]:
    """The paths with a text that is longer than its limit."""
    there = [value for value in values if value is not None]
    match wanted["type"]:
        case "struct":
            for place, field in enumerate(wanted["fields"]):
                inner = [value[place] for value in there]
                yield from too_long(field, inner, f"{path}.{field['name']}")
        case "array":
            items = [item for value in there for item in value]
            yield from too_long(wanted["items"], items, f"{path}.items")
        case "map":
            keys = [key for value in there for key in value]
            yield from too_long(wanted["keys"], keys, f"{path}.keys")
            inner = [item for value in there for item in value.values()]
            yield from too_long(wanted["values"], inner, f"{path}.values")
        case _:
            longest = max((len(value) for value in there), default=0)
            if 0 <= wanted["max_length"] < longest:
                yield path


@pytest.mark.deep
def test_random_texts_are_measured_as_plain_python_does(spark: SparkSession) -> None:
    random = Random(7)
    kinds = [(f"{n} {HOSTILE_NAMES[n % 50]}", text_type(random, 3)) for n in range(210)]
    rows = [tuple(text_value(random, kind) for _, kind in kinds) for _ in range(5)]
    columns = [limited(random, name, kind) for name, kind in kinds]
    for many in (5, 0):
        frame = spark.createDataFrame(rows[:many], spark_type(("struct", kinds)))
        [outcome] = dq.evaluate(frame, [{"type": "schema_equals", "expected": columns}])
        wrong = [
            path
            for place, column in enumerate(columns)
            for path in too_long(column, [row[place] for row in rows[:many]], column["name"])
        ]
        told = [row["column"] for row in outcome.details["schema"] if row["verdict"] != "ok"]
        assert told == wrong
        assert (len(wrong) > 100) == (many > 0)
