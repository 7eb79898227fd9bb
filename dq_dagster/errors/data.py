"""Data and records that are not there, or not as they should be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from dq_dagster.errors.base import DqError, near_or_all

_GIVE_A_READER = "Give the rule set a reader, such as dq.Table(...), dq.Files(...) or a function."


class UnreadableData(DqError):
    """What was handed over cannot be turned into a Spark DataFrame."""

    @classmethod
    def no_table(cls, described: str) -> UnreadableData:
        return cls(
            f"A Spark or pandas DataFrame is needed, not {described}. Let the asset return one, "
            "or give the rule set a reader."
        )

    @classmethod
    def feature_taken(cls, name: str) -> UnreadableData:
        return cls(f"There is a column '{name}' already: give the feature another name.")

    @classmethod
    def failed_command(cls, key: str) -> UnreadableData:
        return cls(f"It needs the rows of '{key}', which failed.")

    @classmethod
    def not_replaced(cls, path: str) -> UnreadableData:
        return cls(
            f"'{path}' is there already, and is no folder of Parquet files: it is not overwritten. "
            "Remove it, or write to another path."
        )

    @classmethod
    def nothing_returned(cls, asset: str) -> UnreadableData:
        return cls(
            f"Asset '{asset}' is guarded, but returned nothing to judge: let its function return "
            "its rows as a DataFrame, which is stored by its IO manager."
        )

    @classmethod
    def not_one_table(cls, asset: str, found: int) -> UnreadableData:
        return cls(
            f"Asset '{asset}' is guarded, and its function yields {found} values: let it yield one "
            "DataFrame, as dg.Output or dg.MaterializeResult(value=...)."
        )

    @classmethod
    def column_taken(cls, column: str) -> UnreadableData:
        return cls(
            f"The data has a column '{column}', a name that bad rows need for what is said of "
            "them: give yours another name."
        )

    @classmethod
    def not_kept(cls, asset: str) -> UnreadableData:
        return cls(
            f"Asset '{asset}' was not built in this run, and its IO manager keeps values in "
            "memory, for one run only. Select it as well, or store it."
        )

    @classmethod
    def only_in_memory(cls, asset: str) -> UnreadableData:
        return cls(
            f"The IO manager of asset '{asset}' keeps values in memory, for one run only: nothing "
            "is stored that could be read now."
        )

    @classmethod
    def no_rules(cls, asset: str, known: Sequence[str]) -> UnreadableData:
        return cls(f"There are no rules of an asset '{asset}' here.{near_or_all(asset, known)}")

    @classmethod
    def no_partitions(cls, asset: str) -> UnreadableData:
        return cls(f"Asset '{asset}' has no partitions: leave them out.")

    @classmethod
    def unknown_partition(cls, asset: str, key: str, hint: str) -> UnreadableData:
        return cls(f"'{key}' is no partition of asset '{asset}'.{hint}")

    @classmethod
    def not_built(cls, asset: str, keys: Sequence[str]) -> UnreadableData:
        verb = "has" if len(keys) == 1 else "have"
        return cls(f"{_some(keys)} of asset '{asset}' {verb} not been materialized yet.")

    @classmethod
    def unknown_asset(cls, asset: str, known: Sequence[str]) -> UnreadableData:
        return cls(f"There is no asset '{asset}'.{near_or_all(asset, known)}")

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
    def differ_in_case(cls, one: str, other: str) -> UnreadableData:
        return cls(
            f"The columns '{one}' and '{other}' differ only in case, and this Spark session does "
            "not tell them apart: rename one of them, or set spark.sql.caseSensitive to true."
        )

    @classmethod
    def not_storable(cls, output: str, kind: type, error: type) -> UnreadableData:
        return cls(
            f"The output {output}, which is a {kind.__module__}.{kind.__qualname__}, is neither a "
            f"DataFrame nor can it be pickled ({error.__name__}): let the op return one of both."
        )

    @classmethod
    def in_partition(cls, reason: str, partition: str) -> UnreadableData:
        return cls(f"In partition '{partition}': {reason}")

    @classmethod
    def no_columns(cls) -> UnreadableData:
        return cls("The DataFrame has no columns, and files cannot hold its rows then.")

    @classmethod
    def column_twice(cls, column: str) -> UnreadableData:
        return cls(f"The DataFrame has the column '{column}' twice: rename one of them.")

    @classmethod
    def not_stored(cls, asset: str, reason: str) -> UnreadableData:
        return cls(f"Nothing of asset '{asset}' was written. {reason}")

    @classmethod
    def off_the_clock(cls, column: str, kind: str, zone: str) -> UnreadableData:
        return cls(
            f"Column '{column}' of the pandas type {kind} has times that do not exist in the "
            f"session's time zone {zone}, whose clocks go forward over them: as a partition it "
            "would have another type than the others. Give the column the zone that it is meant "
            "in, for example by dt.tz_localize('UTC'), or let spark.sql.session.timeZone be that "
            "zone."
        )

    @classmethod
    def nothing_built(cls, asset: str) -> UnreadableData:
        return cls(f"No partition of asset '{asset}' has been materialized yet.")


class NothingStored(UnreadableData):
    """Where an asset's data, or some of its partitions, should be stored, there is none."""

    @classmethod
    def whole(cls, asset: str, place: str) -> NothingStored:
        return cls(
            f"Asset '{asset}' has not been materialized yet: nothing is stored at '{place}'."
        )

    @classmethod
    def output(cls, output: str, place: str) -> NothingStored:
        return cls(
            f"The output {output} is not stored at '{place}' any more: run the step that makes it "
            "again."
        )

    @classmethod
    def no_source(cls, name: str) -> NothingStored:
        return cls(
            f"The input '{name}' comes neither from an asset nor from another op, so there is "
            "nothing to load."
        )

    @classmethod
    def external(cls, asset: str) -> NothingStored:
        return cls(
            f"Asset '{asset}' is an external asset: Dagster does not build it, so that its IO "
            f"manager has stored nothing of it. {_GIVE_A_READER}"
        )

    @classmethod
    def unreturned(cls, asset: str) -> NothingStored:
        return cls(
            f"Asset '{asset}' is materialized in Dagster, but its IO manager has stored nothing of "
            "it, for the asset returned no value (None, or a MaterializeResult). Let it return its "
            f"rows, or, if it stores them itself, g{_GIVE_A_READER[1:]}"
        )

    @classmethod
    def gone(cls, asset: str) -> NothingStored:
        return cls(
            f"Asset '{asset}' is materialized in Dagster, but its files are gone. Materialize it "
            "again."
        )

    @classmethod
    def of_partitions(cls, asset: str, keys: Sequence[str], place: str) -> NothingStored:
        if not keys:
            return cls(f"No partition of asset '{asset}' is stored at '{place}' yet.")
        if len(keys) == 1:
            which = f"Partition '{keys[0]}' of asset '{asset}' is not stored"
        else:
            shown = ", ".join(f"'{key}'" for key in keys[:3]) + (", ..." if keys[3:] else "")
            which = f"None of the {len(keys):,} partitions ({shown}) of asset '{asset}' is stored"
        return cls(f"{which} at '{place}': materialize it first.")

    @classmethod
    def no_partition_at_all(cls) -> NothingStored:
        return cls("There is no partition to read: none has been materialized yet.")


