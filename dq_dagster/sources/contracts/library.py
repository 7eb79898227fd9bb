"""Metrics of the standard's quality library as rules: what is counted, and how many may be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dq_dagster.errors import did_you_mean
from dq_dagster.rules.fields.threshold import ALL
from dq_dagster.sources.contracts.demands import Demand
from dq_dagster.sources.contracts.document import Contract, ContractObject, ContractProperty
from dq_dagster.sources.contracts.patterns import pattern_fields
from dq_dagster.sources.contracts.taking import Taking, column_sql, literal
from dq_dagster.sources.migration import Untranslatable
from dq_dagster.sources.reading import Declaration, plain

METRICS = ("nullValues", "missingValues", "invalidValues", "duplicateValues", "rowCount")
# What versions before 3.1 called them.
_EARLIER = {
    "duplicateCount": "duplicateValues", "uniqueCheck": "duplicateValues",
    "nullCheck": "nullValues", "nullCount": "nullValues", "notNull": "nullValues",
    "validValues": "invalidValues", "countCheck": "rowCount",
}  # fmt: skip
# Arguments that earlier versions, and the standard's own example, have beside 'arguments'.
BESIDE = ("validValues", "pattern", "missingValues", "properties")


@dataclass(frozen=True, slots=True)
class Quality:
    """A quality entry, and the element that it stands at."""

    contract: Contract
    home: ContractObject
    subject: ContractProperty | None
    declared: Declaration
    asset_of: Callable[[ContractObject], str]

    @property
    def fields(self) -> Mapping[str, Any]:
        return self.declared.fields

    @property
    def arguments(self) -> dict[str, Any]:
        given = plain(self.fields.get("arguments")) or {}
        if not isinstance(given, Mapping):
            raise Untranslatable("'arguments' must be a set of fields.")
        beside = {key: plain(self.fields[key]) for key in BESIDE if key in self.fields}
        return {**beside, **given}

    @property
    def column(self) -> str:
        if self.subject is None:
            raise Untranslatable("it counts values of a property: put it below that property.")
        if self.subject.is_nested:
            raise Untranslatable(
                "it is about a field within a column: write it as SQL, or for the column."
            )
        return self.subject.column

    @property
    def path(self) -> tuple[str, ...]:
        if self.subject is None:
            raise Untranslatable("'{property}' means nothing here: the entry is of an object.")
        return self.subject.path


def library_rule(quality: Quality, found: Taking) -> None:
    """Fills in the fields of a rule that counts what a metric of the library counts."""
    fields = quality.fields
    metric = fields.get("metric", fields.get("rule"))
    if "metric" not in fields and "rule" in fields:
        found.note("'rule' is what 'metric' was called before version 3.1.")
    if metric in _EARLIER:
        found.note(f"'{metric}' is read as {_EARLIER[metric]}, which it is called since 3.1.")
    known = _EARLIER.get(str(metric), metric)
    if known not in _METRICS:
        hint = did_you_mean(str(metric), METRICS) or f" There is: {', '.join(METRICS)}."
        raise Untranslatable(f"the library has no metric '{metric}'.{hint}")
    unit = str(fields.get("unit") or "rows").lower()
    if unit not in {"rows", "row", "percent", "%"}:
        raise Untranslatable(f"a library metric counts rows or percent, not '{unit}'.")
    demand = Demand.of(plain(quality.declared))
    if demand is None and metric == "validValues":
        demand = Demand.of({"mustBe": 0})
    if demand is None:
        raise Untranslatable("it says what is counted, but not what the number must be: 'mustBe'.")
    if demand.value is not None:
        raise Untranslatable(f"a number is needed, not {demand.value!r}.")
    found.kind = str(metric)
    _METRICS[known](quality, found, demand, unit in {"percent", "%"})


_Metric = Callable[[Quality, Taking, Demand, bool], None]


def _row_count(quality: Quality, found: Taking, demand: Demand, percent: bool) -> None:  # noqa: FBT001
    if percent:
        raise Untranslatable("a number of rows is no share of anything: leave 'unit' out.")
    _refuse_arguments(quality)
    whole = demand.whole()
    if whole.outside:
        found.fields |= {"type": "agg_dq", "expectation": whole.condition("count(*)")}
        name_by_default(found, "row_count")
        return
    found.fields |= {"type": "record_count_in_range", **whole.bounds()}
    note_on_between(found, demand)


def _null_values(quality: Quality, found: Taking, demand: Demand, percent: bool) -> None:  # noqa: FBT001
    _refuse_arguments(quality)
    column = quality.column
    rule = {"type": "column_not_empty", "columns": [column]}
    _counted(found, demand, rule, f"{column_sql(column)} IS NULL", percent=percent)


def _missing_values(quality: Quality, found: Taking, demand: Demand, percent: bool) -> None:  # noqa: FBT001
    _refuse_arguments(quality, "missingValues")
    values = quality.arguments.get("missingValues", [None])
    if not isinstance(values, list) or not values:
        raise Untranslatable("'missingValues' must be a list of values.")
    if "missingValues" not in quality.arguments:
        found.differ("It does not say what counts as missing: NULL does.")
    column, column_is = quality.column, column_sql(quality.column)
    listed = ", ".join(literal(one) for one in values if one is not None)
    if not listed:
        rule: dict[str, Any] = {"type": "column_not_empty", "columns": [column]}
        _counted(found, demand, rule, f"{column_is} IS NULL", percent=percent)
        return
    null = f"{column_is} IS NULL"
    is_missing = f"{null} OR {column_is} IN ({listed})" if None in values else (
        f"{column_is} IN ({listed})"
    )  # fmt: skip
    good = f"{column_is} IS NOT NULL AND {column_is} NOT IN ({listed})" if None in values else (
        f"{null} OR {column_is} NOT IN ({listed})"
    )  # fmt: skip
    rule = {"type": "row_dq", "expectation": good, "quality_dimension": "completeness"}
    _counted(found, demand, rule, is_missing, percent=percent)
    name_by_default(found, f"{column}_missing_values")


def _invalid_values(quality: Quality, found: Taking, demand: Demand, percent: bool) -> None:  # noqa: FBT001
    _refuse_arguments(quality, "validValues", "pattern")
    values, pattern = quality.arguments.get("validValues"), quality.arguments.get("pattern")
    if (values is None) == (pattern is None):
        raise Untranslatable("it needs one of 'validValues' and 'pattern': write two entries.")
    column = quality.column
    if values is not None:
        if not isinstance(values, list) or not values:
            raise Untranslatable("'validValues' must be a list of values.")
        there = [one for one in values if one is not None]
        listed = ", ".join(map(literal, there))
        rule = {"type": "column_values_in_set", "columns": [column], "values": there}
        bad = f"{column_sql(column)} NOT IN ({listed})"
    else:
        rule = {"type": "column_values_match", "columns": [column], **pattern_fields(pattern)}
        bad = f"NOT {column_sql(column)} RLIKE {literal(str(pattern))}"
    _counted(found, demand, rule, bad, percent=percent, among=f"count({column_sql(column)})")
    if percent and found.fields.get("threshold") != ALL:
        found.differ(
            "The share is one of the values that are there: NULL is neither valid nor not."
        )


def _duplicate_values(quality: Quality, found: Taking, demand: Demand, percent: bool) -> None:  # noqa: FBT001
    _refuse_arguments(quality, "properties")
    named = quality.arguments.get("properties")
    columns = [quality.column] if named is None else _columns(quality, named)
    kind = "unique_key" if named is not None else "column_unique"
    whole = demand if percent else demand.whole()
    if not whole.is_limit or (percent and whole.below):
        raise Untranslatable(
            "duplicates are limited from above only: 'mustBe: 0', 'mustBeLessOrEqualTo' or, for "
            "rows, 'mustBeLessThan'."
        )
    threshold = whole.threshold(percent=percent)
    found.fields |= {"type": kind, "columns": columns, "threshold": threshold}
    if threshold != ALL:
        found.differ(
            "The standard does not say what a duplicate is: here every row counts whose value is "
            "there more than once, and NULL does not."
        )


def _columns(quality: Quality, named: Any) -> list[str]:
    if not isinstance(named, list) or not named:
        raise Untranslatable("'properties' must be a list of names.")
    found = []
    for name in named:
        known = quality.home.property_called(str(name))
        if known is None and quality.home.properties:
            names = [one.name for one in quality.home.properties]
            raise Untranslatable(f"there is no property '{name}'.{did_you_mean(str(name), names)}")
        found.append(str(name) if known is None else known.column)
    return found


_METRICS: Mapping[Any, _Metric] = {
    "nullValues": _null_values,
    "missingValues": _missing_values,
    "invalidValues": _invalid_values,
    "duplicateValues": _duplicate_values,
    "rowCount": _row_count,
}


def _refuse_arguments(quality: Quality, *known: str) -> None:
    for key in quality.arguments:
        if key not in known:
            raise Untranslatable(f"it takes no argument '{key}'.{did_you_mean(key, known)}")


def _counted(
    found: Taking,
    demand: Demand,
    rule: Mapping[str, Any],
    bad: str,
    *,
    percent: bool,
    among: str = "count(*)",
) -> None:
    """The rule with a threshold, where the number of bad rows is limited; else its number."""
    limit = demand if percent else demand.whole()
    if limit.is_limit and not (percent and limit.below):
        found.fields |= {**rule, "threshold": limit.threshold(percent=percent)}
        return
    count = f"count_if({bad})"
    measured = f"try_divide(100 * {count}, {among})" if percent else count
    if limit.outside:
        found.fields |= {"type": "agg_dq", "expectation": limit.condition(measured)}
    else:
        found.fields |= {"type": "metric_in_range", "metric": {"sql": measured}, **limit.bounds()}
    columns = "_".join(rule.get("columns", ()))
    name_by_default(found, f"{columns}_{found.kind}".strip("_"))
    note_on_between(found, demand)


def note_on_between(found: Taking, demand: Demand) -> None:
    """Says what the standard means by between, where it matters."""
    if demand.above and demand.below and demand.low is not None and demand.high is not None:
        found.note("As the standard has it, the two bounds themselves are not between them.")


def name_by_default(found: Taking, name: str) -> None:
    """A name for a rule whose own would be a piece of SQL."""
    found.fields.setdefault("name", name)
