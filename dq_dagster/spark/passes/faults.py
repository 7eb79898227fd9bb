"""Which rules each row breaks: one predicate for each fault, and rows that are split by them.

Most faults speak of a row alone. Those of repeated values, and of conditions across rows, need a
window over all rows, those of references a join: the rows are widened by a column for each. Nothing
runs here, all of it is lazy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

from dq_dagster.errors import RuleFailure, UnreadableData
from dq_dagster.metrics.conditions import Fault, Marked
from dq_dagster.metrics.metric import ConditionCount
from dq_dagster.plan.unions import united
from dq_dagster.rules.base.rule import Rule
from dq_dagster.spark.expressions.predicates import fault_sql
from dq_dagster.spark.frames.ansi import compiled
from dq_dagster.spark.frames.beside import COMPARED
from dq_dagster.spark.frames.columns import JudgedTable, identifier, text_literal
from dq_dagster.spark.frames.failures import without_quoting_rows
from dq_dagster.spark.frames.frames import GOOD, HIDDEN_KEY, KEPT, OUT, STORED, TARGET
from dq_dagster.spark.passes.across_rows import WidenedRows
from dq_dagster.spark.passes.isolation import in_halves, isolated, with_failures
from dq_dagster.spark.passes.user_code import is_accepted, refusal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# What rows that break rules have beside their own columns.
FAULTS = "dq_faults"


@dataclass(frozen=True, slots=True)
class RuleFaults:
    """The faults of one rule, each with the SQL that is true for the rows that have it."""

    rule: Rule
    sql: Mapping[Fault, str]

    def found(self, faults: Iterable[Fault] | None = None) -> str:
        """True for the rows that have any of the faults, or any of these."""
        chosen = [self.sql[fault] for fault in (self.sql if faults is None else faults)]
        return f"({' OR '.join(chosen)})" if chosen else "false"

    def entry(self) -> str:
        """An array with the entry of a row that breaks the rule; an empty one for others."""
        rule = self.rule
        fields = {
            "rule": text_literal(rule.name),
            "type": text_literal(rule.type),
            "action": self._of_hard_faults("action"),
            "columns": self._columns(),
            "quality_dimension": text_literal(rule.quality_dimension),
            "tags": _texts(rule.tags),
            "severity": self._of_hard_faults("severity"),
        }
        listed = ", ".join(f"'{name}', {sql}" for name, sql in fields.items())
        return f"if({self.found()}, array(named_struct({listed})), {_NO_ENTRIES})"

    def _of_hard_faults(self, name: str) -> str:
        """What a row's hardest fault says; of one that is beyond soft bounds only, what that is."""
        hard = [fault for fault in self.sql if fault.severity == "error"]
        soft = [fault for fault in self.sql if fault.severity != "error"]
        words = {text_literal(getattr(fault, name)) for fault in self.sql}
        if len(words) == 1:
            return words.pop()
        of_hard, of_soft = getattr(hard[0], name), getattr(soft[0], name)
        return f"if({self.found(hard)}, {text_literal(of_hard)}, {text_literal(of_soft)})"

    def _columns(self) -> str:
        by_columns: dict[tuple[str, ...], list[Fault]] = {}
        for fault in self.sql:
            by_columns.setdefault(fault.condition.columns, []).append(fault)
        if len(by_columns) == 1:
            return _texts(next(iter(by_columns)))
        # Each column is judged on its own: those that are at fault in this row.
        broken = [
            f"if({self.found(faults)}, {_texts(columns)}, {_texts(())})"
            for columns, faults in by_columns.items()
        ]
        return f"concat({', '.join(broken)})"


