"""One rule of Spark-Expectations as the fields of a rule of this library, and what differs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, get_args

from dq_dagster.errors import did_you_mean
from dq_dagster.metrics.conditions import quoted
from dq_dagster.rules.fields.constraints import QualityDimension
from dq_dagster.sources.migration import Untranslatable
from dq_dagster.sources.reading import Declaration, plain
from dq_dagster.sources.spark_expectations.conditions import (
    UniqueRows,
    counted_without_distinct,
    lacks_subject,
    names_nothing_compared,
    unique_rows,
    with_null_check,
)
from dq_dagster.sources.spark_expectations.rows import COLUMNS, RULE_TYPES
from dq_dagster.sources.spark_expectations.texts import (
    QueryParts,
    filled,
    with_tables,
    without_raising,
)
from dq_dagster.sql.across_rows import across_rows_refusals
from dq_dagster.sql.expressions import aggregate_refusals, refusals
from dq_dagster.sql.findings import MAX_LENGTH
from dq_dagster.sql.queries import TABLE, query_refusals, read_query
from dq_dagster.sql.refusal import Refusal

_ACTIONS = {"row_dq": ("ignore", "drop", "fail")}
_OF_ALL_ROWS = ("ignore", "fail")
_TRUE = frozenset({"true", "1", "yes", "on"})
# What stands between a condition and its queries where nothing else is said: now, and once.
_DELIMITER, _EARLIER = "@", "$"
_SLOT = re.compile(r"\W+")
# With all its queries; what is left of them is limited once more, as SQL.
_LONGEST = 50_000


@dataclass(frozen=True, slots=True)
class Caller:
    """What the caller of the loader says beside the rules."""

    params: Mapping[str, Any] = field(default_factory=dict)
    view: str | None = None
    tables: Mapping[str, Any] = field(default_factory=dict)
    trusted: bool = False


@dataclass(slots=True)
class Translation:
    """The fields of a rule, what there is to know about it, and whether its meaning differs."""

    row: Declaration
    caller: Caller
    fields: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    differs: bool = False

    def note(self, text: str) -> None:
        self.notes.append(text)

    def differ(self, text: str) -> None:
        self.notes.append(text)
        self.differs = True

    def text(self, name: str) -> str:
        """A field as text; nothing if it is NULL in a table."""
        default = None if name in self.row.places else COLUMNS[name]
        value = self.row.fields.get(name, default)
        return "" if value is None else str(plain(value)).strip()

    def flag(self, name: str) -> bool:
        """A field that is true or false; one that is NULL in a table counts as false there."""
        value = self.row.fields.get(name)
        if value is None:
            is_null = name in self.row.places
            if is_null and COLUMNS[name]:
                self.note(f"{name} is NULL, which counts as false.")
            return not is_null and bool(COLUMNS[name])
        is_number = isinstance(value, int | float | Decimal)
        return bool(value) if is_number else str(value).strip().lower() in _TRUE

    @property
    def kind(self) -> str:
        return self.text("rule_type")

    @property
    def name(self) -> str:
        return filled(self.text("rule"), self.caller.params)[0]

    @property
    def table(self) -> str:
        """The table that the rule is about, without backquotes."""
        return filled(self.text("table_name"), self.caller.params)[0].replace("`", "")


def translated(row: Declaration, caller: Caller) -> Translation:
    """Raises Untranslatable with every reason against the rule."""
    found = Translation(row, caller)
    reasons = _basic_refusals(found)
    if reasons:
        raise Untranslatable(" ".join(reasons))
    _shared_fields(found)
    _TRANSLATORS[found.kind](found)
    return found


def _basic_refusals(found: Translation) -> list[str]:
    missing = [name for name in ("rule", "rule_type", "expectation") if not found.text(name)]
    reasons = [f"'{name}' is missing." for name in missing]
    kind = found.kind
    if kind and kind not in RULE_TYPES:
        hint = did_you_mean(kind, RULE_TYPES) or f" There is: {', '.join(RULE_TYPES)}."
        reasons.append(f"there is no rule_type '{kind}'.{hint}")
    open_names = re.findall(r"\{(\w+)\}", f"{found.table} {found.name}")
    if open_names:
        reasons.append(
            f"'{{{open_names[0]}}}' has no value: give it by params={{'{open_names[0]}': ...}}."
        )
    action, known = found.text("action_if_failed"), _ACTIONS.get(kind, _OF_ALL_ROWS)
    if kind in RULE_TYPES and action not in {"", *known}:
        also = " Spark-Expectations leaves such rules out, with a warning in its log."
        reasons.append(f"action_if_failed of {kind} is {' or '.join(known)}, not '{action}'.{also}")
    length = len(found.text("expectation"))
    if length > _LONGEST:
        reasons.append(f"the expectation has {length:,} characters; at most {_LONGEST:,} are read.")
    threshold = found.text("error_drop_threshold")
    if not re.fullmatch(r"[0-9]*(?:\.0*)?", threshold):
        reasons.append(f"error_drop_threshold is a whole number, not '{threshold}'.")
    return reasons


def _shared_fields(found: Translation) -> None:
    fields = found.fields
    action = found.text("action_if_failed")
    if not action:
        found.differ("action_if_failed is NULL, which is taken as ignore.")
    fields["name"] = found.name
    fields["action_if_failed"] = action or "ignore"
    # The action alone says whether the job fails.
    fields["blocking"] = action == "fail"
    if found.text("description"):
        fields["description"] = found.text("description")
    if not found.flag("is_active"):
        fields["enabled"] = False
        found.note("It is not active, and so disabled here.")
    tag = found.text("tag")
    if tag.lower() in get_args(QualityDimension):
        fields["quality_dimension"] = tag.lower()
    priority = found.text("priority").lower() or "medium"
    tags = [tag, "" if priority == "medium" else f"priority:{priority}"]
    if any(tags):
        fields["tags"] = [one for one in tags if one]
    _alerts_and_outputs(found)


def _alerts_and_outputs(found: Translation) -> None:
    if found.flag("enable_error_drop_alert"):
        share = found.text("error_drop_threshold") or "0"
        found.differ(
            f"There is no message of its own when {share} % of the rows fail: the check says how "
            "many do, and error_drop_threshold of dq.guarded_asset limits the rows left out."
        )
    unknown = [key for key in found.row.fields if key not in COLUMNS and not key.startswith("x-")]
    for key in unknown:
        hint = did_you_mean(key, COLUMNS)
        found.note(f"'{key}' is no field of Spark-Expectations, and has no effect.{hint}")


def _phases(found: Translation) -> None:
    """On which rows a condition on all of them is judged."""
    source = found.flag("enable_for_source_dq_validation")
    target = found.flag("enable_for_target_dq_validation")
    if not source and not target:
        found.fields["enabled"] = False
        found.note("It is enabled neither for the source nor for the target, and so disabled here.")
    elif source != target:
        found.fields["on"] = "source" if source else "validated"
    # Without rows an answer of NULL fails there, while it is nothing to judge here.
    found.fields["on_empty"] = "error"


def _expectation(found: Translation) -> str:
    """The text of a condition on rows or aggregates, with what was done to it."""
    text, names = filled(found.text("expectation"), found.caller.params)
    if names:
        listed = ", ".join(f"{{{name}}}" for name in names)
        found.differ(f"{listed} is filled in, which Spark-Expectations does in query_dq only.")
    if len(text) > MAX_LENGTH:
        # It would be refused in the end, and until then read over and over.
        raise Untranslatable(Refusal.too_long(len(text), MAX_LENGTH).reason)
    return _calmed(found, text)


def _calmed(found: Translation, text: str) -> str:
    calm, changed = without_raising(text)
    if changed:
        found.note(
            f"Under ANSI, which holds here, {', '.join(changed)} may raise: it is written so that "
            "it gives NULL instead, as without ANSI."
        )
    return calm


def _row_dq(found: Translation) -> None:
    text = _expectation(found)
    subject = found.text("column_name")
    if lacks_subject(text) and subject:
        found.differ(f"It speaks of no column, so that Spark raises there: taken as '{subject}'.")
        text = f"{quoted(subject)} {text}"
    known = with_null_check(text)
    if known is not None:
        found.differ(
            "It is no condition, so that Spark raises there: taken as meant, 'is not null'."
        )
        text = known
    found.fields |= {"type": "row_dq", "expectation": text}
    if not refusals(text):
        return
    counted = counted_without_distinct(text)
    if counted is not None:
        found.differ(
            "Spark has no DISTINCT over a window, so that the rule raises there: the values are "
            "gathered and counted."
        )
        text = found.fields["expectation"] = counted
    if across_rows_refusals(text):
        raise Untranslatable(" ".join(one.reason for one in across_rows_refusals(text)))
    if names_nothing_compared(text):
        raise Untranslatable(f"'{text}' is a number, not a condition: compare it with something.")
    unique = unique_rows(text)
    if unique is not None:
        _unique_key(found, unique)
        return
    found.fields["across_rows"] = True


def _unique_key(found: Translation, unique: UniqueRows) -> None:
    del found.fields["expectation"]
    found.fields |= {
        "type": "unique_key",
        "columns": list(unique.columns),
        "empty_is_key": True,
    }
    found.note("It says that a key is unique, where NULL equals NULL: it becomes a unique_key.")
    if unique.keep is not None:
        found.fields["keep"] = {"order_by": unique.keep}
        found.differ(
            "Of rows that are alike in the order, any may stay there; here all of their columns "
            "decide. At rest, all rows of a repeated key are counted, not all but one."
        )


def _agg_dq(found: Translation) -> None:
    text = _expectation(found)
    _phases(found)
    reasons = aggregate_refusals(text)
    if not reasons:
        found.fields |= {"type": "agg_dq", "expectation": text}
        return
    query = f"select ({text}) from {TABLE}"  # noqa: S608 (the author's own SQL)
    is_query = all(one.fits is None for one in reasons) and not query_refusals(query)
    gathers = any("gathers" in one.reason or "takes any" in one.reason for one in reasons)
    if not (is_query and gathers):
        raise Untranslatable(" ".join(one.reason for one in reasons))
    _require_trust(found, "a query, since agg_dq has no such aggregate")
    found.differ("agg_dq has no such aggregate: it is asked as a query.")
    found.fields |= {"type": "query_dq", "expectation": query}


def _query_dq(found: Translation) -> None:
    _require_trust(found, "a query")
    _phases(found)
    parts = _parts(found)
    text = _calmed(found, parts.whole(found.caller.params))
    if parts.queries and found.flag("enable_querydq_custom_output"):
        found.differ(
            "The results of its queries are not written into a table: the values that the "
            "condition compares are in the metadata of the check."
        )
    text, references = _named_tables(found, text)
    if not query_refusals(text) and read_query(text).is_query and _is_number(text):
        found.differ(
            "It gives a number: there it raises or, with detailed statistics, passes unless that "
            "is 0; it is taken as '<> 0'."
        )
        text = f"({text}) <> 0"
    found.fields |= {"type": "query_dq", "expectation": text}
    if references:
        found.fields["references"] = references


def _parts(found: Translation) -> QueryParts:
    """The condition and the queries behind delimiters."""
    text, delimiter = found.text("expectation"), found.text("query_dq_delimiter")
    parts = QueryParts.of(text, delimiter or _DELIMITER)
    earlier = QueryParts(text) if delimiter or parts.queries else QueryParts.of(text, _EARLIER)
    if not earlier.queries:
        return parts
    found.differ(
        f"Without a query_dq_delimiter it is '{_DELIMITER}', and the rule raises there: its "
        f"queries are taken to stand behind '{_EARLIER}', as in earlier versions."
    )
    return earlier


def _named_tables(found: Translation, text: str) -> tuple[str, dict[str, Any]]:
    """The query with the names of this library for the rows and for other data."""
    last = found.table.rpartition(".")[2]
    slots: dict[tuple[str, ...], str] = {((found.caller.view or f"{last}_view").lower(),): TABLE}
    references: dict[str, Any] = {}
    for table, reference in found.caller.tables.items():
        name = _SLOT.sub("_", table).strip("_") or "other"
        slots[tuple(table.replace("`", "").lower().split("."))] = f"{{{name}}}"
        references[name] = reference
    named, others = with_tables(text, slots)
    used = {name: one for name, one in references.items() if f"{{{name}}}" in named}
    here = [one for one in others if one.lower() in {last.lower(), found.table.lower()}]
    for table in here:
        found.note(
            f"'{table}' is the table as it is published, in Spark's catalog, in both: the rows in "
            f"flight are {TABLE} here, and {last}_view there."
        )
    return named, used


def _is_number(text: str) -> bool:
    """Whether a whole query selects nothing that is compared."""
    selected = re.match(r"\(*\s*select\s+(.*?)\s+from\s", text, re.IGNORECASE | re.DOTALL)
    signs = r"[=<>]|\b(?:is|in|like|rlike|between|not|and|or|exists|true|false|case|if)\b"
    return selected is not None and not re.search(signs, selected[1], re.IGNORECASE)


def _require_trust(found: Translation, what: str) -> None:
    if not found.caller.trusted:
        raise Untranslatable(
            f"It needs {what}, which is run as it was written: load the rules with trusted=True, "
            "if you trust whoever writes them."
        )


_TRANSLATORS: Mapping[str, Callable[[Translation], None]] = {
    "row_dq": _row_dq,
    "agg_dq": _agg_dq,
    "query_dq": _query_dq,
}


def unchecked_target(found: Translation, row_rules: Sequence[str]) -> None:
    """Says so of a rule that would never run there: its phase needs a row rule."""
    if found.fields.get("on") == "validated" and found.table not in row_rules:
        found.differ(
            "Without a row_dq rule of the table, Spark-Expectations never judges the target: here "
            "it is judged."
        )
