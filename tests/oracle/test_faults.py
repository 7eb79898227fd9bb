"""Which rows break which rules, against plain Python, and what becomes of them.

Rows are known by the table of the sheet they come from and their number in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import dq_dagster as dq
from dq_dagster.metrics.metric import ConditionCount
from dq_dagster.rules.catalogue import BUILT_IN, parse_rule
from dq_dagster.spark.frames.columns import JudgedTable
from dq_dagster.spark.passes.faults import judged_rows
from tests.depth import deep_after
from tests.oracle.faults import REPEATS, Blame, alike, blamed, columns_of, fits, groupings
from tests.oracle.frames import frame
from tests.oracle.generate import Table
from tests.oracle.rules import MAKERS, rules
from tests.oracle.sheets import PART, sheet
from tests.oracle.sql import NUMBER, answer
from tests.oracle.test_references import Case, Pair, case, keys

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

SHEETS = 6
TABLES = 12
BLAMING = {kind.model_fields["type"].default for kind in BUILT_IN if kind.counts_rows}
OF_EACH_TYPE = 6
ACTIONS = (None, "ignore", "drop", "fail")


def _asked(seed: int, table: Table) -> list[dict[str, Any]]:
    made = rules(seed, table, OF_EACH_TYPE * len(MAKERS))
    random = Random(seed)
    found = []
    for rule in made:
        action = random.choice(ACTIONS)
        if rule["type"] in BLAMING:
            found.append(rule if action is None else {**rule, "action_if_failed": action})
    return found


def _keys(table: Table) -> list[tuple[Any, ...]]:
    return [(row[PART], row[NUMBER]) for row in table.rows()]


def _key(row: Row) -> tuple[Any, ...]:
    return (row[PART], row[NUMBER])


def _found(failing: DataFrame) -> dict[str, dict[tuple[Any, ...], Row]]:
    """By rule and row, the entries of the column dq_faults."""
    found: dict[str, dict[tuple[Any, ...], Row]] = {}
    # Not all of it: Python has no times of the year 0.
    for row in failing.select(PART, NUMBER, "dq_faults").collect():
        for entry in row["dq_faults"]:
            assert _key(row) not in found.setdefault(entry["rule"], {})
            found[entry["rule"]][_key(row)] = entry
    return found


def _as_blames(entries: Mapping[tuple[Any, ...], Row]) -> dict[tuple[Any, ...], Blame]:
    return {key: Blame(one["severity"], tuple(one["columns"])) for key, one in entries.items()}


@pytest.fixture(scope="module", params=deep_after(1, range(SHEETS)))
def given(request: pytest.FixtureRequest, spark: SparkSession) -> tuple[int, Table, DataFrame]:
    together = sheet(request.param, TABLES).together
    return request.param, together, frame(spark, together).coalesce(2)


def test_all_rules_that_do_not_fit_are_named(given: tuple[int, Table, DataFrame]) -> None:
    seed, table, data = given
    asked = _asked(seed, table)
    wrong = [rule["name"] for rule in asked if not fits(rule, table.types)]
    assert wrong
    with pytest.raises(dq.DeclarationError) as caught:
        dq.split(data, asked)
    assert [problem.rule for problem in caught.value.problems] == wrong


def test_rows_break_the_rules_that_plain_python_says(given: tuple[int, Table, DataFrame]) -> None:
    seed, table, data = given
    asked = [rule for rule in _asked(seed, table) if fits(rule, table.types)]
    rows, names = table.rows(), _keys(table)
    right = {rule["name"]: blamed(rule, rows, table.types) for rule in asked}
    said = _found(dq.failing_rows(data, asked))
    wrong = []
    for rule in asked:
        expected = {names[n]: blame for n, blame in right[rule["name"]].items()}
        found = said.get(rule["name"], {})
        if differing := set(_as_blames(found).items()) ^ set(expected.items()):
            wrong.append(f"{rule}\n  {sorted(differing, key=str)[:5]}")
        for entry in found.values():
            action = "ignore" if entry["severity"] == "warning" else rule.get("action_if_failed")
            assert entry["action"] == (action or "drop")
            assert (entry["type"], entry["tags"]) == (rule["type"], [])
    assert not wrong, f"{len(wrong)} rules differ:\n" + "\n".join(wrong[:5])
    assert len(said) > len(asked) / 2
    _check_split(data, asked, right, names)
    _check_counts(data, asked, right)


def _check_split(
    data: DataFrame,
    asked: Sequence[dict[str, Any]],
    right: Mapping[str, Mapping[int, Blame]],
    names: Sequence[tuple[Any, ...]],
) -> None:
    """Rows in = good + bad - both."""
    bad = {n for blames in right.values() for n in blames}
    out = {
        n
        for rule in asked
        if rule.get("action_if_failed") != "ignore"
        for n, blame in right[rule["name"]].items()
        if blame.severity == "error"
    }
    good_rows, bad_rows = dq.split(data, asked)
    assert good_rows.columns == bad_rows.columns == data.columns
    good = Counter(map(_key, good_rows.select(PART, NUMBER).collect()))
    assert good == Counter(names[n] for n in range(len(names)) if n not in out)
    assert Counter(map(_key, bad_rows.select(PART, NUMBER).collect())) == Counter(
        names[n] for n in bad
    )


def _check_counts(
    data: DataFrame,
    asked: Sequence[dict[str, Any]],
    right: Mapping[str, Mapping[int, Blame]],
) -> None:
    """As many rows as a check counts."""
    outcomes = {one.rule.name: one for one in dq.evaluate(data, asked)}
    compared = 0
    for rule in asked:
        outcome, blames = outcomes[rule["name"]], right[rule["name"]].values()
        if len(columns_of(rule)) > 1 and rule["type"] != "unique_key":
            continue
        hard = sum(blame.severity == "error" for blame in blames)
        if rule["type"].endswith("_in_range"):
            # A rule that has hard and soft bounds counts the one or the other.
            counts = {
                fault.severity: outcome.metrics[ConditionCount.of(fault).key]
                for fault in outcome.rule.faults()
            }
            assert counts.get("error", 0) == hard, rule
            assert outcome.failed_rows in {0, *counts.values()}
        else:
            assert outcome.failed_rows == hard == len(blames), rule
        compared += 1
    assert compared > len(asked) / 2


def test_a_row_has_a_fault_or_has_not(given: tuple[int, Table, DataFrame]) -> None:
    seed, table, data = given
    asked = [parse_rule(rule) for rule in _asked(seed, table) if fits(rule, table.types)]
    judged = judged_rows(data, asked, JudgedTable.of(data))
    unknown = [f"({sql}) IS NULL" for one in judged.rules for sql in one.sql.values()]
    assert len(unknown) >= len(asked)
    assert judged.frame.where(" OR ".join(unknown)).isEmpty()


def test_values_repeat_within_their_partition(given: tuple[int, Table, DataFrame]) -> None:
    seed, table, data = given
    asked = [
        rule for rule in _asked(seed, table) if rule["type"] in REPEATS and fits(rule, table.types)
    ]
    names = _keys(table)
    said = _found(dq.failing_rows(data, asked, partition_by=PART))
    of_all = 0
    for rule in asked:
        right = blamed(rule, table.rows(), table.types, PART)
        assert _as_blames(said.get(rule["name"], {})) == {names[n]: b for n, b in right.items()}
        of_all += right != blamed(rule, table.rows(), table.types)
    assert of_all


def test_one_row_of_each_value_is_kept(given: tuple[int, Table, DataFrame]) -> None:
    seed, table, data = given
    # The tables have rows of the same numbers, so that there are ties.
    asked = [
        {**rule, "keep": {"order_by": f"{NUMBER} DESC"}}
        for rule in _asked(seed, table)
        if rule["type"] in REPEATS and fits(rule, table.types)
    ]
    rows, names = table.rows(), _keys(table)
    said = _found(dq.failing_rows(data, asked))
    again = _found(dq.failing_rows(data.repartition(5), asked))
    assert said == again
    tied = 0
    for rule in asked:
        found = said.get(rule["name"], {})
        expected = 0
        for columns in groupings(rule):
            for numbers in alike(rule, columns, rows).values():
                best = max(rows[n][NUMBER] for n in numbers)
                kept = [n for n in numbers if not _has_fault(found.get(names[n]), columns)]
                assert len(kept) == 1
                assert rows[kept[0]][NUMBER] == best
                expected += len(numbers) - 1
                tied += sum(rows[n][NUMBER] == best for n in numbers) > 1
        assert sum(len(entry["columns"]) for entry in found.values()) == expected * len(
            groupings(rule)[0]
        )
    assert tied


def _has_fault(entry: Row | None, columns: tuple[str, ...]) -> bool:
    return entry is not None and set(columns) <= set(entry["columns"])


def _missing(pair: Pair, given: Case) -> set[int]:
    where, blank = pair.rule.get("where"), bool(pair.rule.get("empty_includes_blank"))
    known = set(keys(pair.there, range(given.reference.size), blank=blank))
    return {
        n
        for n, row in enumerate(given.data.rows())
        if (where is None or answer(where, row) is True)
        and any(key not in known for key in keys(pair.here, [n], blank=blank))
    }


@pytest.mark.parametrize("seed", deep_after(1, (5, 0)))
def test_values_that_a_reference_has_not(spark: SparkSession, seed: int) -> None:
    given = case(seed)
    data = frame(spark, given.data).coalesce(1)
    references = {"there": frame(spark, given.reference).coalesce(1)}
    misfits = [pair.rule["name"] for pair in given.pairs if not pair.fits]
    with pytest.raises(dq.DeclarationError) as caught:
        dq.split(data, [pair.rule for pair in given.pairs], references=references)
    assert [problem.rule for problem in caught.value.problems] == misfits
    pairs = [pair for pair in given.pairs if pair.fits]
    found = dq.failing_rows(data, [pair.rule for pair in pairs], references=references)
    rows = found.select(NUMBER, "dq_faults").collect()
    said = {
        pair.rule["name"]: {
            row[NUMBER] for row in rows if pair.rule["name"] in {e["rule"] for e in row.dq_faults}
        }
        for pair in pairs
    }
    assert said == {pair.rule["name"]: _missing(pair, given) for pair in pairs}
    assert any(said.values()) == bool(given.data.size)
