"""Metrics of conditions that are queries: their text, and what it calls by name.

Values are never pasted into the text. Spark binds them where a query is run. Where it rides as
aggregates in the pass of all rules they are literals, of the very same type.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from dq_dagster.metrics.conditions import PassKind, quoted
from dq_dagster.metrics.constant import Constant
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.sources import OtherDataset, SqlCondition, truth
from dq_dagster.metrics.states import Opaque
from dq_dagster.sql.literals import text_literal
from dq_dagster.sql.queries import AggregateForm, QueryText, aggregate_form, read_query

#: What Spark takes for a marker; all other types are cast from a text.
Bound: TypeAlias = str | int | bool
_MOST_DIGITS = 38
_LONG = 2**63


@dataclass(frozen=True, slots=True)
class ColumnParameter:
    """A column that a query calls by another name."""

    name: str

    def __str__(self) -> str:
        return quoted(self.name)


@dataclass(frozen=True, slots=True)
class ColumnsParameter:
    """Several columns that a query calls by one name, in a row."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return ", ".join(map(quoted, self.names))


@dataclass(frozen=True, slots=True)
class ConditionParameter:
    """A condition on a row that a query calls by name; the grammar of rows has accepted it."""

    sql: str

    def __str__(self) -> str:
        # Nothing in it ends the brackets: it is one expression, and has no comments.
        return f"({self.sql})"


@dataclass(frozen=True, slots=True)
class ValueParameter:
    """A value that a query calls by name."""

    constant: Constant

    def sql(self, operand: str) -> str:
        """The value as SQL, where ``operand`` is what ``bound`` holds.

        A number means what it would mean in the text: 0.1 is a decimal, and 1e-9 a double.
        """
        kind = self._type
        return operand if kind is None else f"CAST({operand} AS {kind})"

    @property
    def literal(self) -> str:
        bound = self.bound
        if isinstance(bound, str):
            return self.sql(text_literal(bound))
        return str(bound).lower() if bound is True or bound is False or bound >= 0 else f"({bound})"

    @property
    def bound(self) -> Bound:
        value = self.constant.value
        if isinstance(value, bool) or (isinstance(value, int) and -_LONG <= value < _LONG):
            return value
        return f"{Decimal(self.constant.text):f}" if self._is_exact else self.constant.text

    def refuse_misfit(self) -> None:
        """Raises ValueError for a number that Spark has no type for."""
        if self._is_exact and sum(self._digits) > _MOST_DIGITS:
            raise ValueError(f"a number has at most {_MOST_DIGITS} digits in Spark")

    @property
    def _is_exact(self) -> bool:
        kind, text = self.constant.kind, self.constant.text
        return kind in {"int", "decimal"} or (kind == "float" and "e" not in text)

    @property
    def _digits(self) -> tuple[int, int]:
        """How many digits there are before and behind the point."""
        whole, _, fraction = f"{abs(Decimal(self.constant.text)):f}".partition(".")
        return len(whole.lstrip("0")), len(fraction)

    @property
    def _type(self) -> str | None:
        match self.constant.kind:
            case "date":
                return "DATE"
            case "datetime":
                return "TIMESTAMP_LTZ"
            case "bool" | "str":
                return None
        if not self._is_exact:
            return "DOUBLE"
        if isinstance(self.bound, int):
            return None
        whole, fraction = self._digits
        return f"DECIMAL({max(whole + fraction, 1)}, {fraction})"

    def __str__(self) -> str:
        return str(self.constant)


@dataclass(frozen=True, slots=True)
class ListParameter:
    """Values that a query calls by one name, behind IN."""

    values: tuple[ValueParameter, ...]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.values))}]"


#: Those that stand in a text as ``{name}``: what they are becomes a part of it.
Inserted: TypeAlias = ColumnParameter | ColumnsParameter | ConditionParameter
Parameter: TypeAlias = Inserted | ValueParameter | ListParameter


