"""Rules whose condition is written by their author: in SQL, or in Python."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from dq_dagster.errors import RuleFailure
from dq_dagster.judging.answers import judgement_of
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.ranges import in_zone, is_nan
from dq_dagster.judging.wording import do, shortened, show
from dq_dagster.metrics.conditions import BreaksAcrossRows, Fault, RowBreaks
from dq_dagster.metrics.metric import ConditionCount, Metric, RecordCount
from dq_dagster.metrics.queries import QueryCondition, QueryInPass, QueryPart, QueryTemplate
from dq_dagster.metrics.sources import PythonCall, SqlAggregate, SqlCondition
from dq_dagster.rules.base.rule import RowRule, Rule, RuleFamily
from dq_dagster.rules.fields.constraints import AggregateSql, QuerySql, row_sql
from dq_dagster.rules.fields.python_function import (
    PythonFunction,
    function_at,
    path_of,
    refuse_misfit,
)
from dq_dagster.rules.fields.sql_parameters import (
    Parameters,
    References,
    parameter,
    refuse_unknown_names,
)
from dq_dagster.rules.fields.threshold import ALL, EitherThreshold, leniency, on_bad_rows
from dq_dagster.sql.across_rows import needs_other_rows
from dq_dagster.sql.expressions import aggregate_calls, handles_nan


class RowExpectation(RowRule):
    """Every row meets a condition in SQL, up to ``threshold``.

    It means what it means to Spark, which holds NaN for greater than every number: ``amount > 0``
    is true of it. Say ``amount > 0 and not isnan(amount)``, or use ``column_values_in_range``, to
    which NaN is never within the range.

    With ``across_rows`` the condition may look beyond its row: at the others by window functions,
    such as ``amount <= 10 * avg(amount) over (partition by customer)``, and at tables of Spark's
    catalog by subqueries. The others are those of the same partition, if partitions are judged, and
    those that pass ``where``. An order that leaves open which of two rows comes first leaves the
    answer open as well. Such a condition is trusted: it comes from Python, or from files that the
    deployment loads.

    Observed: the number of rows that do not.

    Example::

        - type: row_dq
          name: shipped_after_ordered
          expectation: shipped_on >= to_date(ordered_at)
          where: status = 'shipped'
          threshold: 0.01
    """

    type: Literal["row_dq"] = "row_dq"
    across_rows: bool = False
    """Whether the predicate may look at other rows by window functions, and at tables by
    subqueries."""
    expectation: str
    """The predicate: no aggregates; subqueries and window functions only with ``across_rows``."""
    null_is: Literal["fail", "pass"] = "fail"
    """What an unknown answer (NULL) means for a row."""
    threshold: EitherThreshold = ALL
    """The failing rows tolerated: a share such as 0.01, a number such as 3, or bounds."""

    family = RuleFamily.SQL
    named_after: ClassVar[tuple[str, ...]] = ("expectation",)
    observes_first_metric = True

    @classmethod
    def code_in(cls, fields: Mapping[str, Any]) -> str | None:
        beyond = fields.get("across_rows") not in (None, False)
        return "a condition across rows" if beyond else super().code_in(fields)

    @field_validator("expectation")
    @classmethod
    def _is_acceptable(cls, text: str, info: ValidationInfo) -> str:
        return row_sql(text, across_rows=info.data.get("across_rows", False))

    @model_validator(mode="after")
    def _is_judged_as_a_whole(self) -> Self:
        if self.across_rows and self.dimensions:
            raise ValueError("'dimensions' cannot be combined with 'across_rows'")
        return self

    def faults(self) -> tuple[Fault, ...]:
        null_breaks = self.null_is == "fail"
        if self.across_rows and needs_other_rows(self.expectation):
            condition = BreaksAcrossRows(
                self.expectation, null_breaks, self.where, whole=self.judges_whole
            )
            return (self.blame(condition),)
        return (self.blame(RowBreaks(self.expectation, null_breaks=null_breaks)),)

    def metrics(self) -> tuple[Metric, ...]:
        return (*map(ConditionCount.of, self.faults()), RecordCount(where=self.where))

    def judge(self, evidence: Evidence) -> Judgement:
        bad, rows = evidence.each(self.metrics())
        says = f"{do(bad)} not meet '{shortened(self.expectation)}'"
        return on_bad_rows(self.threshold, bad, rows).judgement(says)

    def demand(self) -> str:
        return f"Every row meets: {self.expectation}{leniency(self.threshold)}."


_MOST_SHOWN = 6


class DatasetExpectation(Rule):
    """A condition in SQL on all rows together, and the values that it is made of."""

    expectation: str
    """The condition."""
    null_is: Literal["fail", "pass"] = "fail"
    """What an unknown answer (NULL) means."""

    family = RuleFamily.SQL
    named_after: ClassVar[tuple[str, ...]] = ("expectation",)
    # What its values are called.
    noun: ClassVar[str] = "aggregate"

    @property
    @abstractmethod
    def _answer(self) -> Metric:
        """Whether the condition holds."""

    @property
    @abstractmethod
    def _parts(self) -> Mapping[str, Metric]:
        """The values that it is made of, by their text."""

    @property
    @abstractmethod
    def _handles_nan(self) -> bool:
        """Whether the condition says itself what is to become of NaN."""

    def metrics(self) -> tuple[Metric, ...]:
        return (self._answer, *self._parts.values(), self._rows)

    def observed_metrics(self, evidence: Evidence) -> tuple[Metric, ...]:
        # The answer is what the verdict says, and a text may be one of a row.
        parts = [m for m in self._parts.values() if not isinstance(evidence.values.get(m), str)]
        return (*parts, self._rows)

    def observed_values(self, judgement: Judgement) -> Mapping[str, Any]:
        return dict.fromkeys(metric.key for metric in self._parts.values())

    def judge(self, evidence: Evidence) -> Judgement:
        answer: bool | None = evidence[self._answer]
        rows = evidence[self._rows]
        if not rows and answer is None:
            return Judgement.of_no_rows()
        values = self._values(evidence)
        status, verdict = self._verdict(values, answer=answer)
        over = "" if rows else " over no rows"
        return Judgement(
            status,
            f"'{shortened(self.expectation)}' {verdict}{over}{self._listed(values)}.",
            observed=values if len(self._parts) > 1 else next(iter(values.values()), None),
            expected=shortened(self.expectation),
            rows=rows,
        )

    def _verdict(self, values: Mapping[str, Any], *, answer: bool | None) -> tuple[Status, str]:
        if answer is None:
            passes = self.null_is == "pass"
            word = "passes" if passes else "fails"
            return Status.OK if passes else Status.ERROR, f"is unknown (NULL), which {word}"
        if not answer:
            return Status.ERROR, "does not hold"
        if any(map(is_nan, values.values())) and not self._handles_nan:
            article = "an" if self.noun[0] in "aeiou" else "a"
            says = f"is not to be trusted, as {article} {self.noun} is NaN (not a number)"
            return Status.ERROR, says
        return Status.OK, "holds"

    def _values(self, evidence: Evidence) -> dict[str, Any]:
        """The values by their text, without any that could not be measured."""
        found = {text: evidence.values.get(metric) for text, metric in self._parts.items()}
        return {
            text: in_zone(value, evidence.zone)
            for text, value in found.items()
            if not isinstance(value, RuleFailure)
        }

    def _listed(self, values: Mapping[str, Any]) -> str:
        """The end of the sentence: each text with its value."""
        if not values:
            return ""
        shown = [f"{shortened(text)} = {show(value)}" for text, value in values.items()]
        more = len(shown) - _MOST_SHOWN
        last = [f"and {more:,} more {self.noun}s"] if more > 0 else []
        return f": {', '.join([*shown[:_MOST_SHOWN], *last])}"

    @property
    def _rows(self) -> RecordCount:
        return RecordCount(where=self.where)


class AggregateExpectation(DatasetExpectation):
    """A condition in Spark SQL over aggregates of all rows holds.

    Every column stands within an aggregate. ``where`` leaves rows out before anything is
    aggregated. Over no rows the condition is what SQL says: ``count(*) > 0`` is false; only an
    unknown answer (NULL) is Empty there. NaN is never right by chance: Spark holds it for greater
    than every number, so an expectation that holds although an aggregate is NaN is an Error, unless
    it speaks of NaN itself (``isnan``, ``nanvl``).

    Observed: the value of the aggregate, or of each aggregate where there are several.

    Example::

        - type: agg_dq
          expectation: sum(amount) > 100 and count(distinct country) between 2 and 50
    """

    type: Literal["agg_dq"] = "agg_dq"
    expectation: AggregateSql
    """The condition, such as ``avg(price) between 18 and 25``: at least one aggregate, no
    subqueries, no window functions. ``FILTER (WHERE ...)`` may follow an aggregate."""

    def demand(self) -> str:
        return f"The rows together meet: {self.expectation}."

    @property
    def _answer(self) -> SqlCondition:
        return SqlCondition(self.expectation, where=self.where)

    @property
    def _parts(self) -> dict[str, SqlAggregate]:
        calls = aggregate_calls(self.expectation)
        return {call.text: SqlAggregate(call.text, where=self.where) for call in calls}

    @property
    def _handles_nan(self) -> bool:
        return handles_nan(self.expectation)


class QueryExpectation(DatasetExpectation):
    """A condition on queries in Spark SQL holds, which may look at other data beside the rows.

    It compares scalar subqueries, or it is a whole query that gives one row with one column, which
    is true or false. What it speaks of, it calls by name:

    - ``{table}``: the rows, without those that ``where`` leaves out.
    - ``{name}``: another asset, a table or files, as ``references`` has it.
    - ``:name``: a value of ``parameters``; behind ``in`` also a list of values. A parameter such as
      ``{column: amount}`` is a column, which is called ``{name}``.

    No value becomes a part of the text: Spark binds values, and columns are quoted. Tables of
    Spark's catalog may be named as they are, files only by reference. Nothing but a single query
    or condition is taken, so that nothing can be changed by it.

    Queries that only aggregate the rows (``select sum(amount) from {table} where items > 1``) are
    answered in the pass that all rules share; others are run as they are, side by side. Over no
    rows, for an unknown answer (NULL) and for NaN the same holds as for ``agg_dq``. It is SQL that
    is trusted: it comes from Python, or from files that the deployment loads.

    Observed: the value of the subquery, or of each where there are several; of a whole query over
    ``{table}`` alone, its aggregates.

    Example::

        - type: query_dq
          expectation: >-
            (select count(distinct customer) from {table} where status <> :status)
            <= (select count(*) from {customers})
          references: {customers: {asset: customers}}
          parameters: {status: cancelled}
    """

    type: Literal["query_dq"] = "query_dq"
    expectation: QuerySql
    """The condition, such as ``(select sum(amount) from {table}) > 10``, or a query such as
    ``select count(*) = 0 from {table} join {rates} using (day) where rate is null``."""
    references: References = Field(default={})
    """Other datasets by the names that the query calls them by: ``{rates: {asset: rates}}``."""
    parameters: Parameters = Field(default={})
    """Values by the names that the query calls them by: numbers, texts, booleans, dates and times,
    lists of these, or ``{column: ...}``."""

    noun: ClassVar[str] = "value"
    trusted: ClassVar[bool] = True
    code: ClassVar[str] = "a query"

    @model_validator(mode="after")
    def _calls_what_is_declared(self) -> Self:
        refuse_unknown_names(self._template.read, self.references, dict(self._template.parameters))
        return self

    @property
    def other_assets(self) -> tuple[str, ...]:
        named = [one.asset for one in self.references.values() if one.asset is not None]
        return tuple(dict.fromkeys(named))

    def demand(self) -> str:
        given = ", ".join(f":{name} is {value!r}" for name, value in self.parameters.items())
        return f"This holds: {self.expectation}{f', where {given}' if given else ''}."

    @property
    def _template(self) -> QueryTemplate:
        return QueryTemplate(
            self.expectation,
            tuple((name, one.dataset) for name, one in self.references.items()),
            tuple((name, parameter(one)) for name, one in self.parameters.items()),
        )

    @property
    def _answer(self) -> QueryInPass | QueryCondition:
        template = self._template
        found = template.aggregates
        if found is None:
            return QueryCondition(template, where=self.where)
        return QueryInPass(found.condition, template.key, where=self.where)

    @property
    def _parts(self) -> dict[str, Metric]:
        template = self._template
        found = template.aggregates
        if found is None:
            values = template.read.values
            return {one.text: QueryPart(template, one.text, where=self.where) for one in values}
        return {text: SqlAggregate(sql, where=self.where) for text, sql in found.parts}

    @property
    def _handles_nan(self) -> bool:
        return self._template.read.handles_nan


class PythonRule(Rule):
    """A function of yours gets the data and gives the verdict.

    It is called as ``function(data, context, **arguments)``: ``data`` is the Spark DataFrame (the
    rows that pass ``where``), ``context`` has ``caller`` (the rule's name), ``asset``,
    ``partition`` and ``now``. It returns a boolean, ``(status, message)``, ``(status, observed,
    message)``, or an object with these as attributes, such as ``dq.plugins.Judgement``; a status is
    ``Ok``, ``Warning``, ``Error`` or ``Empty``. If it raises, the rule is an Error that says what
    was raised. It is run as it is: only name functions that you trust.

    Observed: what the function says it observed.

    Example::

        - type: python
          function: examples.python_rules:no_gaps
          arguments: {column: order_id}
    """

    type: Literal["python"] = "python"
    function: PythonFunction
    """The function, or where it stands: ``package.module:function``."""
    arguments: Mapping[str, Any] = {}
    """What the function gets beside data and context, as keyword arguments."""

    family = RuleFamily.PYTHON
    trusted: ClassVar[bool] = True
    code: ClassVar[str] = "a function of Python"
    named_after: ClassVar[tuple[str, ...]] = ("function_name",)

    @model_validator(mode="after")
    def _can_be_called(self) -> Self:
        refuse_misfit(function_at(self.function), self.arguments)
        return self

    def metrics(self) -> tuple[Metric, ...]:
        return (self._call,)

    def observed_metrics(self, evidence: Evidence) -> tuple[Metric, ...]:
        return ()

    def judge(self, evidence: Evidence) -> Judgement:
        return judgement_of(evidence[self._call])

    def demand(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"The function '{self._path}'{f' with {given}' if given else ''} accepts the data."

    @property
    def function_name(self) -> str:
        """The function's own name, without its module."""
        return self._path.rpartition(":")[2].rpartition(".")[2]

    @property
    def _path(self) -> str:
        return path_of(self.function)

    @property
    def _call(self) -> PythonCall:
        return PythonCall(self.name, function_at(self.function), self.arguments, where=self.where)
