"""One command of a plan, with the file that it names: a view, a diff or an assertion."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dq_dagster.errors import Problem
from dq_dagster.plan.topnotch import (
    REASON,
    Assertion,
    AssertionCommand,
    DiffCommand,
    DiffSide,
    Figure,
    PlanCommand,
    PlanInput,
    SampleWindow,
    ViewCommand,
)
from dq_dagster.rules.base.rule import check_name
from dq_dagster.rules.types.expectations import RowExpectation
from dq_dagster.sources.topnotch.fields import Fields
from dq_dagster.sources.topnotch.json_text import Node, shortened
from dq_dagster.sql.expressions import aggregate_refusals, refusals
from dq_dagster.sql.queries import read_query
from dq_dagster.sql.refusal import Refusal

# What all commands may say, and what those say that have rows of their own.
COMMAND, FILE, KEY = "command", "externalParamsFile", "outputKey"
_OUTPUT = (COMMAND, FILE, KEY, "cache", "outputPath", "tableName")
_TOLERANCE = 1e-6
_LONGEST_NAME = 150


@dataclass(frozen=True, slots=True)
class CommandReading:
    """What is known of a command before its own fields are read.

    ``input_of`` makes an input of its entries, ``path_of`` a path of an output.
    """

    node: Node
    params: Node
    problems: list[Problem]
    input_of: Callable[[Fields], PlanInput]
    path_of: Callable[[str], str]

    def fields(self, *own: str) -> Fields:
        return Fields(self.node, (*_OUTPUT, *own), self.problems)

    def external(self, *known: str) -> Fields:
        """The entries of the file; in some files they stand below ``topnotch``."""
        params = unwrapped(self.params)
        return Fields(params, known, self.problems)

    def of_all(self, fields: Fields) -> dict[str, Any]:
        """What all commands have."""
        path = fields.text("outputPath", needed=False)
        return {
            "key": fields.name(KEY),
            "declared": {**self.node.plain, "params": unwrapped(self.params).plain},
            "place": self.node.place,
            "output_path": self.path_of(path) if path else None,
            "cache": fields.flag("cache"),
        }

    def source(self, node: Node) -> PlanInput:
        return self.input_of(Fields(node, ("ref", "onDisk", "delimiter"), self.problems))

    def source_of(self, fields: Fields, name: str) -> PlanInput:
        node = fields.needed(name)
        return PlanInput("") if node is None else self.source(node)


def unwrapped(node: Node) -> Node:
    """What the file of a command says; in some files it stands below ``topnotch``."""
    if isinstance(node.value, dict) and set(node.value) == {"topnotch"}:
        found: Node = node.value["topnotch"]
        return found
    return node


def view(reading: CommandReading) -> ViewCommand:
    fields, external = reading.fields("inputs"), reading.external("tableAliases", "query")
    sources = [reading.source(one) for one in fields.entries("inputs")]
    aliases = external.words("tableAliases")
    if "inputs" in fields and not sources:
        fields.refuse("needs at least one input.", "inputs")
    elif "tableAliases" in external and len(aliases) != len(sources):
        message = f"has {len(aliases)} names for {len(sources)} inputs: each needs one."
        external.refuse(message, "tableAliases")
    twice = [one for one, count in Counter(map(str.lower, aliases)).items() if count > 1]
    if twice:
        external.refuse(f"has '{twice[0]}' twice.", "tableAliases")
    return ViewCommand(
        **reading.of_all(fields),
        sources=tuple(sources),
        aliases=aliases,
        query=external.sql("query", _query_refusals),
    )


def _query_refusals(text: str) -> tuple[Refusal, ...]:
    found = read_query(text)
    if found.is_query and found.slots:
        slot = shortened(found.slots[0])
        return (Refusal(f"'{slot}' belongs to a template: call inputs by their tableAliases."),)
    if not found.is_query and not found.refusals:
        return (Refusal("a whole query is needed, such as: select * from loanData"),)
    return found.refusals


def diff(reading: CommandReading) -> DiffCommand:
    before = len(reading.problems)
    fields = reading.fields(
        "input1", "input1Name", "input2", "input2Name", "threshold", "filterEqualRows"
    )
    external = reading.external("input1Columns", "input2Columns", "thresholds")
    left, right = (_side(reading, fields, external, number) for number in (1, 2))
    for name, mine, others in (
        ("joinColumns", left.keys, right.keys),
        ("diffColumns", left.columns, right.columns),
    ):
        if mine and others and len(mine) != len(others):
            external.refuse(
                f"has {len(others)} {name} for {len(mine)} of input1Columns: they are compared in "
                "their order.",
                "input2Columns",
            )
    tolerances = _tolerances(fields, external, len(left.columns))
    found = DiffCommand(
        **reading.of_all(fields),
        left=left,
        right=right,
        tolerances=tolerances,
        only_differences=fields.flag("filterEqualRows"),
    )
    if len(reading.problems) == before:
        _refuse_same_columns(found, fields)
    return found


def _side(reading: CommandReading, fields: Fields, external: Fields, number: int) -> DiffSide:
    columns = external.within(f"input{number}Columns", ("joinColumns", "diffColumns"))
    keys: tuple[str, ...] = ()
    compared: tuple[str, ...] = ()
    if columns is not None:
        keys, compared = columns.texts("joinColumns"), columns.texts("diffColumns")
        for name, found in (("joinColumns", keys), ("diffColumns", compared)):
            if name in columns and not found:
                columns.refuse("needs at least one column.", name)
    source = reading.source_of(fields, f"input{number}")
    return DiffSide(source, fields.name(f"input{number}Name"), keys, compared)


def _tolerances(fields: Fields, external: Fields, columns: int) -> tuple[Figure, ...]:
    """How far numbers may be apart, for each pair of columns."""
    for_all = fields.number("threshold", _TOLERANCE)
    if "thresholds" not in external:
        return (for_all,) * columns
    found = external.numbers("thresholds")
    if len(found) != columns:
        message = f"has {len(found)} numbers for {columns} diffColumns: each needs one."
        external.refuse(message, "thresholds")
    return found


def _refuse_same_columns(found: DiffCommand, fields: Fields) -> None:
    names = Counter(name.lower() for name in found.columns)
    twice = [name for name in dict.fromkeys(found.columns) if names[name.lower()] > 1]
    if twice:
        fields.refuse(
            f"the diff would have two columns of the name '{shortened(twice[0])}': give input1Name "
            "and input2Name other values, and name each column once."
        )


def assertion(reading: CommandReading) -> AssertionCommand:
    fields, external = reading.fields("input"), reading.external("assertions")
    of_all = reading.of_all(fields)
    names: Counter[str] = Counter()
    entries = external.entries("assertions")
    if "assertions" in external and not entries:
        external.refuse("needs at least one assertion.", "assertions")
    found = [_assertion(one, of_all["key"], names, reading.problems) for one in entries]
    features: dict[str, str] = {}
    for node, one in zip(entries, found, strict=True):
        reading.problems.extend(other_meanings(one.features, features, node.place))
    return AssertionCommand(
        **of_all, source=reading.source_of(fields, "input"), assertions=tuple(found)
    )


def other_meanings(features: Mapping[str, str], known: dict[str, str], place: str) -> list[Problem]:
    """Features whose names mean something else already; the others are added to the known ones."""
    found = []
    for name, sql in features.items():
        if known.setdefault(name.lower(), sql) != sql:
            message = (
                f"the feature '{name}' means something else in another assertion on the same rows: "
                "give it another name."
            )
            found.append(Problem(message, place=place))
    return found


_ASSERTION = (
    "query",
    "description",
    "threshold",
    "userDefinedFeatures",
    "userDefinedSummaryExpr",
    "sampleWindowParams",
)


def _assertion(node: Node, key: str, names: Counter[str], problems: list[Problem]) -> Assertion:
    fields = Fields(node, _ASSERTION, problems)
    query = fields.sql("query", refusals)
    description = fields.text("description")
    threshold = fields.number("threshold")
    if threshold > 1:
        fields.refuse(
            f"is a share of the rows, from 0 to 1, but it is {threshold}: write 0.05 for 5 %.",
            "threshold",
        )
    features = fields.sql_by_name("userDefinedFeatures", refusals)
    if REASON.lower() in map(str.lower, features):
        fields.refuse(
            f"cannot have '{REASON}': invalid rows have it anyway.", "userDefinedFeatures"
        )
    rule = RowExpectation(
        name=_name(key, description, names),
        # Something else, where it is refused anyway.
        expectation=query if query and not refusals(query) else "true",
        description=description,
        threshold={"type": "proportion", "max": min(threshold, 1)},  # type: ignore[arg-type]
        blocking=False,
    )
    return Assertion(
        rule,
        description,
        threshold,
        features,
        fields.sql_by_name("userDefinedSummaryExpr", aggregate_refusals),
        _window(fields, problems),
    )


def _name(key: str, description: str, names: Counter[str]) -> str:
    """What the check is called, by the command and the description: it stays the same."""
    name = f"{key or COMMAND}: {description}"
    if len(name) > _LONGEST_NAME:
        digest = hashlib.sha256(name.encode()).hexdigest()[:6]
        name = f"{name[:_LONGEST_NAME]} {digest}"
    names[check_name(name)] += 1
    count = names[check_name(name)]
    return name if count == 1 else f"{name} ({count})"


# As the guide of TopNotch once has it.
_SAME, _MISSPELLED, _ORDER = (
    "idsForWindowPartitioning",
    "idsForWindowParitioning",
    "orderEachWindowBy",
)


def _window(fields: Fields, problems: list[Problem]) -> SampleWindow | None:
    node = fields.node("sampleWindowParams")
    if node is None:
        return None
    found = Fields(node, (_SAME, _MISSPELLED, _ORDER), problems)
    misspelled = _MISSPELLED in found and _SAME not in found
    same = found.texts(_MISSPELLED if misspelled else _SAME)
    order = found.texts(_ORDER)
    return SampleWindow(same, order) if same and order else None


#: What can be read, by the word for it.
READERS: Mapping[str, Callable[[CommandReading], PlanCommand]] = {
    "assertion": assertion,
    "diff": diff,
    "view": view,
}