class MissingPartitions(UnreadableData):
    """Some partitions cannot be read, though there should be data of them; the others can.

    ``by_partition`` says it of each of them; the error itself says it of the whole dataset, unless
    that ``spares_the_whole``.
    """

    def __init__(
        self,
        whole: str,
        by_partition: Mapping[str, str],
        *,
        gone: Sequence[str] = (),
        spares_the_whole: bool = False,
    ) -> None:
        super().__init__(whole)
        self.by_partition = dict(by_partition)
        # Those that were stored once.
        self.gone = tuple(gone)
        self.spares_the_whole = spares_the_whole

    @classmethod
    def lost(
        cls, asset: str, keys: Sequence[str], *, built: int, unreturned: Collection[str] = ()
    ) -> MissingPartitions:
        """``unreturned`` are those that the asset itself gave nothing to store for."""
        gone = [key for key in keys if key not in unreturned]
        never = [key for key in keys if key in unreturned]
        reasons = [f"the files of {_some(gone)} are gone"] if gone else []
        reasons += [f"for {_some(never)} the asset returned no value"] if never else []
        remedy = f"Materialize them again, or wipe their materializations {_WHERE}."
        return cls(
            f"{len(keys):,} of the {built:,} partitions of asset '{asset}' that are materialized "
            "in Dagster cannot be read, so the whole dataset cannot be judged: "
            f"{', and '.join(reasons)}. {remedy if gone else _RETURN_ROWS}",
            {key: _gone(asset, key) for key in gone} | {key: _never(asset, key) for key in never},
            gone=gone,
        )

    @classmethod
    def not_in_memory(cls, asset: str, keys: Sequence[str]) -> MissingPartitions:
        return cls(
            f"Partitions of asset '{asset}' cannot be read.",
            {
                key: f"Partition '{key}' of asset '{asset}' cannot be read: its IO manager keeps "
                "values in memory, and only those that the run itself built."
                for key in keys
            },
            spares_the_whole=True,
        )