@dataclass(frozen=True, slots=True)
class JudgedRows:
    """Rows, and which rules each of them breaks.

    ``frame`` has further columns where faults need them; ``columns`` are those of the rows.
    ``failures`` are the rules that cannot be judged, by name, each with the reason.
    """

    frame: DataFrame
    columns: tuple[str, ...]
    rules: tuple[RuleFaults, ...]
    table: JudgedTable
    failures: Mapping[str, RuleFailure] = field(default_factory=dict)

    @property
    def broken(self) -> str:
        """True for the rows that break any rule."""
        return self._any(lambda _: True)

    @property
    def kept_out(self) -> str:
        """True for the rows that do not reach the table."""
        return self._any(lambda fault: fault.keeps_out)

    @property
    def left_out(self) -> str:
        """True for the rows that are not published, if any are; what is stored stays."""
        left_out = self._any(lambda fault: fault.drops)
        return f"(NOT {identifier(STORED)} AND {left_out})" if STORED in self.columns else left_out

    @property
    def marks(self) -> list[str]:
        """The faults that cannot be found again in a stored row, in the order of the rules."""
        return [sql for one in self.rules for fault, sql in one.sql.items() if not fault.lasting]

    def of_rules(self, names: Collection[str]) -> JudgedRows:
        """The same rows, with what they break of these rules."""
        return replace(self, rules=tuple(one for one in self.rules if one.rule.name in names))

    def entries(self) -> str:
        """What rules a row breaks, and how: an array of structs."""
        if not self.rules:
            return _NO_ENTRIES
        # Not by a filter with a lambda, below which Spark compiles nothing.
        return f"flatten(array({', '.join(one.entry() for one in self.rules)}))"

    def with_target(self) -> DataFrame:
        """The rows with TARGET, and with what cannot be found again in a stored row."""
        # What is stored stays, whatever it breaks. Of others each fault is asked for once.
        stored = STORED in self.columns
        kept = self.broken if stored else self._any(lambda fault: not fault.drops)
        target = (
            f"CASE WHEN {self.left_out} THEN {text_literal(OUT)} "
            f"WHEN {kept} THEN {text_literal(KEPT)} ELSE {text_literal(GOOD)} END"
        )
        if self.marks:
            digits = ", ".join(f"if({sql}, '1', '0')" for sql in self.marks)
            target = f"concat_ws('-', {target}, if({self.broken}, concat({digits}), NULL))"
        rows = self.frame.selectExpr("*", f"{target} AS {identifier(TARGET)}")
        return self._plain(rows).drop(STORED)

    def good(self) -> DataFrame:
        return self._plain(self.frame.where(f"NOT {self.kept_out}"))

    def bad(self) -> DataFrame:
        return self._plain(self.frame.where(self.broken))

    def bad_with_entries(self) -> DataFrame:
        """The rows that break a rule, with what they break."""
        rows = self.frame.where(self.broken).selectExpr("*", f"{self.entries()} AS {FAULTS}")
        return self._plain(rows)

    def _any(self, wanted: Callable[[Fault], bool]) -> str:
        """True for the rows that have any of these faults."""
        known = {fault: sql for one in self.rules for fault, sql in one.sql.items()}
        every = united(fault for fault in known if wanted(fault))
        chosen = [known.get(fault) or fault_sql(fault, self.table) for fault in every]
        return f"({' OR '.join(chosen)})" if chosen else "false"

    def _plain(self, rows: DataFrame) -> DataFrame:
        # Not by naming the others: names may occur twice, or be none that SQL can write.
        own = set(self.columns)
        return rows.drop(*(name for name in self.frame.columns if name not in own))


_NO_ENTRIES = (
    "CAST(array() AS ARRAY<STRUCT<rule: STRING, type: STRING, action: STRING, "
    "columns: ARRAY<STRING>, quality_dimension: STRING, tags: ARRAY<STRING>, severity: STRING>>)"
)


def judged_rows(
    frame: DataFrame, rules: Sequence[Rule], table: JudgedTable, *, partition: str | None = None
) -> JudgedRows:
    """The rows with all that is needed to say which of the rules each breaks. Reads no data.

    ``partition`` is the SQL of a row's partition: values repeat within one. Where the frame has
    rows of other places, too, as COMPARED says, rules about the whole dataset compare with these;
    afterwards they are gone.
    """
    if FAULTS in (name.lower() for name in frame.columns):
        raise UnreadableData.column_taken(FAULTS)
    # What is usual would be looked for in each rule, where the rules are counted together.
    table = replace(table, usual_texts={})
    found: list[RuleFaults] = []
    failures: dict[str, RuleFailure] = {}
    rows = WidenedRows(frame, frame, table, partition)
    with without_quoting_rows():
        for rule in rules:
            try:
                faults = rule.faults()
                if rule.where is not None:
                    table.require_columns_of(rule.where)
                sql = {fault: fault_sql(fault, table) for fault in faults}
                rows = rows.compared(faults)
            except RuleFailure as failure:
                failures[rule.name] = failure
            else:
                found.append(RuleFaults(rule, sql))
        rows = _widened(rows.here(), found, failures)
        failures |= _refused(rows.wide, [one for one in found if one.rule.name not in failures])
    accepted = [one for one in found if one.rule.name not in failures]
    own = tuple(name for name in frame.columns if name != COMPARED)
    return JudgedRows(rows.wide, own, tuple(accepted), table, failures)


def _widened(
    rows: WidenedRows, rules: Sequence[RuleFaults], failures: dict[str, RuleFailure]
) -> WidenedRows:
    """With the columns that the faults speak of; rules that cannot have theirs become failures."""
    for one in rules:
        try:
            rows = reduce(WidenedRows.widened, one.sql, rows)
        except RuleFailure as failure:
            failures[one.rule.name] = failure
    return rows


