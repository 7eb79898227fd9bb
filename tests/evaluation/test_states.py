"""The answer for the whole dataset from what is on record, and a look at what is new."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.errors import DeclarationError
from dq_dagster.metrics.state_codec import decode, encode
from dq_dagster.metrics.states import Tally
from tests.depth import deep_after

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Count = Callable[[Callable[[], object]], int]
Row = tuple[Any, ...]

NOW = datetime(2024, 6, 1, 12, tzinfo=UTC)
SCHEMA = (
    "p string, i int, l bigint, f float, d double, e decimal(10,2), w decimal(38,18), b boolean,"
    " day date, t timestamp, n timestamp_ntz, s string"
)
NUMBERS = ["i", "l", "f", "d", "e", "w"]
TIMES = ["day", "t", "n"]


def _row(partition: str, random: Random) -> Row:
    moment = NOW - timedelta(minutes=random.randint(0, 3000))
    values = (
        random.randint(-9, 9),
        random.choice((2**63 - 1, -(2**63), 2**53 + 1, 5, 0)),
        random.choice((0.1, -2.25, 1e10, -0.0)),
        random.choice((0.1, 1e16, -1e16, 3.3, 1e-9, math.nan, math.inf, -math.inf, 0.7, 1e300)),
        Decimal(random.randint(-500, 500)) / 100,
        random.choice((Decimal("99999999999999999999.999999999999999999"), Decimal("0.1"))),
        random.random() < 0.5,
        moment.date(),
        moment,
        moment.replace(tzinfo=None),
        random.choice(("", " ", "a@b.de", "word", "\U0001f600")),
    )
    return (partition, *(value if random.random() > 0.2 else None for value in values))


def _rules() -> list[dict[str, Any]]:
    statistics: list[dict[str, Any]] = [
        {"type": f"column_{what}_in_range", "columns": [column], "min": -3, "soft_max": 5}
        for column in NUMBERS
        for what in ("min", "max", "avg", "sum", "stddev")
    ]
    others: list[dict[str, Any]] = [
        {"type": "column_max_in_range", "columns": TIMES, "max": "2024-05-31"},
        {"type": "column_min_in_range", "columns": TIMES, "min": "2024-05-31"},
        {"type": "column_not_empty", "columns": [*NUMBERS, "s"], "empty_includes_blank": True},
        {"type": "column_empty", "columns": "s", "threshold": {"type": "count", "min": 1}},
        {"type": "column_values_in_set", "columns": "s", "values": ["WORD"], "ignore_case": True},
        {"type": "column_values_not_in_set", "columns": "i", "values": [1, 2]},
        {"type": "column_values_in_range", "columns": NUMBERS, "min": 0, "soft_max": 3},
        {"type": "column_value_lengths_in_range", "columns": "s", "min": 1},
        {"type": "column_values_match", "columns": "s", "pattern": "[a-z]+"},
        {"type": "column_values_not_match", "columns": "s", "pattern": "@", "match": "search"},
        {"type": "column_valid_meaning", "columns": "s", "meaning": "email"},
        {"type": "record_count_in_range", "min": 1, "max": 7, "where": "b"},
        {"type": "freshness", "columns": "t", "max": "6 hours"},
        {"type": "row_inserted_count_in_range", "columns": "t", "window": "1 day", "min": 3},
        {"type": "row_dq", "expectation": "d >= 0 or l > 5", "name": "row"},
        {"type": "row_dq", "expectation": "day <= current_date()", "name": "clock"},
        {"type": "column_avg_in_range", "columns": "nowhere", "min": 0},
        {"type": "metric_in_range", "metric": "empty_count:d", "max": 2},
        {"type": "schema_contains", "expected": [{"name": "s", "type": "string", "max_length": 4}]},
    ]
    return [
        {**rule, "scope": "whole_dataset", "name": rule.get("name", f"rule_{n}")}
        for n, rule in enumerate([*statistics, *others])
    ]


@dataclass
class Shelf:
    """Partitions that are built, rebuilt and deleted, and the record of what was measured."""

    spark: SparkSession
    schema: str = SCHEMA
    rows: dict[str, list[Row]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    asked: list[Sequence[str] | None] = field(default_factory=list)
    record: list[tuple[str, dict[str, int], str]] = field(default_factory=list)

    def build(self, partition: str, rows: list[Row]) -> None:
        self.rows[partition] = rows
        self.versions[partition] = self.versions.get(partition, 0) + 1

    def read(self, partitions: Sequence[str] | None) -> DataFrame:
        self.asked.append(partitions)
        wanted = self.rows if partitions is None else partitions
        rows = [row for name in wanted for row in self.rows[name]]
        # As one task reads a file: Spark adds doubles in the order in which it finds them.
        return self.spark.createDataFrame(rows, self.schema).coalesce(1)

    def evaluate(self, rules: Sequence[Any], **also: Any) -> dq.Evaluation:
        """With all that is on record; what was measured is put on record."""
        reuse = dq.states.Reuse(tuple(self.rows), self.blocks())
        found = dq.evaluate(self.read, rules, partition_by="p", now=NOW, reuse=reuse, **also)
        for outcome in found:
            assert outcome.states is not None
            self.keep(outcome.states.blocks())
        return found

    def keep(self, blocks: Mapping[str, Iterable[dq.states.Block]]) -> None:
        for key, some in blocks.items():
            for block in some:
                state = json.dumps(encode(block.state), allow_nan=False)
                assert state != "null", key
                versions = {name: self.versions[name] for name in block.partitions}
                self.record.append((key, versions, state))

    def blocks(self) -> dict[str, list[dq.states.Block]]:
        """What on record is of partitions as they are now."""
        found: dict[str, list[dq.states.Block]] = {}
        for key, versions, text in self.record:
            state = decode(json.loads(text))
            assert state is not None
            if all(self.versions[name] == number for name, number in versions.items()):
                found.setdefault(key, []).append(dq.states.Block(frozenset(versions), state))
        return found


def _told(evaluation: dq.Evaluation) -> dict[str, tuple[Any, ...]]:
    """All that outcomes say, apart from where they have it from."""
    return {
        one.rule.name: (
            one.status,
            repr(one.observed),
            one.message.split(" partitions w")[0].rsplit(" ", 3)[0]
            if "reused" in one.details
            else one.message,
            one.rows,
            one.failed_rows,
            repr(one.metrics),
            repr({name: value for name, value in one.details.items() if name != "reused"}),
        )
        for one in evaluation
    }


@pytest.mark.parametrize("seed", deep_after(2, range(3)))
def test_any_story_gives_the_answers_of_a_full_look(spark: SparkSession, seed: int) -> None:
    random = Random(seed)
    names = [f"p{n}" for n in range(6)]
    shelf, rules = Shelf(spark), _rules()
    reused = 0
    for step in range(4):
        for name in random.sample(names, 3 if step == 0 else random.randint(0, 2)):
            if name in shelf.rows and len(shelf.rows) > 1 and random.random() < 0.3:
                del shelf.rows[name]
            else:
                shelf.build(name, [_row(name, random) for _ in range(random.randint(0, 3))])
        found = shelf.evaluate(rules)
        full = dq.evaluate(shelf.read(None), rules, partition_by="p", now=NOW)
        assert _told(found) == _told(full)
        reused += sum("reused" in outcome.details for outcome in found)
    assert reused > 0


def test_partitions_that_a_rule_raises_on_are_looked_at_each_time(shelf: Shelf) -> None:
    rules: list[dict[str, Any]] = [
        {"type": "row_dq", "expectation": "100 / id > 20", "name": "divided"},
        {"type": "column_sum_in_range", "columns": "amount", "min": 0, "name": "sum"},
    ]
    rules = [{**rule, "scope": "whole_dataset"} for rule in rules]
    first = shelf.evaluate(rules)
    shelf.build("p3", [("p3", 7, 0.3, "x")])
    shelf.asked.clear()
    second = shelf.evaluate(rules)
    assert shelf.asked == [("p3",), ("p3", "p0")]
    assert second["divided"].message == (
        "Spark raised DIVIDE_BY_ZERO while computing this rule (a division by zero; try_divide "
        "gives NULL instead). 2 of 4 partitions were read, 2 are as recorded."
    )
    assert first["divided"].message == second["divided"].message.partition(" 2 of")[0]
    full = dq.evaluate(shelf.read(None), rules, partition_by="p", now=NOW)
    assert _told(second) == _told(full)
    shelf.build("p0", [("p0", 5, 0.3, "x")])
    mended = shelf.evaluate(rules)["divided"]
    assert mended.details["reused"] == {"partitions": 3, "of": 4}
    assert "DIVIDE_BY_ZERO" not in mended.message


@pytest.fixture
def shelf(spark: SparkSession) -> Shelf:
    built = Shelf(spark, schema="p string, id int, amount double, name string")
    for n in range(4):
        built.build(f"p{n}", [(f"p{n}", n, n + 0.1, "x"), (f"p{n}", n, 0.2, None)])
    return built


ALGEBRAIC: list[dq.Rule] = [
    dq.RecordCountInRange(name="rows", min=1, scope="whole_dataset"),
    dq.ColumnAvgInRange(name="avg", columns=["amount"], min=0, scope="whole_dataset"),
    dq.ColumnStddevInRange(name="dev", columns=["amount"], min=0, scope="whole_dataset"),
]


def test_only_the_new_partition_is_read(shelf: Shelf, count_jobs: Count) -> None:
    found: list[dq.Evaluation] = []
    shelf.evaluate(ALGEBRAIC)
    assert shelf.asked == [None]
    shelf.asked.clear()
    shelf.build("p4", [("p4", 9, 4.1, "x")])
    jobs = count_jobs(lambda: found.append(shelf.evaluate(ALGEBRAIC)))
    assert shelf.asked == [("p4",)]
    alone = shelf.read(["p4"])
    one = count_jobs(lambda: dq.evaluate(alone, ALGEBRAIC, partition_by="p"))
    assert jobs == one
    rows = found[0]["rows"]
    assert rows.message == (
        "The number of rows is 9, as expected (at least 1). "
        "1 of 5 partitions was read, 4 are as recorded."
    )
    assert rows.details["reused"] == {"partitions": 4, "of": 5}
    assert found[0].plan.headline() == "3 rules -> 4 metrics -> 1 Spark pass"


def test_nothing_new_takes_no_job(shelf: Shelf, count_jobs: Count) -> None:
    before = shelf.evaluate(ALGEBRAIC)
    found: list[dq.Evaluation] = []
    assert count_jobs(lambda: found.append(shelf.evaluate(ALGEBRAIC))) == 0
    assert _told(found[0]) == _told(before)
    assert found[0]["avg"].message.endswith(" 0 of 4 partitions were read, 4 are as recorded.")
    assert found[0].plan.headline() == "3 rules -> 4 metrics -> 0 Spark passes"
    assert "Without a pass: record_count, column_avg:amount" in str(found[0].plan)


def test_judged_partitions_share_the_look_with_the_whole(shelf: Shelf, count_jobs: Count) -> None:
    rules = [
        dq.RecordCountInRange(name="rows", min=1, scope="both"),
        dq.ColumnSumInRange(name="sum", columns=["amount"], min=0),
        dq.ColumnUnique(name="unique", columns=["id"]),
    ]
    shelf.evaluate(rules)
    shelf.asked.clear()
    found: list[dq.Evaluation] = []
    count_jobs(lambda: found.append(shelf.evaluate(rules, partitions=["p1"])))
    # The partition is read for its own sake; the whole is as recorded.
    assert shelf.asked == [("p1",)]
    told = [(o.rule.name, o.partition, o.observed) for o in found[0]]
    assert told == [("rows", "p1", 2), ("rows", None, 8), ("sum", "p1", 1.3), ("unique", "p1", 2)]
    assert found[0]["rows"].details["reused"] == {"partitions": 4, "of": 4}
    assert "reused" not in found[0]["rows", "p1"].details
    states = found[0]["rows", "p1"].states
    assert states is not None
    assert [list(some) for some in states.by_partition.values()] == [["p1"]]


def test_what_does_not_merge_looks_at_everything(shelf: Shelf) -> None:
    rules: list[dq.Rule] = [
        *ALGEBRAIC,
        dq.ColumnUnique(name="unique", columns=["id"], scope="whole_dataset"),
        dq.ColumnMedianInRange(name="median", columns=["amount"], min=0, scope="whole_dataset"),
        dq.ColumnMaxInRange(name="text", columns=["name"], max="y", scope="whole_dataset"),
        dq.AggregateExpectation(name="sql", expectation="sum(amount) > 0", scope="whole_dataset"),
        dq.ColumnSumInRange(
            name="groups",
            columns=["id"],
            min=0,
            where="id < 9",
            dimensions=["name"],
            scope="whole_dataset",
        ),
        dq.ColumnCountInRange(name="columns", max=9, scope="whole_dataset"),
    ]
    shelf.evaluate(rules)
    shelf.build("p4", [("p4", 9, 4.1, "z")])
    shelf.asked.clear()
    found = shelf.evaluate(rules)
    assert shelf.asked == [("p4",), None]
    assert _told(found) == _told(dq.evaluate(shelf.read(None), rules, partition_by="p", now=NOW))
    reused = [outcome.rule.name for outcome in found if "reused" in outcome.details]
    assert reused == ["rows", "avg", "dev"]
    assert not [key for key in shelf.blocks() if key.startswith("column_max:name")]


def test_a_new_rule_does_not_make_the_others_look_again(shelf: Shelf) -> None:
    shelf.evaluate(ALGEBRAIC)
    added = dq.ColumnSumInRange(name="sum", columns=["id"], min=0, scope="whole_dataset")
    found = shelf.evaluate([*ALGEBRAIC, added])
    assert [o.rule.name for o in found if "reused" in o.details] == ["rows", "avg", "dev"]
    assert found["sum"].observed == 12
    again = shelf.evaluate([added])
    assert again["sum"].details["reused"] == {"partitions": 4, "of": 4}


def test_another_type_of_a_column_is_another_record(shelf: Shelf) -> None:
    shelf.evaluate(ALGEBRAIC)
    shelf.schema = "p string, id int, amount decimal(10, 2), name string"
    for name, rows in shelf.rows.items():
        shelf.rows[name] = [(p, n, Decimal("0.10"), text) for p, n, _, text in rows]
    found = shelf.evaluate(ALGEBRAIC)
    assert found["avg"].observed == Decimal("0.1")
    assert [o.rule.name for o in found if "reused" in o.details] == ["rows"]


def test_a_column_that_is_gone_is_told_though_it_is_on_record(shelf: Shelf) -> None:
    shelf.evaluate(ALGEBRAIC)
    shelf.schema = "p string, id int, worth double, name string"
    found = shelf.evaluate(ALGEBRAIC)
    assert found["avg"].status == "Error"
    assert found["avg"].message.startswith("Column 'amount' is not in the table.")


@pytest.mark.parametrize(
    "blocks",
    [
        [({"p0", "gone"}, 500)],
        [({"p0"}, 2), ({"p0"}, 2)],
        [({"p0", "p1"}, 4), ({"p1", "p2"}, 4)],
        [(set(), 500)],
    ],
    ids=["deleted", "twice", "overlapping", "of nothing"],
)
def test_blocks_that_do_not_fit_are_not_counted(
    shelf: Shelf, blocks: list[tuple[set[str], int]]
) -> None:
    rules = ALGEBRAIC[:1]
    first = shelf.evaluate(rules)["rows"]
    assert first.states is not None
    (key,) = first.states.whole
    given = [dq.states.Block(frozenset(names), Tally(count)) for names, count in blocks]
    reuse = dq.states.Reuse(tuple(shelf.rows), {key: given})
    found = dq.evaluate(shelf.read, rules, partition_by="p", reuse=reuse)
    assert found["rows"].observed == 8


def test_rows_of_partitions_that_are_not_named_are_kept_out_of_the_record(shelf: Shelf) -> None:
    reuse = dq.states.Reuse(("p0", "p1"))
    found = dq.evaluate(shelf.read, ALGEBRAIC, partition_by="p", reuse=reuse)["rows"]
    assert found.observed == 8
    assert found.states is not None
    assert not found.states.whole
    # Read by partition, the rows beside p0 and p1 would be missed by who takes those as recorded.
    assert not found.states.by_partition


def test_rows_of_no_partition_are_part_of_the_whole_each_time(spark: SparkSession) -> None:
    rows = [("p0", 1), ("p1", 2), (None, 3), ("elsewhere", 4)]
    frame = spark.createDataFrame(rows, "p string, n int")
    rules = [dq.RecordCountInRange(name="rows", min=1, scope="whole_dataset")]
    reuse = dq.states.Reuse(("p0", "p1"))
    first = dq.evaluate(frame, rules, partition_by="p", reuse=reuse)["rows"]
    assert first.states is not None
    blocks = {
        key: [dq.states.Block(frozenset({name}), state) for name, state in states.items()]
        for key, states in first.states.by_partition.items()
    }
    again = dq.evaluate(frame, rules, partition_by="p", reuse=dq.states.Reuse(("p0", "p1"), blocks))
    assert (first.observed, again["rows"].observed) == (4, 4)
    assert again["rows"].message.endswith("0 of 2 partitions were read, 2 are as recorded.")
    longer = dq.evaluate(
        frame.union(spark.sql("SELECT 'p2', 5")),
        rules,
        partition_by="p",
        reuse=dq.states.Reuse(("p0", "p1", "p2"), blocks),
    )
    assert longer["rows"].observed == 5


def test_reuse_needs_partitions(shelf: Shelf) -> None:
    with pytest.raises(DeclarationError, match="reuse needs partition_by"):
        dq.evaluate(shelf.read(None), ALGEBRAIC, reuse=dq.states.Reuse(("p0",)))


def test_the_order_of_rows_and_partitions_changes_nothing(spark: SparkSession) -> None:
    random = Random(5)
    values = [0.1, 1e16, -1e16, 3.3, 1e-9, 0.7, 1e300, -1e300, -0.0, 0.0, 2.2, 1e15]
    rows = [(f"p{n}", value, n) for n, value in enumerate(values)]
    rules = [
        {"type": f"column_{what}_in_range", "columns": ["d", "i"], "min": -1, "scope": "both"}
        for what in ("min", "max", "avg", "sum", "stddev")
    ]
    told = set()
    for _ in range(4):
        random.shuffle(rows)
        frame = spark.createDataFrame(rows, "p string, d double, i int")
        found = dq.evaluate(frame, rules, partition_by="p")
        told.add(
            repr(
                sorted((o.rule.name, str(o.partition), o.message, repr(o.observed)) for o in found)
            )
        )
    assert len(told) == 1