@dataclass(frozen=True, slots=True)
class QueryTemplate:
    """A condition with queries in it, and the datasets and values that it calls by name."""

    sql: str
    references: tuple[tuple[str, OtherDataset], ...] = ()
    parameters: tuple[tuple[str, Parameter], ...] = ()

    @property
    def key(self) -> str:
        return self.key_of(self.sql)

    def key_of(self, sql: str) -> str:
        """A text that tells the condition, or one of its subqueries, from others of its words."""
        named = {slot[1:].removesuffix("}") for slot in read_query(sql).slots}
        given = [f"{name}={value}" for name, value in self.parameters if name in named]
        given += [f"{name}={one.label}" for name, one in self.references if name in named]
        return f"{sql} ({', '.join(given)})" if given else sql

    @property
    def read(self) -> QueryText:
        return read_query(self.sql)

    @property
    def aggregates(self) -> AggregateForm | None:
        """The same as aggregates of the rows, if that is all that its queries are."""
        slots = {slot: text for slot, text, _ in self._filling(marked=False)}
        return aggregate_form(self.sql, tuple(slots.items()))

    @property
    def marked(self) -> dict[str, str]:
        """What stands in the place of each parameter: a quoted column, or a marker of Spark's."""
        return {slot: text for slot, text, _ in self._filling(marked=True)}

    @property
    def bound(self) -> dict[str, Bound]:
        """The values by the names of their markers."""
        return {
            name: value for *_, given in self._filling(marked=True) for name, value in given.items()
        }

    def _filling(self, *, marked: bool) -> list[tuple[str, str, dict[str, Bound]]]:
        """For each parameter its slot, what is put there, and what is bound for it."""
        filling: list[tuple[str, str, dict[str, Bound]]] = []
        for number, (name, parameter) in enumerate(self.parameters):
            if isinstance(parameter, Inserted):
                filling.append((f"{{{name}}}", str(parameter), {}))
                continue
            is_list = isinstance(parameter, ListParameter)
            values = parameter.values if isinstance(parameter, ListParameter) else (parameter,)
            by_marker = {f"dq_{number}_{n}": value for n, value in enumerate(values)}
            texts = [
                value.sql(f":{marker}") if marked else value.literal
                for marker, value in by_marker.items()
            ]
            sql = f"({', '.join(texts)})" if is_list else texts[0]
            bound = {marker: value.bound for marker, value in by_marker.items()}
            filling.append((f":{name}", sql, bound))
        return filling


@dataclass(frozen=True, slots=True)
class QueryInPass(SqlCondition):
    """A condition with queries that is answered by aggregates; ``written`` is what its author says.

    ``sql`` says the same without queries.
    """

    written: str

    @property
    def name(self) -> str:
        return f"holds:{self.written}"

    def value(self, state: Opaque) -> bool | None:
        return truth(state, self.written)


@dataclass(frozen=True, slots=True)
class QueryCondition(Metric):
    """Whether a condition with queries is true; None where Spark does not know (NULL)."""

    template: QueryTemplate

    @property
    def name(self) -> str:
        return f"holds:{self.template.key}"

    @property
    def kind(self) -> PassKind:
        return PassKind.QUERIES

    def value(self, state: Opaque) -> bool | None:
        return truth(state, self.template.sql)


@dataclass(frozen=True, slots=True)
class QueryNumber(Metric):
    """The only value of the only row of a query."""

    template: QueryTemplate

    @property
    def name(self) -> str:
        return f"query:{self.template.key}"

    @property
    def kind(self) -> PassKind:
        return PassKind.QUERIES

    def value(self, state: Any) -> Any:
        return state


@dataclass(frozen=True, slots=True)
class QueryPart(Metric):
    """The value of a subquery of such a condition, which is known from the same run."""

    template: QueryTemplate
    subquery: str

    @property
    def name(self) -> str:
        return f"query:{self.template.key_of(self.subquery)}"

    @property
    def kind(self) -> PassKind:
        return PassKind.QUERIES

    def value(self, state: Any) -> Any:
        return state
