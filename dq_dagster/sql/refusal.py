"""Why a text is not taken as an expression, in words for the person who wrote it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dq_dagster.errors import did_you_mean

if TYPE_CHECKING:
    from dq_dagster.sql.functions import Signature
    from dq_dagster.sql.refused_functions import Family

_SHOWN = 60
_SUBQUERY = "(select max(amount) from {table})"
_LONGEST_RULE = 220


def shown(fragment: str) -> str:
    """The fragment on one printable line, quoted and cut to a readable length."""
    line = " ".join(fragment.split())
    line = "".join(char if char.isprintable() else "?" for char in line)
    return f"'{line}'" if len(line) <= _SHOWN else f"'{line[: _SHOWN - 1]}…'"


def _yaml(text: str) -> str:
    """The text on one line, as YAML reads it back."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def _or_short(rule: str, words: str) -> str:
    return rule if len(rule) <= _LONGEST_RULE else words


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason against a text, and the rule type that would fit, if there is one."""

    reason: str
    fits: str | None = None

    @classmethod
    def empty(cls) -> Refusal:
        return cls("The expression is empty: write a condition.")

    @classmethod
    def too_long(cls, length: int, limit: int) -> Refusal:
        return cls(
            f"The expression is too long: {length:,} characters, at most {limit:,} are allowed. "
            "Split it into several rules."
        )

    @classmethod
    def too_deep(cls, limit: int) -> Refusal:
        return cls(
            f"The expression is nested too deeply: at most {limit} levels are allowed. "
            "Split it into several rules."
        )

    @classmethod
    def substitution(cls) -> Refusal:
        return cls(
            "The expression contains '${': Spark replaces '${...}' with settings and environment "
            "variables, also inside quotes. Write the value itself."
        )

    @classmethod
    def program(cls, word: str) -> Refusal:
        return cls.spelling(
            f"{word} ...", "runs a program for the rows: write it with Spark's own functions"
        )

    @classmethod
    def spelling(cls, fragment: str, problem: str) -> Refusal:
        return cls(f"{shown(fragment)} {problem}.")

    @classmethod
    def unexpected(cls, fragment: str, expected: str) -> Refusal:
        return cls(f"Syntax error: {shown(fragment)} stands where {expected} is expected.")

    @classmethod
    def ends_early(cls, expected: str) -> Refusal:
        return cls(f"Syntax error: the expression ends where {expected} is expected.")

    @classmethod
    def bracket(cls, fragment: str, problem: str) -> Refusal:
        return cls(
            f"Syntax error: the bracket {shown(fragment)} {problem}. "
            "Every bracket must be opened and closed within the expression."
        )

    @classmethod
    def statement(cls, fragment: str) -> Refusal:
        return cls(f"{shown(fragment)} is a statement: only one condition is allowed.")

    @classmethod
    def subquery(cls, fragment: str) -> Refusal:
        return cls(
            f"{shown(fragment)} is a subquery, and subqueries are not possible here: write a "
            "condition on the columns of this table, or a rule of type query_dq. (A column of that "
            "name needs backquotes.)",
            fits="query_dq",
        )

    @classmethod
    def no_query(cls, fits: str | None = None) -> Refusal:
        rest = {
            "row_dq": ": put a condition on single rows into a rule of type row_dq.",
            "agg_dq": ": put a condition on aggregates into a rule of type agg_dq.",
            None: ", such as (select sum(amount) from {table}) > 10.",
        }
        return cls(f"There is no query in the expression{rest[fits]}", fits=fits)

    @classmethod
    def writes(cls, fragment: str) -> Refusal:
        return cls(
            f"{shown(fragment)} is a statement that changes something: only one query or condition "
            "is allowed, and only to read. (A column of that name needs backquotes.)"
        )

    @classmethod
    def path(cls, fragment: str) -> Refusal:
        return cls(
            f"{shown(fragment)} reads files by their path: name them under references, such as "
            "{rates: {files: ...}}, and write {rates}."
        )

    @classmethod
    def outside_subqueries(cls, name: str) -> Refusal:
        return cls(
            f"The column {shown(name)} stands outside every subquery, where there are no rows: put "
            f"it into one, such as {_SUBQUERY}."
        )

    @classmethod
    def unknown_slot(cls, slot: str, known: Sequence[str]) -> Refusal:
        where = "parameters" if slot.startswith(":") else "references or parameters"
        # A column that is called like a value, or the other way round, has the same name.
        same = [f" Did you mean '{one}'?" for one in known if one.strip("{:}") == slot.strip("{:}")]
        near = same[0] if same else did_you_mean(slot, known)
        hint = near or f" There is {', '.join(known)}."
        return cls(f"{shown(slot)} is not declared under {where}.{hint}")

    @classmethod
    def of_family(cls, fragment: str, family: Family) -> Refusal:
        return cls(f"{shown(fragment)} {family.is_a}: {family.instead}.", fits=family.fits)

    @classmethod
    def unknown_function(cls, name: str, known: frozenset[str]) -> Refusal:
        return cls(
            f"The function {shown(name)} is not among the functions allowed here: only Spark's "
            f"own are, no user-defined ones.{did_you_mean(name, known)}"
        )

    @classmethod
    def named_function(cls, fragment: str) -> Refusal:
        return cls(
            f"The function name {shown(fragment)} is qualified or quoted: call Spark's own "
            "functions by their plain names; user-defined functions are not allowed."
        )

    @classmethod
    def size(cls, function: str, digits: int) -> Refusal:
        return cls(
            f"The second argument of {function}() sets the size of its result: write it as a whole "
            f"number of at most {digits} digits."
        )

    @classmethod
    def arguments(cls, fragment: str, function: str, signature: Signature) -> Refusal:
        return cls(f"{shown(fragment)}: {function}() takes {signature.words()}.")

    @classmethod
    def no_order(cls, fragment: str, function: str) -> Refusal:
        return cls(
            f"{shown(fragment)} says nothing about the values: write "
            f"{function}(0.5) WITHIN GROUP (ORDER BY amount)."
        )

    @classmethod
    def setting(cls, function: str, number: int, wanted: str) -> Refusal:
        return cls(f"Argument {number} of {function}() must be {wanted}.")

    @classmethod
    def no_aggregate(cls) -> Refusal:
        return cls(
            "There is no aggregate such as sum(amount) in the expression: put a condition on "
            "single rows into a rule of type row_dq.",
            fits="row_dq",
        )

    @classmethod
    def condition_in_filter(cls, fragment: str, text: str) -> Refusal:
        rule = f"{{type: agg_dq, expectation: {_yaml(text)}}}"
        return cls(
            f"{shown(fragment)} is an aggregate over many rows, while a row filter sees one row at "
            "a time: put the condition into a rule of its own, "
            f"{_or_short(rule, 'of type agg_dq')}.",
            fits="agg_dq",
        )

    @classmethod
    def aggregate_in_filter(cls, fragment: str, query: str = "") -> Refusal:
        rule = f"{{type: metric_in_range, max: 0, metric: {{query: {_yaml(query)}}}}}"
        such = _or_short(rule, "the metric of a rule of type metric_in_range")
        instead = f", or count such rows with a query, {such}" if query else ""
        return cls(
            f"{shown(fragment)} is an aggregate over many rows, while a row filter sees one row at "
            f"a time: write the number itself{instead}.",
        )

    @classmethod
    def loose_column(cls, name: str) -> Refusal:
        return cls(
            f"The column {shown(name)} stands outside an aggregate, while the condition is on all "
            "rows together: put it into one, such as max() or sum()."
        )

    @classmethod
    def distinct_over_window(cls, fragment: str) -> Refusal:
        return cls(
            f"{shown(fragment)}: Spark has no DISTINCT over a window. Count what is gathered, as "
            "size(collect_set(x) over (...)) does."
        )

    @classmethod
    def too_many_aggregates(cls, limit: int) -> Refusal:
        return cls(
            f"The expression calls too many aggregates: at most {limit} are allowed. "
            "Split it into several rules."
        )

    @classmethod
    def star(cls) -> Refusal:
        return cls("'*' stands for all columns here: name the columns one by one.")

    @classmethod
    def keyword(cls, word: str) -> Refusal:
        return cls(f"{shown(word)} is an SQL keyword here: write the column in backquotes.")

    @classmethod
    def misplaced_keyword(cls, word: str) -> Refusal:
        return cls(
            f"Syntax error: {shown(word)} stands where a value is expected. It is an SQL keyword "
            "here: if it is a column, write it in backquotes."
        )

    @classmethod
    def session_name(cls, word: str) -> Refusal:
        return cls(
            f"{shown(word)} belongs to the session where no column has that name: if it is a "
            "column, write it in backquotes."
        )
