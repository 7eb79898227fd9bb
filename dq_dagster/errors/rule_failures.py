"""What keeps one rule from being answered; it becomes an Error outcome of that rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dq_dagster.errors.base import DqError, did_you_mean


class RuleFailure(DqError):
    """One rule cannot be answered; all others keep their answers."""


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
            f"The size of the files could not be determined: Spark raised {reason} on looking them "
            "up."
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
    def no_value(cls, subquery: str) -> Unmeasurable:
        return cls(f"'{subquery}' is neither a number, a text nor a time.")

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
    def metadata_for_one_slice(cls, entry: str) -> Unmeasurable:
        return cls(
            f"The metadata '{entry}' is not the same for all slices that this run is about, and a "
            "check takes one value of it: run the check on one partition at a time, or give the "
            "rule one scope."
        )

    @classmethod
    def not_ansi(cls) -> Unmeasurable:
        return cls(
            "The Spark session runs without ANSI, where sums wrap around and what cannot be cast "
            "becomes NULL without a word, so that SQL may get a wrong answer: set "
            "spark.sql.ansi.enabled to true for the session."
        )

    @classmethod
    def too_many_rows(cls) -> Unmeasurable:
        return cls("There are too many rows in one part for a hash of them: divide them further.")

    @classmethod
    def not_bracketed(cls, column: str) -> Unmeasurable:
        return cls(f"The median of '{column}' could not be found: the data changed meanwhile.")

    @classmethod
    def too_close(cls, what: str, column: str) -> Unmeasurable:
        return cls(
            f"The {what} of '{column}' cannot be computed: its values are too large and too close "
            "together for double precision."
        )


class Misfit(RuleFailure):
    """A rule does not fit the table, the column or its type."""

    @classmethod
    def no_column(cls, column: str, known: Sequence[str]) -> Misfit:
        if not known:
            return cls(f"Column '{column}' is not in the table, which has no columns.")
        hint = did_you_mean(column, known)
        if not hint:
            shown = ", ".join(f"'{name}'" for name in known[:20])
            hint = f" Its columns are {shown}{', ...' if len(known) > 20 else ''}."
        return cls(f"Column '{column}' is not in the table.{hint}")

    @classmethod
    def no_diff_key(cls, side: str, keys: Sequence[str], missing: int, repeated: int) -> Misfit:
        named = ", ".join(f"'{key}'" for key in keys)
        wrong = [
            f"rows without a value there: {missing:,}" if missing else "",
            f"values that occur more than once: {repeated:,}" if repeated else "",
        ]
        return cls(
            f"{named} cannot tell the rows of {side} apart, so that they cannot be compared: "
            f"{'; '.join(filter(None, wrong))}."
        )

    @classmethod
    def no_partitions_there(cls, place: str) -> Misfit:
        return cls(
            f"It is not known which partition each row of {place} belongs to: say so by "
            "reference_partition_by, or compare the whole dataset (scope: whole_dataset)."
        )

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
            f"Column '{column}' cannot be named in SQL: Spark replaces '${{...}}' with its "
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
    def no_spark_type(cls, column: str, kind: str, remedy: str) -> Misfit:
        return cls(
            f"Column '{column}' is of the pandas type {kind}, which Spark does not have: convert "
            f"it {remedy}."
        )

    @classmethod
    def mixed_types(cls, column: str, kind: str) -> Misfit:
        return cls(
            f"Column '{column}' is of the pandas type {kind}, and Spark has one type for a "
            "column: bring its values to one."
        )

    @classmethod
    def too_large(cls, column: str, kind: str) -> Misfit:
        return cls(
            f"Column '{column}' is of the pandas type {kind} and has values that Spark cannot "
            "hold: whole numbers have 64 bits there, decimals 38 digits, times microseconds. "
            "Convert them, for example to text."
        )

    @classmethod
    def too_fine(cls, column: str, kind: str) -> Misfit:
        return cls(
            f"Column '{column}' is of the pandas type {kind} and has values that are finer than "
            "Spark's microseconds: round them, for example by dt.floor('us')."
        )

    @classmethod
    def no_unicode(cls, column: str, kind: str) -> Misfit:
        return cls(
            f"Column '{column}' is of the pandas type {kind} and has texts that are not valid "
            "Unicode: decode them anew, with an encoding that fits or with errors='replace'."
        )

    @classmethod
    def incomparable(
        cls, column: str, actual: str, other: str, other_type: str, place: str
    ) -> Misfit:
        return cls(
            f"Column '{column}' of type {actual} cannot be compared with '{other}' of type "
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
    def withheld(cls, metric: str) -> Misfit:
        return cls(
            f"The value of '{metric}' is not kept on record: it is a text that a row holds, or a "
            "very long one. Measure it now (auto_compute: true), or let an SQL metric say what is "
            "to be recorded, such as {sql: max(country)}."
        )

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
            f"The value {value} cannot be compared with column '{column}' of type {actual}; "
            "write it in the column's own type."
        )

    @classmethod
    def wrong_bound(cls, bound: str, kind: str, what: str) -> Misfit:
        return cls(
            f"{what or 'The value'} is a {kind}, which cannot be compared with the bound {bound}; "
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
            f"This rule of type {kind} cannot be broken down by group: what it measures is "
            "known for all rows together only."
        )

    @classmethod
    def judges_all_rows(cls) -> Misfit:
        return cls(
            "It judges all rows together, so that no single row is good or bad: leave it out here, "
            "and judge it by dq.evaluate."
        )

    @classmethod
    def repeats_in_stream(cls) -> Misfit:
        return cls(
            "Whether a value repeats is known once all rows are there, which a stream never has: "
            "split each batch of it by itself, with foreachBatch."
        )

    @classmethod
    def across_rows_in_stream(cls) -> Misfit:
        return cls(
            "It looks at other rows, and a stream never has all of them: split each batch of it by "
            "itself, with foreachBatch."
        )

    @classmethod
    def reference_is_stream(cls, what: str) -> Misfit:
        return cls(
            f"The reference {what} is a stream, and what it lacks now may still come: give data "
            "that is all there, or split each batch by itself, with foreachBatch."
        )

    @classmethod
    def query_answer(cls, found: str) -> Misfit:
        return cls(
            "The query must give one row with one column that is true or false, and it gives "
            f"{found}."
        )

    @classmethod
    def query_number(cls, found: str) -> Misfit:
        return cls(f"The template must give one row with one number, and it gives {found}.")

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


class TimedOut(RuleFailure):
    """There was no time left to answer a rule."""

    @classmethod
    def after(cls, timeout: str) -> TimedOut:
        return cls(f"The timeout of {timeout} was over before this rule was answered.")


class SparkFailure(RuleFailure):
    """Spark raised while measuring. Row values that its text may quote are left out."""
