"""Runs of checks that cannot be started."""

from __future__ import annotations

from collections.abc import Sequence

from dq_dagster.errors.base import DqError, near_or_all


class NotLaunched(DqError):
    """Checks cannot be run as they were asked for."""

    @classmethod
    def no_checks(cls, asset: str, known: Sequence[str]) -> NotLaunched:
        return cls(f"There are no checks of asset '{asset}'.{near_or_all(asset, sorted(known))}")

    @classmethod
    def no_rule(cls, name: str, known: Sequence[str]) -> NotLaunched:
        return cls(f"There is no rule '{name}'.{near_or_all(name, known)}")

    @classmethod
    def no_partitions(cls, assets: Sequence[str]) -> NotLaunched:
        of = f"Asset '{assets[0]}' has" if len(assets) == 1 else "The assets have"
        return cls(f"{of} no partitions: leave them out.")

    @classmethod
    def needs_partitions(cls, asset: str) -> NotLaunched:
        return cls(
            f"Asset '{asset}' has checks of single partitions: choose some by --partition KEY or "
            "--partition-range FIRST...LAST, or all that were built by --all-partitions."
        )

    @classmethod
    def unknown_partition(cls, asset: str, key: str, hint: str) -> NotLaunched:
        return cls(f"Asset '{asset}' has no partition '{key}'.{hint}")

    @classmethod
    def no_partition_chosen(cls, asset: str) -> NotLaunched:
        return cls(f"No partition of asset '{asset}' was chosen: none was built, or none is meant.")

    @classmethod
    def because(cls, title: str, error: Exception) -> NotLaunched:
        said = str(error).strip().splitlines()
        reason = said[0] if said else type(error).__name__
        return cls(f"The checks of {title} cannot be run: {reason}")
