"""What the page says about one rule type."""

from __future__ import annotations

import textwrap

from docs.catalogue.examples import Example
from dq_dagster.metrics.conditions import PassKind
from dq_dagster.plan.plan import Plan
from dq_dagster.rules.base.change_detection import ChangeDetection
from dq_dagster.rules.base.documentation import Documentation, FieldNote, own_fields
from dq_dagster.rules.catalogue import RULE_TYPES
from dq_dagster.rules.fields.ranges import FourBounds

# Fields that a part of the page explains for all rules.
_EXPLAINED = {
    "threshold": "thresholds",
    **dict.fromkeys(FourBounds.model_fields, "bounds"),
    **dict.fromkeys(ChangeDetection.model_fields, "change-detection"),
}
_COSTS = {
    PassKind.AGGREGATE: "shared pass",
    PassKind.COUNT_VALUES: "grouped pass",
    PassKind.MEDIANS: "grouped pass",
}


def section(kind: str, example: Example) -> str:
    rule = RULE_TYPES[kind]
    about = Documentation.of(rule)
    meaning = about.meaning[:1].lower() + about.meaning[1:]
    parts = [
        f"### `{kind}`",
        wrapped(f"`dq.{rule.__name__}`: {meaning}"),
        *about.details,
        wrapped(f"Observed: {about.observed}"),
        _field_table(own_fields(rule)),
        f"```yaml\n{about.example}\n```",
        f"```\n{example.outcome.status}  {example.outcome.message}\n```",
        f"Cost: {cost(example.plan)}. Metrics: {_metrics(example.plan)}.",
    ]
    return "\n\n".join(filter(None, parts))


def cost(plan: Plan) -> str:
    """How a rule is answered, among other rules."""
    kinds = dict.fromkeys(_COSTS.get(step.kind, "own job") for step in plan.passes)
    return " and ".join(kinds) or "no pass"


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(_row(cells) for cells in lines)


def wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, width=100, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _row(cells: list[str]) -> str:
    if set(cells) == {"---"}:
        return f"|{'|'.join(cells)}|"
    return "".join(f"| {cell}" + " " * bool(cell) for cell in map(_escaped, cells)) + "|"


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")


def _field_table(fields: list[FieldNote]) -> str:
    rows = [[_name(field.name), _default(field.default), field.meaning] for field in fields]
    return table(["Field", "Default", "Meaning"], rows) if rows else ""


def _name(field: str) -> str:
    explained = _EXPLAINED.get(field)
    return f"[`{field}`](#{explained})" if explained else f"`{field}`"


def _default(default: str) -> str:
    return default if default in {"required", "none"} else f"`{default}`"


def _metrics(plan: Plan) -> str:
    return ", ".join(f"`{metric.key}`" for metric in plan.metrics)