# The open-source storages refuse to wipe single partitions.
_WHERE = "in Dagster (without Dagster+, those of the whole asset)"
_RETURN_ROWS = (
    "Let it return its rows (a DataFrame without any where there are none), or, if it stores them "
    f"itself, g{_GIVE_A_READER[1:]}"
)


def _gone(asset: str, key: str) -> str:
    return (
        f"Partition '{key}' of asset '{asset}' is materialized in Dagster, but its files are gone. "
        f"Materialize it again, or wipe its materializations {_WHERE}."
    )


def _never(asset: str, key: str) -> str:
    return (
        f"Partition '{key}' of asset '{asset}' is materialized in Dagster, but nothing is stored "
        f"of it, for the asset returned no value. {_RETURN_ROWS}"
    )


def _some(keys: Sequence[str], most: int = 5) -> str:
    more = f" and {len(keys) - most:,} more" if keys[most:] else ""
    return ", ".join(f"'{key}'" for key in keys[:most]) + more


class NotOnRecord(DqError):
    """Nothing was recorded of what is wanted."""

    @classmethod
    def number(cls, key: str, known: Sequence[str]) -> NotOnRecord:
        return cls(f"No number of '{key}' is on record.{near_or_all(key, known)}")

    @classmethod
    def numbers(cls, check: str, evaluations: int, known: Sequence[str]) -> NotOnRecord:
        there = f" On record is: {', '.join(known[:20])}." if known else ""
        return cls(
            f"The evaluations of check '{check}', {evaluations:,} in all, recorded no number that "
            f"the rule could judge.{there}"
        )

    @classmethod
    def partition(cls, key: str, known: Sequence[str]) -> NotOnRecord:
        return cls(f"Partition '{key}' has no number on record.{near_or_all(key, known)}")

    @classmethod
    def slice(cls, partition: str, asset: str, known: Sequence[str]) -> NotOnRecord:
        hint = near_or_all(partition, known)
        return cls(f"No check of asset '{asset}' was ever judged on partition '{partition}'.{hint}")

    @classmethod
    def check(cls, check: str, asset: str, known: Sequence[str]) -> NotOnRecord:
        hint = near_or_all(check, known)
        return cls(f"Nothing is on record for check '{check}' of asset '{asset}'.{hint}")

    @classmethod
    def project(cls, project: str, known: Sequence[str]) -> NotOnRecord:
        return cls(f"There is no project '{project}'.{near_or_all(project, known)}")

    @classmethod
    def asset(cls, asset: str, known: Sequence[str]) -> NotOnRecord:
        return cls(f"No check of asset '{asset}' is on record.{near_or_all(asset, known)}")


class UnreadableLog(DqError):
    """The event log cannot be read as a whole."""

    @classmethod
    def of(cls, kind: str) -> UnreadableLog:
        return cls(
            f"The event log is kept by {kind}, which is no SQL database: statuses and timelines "
            "are read from Dagster's own storages on SQLite, Postgres and MySQL."
        )
