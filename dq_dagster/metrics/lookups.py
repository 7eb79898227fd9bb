"""Values of a row that are looked up in another dataset."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from dq_dagster.metrics.conditions import Condition
from dq_dagster.metrics.datasets import Dataset


@dataclass(frozen=True, slots=True)
class Lookup:
    """The values of some columns, together, and the columns of a dataset to find them in."""

    columns: tuple[str, ...]
    blank_is_empty: bool
    dataset: Dataset
    reference_columns: tuple[str, ...]

    @property
    def key(self) -> str:
        blank = " (blank is empty)" if self.blank_is_empty else ""
        there = ",".join(self.reference_columns)
        return f"{','.join(self.columns)} ({there} of {self.dataset.label}){blank}"

    @property
    def flag(self) -> str:
        """The column that says whether a row's values were found; no table has it by chance."""
        return f"dq_found_{hashlib.sha256(repr(self).encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class ReferenceMembership(Condition):
    """The row's values are (or are not) among the reference's; false where all are empty."""

    lookup: Lookup
    member: bool

    @property
    def key(self) -> str:
        return f"{'in' if self.member else 'not_in'}_reference:{self.lookup.key}"

    @property
    def lasting(self) -> bool:
        return False
