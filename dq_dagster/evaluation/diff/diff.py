"""Comparing two tables: which rows are on one side only, and where the others differ."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from dq_dagster.errors import DeclarationError, UnreadableData
from dq_dagster.evaluation.diff.result import Diff, PartitionsRead
from dq_dagster.evaluation.diff.row_hashes import RowHashes, hashes_of, partition_sql
from dq_dagster.metrics.row_hash import RowHash
from dq_dagster.rules.base.comparison import DeclaredComparison
from dq_dagster.spark.frames.ansi import is_ansi, under_ansi
from dq_dagster.spark.frames.columns import JudgedTable, text_literal
from dq_dagster.spark.frames.failures import without_quoting_rows
from dq_dagster.spark.frames.frames import all_as_spark, is_frame
from dq_dagster.spark.frames.reading import any_data
from dq_dagster.spark.passes.diff.columns import Alignment, align
from dq_dagster.spark.passes.diff.hashes import MOST_NAMED, Unchanged, types_of, unchanged
from dq_dagster.spark.passes.diff.join import DiffJoin, Side

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Hashes: TypeAlias = tuple[RowHashes | None, RowHashes | None]
_MOST_SAMPLES = 100


def diff(
    left: Any,
    right: Any,
    *,
    keys: str | Sequence[str] | Mapping[str, str],
    columns: str | Sequence[str] | Mapping[str, str] | None = None,
    ignore: str | Sequence[str] = (),
    renamed: Mapping[str, str] | None = None,
    tolerance: Any = 0,
    relative_tolerance: Any = 0,
    ignore_case: bool | str | Sequence[str] = False,
    ignore_whitespace: bool | str | Sequence[str] = False,
    partition_by: str | None = None,
    hashes: Hashes | None = None,
    samples: int = 0,
) -> Diff:
    """Compares two tables by their keys; nothing but counts leaves Spark, unless asked to.

    Each side is a Spark or pandas DataFrame, the name of a table, the path of files, or a
    ``dq.Table``, ``dq.Files`` or ``dq.Reference``. ``keys`` tell the rows of each side apart; if
    they do not, that is an Error that says how many. ``columns`` are compared, by default all that
    both sides have but those to ``ignore``. Where a column has another name on the right, ``keys``
    and ``columns`` may be mappings from left to right, or ``renamed`` says so.

    ``tolerance`` is by how much numbers may differ: one for all of them, or by column, where those
    of times are texts such as ``"5 min"``. ``relative_tolerance`` is the same as a share of the
    larger number. ``ignore_case`` and ``ignore_whitespace`` are about texts: of all columns, or of
    those that are named.

    With ``partition_by``, a column or an SQL expression over columns that both sides have,
    partitions that hold the same rows on both sides are not joined: hashes of their rows tell. If
    there are ``hashes`` of earlier times (of left and right, from ``dq.row_hashes``; None for those
    to be taken now), such partitions are not even read. Whether the data is still what they were
    taken of is for the caller to know.

    ``samples`` is how many rows of each kind to show, with their values; at most 100.
    """
    declared = DeclaredComparison(
        keys=_names(keys),
        columns=None if columns is None else _names(columns),
        ignore=_listed(ignore),
        renamed={**_renamed(keys), **_renamed(columns), **(renamed or {})},
        tolerance=tolerance,
        relative_tolerance=relative_tolerance,
        ignore_case=_some(ignore_case),
        ignore_whitespace=_some(ignore_whitespace),
    )
    _refuse_misuse(partition_by, hashes, samples)
    both = _Both.of(left, right)
    alignment = align(declared.comparison, both.left_table, both.right_table)
    with without_quoting_rows():
        pruned = _Pruned.of(both, alignment, partition_by, hashes)
        join = pruned.join(alignment)
        counts = join.counts()[None].and_same(pruned.rows)
    counts.left.require_keys("the left side", declared.comparison.keys)
    counts.right.require_keys("the right side", [key.right.name for key in alignment.keys])
    found = Diff(counts, declared.comparison, pruned.read, join)
    return found.with_samples(samples) if samples else found


def _refuse_misuse(partition_by: str | None, hashes: Hashes | None, samples: int) -> None:
    if hashes is not None and partition_by is None:
        raise DeclarationError.of("hashes need partition_by: what makes a row's partition.")
    if hashes is not None and len(hashes) != 2:
        raise DeclarationError.of("hashes are a pair: those of the left side, then of the right.")
    if isinstance(samples, bool) or not 0 <= samples <= _MOST_SAMPLES:
        raise DeclarationError.of(f"samples is a number of rows, from 0 to {_MOST_SAMPLES}.")


def _names(given: str | Sequence[str] | Mapping[str, str]) -> Any:
    return list(given) if isinstance(given, Mapping) else given


def _listed(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)


def _some(given: bool | str | Sequence[str]) -> bool | tuple[str, ...]:  # noqa: FBT001 (as given)
    return given if isinstance(given, bool) else _listed(given)


def _renamed(given: str | Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    return dict(given) if isinstance(given, Mapping) else {}


@dataclass(frozen=True, slots=True)
class _Both:
    """Both tables, as frames of one session."""

    left: DataFrame
    right: DataFrame
    left_table: JudgedTable
    right_table: JudgedTable

    @classmethod
    def of(cls, left: Any, right: Any) -> _Both:
        given = {"left": left, "right": right}
        # Times of pandas frames without a zone are to be of one type in both.
        frames = all_as_spark({side: data for side, data in given.items() if is_frame(data)})
        frames |= {side: any_data(data) for side, data in given.items() if side not in frames}
        for side in given:
            if frames[side].isStreaming:
                raise UnreadableData(f"The {side} side is a stream, which never has all its rows.")
        ours = {side: under_ansi(frame) for side, frame in frames.items()}
        tables = {
            side: JudgedTable.of(frame, is_ansi=is_ansi(frame)) for side, frame in ours.items()
        }
        return cls(ours["left"], ours["right"], tables["left"], tables["right"])


@dataclass(frozen=True, slots=True)
class _Pruned:
    """What has to be joined: the partitions that are not known to be the same on both sides."""

    left: DataFrame
    right: DataFrame
    rows: int = 0
    read: PartitionsRead | None = None

    @classmethod
    def of(
        cls, both: _Both, alignment: Alignment, partition_by: str | None, hashes: Hashes | None
    ) -> _Pruned:
        if partition_by is None:
            return cls(both.left, both.right)
        found = _hashes(both, alignment, partition_by, hashes or (None, None))
        if found is None:
            return cls(both.left, both.right)
        known = unchanged(*(one.by_partition for one in found))
        total = len(known.partitions) + len(known.differing)
        if not known.partitions or len(known.differing) > MOST_NAMED:
            return cls(both.left, both.right, 0, PartitionsRead(total, total))
        left = _only(both.left, both.left_table, partition_by, known)
        right = _only(both.right, both.right_table, partition_by, known)
        return cls(left, right, known.rows, PartitionsRead(total, len(known.differing)))

    def join(self, alignment: Alignment) -> DiffJoin:
        return DiffJoin(alignment, Side(self.left), Side(self.right))


def _only(frame: DataFrame, table: JudgedTable, partition_by: str, known: Unchanged) -> DataFrame:
    keys = ", ".join(text_literal(str(key)) for key in sorted(map(str, known.differing)))
    return frame.where(f"{partition_sql(frame, table, partition_by)} IN ({keys or 'NULL'})")


def _hashes(
    both: _Both, alignment: Alignment, partition_by: str, given: Hashes
) -> tuple[RowHashes, RowHashes] | None:
    """The hashes of both sides; None if those of their types are never equal."""
    compared = sorted((*alignment.keys, *alignment.columns), key=lambda one: one.name.lower())
    known = [one for one in given if one is not None]
    if known:
        order = _in_order_of(known, alignment, [one.name for one in compared])
    else:
        order = {one.name: one.right.name for one in compared}
    metrics = RowHash(tuple(order)), RowHash(tuple(order.values()))
    types = types_of(metrics[0], both.left_table), types_of(metrics[1], both.right_table)
    if types[0] != types[1] or any(one.types != types[0] for one in known):
        return None
    for one in known:
        if one.partition_by != partition_by:
            raise DeclarationError.of(
                f"The hashes are by partitions of '{one.partition_by}', not of '{partition_by}'."
            )
    left, right = given
    return (
        left or hashes_of(metrics[0], both.left, both.left_table, partition_by),
        right or hashes_of(metrics[1], both.right, both.right_table, partition_by),
    )


def _in_order_of(
    known: Sequence[RowHashes], alignment: Alignment, compared: Collection[str]
) -> dict[str, str]:
    """The columns that hashes at hand are of, by what they are called on the left."""
    there = alignment.comparison.there
    back = {there(name).lower(): name for name in compared}
    first = known[0].columns
    names = [back.get(name.lower(), name) for name in first]
    for one in known:
        found = {back.get(name.lower(), name).lower() for name in one.columns}
        lacking = [name for name in compared if name.lower() not in found]
        if lacking or [back.get(n.lower(), n).lower() for n in one.columns] != [
            name.lower() for name in names
        ]:
            what = f"they lack '{lacking[0]}'" if lacking else "they differ in their order"
            raise DeclarationError.of(
                "The hashes are not of the columns that are compared, in one order: "
                f"{what}. Take them by dq.row_hashes(..., columns=[...])."
            )
    return {name: there(name) for name in names}
