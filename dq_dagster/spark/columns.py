"""Finding the column that a rule names, in the table at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pyspark.sql import types as T

from dq_dagster.errors import Misfit, RuleFailure, Unmeasurable
from dq_dagster.spark.quoting import identifier
from dq_dagster.spark.surroundings import Surroundings
from dq_dagster.spark.unreadable import reason_of
from dq_dagster.sql.row_expression import columns_used

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

    def require(self, kinds: tuple[type[T.DataType], ...], *, what: str, wanted: str) -> None:
        if not isinstance(self.kind, kinds):
            raise Misfit.wrong_type(what, self.name, self.type_name, wanted)


@dataclass(frozen=True, slots=True)
class Table:
    """The columns that rules can name, the time that counts as now, and what lies around."""

    schema: T.StructType
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    surroundings: Surroundings = field(default_factory=Surroundings)
    # What rules list of texts, by the SQL of their column.
    usual_texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Why columns, by their names in lower case, are there in parts of the data only.
    clashes: Mapping[str, RuleFailure] = field(default_factory=dict)
    # Whether Spark computes under ANSI; SQL from users is not answered otherwise.
    is_ansi: bool = True

    def column(self, name: str) -> ColumnRef:
        """The column of that name, or the field of a struct column named by a dotted path."""
        if "${" in name:
            raise Misfit.substituted_name(name)
        found = _readable_field(self.schema, name)
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
            if _readable_field(self.schema, name) is None:
                raise self._missing(name)

    def require_ansi(self) -> None:
        """Refuses SQL from users where Spark would compute it without ANSI."""
        if not self.is_ansi:
            raise Unmeasurable.not_ansi()

    def _missing(self, name: str) -> RuleFailure:
        outermost = name.split(".", maxsplit=1)[0]
        clash = self.clashes.get(name.lower()) or self.clashes.get(outermost.lower())
        return clash or Misfit.no_column(name, self.schema.names)

    def _nested(self, path: str) -> ColumnRef | None:
        kind: T.DataType = self.schema
        steps = []
        for part in path.split("."):
            field = _readable_field(kind, part) if isinstance(kind, T.StructType) else None
            if field is None:
                return None
            steps.append(identifier(field.name))
            kind = field.dataType
        return ColumnRef(path, ".".join(steps), kind)


def _readable_field(schema: T.StructType, name: str) -> T.StructField | None:
    found = _field(schema, name)
    reason = None if found is None else reason_of(found)
    if reason:
        raise Misfit(reason)
    return found


def _field(schema: T.StructType, name: str) -> T.StructField | None:
    """Spark resolves names without regard to case, so two that differ only there clash."""
    alike = [field for field in schema.fields if field.name.lower() == name.lower()]
    if len(alike) > 1:
        raise Misfit.ambiguous_column(name, [field.name for field in alike])
    return alike[0] if alike else None
