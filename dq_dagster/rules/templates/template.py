"""What a template is: a query with parameters, and what its number is compared with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from dq_dagster.errors import Problem, did_you_mean
from dq_dagster.judging.comparison import ExpectedNumber, Operator
from dq_dagster.metrics.constant import nearest_float
from dq_dagster.metrics.queries import Parameter, QueryTemplate
from dq_dagster.rules.fields.constraints import Period, QualityDimension, QuerySql, refuse_vast
from dq_dagster.rules.fields.declared import Declared
from dq_dagster.rules.fields.problems import problems_of
from dq_dagster.rules.fields.reference import Reference
from dq_dagster.rules.templates.parameters import TemplateParameter, shown
from dq_dagster.sql.queries import TABLE, read_query
from dq_dagster.sql.refusal import Refusal

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_COMPARISON = re.compile(
    r"\s*(<=|>=|!=|<>|==|=|<|>)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*"
)
_ALSO: Mapping[str, Operator] = {"<>": "!=", "==": "="}
_MOST_PARAMETERS = 50


def read_comparison(text: str) -> tuple[Operator, int | float | Decimal]:
    """The sign and the number of a text such as ``> 0``; raises ValueError if it is neither."""
    found = _COMPARISON.fullmatch(text) if len(text) <= _MOST_PARAMETERS * 2 else None
    if found is None:
        raise ValueError(
            "a comparison with a number is needed, such as '> 0' (one of < <= = != >= >), not "
            f"{shown(text)}"
        )
    sign, digits = found.groups()
    exact = Decimal(digits)
    refuse_vast(exact)
    operator: Any = _ALSO.get(sign, sign)
    if re.fullmatch(r"[-+]?\d+", digits):
        return operator, reachable(int(exact))
    nearest = float(digits)
    # A decimal where a float would have other digits: 1e-999 would be zero.
    return operator, reachable(nearest if Decimal(repr(nearest)) == exact else exact)


def reachable(expected: int | float | Decimal) -> int | float | Decimal:
    """A number to compare with; raises ValueError for one that no query gives."""
    if nearest_float(expected) is None:
        raise ValueError(
            f"no query gives a number as large as {Decimal(expected):.3g}, so that the comparison "
            "would always say the same"
        )
    return expected


def _checked(text: str) -> str:
    read_comparison(text)
    return text


ComparisonText: TypeAlias = Annotated[str, AfterValidator(_checked)]


def comparison_of(fails_when: str | None, holds_when: str | None) -> ExpectedNumber | None:
    """What one of both says; None if neither is given. Raises ValueError for both."""
    if fails_when is not None and holds_when is not None:
        raise ValueError("fails_when and holds_when say opposite things: give one of them")
    if fails_when is not None:
        return ExpectedNumber("fails", *read_comparison(fails_when))
    return None if holds_when is None else ExpectedNumber("holds", *read_comparison(holds_when))


def _is_one_query(sql: str) -> str:
    found = read_query(sql)
    if not found.is_query:
        raise ValueError(f"a query that gives one number is needed, such as {_EXAMPLE}")
    if TABLE not in found.slots:
        raise ValueError(f"the query must read the rows, which it calls {TABLE}")
    return sql


_EXAMPLE = f"'select count(*) from {TABLE}'"  # noqa: S608 (shown to people)


class PeriodChange(Declared):
    """How much a number differs from what it was some periods ago."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    periods: Period = 1
    """How many periods ago: partitions before this one, where they are windows of time; else
    earlier builds."""
    against: Literal["value", "average"] = "value"
    """What it is compared with: the ``value`` of that period, or the ``average`` of all since."""
    by: Literal["share", "difference"] = "share"
    """How the change is counted: as a ``share`` of the earlier number, or as the ``difference``."""
    signed: bool = False
    """Whether a number that became smaller changed by less than 0; else only the size counts."""


def _parameters(declared: Any) -> Any:
    """``name: column`` is short for ``name: {type: column}``."""
    if not isinstance(declared, Mapping):
        return declared
    if len(declared) > _MOST_PARAMETERS:
        raise ValueError(f"a template has at most {_MOST_PARAMETERS} parameters")
    return {name: {"type": one} if isinstance(one, str) else one for name, one in declared.items()}


