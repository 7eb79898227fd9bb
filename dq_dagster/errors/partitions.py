"""Rows and partitions that do not fit each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dq_dagster.errors.base import DqError, did_you_mean


class Unassignable(DqError):
    """Rows cannot be assigned to the partitions of their asset."""

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
        named = " and ".join(f"'{key}'" for key in examples) or "none at all"
        return cls(
            f"{rows:,} rows of asset '{asset}' belong to none of the {len(keys):,} partitions of "
            f"this run ({shown}), but to {named}. Nothing was written: return rows of the run's "
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
    def cannot_split(cls, asset: str, kind: str, known: Iterable[str]) -> Unassignable:
        return cls(
            f"Asset '{asset}' returned one DataFrame for several partitions, and files of format "
            f"'{kind}' cannot be split ({', '.join(sorted(known))} can): return a dict by "
            "partition, or build one partition a run."
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
