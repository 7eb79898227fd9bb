"""The rule that a template's number is as expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, ValidationInfo, field_validator, model_validator

from dq_dagster.errors import DeclarationError, Misfit, Problem, did_you_mean
from dq_dagster.judging.change import changed, earlier_number
from dq_dagster.judging.comparison import ExpectedNumber, Operator
from dq_dagster.judging.evidence import Evidence, number_of
from dq_dagster.judging.judgement import Judgement, Status
from dq_dagster.judging.ranges import is_nan
from dq_dagster.judging.typical import Lookback, Typical
from dq_dagster.judging.wording import plural, shortened, show, show_apart
from dq_dagster.metrics.metric import Metric, RecordCount, named_key
from dq_dagster.metrics.queries import QueryNumber, QueryTemplate
from dq_dagster.metrics.sources import AssetData, SqlAggregate
from dq_dagster.rules.base.rule import Rule, RuleFamily
from dq_dagster.rules.fields.constraints import Number
from dq_dagster.rules.templates.library import LIBRARY
from dq_dagster.rules.templates.template import (
    ComparisonText,
    PeriodChange,
    Template,
    comparison_of,
    reachable,
)

_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3_600, "days": 86_400}
_LONGEST = 120


class TemplateRule(Rule):
    """The number that a template yields is as expected.

    A template is a query with typed parameters that gives one number: a built-in one (``dq-dagster
    templates`` lists them), one of the rule set's ``templates``, or one that is written here. No
    value becomes a part of its text: columns are quoted, values bound, and conditions must be
    single conditions on a row. Where all that it does is aggregate the rows, it rides in the pass
    that all rules share.

    The template says which numbers fail, or which are fine. ``expected`` and ``operator`` replace
    the number and the sign there, and what they are said of stays: with ``fails_when: "> 0"``,
    ``expected: 5`` fails for more than 5. ``fails_when`` or ``holds_when`` say it anew.

    Templates about a change compare with the number that earlier evaluations recorded for the
    partition of so many windows of time before, or else of so many builds before. Until there is
    one, the rule is Empty. So it is where there is no number (NULL) and, unless the template says
    otherwise, where there are no rows. NaN is an Error.

    Observed: the number; of templates about a change or an age, that.

    Example::

        - type: template
          template: values_not_in_list
          parameters: {column: status, values: [shipped, returned, new]}
          expected: 1
    """

    type: Literal["template"] = "template"
    template: Template | str
    """The template's name, or the template itself: ``{sql: ..., parameters: ...}``."""
    parameters: Annotated[Mapping[str, Any], Field(validate_default=True)] = {}
    """What the template is to be given by the names that it declares."""
    expected: Number | None = None
    """The number to compare with, in place of the template's."""
    operator: Operator | None = None
    """The sign to compare with, in place of the template's, and meant as it is there: what fails,
    or what holds; best in quotes."""
    fails_when: ComparisonText | None = None
    """What number fails, such as ``"> 0"``, whatever the template says."""
    holds_when: ComparisonText | None = None
    """What number is fine, such as ``"= 0"``, whatever the template says."""

    family = RuleFamily.SQL
    named_after: ClassVar[tuple[str, ...]] = ("template_name", "subject")

    @classmethod
    def code_in(cls, fields: Mapping[str, Any]) -> str | None:
        if isinstance(fields.get("template"), Mapping | Template):
            return "a query"
        given = fields.get("parameters")
        values = given.values() if isinstance(given, Mapping) else ()
        paths = [one for one in values if isinstance(one, Mapping) and "files" in one]
        return "the path of files" if paths else super().code_in(fields)

    @field_validator("parameters")
    @classmethod
    def _fit(cls, given: Mapping[str, Any], info: ValidationInfo) -> Mapping[str, Any]:
        template = _known(info.data.get("template"))
        if template is not None:
            template.query(given)
        return given

    @model_validator(mode="after")
    def _is_compared_with_something(self) -> Self:
        template = _known(self.template)
        if template is None:
            return self
        _comparison(self, template)
        if "quality_dimension" not in self.model_fields_set:
            self.__dict__["quality_dimension"] = template.quality_dimension
        if template.change is not None and "on" not in self.model_fields_set:
            # The earlier numbers are of rows that were published.
            self.__dict__["on"] = "validated"
        return self

    def with_templates(self, templates: Mapping[str, Template]) -> Self:
        if _known(self.template) is not None:
            return self
        found = templates.get(str(self.template))
        if found is None:
            known = [*templates, *LIBRARY]
            hint = did_you_mean(str(self.template), known) or " 'dq-dagster templates' lists some."
            message = f"unknown template '{str(self.template)[:_LONGEST]}'.{hint}"
            raise DeclarationError([Problem(message, rule=self.name, field="template")])
        said = {name: getattr(self, name) for name in self.model_fields_set}
        try:
            return type(self)(**{**said, "template": found})
        except DeclarationError as error:
            problems = [replace(problem, rule=self.name) for problem in error.problems]
            raise DeclarationError(problems) from None

    @property
    def template_name(self) -> str:
        if isinstance(self.template, str):
            return self.template
        return self.template.name or "query"

    @property
    def subject(self) -> tuple[str, ...]:
        """The columns that it is about."""
        template = _known(self.template)
        given = [] if template is None else template.given(self.parameters, "column", "columns")
        return tuple(
            name for one in given for name in ([one] if isinstance(one, str) else one or ())
        )

    @property
    def other_assets(self) -> tuple[str, ...]:
        named = [one.asset for _, one in self._query.references if isinstance(one, AssetData)]
        return tuple(dict.fromkeys(named))

    @property
    def lookback(self) -> Lookback | None:
        change = self._template.change
        if change is None:
            return None
        past = Typical(learning_period=change.periods, lookback_window=change.periods)
        exact = change.periods if change.against == "value" else None
        return Lookback(past, periods=exact)

    def metrics(self) -> tuple[Metric, ...]:
        return (self._number, RecordCount(where=self.where))

    def observed_key(self, label: str = "") -> str:
        if self._template.change is None and self._template.age is None:
            return self._number.key
        kind = "change" if self._template.change is not None else "age"
        return named_key(f"{kind}:{self._number.name}", self.where)

    def judge(self, evidence: Evidence) -> Judgement:
        number, counted = self.metrics()
        rows = evidence[counted]
        if not rows and not self._template.judges_no_rows:
            return Judgement.of_no_rows()
        value = evidence[number]
        if value is None:
            return Judgement.of_nothing(f"{self._what} has no value", rows=rows)
        if number_of(value) is None:
            raise Misfit.query_number(show(value))
        return replace(self._judged(value, evidence), rows=rows)

    def demand(self) -> str:
        about = self._template.description
        words = f" {about[:1].upper()}{about[1:]}" if about else ""
        return f"{self._what} is {self._expected.words()}.{words}"

    def _judged(self, value: Any, evidence: Evidence) -> Judgement:
        template = self._template
        if template.age is not None:
            age = (evidence.now.timestamp() - float(value)) / _SECONDS[template.age]
            return self._verdict(age, "is", f" ({template.age})")
        if template.change is None:
            return self._verdict(value, "is")
        return self._changed(value, template.change, evidence)

    def _changed(self, value: Any, change: PeriodChange, evidence: Evidence) -> Judgement:
        average, share = change.against == "average", change.by == "share"
        periods = plural(change.periods, "period")
        before = earlier_number(evidence, self._number, change.periods, average=average)
        if before is None:
            values = plural(change.periods, "earlier value")
            lacking = (
                f"there are not yet {values} to average"
                if average
                else f"there is none on record of {periods} ago to compare with"
            )
            return Judgement.of_nothing(f"{self._what} was {show(value)}, and {lacking}")
        past = f"the average of the last {periods}" if average else f"that of {periods} ago"
        details = f"{', as a share' * share}, from {show(before)} ({past}) to {show(value)}"
        size = changed(value, before, share=share, signed=change.signed)
        return self._verdict(size, "changed by", details)

    def _verdict(self, value: Any, verb: str, details: str = "") -> Judgement:
        comparison = self._expected
        fine, words = comparison.is_met(value), comparison.words()
        shown = show_apart(value, comparison.expected)
        verdict = f"as expected ({words})" if fine else f"but {words} is expected"
        if is_nan(value):
            shown, verdict = "NaN (not a number)", "which is never as expected"
        return Judgement(
            Status.OK if fine else Status.ERROR,
            f"{self._what} {verb} {shown}{details}, {verdict}.",
            observed=value,
            expected=comparison.words(),
        )

    @property
    def _template(self) -> Template:
        template = _known(self.template)
        if template is None:
            message = f"unknown template '{self.template}': put the rule into a rule set."
            raise DeclarationError([Problem(message, rule=self.name)])
        return template

    @cached_property
    def _query(self) -> QueryTemplate:
        return self._template.query(self.parameters)

    @property
    def _number(self) -> Metric:
        query = self._query
        found = query.aggregates
        if found is None:
            return QueryNumber(query, where=self.where)
        return SqlAggregate(found.condition, where=self.where)

    @property
    def _expected(self) -> ExpectedNumber:
        return _comparison(self, self._template)

    @property
    def _what(self) -> str:
        given = ", ".join(f"{name}: {_shown(one)}" for name, one in self.parameters.items())
        return f"'{self.template_name}'" + (
            f" ({shortened(given, most=_LONGEST)})" if given else ""
        )


def _known(template: Any) -> Template | None:
    return LIBRARY.get(template) if isinstance(template, str) else template


def _comparison(rule: TemplateRule, template: Template) -> ExpectedNumber:
    """What the number must be, by the rule and its template; raises ValueError if nobody says."""
    own = comparison_of(rule.fails_when, rule.holds_when)
    replaced = rule.expected is not None or rule.operator is not None
    if own is not None:
        if replaced:
            raise ValueError(
                f"{own.sense}_when says it all: leave expected and operator out beside it"
            )
        return own
    comparison = template.comparison
    if comparison is None:
        raise ValueError(
            "the template says no number to compare with: give fails_when, such as '> 100', or "
            "holds_when"
        )
    operator = comparison.operator if rule.operator is None else rule.operator
    expected = comparison.expected if rule.expected is None else rule.expected
    return ExpectedNumber(comparison.sense, operator, reachable(expected))


def _shown(written: Any) -> str:
    """A parameter as its author wrote it."""
    if isinstance(written, Mapping):
        return ", ".join(f"{key} {_shown(one)}" for key, one in written.items())
    if isinstance(written, list | tuple):
        return f"[{', '.join(map(_shown, written))}]"
    return str(written) if isinstance(written, str | Decimal) else show(written)