class Template(Declared):
    """SQL with typed parameters that yields one number, and what that number must be.

    In the text ``{table}`` are the rows, ``{name}`` is a column, columns, a condition or another
    dataset, and ``:name`` a value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    name: Annotated[str, Field(pattern=_NAME.pattern)] | None = None
    """What rules call it."""
    description: str = ""
    """What the number is."""
    sql: Annotated[QuerySql, AfterValidator(_is_one_query)]
    """A query with one row and one column, a number; NULL is Empty."""
    parameters: Annotated[Mapping[str, TemplateParameter], BeforeValidator(_parameters)] = {}
    """What the text calls by name beside the rows."""
    fails_when: ComparisonText | None = None
    """What number fails the rule, such as ``"> 0"``; rules may say otherwise."""
    holds_when: ComparisonText | None = None
    """The same the other way round: what number is fine, such as ``"= 0"``. One of both."""
    quality_dimension: QualityDimension = "validity"
    """Which quality it speaks of."""
    judges_no_rows: bool = False
    """Whether the number says something where there are no rows; else that is Empty."""
    change: PeriodChange | None = None
    """With it, what is compared is how much the number changed: ``{periods: 7, by: share}``."""
    age: Literal["seconds", "minutes", "hours", "days"] | None = None
    """With it, the number is a time in seconds since 1970, and its age is compared."""

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        comparison_of(self.fails_when, self.holds_when)
        if self.change is not None and self.age is not None:
            raise ValueError("one of change and age can be compared, not both")
        return self

    @model_validator(mode="after")
    def _calls_what_is_declared(self) -> Self:
        query = read_query(self.sql)
        slots = {one.slot(name): name for name, one in self.parameters.items()}
        reasons = list(_misnamed(self.parameters))
        reasons += [
            Refusal.unknown_slot(slot, [TABLE, *slots]).reason
            for slot in query.slots
            if slot != TABLE and slot not in slots
        ]
        reasons += [
            f"{slot} of parameters is not used in the query."
            for slot in slots
            if slot not in query.slots
        ]
        reasons += [
            f"{slot} is a list of values, which stands behind IN only: write 'x in {slot}'."
            for slot, name in slots.items()
            if self.parameters[name].type == "values" and not query.is_listed(slot)
        ]
        if reasons:
            raise ValueError(" ".join(reasons))
        return self

    @property
    def comparison(self) -> ExpectedNumber | None:
        return comparison_of(self.fails_when, self.holds_when)

    def query(self, given: Mapping[str, Any]) -> QueryTemplate:
        """The query with these parameters; raises ValueError with all that is wrong with them."""
        parameters: list[tuple[str, Parameter]] = []
        references: list[tuple[str, Any]] = []
        reasons = [
            f"'{name}' is no parameter of the template.{_hint(name, self.parameters)}"
            for name in given
            if name not in self.parameters
        ]
        for name, declared in self.parameters.items():
            written = given.get(name, declared.default)
            if written is None:
                reasons.append(f"'{name}' is missing: {_needed(declared)}.")
                continue
            try:
                found = declared.read(written)
            except ValueError as error:
                reasons.append(f"'{name}': {str(error).removesuffix('.')}.")
                continue
            if isinstance(found, Reference):
                references.append((name, found.dataset))
            else:
                parameters.append((name, found))
        if reasons:
            raise ValueError(" ".join(reasons))
        return QueryTemplate(self.sql, tuple(references), tuple(parameters))

    def given(self, parameters: Mapping[str, Any], *kinds: str) -> list[Any]:
        """What parameters of these kinds were given, or are by default."""
        every = {name: parameters.get(name, one.default) for name, one in self.parameters.items()}
        return [every[name] for name, one in self.parameters.items() if one.type in kinds]


def _misnamed(names: Iterable[str]) -> Iterable[str]:
    for name in names:
        if not _NAME.fullmatch(name):
            yield f"{shown(name)} is no name: letters, digits and underscores make one."
        elif f"{{{name}}}" == TABLE:
            yield f"{TABLE} stands for the rows that are judged: call it otherwise."


def _hint(name: str, known: Mapping[str, Any]) -> str:
    return did_you_mean(name[:100], known) or f" It takes {', '.join(known) or 'none'}."


def _needed(declared: TemplateParameter) -> str:
    about = f", {declared.description}" if declared.description else ""
    return f"of type {declared.type}{about}".removesuffix(".")


def parse_templates(declared: Mapping[str, Any], problems: list[Problem]) -> dict[str, Template]:
    """The declared templates by name; what is wrong with any is added to ``problems``."""
    found: dict[str, Template] = {}
    for name, written in declared.items():
        if isinstance(written, Template):
            found[name] = written.model_copy(update={"name": name})
            continue
        fields = written if isinstance(written, Mapping) else {"sql": written}
        try:
            found[name] = Template.model_validate({**fields, "name": name})
        except ValidationError as error:
            problems += [
                Problem(f"template '{name[:100]}': {one.message}", field=one.field)
                for one in problems_of(error, Template, {})
            ]
    return found
