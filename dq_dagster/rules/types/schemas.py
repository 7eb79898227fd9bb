"""Rules about the schema: the columns, their types and meanings, and how long their texts are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import PrivateAttr

from dq_dagster.errors import Misfit
from dq_dagster.judging.evidence import Evidence
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.schemas import OK, Comparison, Length, Line
from dq_dagster.judging.wording import are, plural
from dq_dagster.metrics.metric import Metric
from dq_dagster.metrics.schema import ActualSchema, Field, LongestText, Path, meanings_by_path, walk
from dq_dagster.rules.base.rule import Rule, RuleFamily
from dq_dagster.rules.fields.constraints import QualityDimension
from dq_dagster.rules.fields.schema_columns import (
    DECLARED,
    ExpectedColumns,
    SchemaColumn,
    fields_of,
)

_MOST_FAULTS = 5
_MOST_COLUMNS = 10


class SchemaRule(Rule):
    """The columns are compared with expected ones, at every depth of structs, arrays and maps."""

    expected: ExpectedColumns
    """The columns, each with ``name`` and ``type``, and where wanted ``meaning`` and
    ``max_length``; or ``declared``: those that the rule set or the asset declares."""
    quality_dimension: QualityDimension = "consistency"
    """Which quality the rule speaks of."""

    exact: ClassVar[bool]
    # What the asset is said to have: its meanings, and the columns where they are expected.
    _declared: tuple[Field, ...] | None = PrivateAttr(default=None)

    family = RuleFamily.SCHEMAS
    judges_rows = False

    def with_defaults(
        self, *, declared_schema: Sequence[SchemaColumn] | None = None, **defaults: Any
    ) -> Self:
        rule = super().with_defaults(**defaults)
        if declared_schema is None:
            return rule
        copy = rule.model_copy()
        copy._declared = fields_of(declared_schema)  # noqa: SLF001 (a copy of this rule)
        return copy

    def metrics(self) -> tuple[Metric, ...]:
        return (ActualSchema(), *(LongestText(path) for path in self._limited()))

    def judge(self, evidence: Evidence) -> Judgement:
        fields = self._fields
        if fields is None:
            raise Misfit.no_declared_schema()
        actual = evidence[ActualSchema()]
        lengths: dict[Path, Length] = {
            path: evidence.values.get(LongestText(path)) for path in self._limited()
        }
        meanings = meanings_by_path(self._declared or ())
        lines = Comparison(self.exact, meanings, lengths).lines(fields, actual)
        bad = [line for line in lines if line.verdict != OK]
        return Judgement(
            Status.ERROR if bad else Status.OK,
            self._message(lines, bad),
            observed=len(bad),
            expected=self._expectation(fields),
            details={"schema": [line.row(index) for index, line in enumerate(lines, 1)]},
        )

    def demand(self) -> str:
        if self._fields is None:
            return f"{self._opening()} the declared columns."
        shown = [f"'{field.name}' {field.shape}" for field in self._fields[:_MOST_COLUMNS]]
        more = len(self._fields) - len(shown)
        listed = ", ".join(shown) + (f" and {more:,} more" if more else "")
        return f"{self._opening()} {listed}."

    @abstractmethod
    def _opening(self) -> str:
        """How the demand begins."""

    @abstractmethod
    def _expectation(self, fields: Sequence[Field]) -> str:
        """What is expected, in a few words."""

    @property
    def _fields(self) -> tuple[Field, ...] | None:
        return self._declared if self.expected == DECLARED else fields_of(self.expected)

    def _limited(self) -> list[Path]:
        """The texts whose length has to be measured."""
        every = walk(self._fields or ())
        return [path for path, field in every if field.max_length is not None]

    def _message(self, lines: Sequence[Line], bad: Sequence[Line]) -> str:
        noun = "column or field" if any(len(line.path) > 1 for line in lines) else "column"
        if not bad:
            if len(lines) == 1:
                return "The 1 column is as expected."
            return f"All {_counted(len(lines), noun)} are as expected."
        faults = [line.sentence() for line in bad[:_MOST_FAULTS]]
        if len(bad) > _MOST_FAULTS:
            faults.append(f"and {len(bad) - _MOST_FAULTS:,} more")
        count = f"{len(bad):,} of {_counted(len(lines), noun)}"
        return f"{count} {are(len(bad))} not as expected: {'; '.join(faults)}."


def _counted(count: int, noun: str) -> str:
    return plural(count, noun).replace("column or fields", "columns and fields")


class SchemaEquals(SchemaRule):
    """The columns are exactly the expected ones: names, types and order, none missing, none more.

    Types are compared at every depth of structs, arrays and maps, whether they may be NULL is
    not. Names are compared in upper and lower case as they are. A column's ``meaning`` is what
    the data says of it (the key ``meaning`` of the Spark field's metadata), else what the declared
    schema says; ``any`` or omitted is not checked. ``max_length`` limits the characters of a
    string, -1 or omitted does not.

    Observed: the number of columns and fields that are not as expected.

    Example::

        - type: schema_equals
          expected:
            - {name: order_id, type: int}
            - {name: customer, type: string, max_length: 50}
            - {name: email, type: string}
            - {name: country, type: string, max_length: 2}
            - {name: status, type: string}
            - {name: amount, type: "decimal(10,2)"}
            - {name: items, type: int}
            - {name: weight, type: double}
            - {name: ordered_at, type: timestamp}
            - {name: shipped_on, type: date}
    """

    type: Literal["schema_equals"] = "schema_equals"
    exact = True

    def _opening(self) -> str:
        return "The columns are exactly"

    def _expectation(self, fields: Sequence[Field]) -> str:
        return f"exactly {plural(len(fields), 'column')}, in order"


class SchemaContains(SchemaRule):
    """The expected columns are there, with their types; more may be, in any order.

    Types, names, meanings and lengths are compared as by ``schema_equals``; structs may have
    further fields, too.

    Observed: the number of expected columns and fields that are not as expected.

    Example::

        - type: schema_contains
          expected:
            - {name: amount, type: "decimal(10,2)"}
            - {name: email, type: string, max_length: 254}
    """

    type: Literal["schema_contains"] = "schema_contains"
    exact = False

    def _opening(self) -> str:
        return "The columns contain"

    def _expectation(self, fields: Sequence[Field]) -> str:
        return f"at least {plural(len(fields), 'column')}"
