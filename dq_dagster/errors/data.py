"""Data and records that are not there, or not as they should be."""

from __future__ import annotations

from collections.abc import Sequence

from dq_dagster.errors.base import DqError, near_or_all


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
    def not_in_memory(cls, asset: str, partition: str) -> UnreadableData:
        return cls(
            f"Partition '{partition}' of asset '{asset}' can not be read: its IO manager keeps "
            "values in memory, and only those that the run itself built."
        )

    @classmethod
    def no_table(cls, described: str) -> UnreadableData:
        return cls(
            f"A Spark or pandas DataFrame is needed, not {described}. Let the asset return one, "
            "or give the rule set a reader."
        )

    @classmethod
    def unknown_asset(cls, asset: str, known: Sequence[str]) -> UnreadableData:
        return cls(f"There is no asset '{asset}'.{near_or_all(asset, known)}")

    @classmethod
    def no_partition_at_all(cls) -> UnreadableData:
        return cls("There is no partition to read: none has been materialized yet.")

    @classmethod
    def not_materialized(cls, asset: str, place: str) -> UnreadableData:
        return cls(
            f"Asset '{asset}' has not been materialized yet: nothing is stored at '{place}'."
        )

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
    def in_partition(cls, reason: str, partition: str) -> UnreadableData:
        return cls(f"In partition '{partition}': {reason}")

    @classmethod
    def no_columns(cls) -> UnreadableData:
        return cls("The DataFrame has no columns, and files can not hold its rows then.")

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


class NotOnRecord(DqError):
    """Nothing was recorded of what is asked for."""

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
    def check(cls, check: str, asset: str, known: Sequence[str]) -> NotOnRecord:
        hint = near_or_all(check, known)
        return cls(f"Nothing is on record for check '{check}' of asset '{asset}'.{hint}")

    @classmethod
    def asset(cls, asset: str, known: Sequence[str]) -> NotOnRecord:
        return cls(f"No check of asset '{asset}' is on record.{near_or_all(asset, known)}")
