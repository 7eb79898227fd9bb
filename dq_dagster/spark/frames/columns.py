"""Finding the column that a rule names, and writing names and texts as SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pyspark.sql import types as T

from dq_dagster.errors import Misfit, RuleFailure, Unmeasurable
from dq_dagster.spark.frames.failures import reason_of
from dq_dagster.spark.frames.other_datasets import OtherDatasets
from dq_dagster.spark.session.session import is_case_sensitive
from dq_dagster.sql import literals
from dq_dagster.sql.expressions import columns_used

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NUMBERS = (T.NumericType, T.NullType)
FLOATS = (T.FloatType, T.DoubleType)
COMPARABLE = (
    T.NumericType,
    T.DateType,
    T.TimestampType,
    T.TimestampNTZType,
    T.StringType,
    T.BooleanType,
    T.NullType,
)


# How names and texts are written belongs together, and most of those who need it are of this layer.
text_literal = literals.text_literal


def identifier(name: str) -> str:
    """A column name as SQL, whatever it consists of."""
    return "`" + name.replace("`", "``") + "`"


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of the table: its name as the rule wrote it, its SQL and its type."""

    name: str
    sql: str
    kind: T.DataType

    @property
    def type_name(self) -> str:
        return self.kind.simpleString()

    @property
    def plain_text(self) -> str:
        """A string column's SQL, without a collation that would take other texts for equal."""
        kind = self.kind
        if isinstance(kind, T.StringType) and not kind.isUTF8BinaryCollation():
            return f"collate({self.sql}, 'UTF8_BINARY')"
        return self.sql

    @property
    def ordered(self) -> str:
        """What tells any two different values apart; types without an order go by their text."""
        if isinstance(self.kind, COMPARABLE):
            return self.plain_text
        if self.type_name.startswith(("geometry", "geography")):
            return f"st_asbinary({self.sql})"
        return f"to_json(named_struct('value', {self.sql}))"

    def require(self, kinds: tuple[type[T.DataType], ...], *, what: str, wanted: str) -> None:
        if not isinstance(self.kind, kinds):
            raise Misfit.wrong_type(what, self.name, self.type_name, wanted)


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """The columns that rules can name, the time that counts as now, and what lies beside it."""

    schema: T.StructType
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    other_datasets: OtherDatasets = field(default_factory=OtherDatasets)
    # What rules list of texts, by the SQL of their column.
    usual_texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Why columns, by their names as ``Divided`` has them, are there in parts of the data only.
    clashes: Mapping[str, RuleFailure] = field(default_factory=dict)
    # Whether Spark computes under ANSI; SQL from users is not answered otherwise.
    is_ansi: bool = True
    # Whether the session tells names apart that differ only in case.
    case_sensitive: bool = False

    @classmethod
    def of(
        cls,
        frame: DataFrame,
        now: datetime | None = None,
        other_datasets: OtherDatasets | None = None,
        *,
        is_ansi: bool = True,
    ) -> JudgedTable:
        """The columns of a frame, as its session finds them."""
        return cls(
            frame.schema,
            now or datetime.now(UTC),
            other_datasets or OtherDatasets(),
            is_ansi=is_ansi,
            case_sensitive=is_case_sensitive(frame.sparkSession),
        )

    def has(self, name: str) -> bool:
        """Whether there is a column of that name, or several that Spark takes for it."""
        return any(_same(one, name, self.case_sensitive) for one in self.schema.names)

    def column(self, name: str) -> ColumnRef:
        """The column of that name, or the field of a struct column named by a dotted path."""
        if "${" in name:
            raise Misfit.substituted_name(name)
        found = self._field(self.schema, name)
        if found is not None:
            return ColumnRef(name, identifier(found.name), found.dataType)
        nested = self._nested(name)
        if nested is None:
            raise self._missing(name)
        return nested

    def require_columns_of(self, sql: str) -> None:
        """Refuses a row expression that names a column which is not there."""
        self.require_columns(columns_used(sql))

    def require_columns(self, names: Sequence[str]) -> None:
        """Refuses columns of SQL from users which are not there, and all such SQL without ANSI.

        Spark would look further, for a session variable or an alias of that name.
        """
        self.require_ansi()
        for name in names:
            if self._field(self.schema, name) is None:
                raise self._missing(name)

    def require_ansi(self) -> None:
        """Refuses SQL from users where Spark would compute it without ANSI."""
        if not self.is_ansi:
            raise Unmeasurable.not_ansi()

    def _missing(self, name: str) -> RuleFailure:
        outermost = name.split(".", maxsplit=1)[0]
        fold = str if self.case_sensitive else str.lower
        clash = self.clashes.get(fold(name)) or self.clashes.get(fold(outermost))
        return clash or Misfit.no_column(name, self.schema.names)

    def _nested(self, path: str) -> ColumnRef | None:
        kind: T.DataType = self.schema
        steps = []
        for part in path.split("."):
            field = self._field(kind, part) if isinstance(kind, T.StructType) else None
            if field is None:
                return None
            steps.append(identifier(field.name))
            kind = field.dataType
        return ColumnRef(path, ".".join(steps), kind)

    def _field(self, schema: T.StructType, name: str) -> T.StructField | None:
        found = find_field(schema, name, name, case_sensitive=self.case_sensitive)
        if found is not None and found.metadata and (reason := reason_of(found)):
            raise Misfit(reason)
        return found


def find_field(
    schema: T.StructType, name: str, path: str, *, case_sensitive: bool
) -> T.StructField | None:
    """The field that Spark finds; ``path`` is what it is called if there are two of them.

    Unless a session is set otherwise, Spark resolves names without regard to case, so two that
    differ only there clash.
    """
    alike = [field for field in schema.fields if _same(field.name, name, case_sensitive)]
    if len(alike) > 1:
        raise Misfit.ambiguous_column(path, [field.name for field in alike])
    return alike[0] if alike else None


def _same(one: str, other: str, case_sensitive: bool) -> bool:  # noqa: FBT001 (of two names)
    return one == other if case_sensitive else one.lower() == other.lower()