def stored_rows(frame: DataFrame, rules: Sequence[Rule], table: JudgedTable) -> JudgedRows:
    """Rows that were written with a target: what they break is found in the row, or marked there.

    The rules are those that the rows were judged by, in the same order.
    """
    found: list[RuleFaults] = []
    place = 0
    for rule in rules:
        sql: dict[Fault, str] = {}
        for fault in rule.faults():
            if fault.lasting:
                sql[fault] = fault_sql(fault, table)
            else:
                sql[fault] = fault_sql(Fault(Marked(place)), table)
                place += 1
        found.append(RuleFaults(rule, sql))
    return JudgedRows(frame, tuple(frame.columns), tuple(found), table)


def all_good(frame: DataFrame) -> DataFrame:
    """The rows as if none of them broke any rule."""
    return frame.selectExpr("*", f"{text_literal(GOOD)} AS {identifier(TARGET)}")


def counted_by_target(frame: DataFrame) -> list[tuple[str | None, str, int]]:
    """Of rows that were written with a target: how many went where, by partition."""
    key = identifier(HIDDEN_KEY) if HIDDEN_KEY in frame.columns else "CAST(NULL AS STRING)"
    target = f"substring_index({identifier(TARGET)}, '-', 1)"
    named = frame.selectExpr(f"{key} AS partition", f"{target} AS target")
    rows = named.groupBy("partition", "target").count().collect()
    return [(row["partition"], row["target"], row["count"]) for row in rows]


def counted_by_rule(rows: JudgedRows) -> dict[tuple[str, str | None], int]:
    """How many rows break each rule, by the rule's name and the partition, by one query.

    Most rows break the same few rules: they are counted by which those are, and these then apart.
    """
    key = identifier(HIDDEN_KEY) if HIDDEN_KEY in rows.columns else "CAST(NULL AS STRING)"
    marks = ", ".join(f"if({one.found()}, '1', '0')" for one in rows.rules)
    if not marks:
        return {}
    alike = rows.frame.selectExpr(f"{key} AS partition", f"concat({marks}) AS marks")
    counted = compiled(alike).groupBy("partition", "marks").count()
    # Outer: Spark would look into all marks once more, to leave out rows without any.
    each = counted.selectExpr(
        "partition", "posexplode_outer(split(marks, '')) AS (rule, mark)", "count"
    )
    found = each.where("mark = '1'").groupBy("partition", "rule").agg({"count": "sum"}).collect()
    return {(rows.rules[row[1]].rule.name, row[0]): row[2] for row in found}


def counted_by(frame: DataFrame, column: str) -> dict[Any, int]:
    """How many rows have each value of a column that has few of them."""
    rows = frame.groupBy(column).count().collect()
    return {row[0]: row["count"] for row in rows}


def raising(rows: JudgedRows) -> dict[str, RuleFailure]:
    """The rules that raise on some row, by name; the others are found by one query.

    The rows are to be stored: they may be read several times.
    """

    def queried(items: Mapping[str, RuleFaults]) -> dict[str, RuleFailure | None]:
        # Each fault by itself: of several, Spark asks for no more than it needs.
        faults = [sql for one in items.values() for sql in one.sql.values()]
        rows.frame.selectExpr(
            *(f"count_if({sql}) AS n{n}" for n, sql in enumerate(faults))
        ).collect()
        return dict.fromkeys(items)

    def failed(items: Mapping[str, RuleFaults], error: Exception) -> dict[str, RuleFailure | None]:
        return {**with_failures(items, error)}

    every = {one.rule.name: one for one in rows.rules}
    with without_quoting_rows():
        found = isolated(every, queried, fail=failed, narrow=in_halves)
    return {name: failure for name, failure in found.items() if failure is not None}


def _refused(frame: DataFrame, rules: Sequence[RuleFaults]) -> dict[str, RuleFailure]:
    """The rules whose text from users Spark's analyzer does not accept, by name."""
    doubtful = {
        (one.rule.name, fault): sql
        for one in rules
        for fault, sql in one.sql.items()
        if fault.condition.from_user or fault.where is not None
    }
    if not doubtful or is_accepted(frame, _numbered(doubtful.values())):
        return {}
    found: dict[str, RuleFailure] = {}
    for (name, fault), sql in doubtful.items():
        reason = refusal(frame, ConditionCount.of(fault), _numbered([sql]))
        if reason is not None:
            found.setdefault(name, reason)
    return found


def _numbered(predicates: Iterable[str]) -> list[str]:
    return [f"{sql} AS found_{n}" for n, sql in enumerate(predicates)]


def widened(fault: Fault, frame: DataFrame, table: JudgedTable, partition: str | None) -> DataFrame:
    """The rows with the column that the fault speaks of, if it needs one of its own."""
    return WidenedRows(frame, frame, table, partition).widened(fault).wide


def _texts(words: Iterable[str]) -> str:
    listed = ", ".join(map(text_literal, words))
    return f"array({listed})" if listed else "CAST(array() AS ARRAY<STRING>)"
