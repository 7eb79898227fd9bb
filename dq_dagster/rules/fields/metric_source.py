"""Where the value of a metric comes from, as people declare it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from dq_dagster.errors import Problem, did_you_mean
from dq_dagster.metrics.conditions import IsEmpty
from dq_dagster.metrics.frequency import DistinctCount, Grouping, UniqueCount
from dq_dagster.metrics.metric import (
    ColumnAvg,
    ColumnCount,
    ColumnMax,
    ColumnMedian,
    ColumnMin,
    ColumnStddev,
    ColumnSum,
    ConditionCount,
    Metric,
    RecordCount,
)
from dq_dagster.metrics.sources import MetadataMetric, PythonMetric, QueryMetric, SqlAggregate
from dq_dagster.rules.fields.constraints import AggregateSql, QuerySql
from dq_dagster.rules.fields.declared import Declared
from dq_dagster.rules.fields.problems import problems_of
from dq_dagster.rules.fields.python_function import (
    PythonFunction,
    function_at,
    path_of,
    refuse_misfit,
)
from dq_dagster.rules.fields.reference import AnyAsset

# Of a column, whether blank strings are empty there, and a row filter.
_Maker = Callable[[str, bool, str | None], Metric]

_OF_COLUMNS: Mapping[str, _Maker] = {
    "column_min": lambda column, blank, where: ColumnMin(column, blank, where=where),
    "column_max": lambda column, blank, where: ColumnMax(column, blank, where=where),
    "column_avg": lambda column, blank, where: ColumnAvg(column, blank, where=where),
    "column_sum": lambda column, blank, where: ColumnSum(column, blank, where=where),
    "column_stddev": lambda column, blank, where: ColumnStddev(column, blank, where=where),
    "column_median": lambda column, blank, where: ColumnMedian(column, blank, where=where),
    "empty_count": lambda column, blank, where: ConditionCount(IsEmpty(column, blank), where=where),
    "unique_count": lambda column, blank, where: UniqueCount(
        Grouping((column,), blank, where), where=where
    ),
    "distinct_count": lambda column, blank, where: DistinctCount(
        Grouping((column,), blank, where), where=where
    ),
}
ROWS, COLUMNS = "record_count", "column_count"
MEASURES = (ROWS, COLUMNS, *_OF_COLUMNS)


def is_measure(text: str) -> bool:
    """Whether a text means a measure rather than the name of a metric, be it right or wrong."""
    return ":" in text or text in MEASURES


def checked(text: str) -> str:
    """The text; raises ValueError if it means no measure."""
    word, colon, column = text.partition(":")
    if word in _OF_COLUMNS:
        if not column:
            raise ValueError(f"'{word}' needs a column, such as {word}:amount")
    elif word not in MEASURES:
        hint = did_you_mean(word, MEASURES) or f" Known measures: {', '.join(MEASURES)}."
        raise ValueError(f"unknown measure '{word}'.{hint}")
    elif colon:
        raise ValueError(f"'{word}' is of the whole table and takes no column")
    return text


def measure(text: str, *, blank_is_empty: bool, where: str | None) -> Metric:
    """The metric that a text means."""
    word, _, column = text.partition(":")
    if word == ROWS:
        return RecordCount(where=where)
    if word == COLUMNS:
        return ColumnCount()
    return _OF_COLUMNS[word](column, blank_is_empty, where)


TABLE = "{table}"
_FORMS = ("measure", "sql", "query", "python", "metadata")


def _reads_the_data(query: str) -> str:
    if TABLE not in query:
        raise ValueError(f"the query must read the data, which it calls {TABLE}")
    return query


def _new_name(name: str) -> str:
    if name in MEASURES:
        raise ValueError(f"'{name}' is a measure already")
    return name


MetricName: TypeAlias = Annotated[str, Field(pattern=r"^\w+$"), AfterValidator(_new_name)]


class MetricSource(Declared):
    """One of ``measure``, ``sql``, ``query``, ``python`` and ``metadata``; a text is a measure.

    Queries and functions are run as they are: only declare those that you trust.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: MetricName | None = None
    """What the metric is called in messages and on record."""
    measure: Annotated[str, AfterValidator(checked)] | None = None
    """A measure of the rows, such as ``column_avg:amount`` or ``record_count``."""
    sql: AggregateSql | None = None
    """An expression over aggregates of the rows, such as ``sum(amount) / count(*)``."""
    query: Annotated[QuerySql, AfterValidator(_reads_the_data)] | None = None
    """A query in SQL with one row, over the data as ``{table}``."""
    python: PythonFunction | None = None
    """A function of data and context that returns a value, or several by name; or where it stands:
    ``package.module:function``."""
    metadata: Annotated[str, Field(min_length=1)] | None = None
    """A key of the latest materialization's metadata, such as ``dagster/row_count``."""
    asset: AnyAsset = None
    """The asset whose metadata is meant, if it is another one."""
    column: str | None = None
    """Which column of the query, or which of the function's values, where there are several."""

    @classmethod
    def code_in(cls, declared: Any) -> str | None:
        """What of a declared metric would be run as its author wrote it, if anything is."""
        given = declared if isinstance(declared, Mapping) else {}
        forms = {"query": "a query", "python": "a function of Python"}
        return next((words for form, words in forms.items() if given.get(form) is not None), None)

    @model_validator(mode="after")
    def _is_one_source(self) -> Self:
        given = [form for form in _FORMS if getattr(self, form) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise ValueError(f"one of {', '.join(_FORMS)} is needed, not {found}")
        if self.asset is not None and self.metadata is None:
            raise ValueError("'asset' goes with metadata only")
        if self.column is not None and not self.has_entries:
            raise ValueError("'column' goes with query and python only")
        if self.python is not None:
            refuse_misfit(function_at(self.python), {})
        return self

    @property
    def has_entries(self) -> bool:
        """Whether there may be several values, of which one is meant."""
        return self.query is not None or self.python is not None

    @property
    def label(self) -> str:
        """What messages call the metric."""
        column = f".{self.column}" if self.column else ""
        return f"{self.name or self._unnamed}{column}"

    @property
    def _unnamed(self) -> str:
        if self.python is not None:
            return path_of(self.python)
        if self.metadata is not None:
            return f"metadata:{self.metadata}"
        return self.measure or " ".join((self.sql or self.query or "").split())

    def metric(
        self, *, blank_is_empty: bool, where: str | None, asset: str | None = None
    ) -> Metric:
        """What has to be measured; ``asset`` names the one whose metadata is meant by default."""
        label = self.name or self._unnamed
        if self.measure is not None:
            return measure(self.measure, blank_is_empty=blank_is_empty, where=where)
        if self.sql is not None:
            return SqlAggregate(self.sql, where=where)
        if self.query is not None:
            return QueryMetric(label, self.column, self.query, where=where)
        if self.python is not None:
            return PythonMetric(label, self.column, function_at(self.python), where=where)
        return MetadataMetric(self.metadata or "", self.asset or asset)

    def refuse_filter(self, where: str | None) -> None:
        """Raises ValueError if a row filter would have no effect on this metric."""
        if where is not None and (self.metadata is not None or self.measure == COLUMNS):
            raise ValueError(f"'{self.label}' is not about rows, so a row filter means nothing")


def _from_short_form(declared: Any) -> Any:
    """A function stands for ``{python: ...}``, the text of a measure for ``{measure: ...}``."""
    if isinstance(declared, str) and is_measure(declared):
        return {"measure": checked(declared)}
    if isinstance(declared, MetricSource | str | Mapping) or not callable(declared):
        return declared
    return {"python": declared}


def _named(declared: MetricSource | str) -> MetricSource | str:
    if isinstance(declared, str) and not declared.partition(".")[0].isidentifier():
        raise ValueError(f"'{declared}' is neither a measure nor the name of a metric")
    return declared


AnyMetric: TypeAlias = Annotated[
    MetricSource | str | SkipJsonSchema[Callable[..., Any]],
    BeforeValidator(_from_short_form),
    AfterValidator(_named),
]


_SOURCE: TypeAdapter[MetricSource] = TypeAdapter(
    Annotated[MetricSource, BeforeValidator(_from_short_form)]
)


def parse_metrics(declared: Mapping[str, Any], problems: list[Problem]) -> dict[str, MetricSource]:
    """The declared metrics by name; what is wrong with any is added to ``problems``."""
    found: dict[str, MetricSource] = {}
    for name, written in declared.items():
        try:
            source = _SOURCE.validate_python(written)
            found[name] = MetricSource.model_validate({**dict(source), "name": name})
        except ValidationError as error:
            problems += [
                Problem(f"metric '{name}': {problem.message}", field="metrics")
                for problem in problems_of(error, MetricSource, {})
            ]
    return found


def resolved(metric: Any, declared: Mapping[str, MetricSource]) -> MetricSource:
    """The source of a metric that may be named as ``name`` or ``name.column``."""
    if isinstance(metric, MetricSource):
        return metric
    name, dot, column = str(metric).partition(".")
    source = declared.get(name)
    if source is None:
        known = [*declared, *MEASURES]
        hint = did_you_mean(name, known) or f" Known metrics: {', '.join(known)}."
        raise ValueError(f"unknown metric '{name}'.{hint}")
    if dot and not source.has_entries:
        raise ValueError(f"metric '{name}' has no parts, so '{metric}' means nothing")
    return source.model_copy(update={"name": name, "column": column or source.column})
