"""What keeps rows in quarantine from being judged again."""

from __future__ import annotations

from collections.abc import Sequence

from dq_dagster.errors.base import DqError, near_or_all


class NotReplayable(DqError):
    """Rows in quarantine cannot be judged again."""

    @classmethod
    def no_quarantine(cls, asset: str) -> NotReplayable:
        return cls(f"Asset '{asset}' keeps no quarantine, so that there is nothing to replay.")

    @classmethod
    def no_partitions(cls, asset: str) -> NotReplayable:
        return cls(f"Asset '{asset}' has no partitions: leave them out.")

    @classmethod
    def unknown_partition(cls, asset: str, key: str, known: Sequence[str]) -> NotReplayable:
        hint = near_or_all(key, known)
        return cls(f"Nothing of partition '{key}' of asset '{asset}' is in quarantine.{hint}")

    @classmethod
    def masked(cls, quarantine: str, columns: Sequence[str]) -> NotReplayable:
        return cls(
            f"Rows of '{quarantine}' cannot be replayed as they are: their values of "
            f"{', '.join(columns)} are masked. Give a repair that restores them."
        )

    @classmethod
    def withheld(cls, asset: str, key: str | None) -> NotReplayable:
        of = "" if key is None else f", partition '{key}',"
        return cls(
            f"The last build of asset '{asset}'{of} was withheld: nothing of it is in the table, "
            "so that there is nothing to add its rows to. Build it again instead."
        )

    @classmethod
    def of_another_build(
        cls, asset: str, key: str | None, *, table: str, quarantine: str
    ) -> NotReplayable:
        of = "" if key is None else f", partition '{key}',"
        return cls(
            f"The table of asset '{asset}'{of} was written by run {table}, and its quarantine by "
            f"run {quarantine}: a run ended between the two, so that rows may be in both. Build it "
            "again, which replaces both."
        )

    @classmethod
    def interrupted(cls, asset: str, key: str | None) -> NotReplayable:
        of = "" if key is None else f", partition '{key}',"
        return cls(
            f"An earlier replay of asset '{asset}'{of} ended after it had written the table and "
            "before it took the rows out of quarantine, so that they are in both. Build it again, "
            "which replaces both."
        )

    @classmethod
    def other_rows(cls, asset: str, given: int, returned: int) -> NotReplayable:
        return cls(
            f"The repair of '{asset}' was given {given:,} rows and gave back {returned:,}: it has "
            "to give back each of them once, repaired or as it is."
        )

    @classmethod
    def without_column(cls, asset: str, column: str) -> NotReplayable:
        return cls(
            f"The repair of '{asset}' gave back rows without the column '{column}': it has to give "
            "back all columns of the asset."
        )

    @classmethod
    def other_type(cls, asset: str, column: str, *, stored: str, given: str) -> NotReplayable:
        return cls(
            f"The repair of '{asset}' gave back '{column}' as {given}, which is {stored} in the "
            f"table: cast it to {stored}."
        )

    @classmethod
    def would_stop(cls, asset: str, key: str | None, reason: str) -> NotReplayable:
        of = "" if key is None else f", partition '{key}',"
        return cls(f"A replay of asset '{asset}'{of} would publish nothing. {reason}")

    @classmethod
    def failed(cls, asset: str, key: str | None, run_id: str, reason: str) -> NotReplayable:
        of = "" if key is None else f", partition '{key}',"
        said = f" {reason}" if reason else ""
        return cls(
            f"The replay of asset '{asset}'{of} failed in run {run_id}; what was stored stays as "
            f"it was.{said}"
        )
